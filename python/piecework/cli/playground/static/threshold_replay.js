// The thresholds of the top-down learner: the first words as each vocabulary splits them, and the entries of most count.

import { element, grouped, visible } from "./dom.js";

export class ThresholdReplay {
  constructor(trace, root) {
    this.trace = trace;
    this.words = element("div", { class: "words" });
    this.entries = element("div", { class: "pairs" });
    this.vocabulary = element("div", { class: "vocabulary" });
    root.replaceChildren(element("div", { class: "columns" }, this.words, this.entries), this.vocabulary);
  }

  show(step) {
    const current = this.trace.steps[step - 1];
    this.words.replaceChildren(...(current ? words(current.splits) : [element("h2", {}, "Words"), start()]));
    this.entries.replaceChildren(...(current ? entries(current) : []));
    this.showVocabulary(step);
  }

  /** Show the vocabulary that was learned, after the last threshold. */
  showVocabulary(step) {
    const { vocab, alphabet, special_tokens: special, steps, step_count: count } = this.trace;
    if (step < count || step < steps.length) {
      this.vocabulary.replaceChildren();
      return;
    }
    const fixed = new Set([...alphabet, ...special]);
    const chips = (tokens, kind) => tokens.map((token) => element("span", { class: kind }, visible(token)));
    const learned = vocab.filter((token) => !fixed.has(token));
    this.vocabulary.replaceChildren(
      element("h2", {}, `Vocabulary, ${grouped(vocab.length)} tokens`),
      element("p", { class: "note" }, "The least threshold that fits selects its entries; the most frequent ones of the next lower threshold fill the rest."),
      element("p", { class: "chips" }, ...chips(learned, "chip"), ...chips([...special, ...alphabet], "chip faint")),
    );
  }
}

function start() {
  return element("p", { class: "note" }, "The learner searches for the least number of occurrences at which the frequent substrings fit into the vocabulary.");
}

function words(splits) {
  const rows = splits.map(([tokens, count]) => {
    const chips = tokens.map((token, i) => element("span", { class: `chip c${i % 5}` }, visible(token)));
    return element("li", {}, element("span", { class: "chips" }, ...chips), element("span", { class: "quiet number" }, `×${grouped(count)}`));
  });
  return [
    element("h2", {}, "Words"),
    element("p", { class: "note" }, "The first words, as the vocabulary of this threshold splits them."),
    element("ul", { class: "plain" }, ...rows),
  ];
}

function entries({ threshold, low, high, fits, entries: found, selected, vocab_size: size }) {
  const most = Math.max(...found.map(([, count]) => count), 1);
  const head = ["entry", "count", ""].map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  const rows = found.map(([entry, count]) => {
    const meter = element("span", { class: "meter" });
    meter.style.setProperty("--share", count / most);
    return element(
      "tr",
      {},
      element("td", {}, element("span", { class: "chip" }, visible(entry))),
      element("td", { class: "number" }, grouped(count)),
      element("td", { class: "share" }, meter),
    );
  });
  const verdict = fits ? "It fits: lower thresholds follow." : "Too many: higher thresholds follow.";
  return [
    element("h2", {}, `${grouped(threshold)} occurrences`),
    element("p", { class: "note" }, `Between ${grouped(low)} and ${grouped(high)}. ${grouped(selected)} substrings are selected, a vocabulary of ${grouped(size)} tokens. ${verdict}`),
    element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
    selected > found.length ? element("p", { class: "note" }, `… and ${grouped(selected - found.length)} more entries`) : "",
  ];
}
