// The merges of a learner: the words as they are split at a step, the best pairs, and the vocabulary so far.

import { element, grouped, visible } from "./dom.js";

const MOST_WORDS = 120;

export class MergeReplay {
  constructor(trace, root, next) {
    this.trace = trace;
    this.next = next;
    this.guesses = new Map();
    this.splits = [trace.splits.map(([symbols]) => symbols)];
    this.words = element("div", { class: "words" });
    this.pairs = element("div", { class: "pairs" });
    this.vocabulary = element("div", { class: "vocabulary" });
    root.replaceChildren(
      element("div", { class: "columns" }, this.words, this.pairs),
      this.vocabulary,
    );
  }

  show(step, isGuessing) {
    this.isGuessing = isGuessing;
    this.step = step;
    this.showWords(step);
    this.showPairs(step, isGuessing);
    this.showVocabulary(step);
  }

  /** Return the symbols of each word after a step. */
  splitsAt(step) {
    for (let made = this.splits.length; made <= step; made++) {
      const { left, right, token } = this.trace.steps[made - 1].winner;
      this.splits.push(this.splits[made - 1].map((symbols) => merged(symbols, left, right, token)));
    }
    return this.splits[step];
  }

  /** Return token -> the parts it was merged from, at the steps so far. */
  partsAt(step) {
    const parts = new Map();
    for (const { winner } of this.trace.steps.slice(0, step)) {
      if (!parts.has(winner.token)) parts.set(winner.token, [winner.left, winner.right]);
    }
    return parts;
  }

  showWords(step) {
    const parts = this.partsAt(step);
    const made = step ? this.trace.steps[step - 1].winner.token : null;
    const rows = this.splitsAt(step).slice(0, MOST_WORDS).map((symbols, i) => this.wordRow(symbols, i, parts, made));
    const more = this.trace.splits.length - rows.length;
    this.words.replaceChildren(
      element("h2", {}, "Words"),
      element("p", { class: "note" }, "Select a token to undo its merge."),
      element("ul", { class: "plain" }, ...rows),
      more > 0 ? element("p", { class: "note" }, `… and ${grouped(more)} more words`) : "",
    );
  }

  wordRow(symbols, i, parts, made) {
    const row = element("li");
    const show = (tokens) => {
      const chips = tokens.map((token, at) => {
        const kind = `chip ${token === made ? "new" : `c${at % 5}`}`;
        if (!parts.has(token)) return element("span", { class: kind }, visible(token));
        const undo = () => {
          show(tokens.toSpliced(at, 1, ...parts.get(token)));
          row.querySelectorAll("button")[0]?.focus();
        };
        return element("button", { type: "button", class: kind, title: `Undo: ${parts.get(token).join(" + ")}`, on: { click: undo } }, visible(token));
      });
      row.replaceChildren(
        element("span", { class: "chips" }, ...chips),
        element("span", { class: "quiet number" }, `×${grouped(this.trace.splits[i][1])}`),
      );
    };
    show(symbols);
    return row;
  }

  /** Show the pairs of the next step; what wins is hidden while it is guessed. */
  showPairs(step, isGuessing) {
    const next = this.trace.steps[step];
    if (!next) {
      const reason = this.trace.stopped_early ?? "The vocabulary has the required size.";
      this.pairs.replaceChildren(element("h2", {}, "No next merge"), element("p", {}, reason), this.scoreOfGuesses());
      return;
    }
    const guess = this.guesses.get(step);
    const isHidden = isGuessing && guess === undefined;
    const most = Math.max(...next.candidates.map(({ score }) => Number(score)));
    const candidates = isHidden ? inAlphabeticalOrder(next.candidates) : next.candidates;
    const rows = candidates.map((pair) => this.pairRow(pair, next, most, isHidden, guess, step));
    const names = isHidden ? ["pair", "count", "left", "right", ""] : ["pair", "count", "left", "right", "score", ""];
    const head = names.map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
    this.pairs.replaceChildren(
      element("h2", {}, isHidden ? "Which pair is merged next?" : `Next: ${visible(next.winner.left)} + ${visible(next.winner.right)}`),
      element("p", { class: "note" }, isHidden ? `The best ${candidates.length} of ${grouped(next.pairs)} pairs, in alphabetical order.` : next.reason),
      element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
      !isHidden && next.pairs > rows.length ? element("p", { class: "note" }, `… and ${grouped(next.pairs - rows.length)} more pairs`) : "",
      next.note && !isHidden ? element("p", { class: "note" }, `Erratum: ${next.note}`) : "",
      isGuessing ? this.scoreOfGuesses() : "",
    );
  }

