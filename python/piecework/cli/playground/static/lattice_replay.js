// The lattice of one word while the Unigram learner runs: pieces, scores and probabilities at each step.

import { element, grouped, visible } from "./dom.js";
import { spanDiagram } from "./span_diagram.js";

const CELL = 66;
const MOST_CELLS = 32;
const MOST_WORDS = 200;

export class LatticeReplay {
  constructor(trace, pick) {
    this.trace = trace;
    this.drawing = element("div");
    this.caption = element("p", { class: "note", "aria-live": "polite" });
    const first = trace.steps[0]?.lattice ?? trace.lattice;
    this.root = element("section", { "aria-label": "Lattice of a word" });
    if (!first) return;
    this.first = first.lattice.edges;
    this.rows = rowsOf(this.first);
    const options = trace.words.slice(0, MOST_WORDS).map(([word, count]) =>
      element("option", { value: word, selected: word === first.word }, `${visible(word)} (${grouped(count)})`),
    );
    const choice = element("select", {}, ...options);
    choice.addEventListener("change", () => pick(choice.value));
    this.root.append(
      element("h2", {}, "Lattice of a word"),
      element("div", { class: "bar" }, element("label", {}, "Word ", choice)),
      this.caption,
      this.drawing,
    );
  }

  /** Show the lattice with which a step begins; after the last step, the one at the end follows. */
  show(step) {
    if (!this.first) return;
    const { steps } = this.trace;
    const current = (steps[Math.max(step - 1, 0)] ?? this.trace).lattice;
    this.caption.textContent = captionOf(step, steps[step - 1], current);
    const shown = [this.drawn(current)];
    if (step && step === steps.length) {
      shown.push(element("p", { class: "note" }, "With the pieces at the end:"), this.drawn(this.trace.lattice));
    }
    this.drawing.replaceChildren(...shown);
  }

  drawn({ word, lattice, probabilities }) {
    const cells = [...word];
    if (cells.length > MOST_CELLS) {
      return element("p", { class: "note" }, `Drawings show words of at most ${MOST_CELLS} characters.`);
    }
    const left = new Map(lattice.edges.map((edge, i) => [keyOf(edge), { edge, probability: probabilities[i] }]));
    const bars = this.first.map((edge) => this.bar(edge, left.get(keyOf(edge))));
    const title = `Lattice of ${word}: the best path is ${lattice.best.join(" ")}`;
    return element(
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Drawing" },
      spanDiagram({ cells, bars, title, nodes: true, cellWidth: CELL }),
    );
  }

  bar(edge, found) {
    const { start, end, piece } = edge;
    const row = this.rows.get(keyOf(edge));
    if (!found) return { start, end, row, label: piece, note: "removed", kind: "failed" };
    const { score, is_best: isBest, is_known: isKnown } = found.edge;
    return {
      start,
      end,
      row,
      label: piece,
      note: `${score.toFixed(2)}, ${percent(found.probability)}`,
      short: percent(found.probability),
      kind: isBest ? "best" : isKnown ? "plain" : "failed",
      weight: found.probability,
    };
  }
}

function captionOf(step, current, { lattice }) {
  const best = `Best path: ${lattice.best.map(visible).join(" ")}`;
  if (!step) return `The seeds that occur in the word, with their scores and probabilities. ${best}`;
  if (current.kind === "TrainingPruning") {
    return `Before the pruning: pieces that lose the least are removed from the next lattice. ${best}`;
  }
  const about = "A percentage is the probability that a segmentation has the piece; times the count of the word, it is";
  return `${about} what the word adds to the expected count. ${best}`;
}

function percent(probability) {
  const rounded = probability >= 0.0995 ? (100 * probability).toFixed(0) : (100 * probability).toFixed(1);
  return `${rounded} %`;
}

function keyOf({ start, end }) {
  return `${start}-${end}`;
}

/** Return span -> row, the shortest at the bottom, so that a piece keeps its place in all steps. */
function rowsOf(edges) {
  const order = [...edges].sort((a, b) => a.end - a.start - (b.end - b.start) || a.start - b.start);
  const taken = [];
  const rows = new Map();
  for (const { start, end } of order) {
    let row = 0;
    while (taken[row]?.some((other) => start < other.end && other.start < end)) row++;
    (taken[row] ??= []).push({ start, end });
    rows.set(keyOf({ start, end }), row);
  }
  return rows;
}
