// The tokens of a large text after an edit: those of the old text, and between them the tokens of a part around the
// edit. They are shown until the whole text is encoded, because an edit can change tokens far from it.

import { TokenColumns, changedText } from "./token_columns.js";

const CONTEXT = 400; // characters on each side of an edit
const MOST = 4000;

/**
 * Return where the part of a new text around an edit is, and how far the edit moved the text after it. Null for an
 * edit of more than 4,000 characters, or none.
 */
export function editedPart(old, now) {
  const { prefix, suffix } = changedText(old, now);
  const [oldEnd, end] = [old.length - suffix, now.length - suffix];
  if (old === now || Math.max(oldEnd, end) - prefix > MOST) return null;
  const [from, to] = [Math.max(0, prefix - CONTEXT), Math.min(now.length, end + CONTEXT)];
  return { from, to, prefix, end, shift: end - oldEnd, isFirst: from === 0, isLast: to === now.length };
}

/**
 * Return the columns of a new text, from old columns and those of a part. Both meet halfway between the edit and the
 * ends of the part, at tokens that they share; null if they share none.
 */
export function spliced(old, part, columns) {
  const { from, to, prefix, end, shift } = part;
  const ending = afterText(old);
  const first = part.isFirst ? [leading(old), 0] : shared(old, columns, from, 0, (from + prefix) >> 1, prefix);
  const last = part.isLast ? [ending, columns.count] : shared(old, columns, from, shift, (end + to) >> 1, to);
  if (!first || !last) return null;
  const moved = last[0] - first[0] - (last[1] - first[1]);
  const joined = (name) => {
    const found = new old[name].constructor(old.count - moved);
    found.set(old[name].subarray(0, first[0]));
    found.set(columns[name].subarray(first[1], last[1]), first[0]);
    found.set(old[name].subarray(last[0]), last[0] - moved);
    return found;
  };
  const joinedPlaces = (name) => {
    const found = joined(name);
    for (let i = first[0]; i < last[0] - moved; i++) found[i] += from;
    for (let i = last[0] - moved; i < ending - moved; i++) found[i] += shift;
    return found;
  };
  const header = { ...old.header, tokens: Object.assign(old.header.tokens, columns.header.tokens) };
  return new TokenColumns(header, joined("ids"), joinedPlaces("starts"), joinedPlaces("ends"), joined("flags"));
}

/** Return the indices, in old columns and those of a part, of the first token between two positions that both have. */
function shared(old, columns, from, shift, at, end) {
  for (let i = columns.firstAt(at - from); i < columns.count && columns.starts[i] + from < end; i++) {
    const start = columns.starts[i] + from - shift;
    const same = old.firstAt(start);
    if (same < old.count && old.starts[same] === start && old.ids[same] === columns.ids[i]) return [same, i];
  }
  return null;
}

/** Return the number of tokens that the post-processor added before the text. */
function leading(columns) {
  let count = 0;
  while (count < columns.count && columns.isTemplate(count)) count++;
  return count;
}

/** Return the index of the first token that the post-processor added after the text. */
function afterText(columns) {
  let count = columns.count;
  while (count > 0 && columns.isTemplate(count - 1)) count--;
  return count;
}