  pairRow(pair, next, most, isHidden, guess, step) {
    const isWinner = pair.token === next.winner.token && pair.left === next.winner.left;
    const name = `${pair.left} ${pair.right}`;
    const [left, right] = [pair.left, pair.right].map((token, i) => element("span", { class: `chip c${i}` }, visible(token)));
    const label = element("span", { class: "chips" }, left, " ", right);
    const choose = () => {
      this.guesses.set(step, name);
      this.show(step, true);
      this.pairs.querySelector("button.next")?.focus();
    };
    const meter = element("span", { class: "meter" });
    meter.style.setProperty("--share", most ? Number(pair.score) / most : 0);
    const number = (value) => element("td", { class: "number" }, value);
    const verdict = guess === name ? (isWinner ? "your guess, right" : "your guess") : "";
    return element(
      "tr",
      { class: isHidden ? null : isWinner ? "winner" : null },
      element("td", {}, isHidden ? element("button", { type: "button", class: "guess", "aria-label": `Guess ${label.textContent}`, on: { click: choose } }, label) : label),
      number(grouped(pair.count)),
      number(grouped(pair.left_count)),
      number(grouped(pair.right_count)),
      isHidden ? null : number(shownScore(pair)),
      element("td", { class: "share" }, isHidden ? "" : verdict ? element("span", { class: "verdict" }, verdict) : meter),
    );
  }

  scoreOfGuesses() {
    if (!this.guesses.size) return "";
    const right = [...this.guesses].filter(([step, name]) => {
      const { left, right: other } = this.trace.steps[step].winner;
      return name === `${left} ${other}`;
    });
    const go = this.trace.steps[this.step]
      ? element("button", { type: "button", class: "next", on: { click: () => this.next() } }, "Merge it")
      : "";
    return element("p", { class: "bar", role: "status" }, `${right.length} of ${this.guesses.size} guesses right`, this.guesses.has(this.step) ? go : "");
  }

  showVocabulary(step) {
    const { vocab, steps, alphabet, special_tokens: special } = this.trace;
    const size = step ? steps[step - 1].vocab_size : (steps[0]?.vocab_size ?? vocab.length) - (steps[0]?.is_new ? 1 : 0);
    const fixed = new Set([...alphabet, ...special]);
    const made = step ? steps[step - 1].winner.token : null;
    const learned = vocab.slice(0, size).filter((token) => !fixed.has(token));
    this.vocabulary.replaceChildren(
      element("h2", {}, `Vocabulary, ${grouped(size)} tokens`),
      element(
        "p",
        { class: "chips" },
        ...learned.map((token) => element("span", { class: token === made ? "chip new" : "chip" }, visible(token))),
        ...[...special, ...alphabet].map((token) => element("span", { class: "chip faint" }, visible(token))),
      ),
    );
  }
}

function merged(symbols, left, right, token) {
  const found = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      found.push(token);
      i++;
    } else found.push(symbols[i]);
  }
  return found;
}

function inAlphabeticalOrder(pairs) {
  return pairs.toSorted((a, b) => (`${a.left} ${a.right}` < `${b.left} ${b.right}` ? -1 : 1));
}

function shownScore({ score, score_fraction: fraction }) {
  if (fraction) return `${fraction}`;
  return Number.isInteger(score) ? grouped(score) : score.toPrecision(4);
}
