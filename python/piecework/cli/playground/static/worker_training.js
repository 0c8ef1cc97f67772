// Training in the worker: on an example or a text, with the templates that the page was built with.

import { grouped } from "./dom.js";
import { WorkerError } from "./worker_client.js";

export const CORPUS_CHARS = 200_000;
export const VOCAB_SIZE = 8_000;
const STEPS = 300;
const REMOVALS = 800; // most of the first ones change no word

/** Return presets, templates, examples and encodings, which the page was built with. */
export async function loadPageData() {
  return (await fetch(new URL("./page_data.json", import.meta.url))).json();
}

/** Throw for a text of more than `most` characters. */
export function checkLength(name, text, most) {
  if (text.length <= most) return;
  const found = `${name} has ${grouped(text.length)} characters; the limit of this page is ${grouped(most)}`;
  throw new WorkerError(`${found}. The Python package has no such limit.`);
}

/** Return the steps of a learner, as `piecework serve` returns them. */
export async function trainIn(client, data, { example, learner, preset, vocab_size: size, word }, text) {
  checkLength("corpus", text, CORPUS_CHARS);
  const vocabSize = Number(size);
  if (!(vocabSize >= 1 && vocabSize <= VOCAB_SIZE)) {
    throw new WorkerError(`vocab_size must be a number from 1 to ${grouped(VOCAB_SIZE)}, not ${size}`);
  }
  if (!example && !text.trim()) {
    throw new WorkerError("corpus: has no words; give a text, or choose one of the examples");
  }
  const published = example && !preset ? data.examples[example].templates[learner] : undefined;
  const name = preset || data.defaults[learner];
  const template = published ?? data.templates[learner][name];
  const corpus = example ? data.examples[example].text : text;
  const steps = learner === "wordpiece-pruning" ? REMOVALS : STEPS;
  const { normalized, ...trace } = await client.call("train", corpus, learner, vocabSize, template, steps, word);
  trace.note = nothingToPrune(trace, vocabSize);
  return { ...trace, preset: published ? null : { name, about: data.presets[learner][name] ?? "", ...normalized } };
}

/** Return the sentence that all seeds of a run fit into its vocabulary, null if they do not, as the package has it. */
function nothingToPrune({ seeds, alphabet, special_tokens: special }, vocabSize) {
  const fixed = new Set([...special, ...alphabet]);
  const removable = seeds.filter(([seed]) => !fixed.has(seed)).length;
  if (!seeds.length || fixed.size + removable > vocabSize) return null;
  const fit = seeds.length === 1 ? "seed fits" : "seeds fit";
  const found = `nothing to prune: ${grouped(seeds.length)} ${fit} into a vocabulary of ${grouped(vocabSize)}`;
  return removable ? `${found}; try a vocabulary of ${grouped(fixed.size + Math.floor(removable / 2))}` : found;
}
