// Steppers of the pages: the recorded steps of a learner, and the search of a word by longest match.
//
// <div data-stepper="bpe" data-size="40">low lower newest</div>      a learner on a text
// <div data-word-search="[UNK] b hu ##g ##gs">hugs</div>             entries, and a word to search with them
//
// Where the site has the playground, its own module draws the learner, and readers can change the text.

import { element, grouped } from "./dom.js";
import { MergeReplay } from "./merge_replay.js";
import { UnigramReplay } from "./unigram_replay.js";
import { wordView } from "./word_views.js";

class RecordedStepper {
  constructor(place, styles) {
    const record = place.nextElementSibling;
    if (!record?.matches("script[data-steps]")) return;
    this.trace = JSON.parse(record.textContent);
    const last = this.trace.steps.length;
    this.slider = element("input", { type: "range", min: 0, max: last, value: place.dataset.step ?? 0, "aria-label": "Step" });
    this.position = element("output", { class: "number" });
    this.body = element("div", { class: "replay" });
    const Replay = place.dataset.stepper === "unigram" ? UnigramReplay : MergeReplay;
    const text = element("p", { class: "note" }, `Text: ${place.textContent.trim()}`);
    const button = (label, name, by) =>
      element("button", { type: "button", "aria-label": name, title: name, on: { click: () => this.step(by) } }, label);
    const bar = element("div", { class: "bar steps" }, button("◀", "Previous step", -1), this.slider, button("▶", "Next step", 1), this.position);
    shadowOf(place, styles).append(element("div", { class: "stepper" }, text, bar, this.body));
    this.replay = new Replay(this.trace, this.body, () => this.step(1), () => {});
    // The lattices of other words are not recorded.
    for (const choice of this.body.querySelectorAll("select")) choice.closest(".bar").remove();
    this.slider.addEventListener("input", () => this.show());
    this.show();
  }

  step(by) {
    this.slider.value = Number(this.slider.value) + by;
    this.show();
  }

  show() {
    const [step, last] = [Number(this.slider.value), this.trace.steps.length];
    this.position.value = step ? `step ${step} of ${grouped(last)}` : `before step 1 of ${grouped(last)}`;
    this.replay.show(step, false);
  }
}

class WordSearch {
  constructor(place, styles) {
    this.entries = element("textarea", { rows: 2, spellcheck: "false" });
    this.entries.value = place.dataset.wordSearch;
    this.word = element("input", { type: "text", spellcheck: "false", maxlength: 40, value: place.textContent.trim() });
    this.body = element("div", { class: "word", "aria-live": "polite" });
    shadowOf(place, styles).append(
      element(
        "div",
        { class: "stepper" },
        element("label", {}, "Entries ", this.entries),
        element("label", {}, "Word ", this.word),
        this.body,
      ),
    );
    for (const field of [this.entries, this.word]) field.addEventListener("input", () => this.show());
    this.show();
  }

  show() {
    const entries = new Set(this.entries.value.split(/\s+/).filter(Boolean));
    const word = this.word.value.trim().split(/\s+/)[0] ?? "";
    this.body.replaceChildren(...(word ? wordView({ word, search: searchOf(word, entries) }) : []));
  }
}

/** Return the prefixes that are tried at each position, the longest first, and the tokens. */
function searchOf(word, entries) {
  const characters = [...word];
  const positions = [];
  const tokens = [];
  for (let start = 0; start < characters.length; ) {
    const tried = [];
    let end = characters.length;
    for (; end > start; end--) {
      tried.push((start ? "##" : "") + characters.slice(start, end).join(""));
      if (entries.has(tried.at(-1))) break;
    }
    const match = end > start ? tried.at(-1) : null;
    positions.push({ start, tried, match });
    if (!match) {
      const rest = characters.slice(start).join("");
      const why = `no prefix of '${rest}' at position ${start} is an entry`;
      return { positions, tokens: ["[UNK]"], unknown_because: why };
    }
    tokens.push(match);
    start = end;
  }
  return { positions, tokens };
}

function shadowOf(place, styles) {
  const shadow = place.attachShadow({ mode: "open" });
  shadow.append(element("style", {}, styles));
  return shadow;
}

const STYLES = globalThis.stepperStyles;
const isServed = location.protocol !== "file:";
for (const place of document.querySelectorAll("[data-word-search]")) new WordSearch(place, STYLES);
const learners = document.querySelectorAll("[data-stepper]");
if (learners.length && globalThis.hasPlayground && isServed) {
  const base = document.querySelector("script[src$='assets/steppers.js']").src;
  document.head.append(element("script", { type: "module", src: new URL("../playground/static/stepper.js", base) }));
} else {
  for (const place of learners) new RecordedStepper(place, STYLES);
}
