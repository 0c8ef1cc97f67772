// What the page shows of one token: id, span, bytes, neighbours; when it is picked, how its word is segmented.

import { element, grouped, visible } from "./dom.js";
import { explain } from "./requests.js";
import { segmentationsView } from "./segmentations_view.js";
import { wordView } from "./word_views.js";

const MOST_UNITS = 240;
const FRAME = 4; // pixels around a drawing
const isTouch = () => matchMedia("(hover: none)").matches;

export class Details {
  /** `closed()` is called when the reader closes the details. */
  constructor(root, closed) {
    this.root = root;
    this.home = root.parentNode;
    this.picked = null;
    this.latest = 0;
    this.facts = element("div", { class: "facts" });
    this.word = element("div", { class: "word" });
    const close = () => (this.clear(), closed());
    const button = element("button", { type: "button", class: "close", "aria-label": "Close", on: { click: close } }, "✕");
    root.append(button, this.facts, this.word);
    this.clear();
  }

  clear() {
    this.picked = null;
    this.latest++;
    if (this.root.parentNode !== this.home) this.home.append(this.root);
    this.word.replaceChildren();
    this.root.classList.add("idle");
    this.facts.replaceChildren(element("h2", {}, "A token"), element("p", { class: "note" }, ...hint()));
  }

  /** Show the facts of a token. */
  point(tokenizer, text, columns, i) {
    this.root.classList.remove("idle");
    const { token, text: shown, hex } = columns.token(i);
    const span = columns.isTemplate(i) ? "added by the post-processor" : spanOf(text, columns, i);
    const covered = text.slice(columns.starts[i], columns.ends[i]) || shown;
    const bytes = hex || [...new TextEncoder().encode(covered)].map(inHex).join(" ");
    const rows = [
      ["id", grouped(columns.ids[i])],
      ["entry", element("code", {}, visible(token))],
      ["characters", span],
      ["bytes", element("code", {}, bytes.length > 120 ? `${bytes.slice(0, 120)}…` : bytes)],
      columns.normalizedText(text, i) !== null && ["in the text", element("code", {}, visible(covered))],
      hex && ["text", "a part of a character"],
      columns.isUnknown(i) && ["unknown", "the vocabulary has no token for this"],
      columns.isOnlyHere(i) && ["only here", "no other tokenizer has this span"],
    ];
    const neighbours = [i - 1, i, i + 1]
      .filter((j) => j >= 0 && j < columns.count)
      .map((j) =>
        element("span", { class: `chip${j === i ? " active" : " faint"}` }, visible(columns.token(j).text).slice(0, 40)),
      );
    this.facts.replaceChildren(
      element("h2", {}, element("span", { class: "quiet" }, `${tokenizer.name}, token ${grouped(i + 1)}`)),
      element("p", { class: "chips neighbours" }, ...neighbours),
      element("dl", {}, ...rows.filter(Boolean).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    );
  }

  /** Show how the word of a token is segmented, and other segmentations. */
  async pick(tokenizer, text, columns, i) {
    this.picked = { tokenizer, i };
    const request = ++this.latest;
    const part = surroundings(text, columns.starts[i], columns.ends[i]);
    if (columns.isTemplate(i) || !part.text.trim()) {
      this.word.replaceChildren(element("p", { class: "note" }, "This token is not made from a word."));
      return;
    }
    try {
      const found = await explain(tokenizer.index, part.text);
      if (request !== this.latest) return;
      const word = found.words.find(({ span }) => span[0] <= part.at && part.at < span[1]) ?? found.words[0];
      if (!word) return;
      const others = tokenizer.samples ? segmentationsView(tokenizer.index, tokenizer.view, part.text) : null;
      this.word.replaceChildren(
        element("h3", {}, "How ", element("code", {}, visible(word.word)), " is split"),
        ...wordView(word, this.facts.clientWidth - FRAME),
        ...(others ? [element("h3", {}, "Other segmentations"), ...others.elements] : []),
      );
      this.root.scrollTop = 0;
      await others?.shown;
    } catch (error) {
      if (request === this.latest) this.word.replaceChildren(element("p", { class: "error" }, error.message));
    }
  }
}

function hint() {
  if (isTouch()) return ["Tap a token for its id and bytes, and to see how its word was split."];
  return [
    "Point at a token for its id and bytes. Click it, or press Enter, to see how its word was split. ",
    "Arrow keys move: ",
    ...["←", "→", "↑", "↓"].map((key) => element("kbd", {}, key)),
  ];
}

function inHex(byte) {
  return byte.toString(16).padStart(2, "0");
}

function spanOf(text, columns, i) {
  const [start, end] = [columns.starts[i], columns.ends[i]];
  const before = characters(text, 0, start);
  return `${grouped(before)} to ${grouped(before + characters(text, start, end))}`;
}

/** Return the number of characters between two positions in UTF-16 units. */
function characters(text, start, end) {
  let count = end - start;
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** Return the text between whitespace around a span, with one space before it, and where the span is, in characters. */
function surroundings(text, start, end) {
  let first = start;
  while (first < end - 1 && /\s/.test(text[first])) first++;
  let from = first;
  while (from > 0 && first - from < MOST_UNITS && !/\s/.test(text[from - 1])) from--;
  if (from > 0 && text[from - 1] === " ") from--;
  let to = Math.max(end, start + 1);
  while (to < text.length && to - end < MOST_UNITS && !/\s/.test(text[to])) to++;
  const part = text.slice(from, Math.min(to, from + 2 * MOST_UNITS));
  return { text: part, at: characters(text, from, first) };
}
