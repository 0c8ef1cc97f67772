// The best segmentations of a word, and samples of them with a seed.

import { element } from "./dom.js";
import { segmentations } from "./requests.js";
import { chips } from "./word_views.js";

/**
 * Return the elements of a form and its results for a text and a tokenizer, and a promise of the first results.
 *
 * `view` is the tokenizer's view.
 */
export function segmentationsView(tokenizer, view, text) {
  const isScored = view === "lattice";
  const field = (label, input) => element("label", {}, `${label} `, input);
  const draw = element(
    "select",
    { "aria-label": "Kind of segmentations" },
    isScored && element("option", { value: "best" }, "n-best"),
    element("option", { value: "sample" }, isScored ? "samples" : "samples (dropout)"),
  );
  const n = element("input", { type: "number", min: 1, max: 64, value: 8 });
  const alpha = element("input", { type: "number", min: 0, max: isScored ? 100 : 1, step: 0.05, value: isScored ? 0.5 : 0.2 });
  const seed = element("input", { type: "number", min: 0, max: 999999999, value: 1 });
  const again = element("button", { type: "button", class: "plain" }, "Next seed");
  const results = element("div", { "aria-live": "polite" });
  const sampling = element("span", { class: "bar" }, field(isScored ? "alpha" : "dropout", alpha), field("seed", seed), again);
  let latest = 0;

  async function show() {
    const isSample = draw.value === "sample";
    sampling.hidden = !isSample;
    const request = ++latest;
    const settings = { draw: draw.value, n: n.value || 8, alpha: alpha.value || 0, seed: seed.value || 0 };
    try {
      const found = await segmentations(tokenizer, text, settings);
      if (request === latest) results.replaceChildren(table(found, isSample));
    } catch (error) {
      if (request === latest) results.replaceChildren(element("p", { class: "error" }, error.message));
    }
  }

  for (const input of [draw, n, alpha, seed]) input.addEventListener("change", show);
  again.addEventListener("click", () => {
    seed.value = (Number(seed.value) + 1) % 1e9;
    show();
  });
  const form = element("div", { class: "bar" }, draw, field("n", n), sampling);
  return { elements: [form, results], shown: show() };
}

function table(found, isSample) {
  const rows = isSample ? drawn(found) : found.map((one) => ({ ...one, times: 0 }));
  const most = Math.max(...rows.map((row) => row.times || Math.exp(row.logProbability)));
  const lines = rows.map((row) => {
    const probability = row.logProbability === null ? null : Math.exp(row.logProbability);
    const share = (row.times || probability) / most;
    const meter = element("span", { class: "meter" });
    meter.style.setProperty("--share", share);
    return element(
      "tr",
      {},
      element("td", {}, chips(row.tokens)),
      isSample && element("td", { class: "number" }, `${row.times}×`),
      element("td", { class: "number" }, probability === null ? "" : probability.toPrecision(3)),
      element("td", { class: "share" }, meter),
    );
  });
  const names = ["segmentation", ...(isSample ? ["drawn"] : []), found[0]?.score == null ? "" : "probability", ""];
  const head = names.map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  return element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
}

/** Return each distinct sample with the number of times it was drawn, the most frequent first. */
function drawn(found) {
  const groups = new Map();
  for (const one of found) {
    const key = one.tokens.join("\u0000");
    if (!groups.has(key)) groups.set(key, { ...one, times: 0 });
    groups.get(key).times++;
  }
  return [...groups.values()].sort((a, b) => b.times - a.times);
}
