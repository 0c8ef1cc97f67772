// The steps of the Unigram learner: expected counts of each EM iteration, and what each pruning round removes.

import { element, grouped, sentence, svg, visible } from "./dom.js";
import { LatticeReplay } from "./lattice_replay.js";

const WIDTH = 640;
const HEIGHT = 150;
const PAD = 28;
const LEFT = 76;

export class UnigramReplay {
  constructor(trace, root, _, pick) {
    this.trace = trace;
    this.chart = element("div");
    this.body = element("div");
    this.lattice = new LatticeReplay(trace, pick);
    root.replaceChildren(element("div", { class: "columns unigram" }, element("div", {}, this.chart, this.lattice.root), this.body));
  }

  show(step) {
    const { note, steps } = this.trace;
    this.chart.replaceChildren(...(note ? [sentence(note)] : likelihoodChart(steps, step)));
    this.lattice.show(step);
    const current = this.trace.steps[step - 1];
    if (!current) this.body.replaceChildren(...this.seeds());
    else if (current.kind === "TrainingEstimate") this.body.replaceChildren(...estimate(current));
    else this.body.replaceChildren(...pruning(current));
    if (step === this.trace.steps.length) this.body.append(...this.result());
  }

  seeds() {
    const { seeds } = this.trace;
    const rows = seeds.slice(0, 24).map(([piece, score]) => [piece, score.toFixed(4), "", Math.exp(score)]);
    return [
      element("h2", {}, `${grouped(seeds.length)} seeds`),
      element("p", { class: "note" }, "Frequent substrings of the words, from which pieces are pruned."),
      table(["piece", "score", ""], rows),
    ];
  }

  result() {
    const { vocab, scores } = this.trace;
    const order = vocab.map((piece, i) => [piece, scores[i]]).filter(([, score]) => score).sort((a, b) => b[1] - a[1]);
    return [
      element("h2", {}, `Result: ${grouped(vocab.length)} pieces`),
      element("p", { class: "chips" }, ...order.map(([piece, score]) => element("span", { class: "chip", title: score.toFixed(4) }, visible(piece)))),
    ];
  }
}

function estimate(step) {
  const rows = step.estimates.map(({ piece, expected, score }) => [
    piece,
    expected.toFixed(3),
    score === null ? "dropped" : score.toFixed(4),
    expected,
  ]);
  return [
    element("h2", {}, `Round ${step.round}, EM iteration ${step.iteration}`),
    element("p", { class: "note" }, `${grouped(step.pieces)} pieces. Expected counts over all segmentations, and the new scores.`),
    table(["piece", "expected count", "new score"], rows),
    step.dropped.length ? element("p", {}, "Dropped, expected less than 0.5 times: ", chips(step.dropped)) : "",
  ];
}

function pruning(step) {
  const rows = (found) => found.map(({ piece, count, loss, reason }) => [piece, grouped(count), loss === null ? reason : loss.toFixed(4), loss ?? 0]);
  const names = ["piece", "count", "loss"];
  return [
    element("h2", {}, `Round ${step.round}, pruning`),
    element("p", { class: "note" }, `${grouped(step.removed_count)} of ${grouped(step.pieces)} pieces are removed: those whose loss is the least.`),
    element(
      "div",
      { class: "columns" },
      element("div", {}, element("h3", {}, "Removed"), table(names, rows(step.removed))),
      element("div", {}, element("h3", {}, "Kept, least loss first"), table(names, rows(step.kept))),
    ),
  ];
}

function chips(pieces) {
  return element("span", { class: "chips" }, ...pieces.map((piece) => element("span", { class: "chip faint" }, visible(piece))));
}

/** Return a table whose rows end with a number for their bar. */
function table(names, rows) {
  const most = Math.max(...rows.map((row) => row.at(-1)), 1e-9);
  const head = [...names, ""].map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  const body = rows.map((row) => {
    const meter = element("span", { class: "meter" });
    meter.style.setProperty("--share", row.at(-1) / most);
    const [piece, ...numbers] = row.slice(0, -1);
    return element(
      "tr",
      {},
      element("td", {}, element("span", { class: "chip" }, visible(piece))),
      ...numbers.map((value) => element("td", { class: "number" }, value)),
      element("td", { class: "share" }, meter),
    );
  });
  return element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** Return a chart of the log-likelihood at each EM iteration, with the current step marked. */
function likelihoodChart(steps, current) {
  const points = steps.filter(({ kind }) => kind === "TrainingEstimate");
  if (points.length < 2) return [];
  const values = points.map((step) => step.log_likelihood);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (number) => LEFT + ((number - 1) / Math.max(steps.length - 1, 1)) * (WIDTH - LEFT - PAD);
  const y = (value) => HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD);
  const line = points.map((step) => `${x(step.number)},${y(step.log_likelihood)}`).join(" ");
  const title = `Log-likelihood by step, from ${values[0].toFixed(2)} to ${values.at(-1).toFixed(2)}`;
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
  for (const step of steps.filter(({ kind }) => kind === "TrainingPruning")) {
    drawing.append(svg("line", { class: "guide", x1: x(step.number), x2: x(step.number), y1: 8, y2: HEIGHT - PAD }));
  }
  drawing.append(svg("polyline", { points: line }));
  for (const step of points) {
    const kind = step.number === current ? "dot active" : "dot";
    const dot = svg("circle", { class: kind, cx: x(step.number), cy: y(step.log_likelihood), r: step.number === current ? 6 : 3.5 });
    drawing.append(dot);
  }
  const label = (value, at) => {
    const text = svg("text", { x: 4, y: at });
    text.textContent = value;
    drawing.append(text);
  };
  label(high.toFixed(1), PAD + 4);
  label(low.toFixed(1), HEIGHT - PAD + 4);
  const caption = "Before each EM iteration; a line is a pruning round.";
  return [element("h2", {}, "Log-likelihood"), drawing, element("p", { class: "note" }, caption)];
}
