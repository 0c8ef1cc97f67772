// The tokens of one text by one tokenizer, as columns of numbers; positions are UTF-16 units of the text.

const ONLY_HERE = 1;
const UNKNOWN = 2;
const TEMPLATE = 4;
// How entries write that a word begins, goes on or ends, in WordPiece, SentencePiece and CLIP.
const MARKERS = /^(##|▁)|<\/w>$/g;

export class TokenColumns {
  constructor(header, ids, starts, ends, flags) {
    Object.assign(this, { header, ids, starts, ends, flags });
    this.count = ids.length;
    // Where each token is shown: its start, or after the tokens before it.
    this.anchors = new Int32Array(ids.length);
    let reached = 0;
    for (let i = 0; i < ids.length; i++) {
      if (starts[i] > reached) reached = starts[i];
      this.anchors[i] = reached;
    }
  }

  isOnlyHere(i) {
    return (this.flags[i] & ONLY_HERE) !== 0;
  }

  isUnknown(i) {
    return (this.flags[i] & UNKNOWN) !== 0;
  }

  isTemplate(i) {
    return (this.flags[i] & TEMPLATE) !== 0;
  }

  /** Return the token as in the vocabulary, as text, and its bytes in hex if they are no text. */
  token(i) {
    const [token, text, hex] = this.header.tokens[this.ids[i]];
    return { token, text, hex };
  }

  /** Return what the model sees in place of the characters of a token, null if it sees these. */
  normalizedText(text, i) {
    if (this.flags[i] & (UNKNOWN | TEMPLATE)) return null;
    const { text: entry, hex } = this.token(i);
    if (hex) return null;
    const covered = spaced(text.slice(this.starts[i], this.ends[i]));
    const shown = spaced(entry.replace(MARKERS, ""));
    const isKept = !covered || !shown || covered === shown || covered === spaced(entry);
    return isKept ? null : shown;
  }

  /** Return what the model sees of a word, a span without spaces; unknown characters stay as in the text. */
  normalizedWord(text, from, to) {
    let found = "";
    let shown = from;
    for (let i = this.firstOver(from); i < this.count && this.anchors[i] < to; i++) {
      const [start, end] = [Math.max(this.starts[i], shown), Math.min(this.ends[i], to)];
      const normalized = this.normalizedText(text, i);
      if (normalized === null) found += text.slice(start, Math.max(start, end));
      else if (this.ends[i] > from) found += this.partOf(normalized, text, i, from);
      shown = Math.max(shown, end);
    }
    return found;
  }

  /** Return the part of the normalized text of a token that is in a word; tokens can have several words. */
  partOf(normalized, text, i, from) {
    const covered = spaced(text.slice(this.starts[i], this.ends[i]));
    if (!covered.includes(" ")) return normalized;
    const before = spaced(text.slice(this.starts[i], from));
    return normalized.split(" ")[before ? before.split(" ").length : 0] ?? "";
  }

  /** Return the index of the first token that ends after a position, or that is shown there. */
  firstOver(position) {
    let i = this.firstAt(position);
    while (i > 0 && this.ends[i - 1] > position) i--;
    return i;
  }

  /** Return the index of the first token that is shown at a position or later. */
  firstAt(position) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.anchors[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Return the indices of at most 32 tokens that share characters with a span. */
  overlapping(start, end) {
    const found = [];
    for (let i = this.firstOver(start); i < this.count && this.anchors[i] < end && found.length < 32; i++) {
      if (this.ends[i] > start && this.starts[i] < end) found.push(i);
    }
    return found;
  }
}

/** Return how many characters two texts share at their beginning, and how many of the others at their end. */
export function changedText(old, now) {
  const shorter = Math.min(old.length, now.length);
  const isSame = (i, j, count) => old.slice(i, i + count) === now.slice(j, j + count);
  let prefix = 0;
  let suffix = 0;
  // Comparing a thousand characters at once takes as long as comparing a few.
  for (const step of [1024, 1]) {
    while (prefix + step <= shorter && isSame(prefix, prefix, step)) prefix += step;
  }
  for (const step of [1024, 1]) {
    const ends = (count) => isSame(old.length - suffix - count, now.length - suffix - count, count);
    while (suffix + step <= shorter - prefix && ends(step)) suffix += step;
  }
  return { prefix, suffix };
}

/**
 * Return the part that differs between two states, each a text and its columns: it starts at `from` and ends at
 * `oldTo` and `newTo`. Null if nothing differs.
 */
export function changedPart(old, now) {
  const [text0, text1] = [old.text, now.text];
  const [tokens0, tokens1] = [old.columns, now.columns];
  const shift = text1.length - text0.length;
  const { prefix, suffix } = changedText(text0, text1);
  const fewer = Math.min(tokens0.count, tokens1.count);
  let first = 0;
  while (first < fewer && isSame(tokens0, first, tokens1, first, 0)) first++;
  if (first === fewer && tokens0.count === tokens1.count && text0 === text1) return null;
  let last = 0;
  while (
    last < fewer - first &&
    isSame(tokens0, tokens0.count - 1 - last, tokens1, tokens1.count - 1 - last, shift)
  )
    last++;
  const from = Math.min(prefix, first < tokens0.count ? tokens0.anchors[first] : text0.length);
  const end = (columns, length) => {
    const i = columns.count - 1 - last;
    return Math.max(length - suffix, i >= first ? Math.max(columns.ends[i], columns.anchors[i]) : 0);
  };
  const oldTo = Math.max(end(tokens0, text0.length), end(tokens1, text1.length) - shift, from);
  return { from, oldTo, newTo: Math.max(oldTo + shift, from) };
}

/** Return a text with one space in place of each whitespace or metaspace, and none around it. */
function spaced(text) {
  return text.replace(/[\s▁]+/g, " ").trim();
}

function isSame(a, i, b, j, shift) {
  return (
    a.ids[i] === b.ids[j] &&
    a.flags[i] === b.flags[j] &&
    a.anchors[i] + shift === b.anchors[j] &&
    a.ends[i] - a.anchors[i] === b.ends[j] - b.anchors[j]
  );
}
