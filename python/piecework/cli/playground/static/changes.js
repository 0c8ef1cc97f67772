// What normalization changes in a text, as the tokens show it.

import { element, grouped, visible } from "./dom.js";

const EXAMPLES = 3;
const MOST = 20000;

/**
 * Return the number of distinct words between spaces, of those that change, the first of these with what the model
 * sees in their place, and what changes: "case", "accents" or "characters".
 *
 * Of a long text, the first 20,000 characters are compared.
 */
export function changedWords(text, columns) {
  const words = new Map();
  for (const { 0: word, index } of text.slice(0, MOST).matchAll(/\S+/g)) {
    if (!words.has(word)) words.set(word, columns.normalizedWord(text, index, index + word.length));
  }
  const changed = [...words].filter(([word, now]) => word !== now);
  const kinds = new Set(changed.flatMap(([word, now]) => kindsOf(word, now)));
  return {
    words: words.size,
    changed: changed.length,
    examples: changed.slice(0, EXAMPLES),
    kinds: ["case", "accents", "characters"].filter((kind) => kinds.has(kind)),
    isPart: text.length > MOST,
  };
}

/** Return the sentence that says how many words change, with examples. */
export function changesSentence({ words, changed, examples, isPart }) {
  const shown = examples.map(([word, now]) => `${visible(word)} → ${visible(now) || "nothing"}`).join(", ");
  const more = changed > examples.length ? " …" : "";
  const where = isPart ? ` in the first ${grouped(MOST)} characters` : "";
  return `${grouped(changed)} of ${grouped(words)} distinct words change${where}: ${shown}${more}`;
}

/** Return a paragraph that names the normalized words, null if none changes. */
export function normalizedLine(changes) {
  if (!changes.changed) return null;
  return element("p", { class: "reason" }, `Normalized: ${changesSentence(changes)}`);
}

function kindsOf(word, now) {
  const [before, after] = [word, now].map((one) => one.normalize("NFD"));
  const found = [];
  if (count(before, /\p{Lu}/gu) > count(after, /\p{Lu}/gu)) found.push("case");
  if (count(before, /\p{M}/gu) > count(after, /\p{M}/gu)) found.push("accents");
  if (!found.length || folded(before) !== folded(after)) found.push("characters");
  return found;
}

function count(text, pattern) {
  return text.match(pattern)?.length ?? 0;
}

/** Return a decomposed text without accents and case. */
function folded(text) {
  return text.replace(/\p{M}/gu, "").toUpperCase();
}
