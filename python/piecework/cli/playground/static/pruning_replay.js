// The removals of the pruning learner: the words as the present entries split them, and the entries with the least loss.

import { element, grouped, sentence, visible } from "./dom.js";

const MOST_WORDS = 120;
const UNKNOWN = "[UNK]";
const PREFIX = "##";

export class PruningReplay {
  /** `step(by)` moves the slider. */
  constructor(trace, root, step) {
    this.trace = trace;
    this.go = step;
    this.words = element("div", { class: "words" });
    this.losses = element("div", { class: "pairs" });
    this.vocabulary = element("div", { class: "vocabulary" });
    root.replaceChildren(element("div", { class: "columns" }, this.words, this.losses), this.vocabulary);
  }

  show(step) {
    const entries = this.entriesAfter(step);
    this.showWords(step, entries);
    this.showLosses(step);
    this.showVocabulary(step, entries);
  }

  /** Return the entries that are present after a number of steps. */
  entriesAfter(step) {
    const { seeds, alphabet, special_tokens: special, steps } = this.trace;
    const entries = new Set([...special, ...alphabet, ...seeds.map(([seed]) => seed)]);
    for (const { removed, put_back: back } of steps.slice(0, step)) {
      if (back) entries.add(back.entry);
      entries.delete(removed.entry);
    }
    return entries;
  }

  showWords(step, entries) {
    const before = step ? this.entriesAfter(step - 1) : entries;
    const rows = this.trace.words.slice(0, MOST_WORDS).map(([word, count]) => {
      const tokens = longestMatch(word, entries);
      const isChanged = tokens.join(" ") !== longestMatch(word, before).join(" ");
      const chips = tokens.map((token, i) => element("span", { class: `chip ${isChanged ? "new" : `c${i % 5}`}` }, visible(token)));
      return element("li", {}, element("span", { class: "chips" }, ...chips), element("span", { class: "quiet number" }, `×${grouped(count)}`));
    });
    const more = this.trace.words.length - rows.length;
    this.words.replaceChildren(
      element("h2", {}, "Words"),
      element("p", { class: "note" }, "Each word takes the longest entry that fits, then the next. Words that the last removal changed are marked."),
      element("ul", { class: "plain" }, ...rows),
      more > 0 ? element("p", { class: "note" }, `… and ${grouped(more)} more words`) : "",
    );
  }

  /** Show the entries that could go next, the least loss first. */
  showLosses(step) {
    const { steps, step_count: count, note, stopped_early: stopped } = this.trace;
    const next = steps[step];
    if (!next) {
      const isAll = count === steps.length;
      const reason = isAll ? (stopped ?? "The vocabulary has the required size.") : "The next removals are not shown.";
      this.losses.replaceChildren(element("h2", {}, "No next removal"), note ? sentence(note) : element("p", {}, reason));
      return;
    }
    const { removed, put_back: back, candidates, removable, tied } = next;
    const title = back ? `Next: ${visible(back.entry)} returns for ${visible(removed.entry)}` : `Next: ${visible(removed.entry)} goes`;
    const rule = tied > 1 ? `; ${grouped(tied)} share it, and of these the rarest goes first, then the longest` : "";
    const saved = back ? `Without ${visible(back.entry)} the corpus has ${shown(back.loss)} more tokens. ` : "";
    this.losses.replaceChildren(
      element("h2", {}, title),
      element("p", { class: "note" }, `${saved}The least loss of ${grouped(removable)} entries: ${shown(removed.loss)} more tokens${rule}.`),
      table(candidates, removed.entry),
      removable > candidates.length
        ? element("p", { class: "note" }, `… and ${grouped(removable - candidates.length)} more entries`)
        : "",
      this.jump(step),
    );
  }

  /** Return a button to the next removal that changes words: most of the first ones cost nothing. */
  jump(step) {
    const { steps } = this.trace;
    const at = steps.findIndex(({ changed_words: changed }, i) => i >= step && changed > 0);
    if (at < 0) return "";
    const move = () => this.go(at + 1 - step);
    return element("p", { class: "bar" }, element("button", { type: "button", on: { click: move } }, "To the next removal that changes words"));
  }

  showVocabulary(step, entries) {
    const { seeds, alphabet, special_tokens: special, steps } = this.trace;
    const gone = steps[step - 1]?.removed.entry;
    const fixed = [...special, ...alphabet];
    const left = seeds.map(([seed]) => seed).filter((seed) => entries.has(seed) && !fixed.includes(seed));
    const chips = (tokens, kind) => tokens.map((token) => element("span", { class: kind }, visible(token)));
    this.vocabulary.replaceChildren(
      element("h2", {}, `Vocabulary, ${grouped(entries.size)} tokens`),
      gone === undefined ? "" : element("p", { class: "note" }, "Removed: ", ...chips([gone], "chip faint")),
      element("p", { class: "chips" }, ...chips(left, "chip"), ...chips(fixed, "chip faint")),
    );
  }
}

/** Return the tokens of a word by longest match. */
function longestMatch(word, entries) {
  const characters = [...word];
  const tokens = [];
  for (let start = 0; start < characters.length; ) {
    const form = (end) => (start ? PREFIX : "") + characters.slice(start, end).join("");
    let end = characters.length;
    while (end > start && !entries.has(form(end))) end--;
    if (end === start) return [UNKNOWN];
    tokens.push(form(end));
    start = end;
  }
  return tokens;
}

function table(candidates, removed) {
  const most = Math.max(...candidates.map(({ loss }) => loss), 1e-9);
  const head = ["entry", "count", "loss", ""].map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  const rows = candidates.map(({ entry, count, loss }) => {
    const meter = element("span", { class: "meter" });
    meter.style.setProperty("--share", Math.max(loss, 0) / most);
    return element(
      "tr",
      { class: entry === removed ? "winner" : null },
      element("td", {}, element("span", { class: "chip" }, visible(entry))),
      element("td", { class: "number" }, grouped(count)),
      element("td", { class: "number" }, shown(loss)),
      element("td", { class: "share" }, meter),
    );
  });
  return element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function shown(loss) {
  return Number.isInteger(loss) ? grouped(loss) : loss.toPrecision(4);
}
