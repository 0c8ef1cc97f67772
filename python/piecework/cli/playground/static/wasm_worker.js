// The worker of the static page: the tokenizers, and the functions that the page calls.

import init, { Tokenizer, panicMessage, train, version } from "./wasm/piecework.js";

const ONLY_HERE = 1;
const TEMPLATE = 4;
const SPAN = 2 ** 26; // a span is one number: start * SPAN + end

const tokenizers = new Map();
let trained = null;

const functions = {
  version,

  /** Load a tokenizer from its files under a key; return its description. */
  open(key, files, ranks) {
    tokenizers.get(key)?.free();
    tokenizers.delete(key);
    const tokenizer = loaded(files, ranks);
    tokenizers.set(key, tokenizer);
    return tokenizer.describe();
  },

  close(key) {
    tokenizers.get(key)?.free();
    tokenizers.delete(key);
  },

  formatOf: (data) => Tokenizer.formatOf(data),

  /** Return the columns of the tokens of a text; undefined if the tokenizer was closed. */
  encode(key, text, special) {
    return tokenizers.has(key) ? columnsOf(tokenizers.get(key).encode(text, special)) : undefined;
  },

  /** Return the columns of the tokens of a text by several tokenizers. */
  encodeAll(keys, text, special) {
    const columns = keys.map((key) => functions.encode(key, text, special));
    const flags = functions.flagOnlyHere(columns);
    return columns.map((one, i) => ({ ...one, flags: flags[i] }));
  },

  /** Return the flags of several columns, with the tokens marked whose spans no other columns have. */
  flagOnlyHere(columns) {
    if (columns.length < 2) return columns.map(({ flags }) => flags);
    const spans = columns.map(spansOf);
    const ordered = spans.map((one) => (isOrdered(one) ? one : one.slice().sort()));
    return columns.map(({ flags }, at) => {
      const isShared = new Uint8Array(flags.length);
      ordered.forEach((other, i) => i !== at && markShared(spans[at], other, isShared));
      return flags.map((flag, i) => (flag & TEMPLATE || isShared[i] ? flag : flag | ONLY_HERE));
    });
  },

  decode: (key, ids) => tokenizers.get(key).decode(ids),
  explain: (key, text) => tokenizers.get(key).explain(text),

  segmentations(key, text, { draw, n, alpha, seed }) {
    return tokenizers.get(key).segmentations(text, draw, Number(n), Number(alpha ?? 0.1), Number(seed ?? 0));
  },

  train(text, learner, vocabSize, template, steps, word) {
    const training = train(text, learner, vocabSize, template, steps, word);
    const { trace } = training;
    trained?.free();
    trained = training.tokenizer();
    return trace;
  },

  /** Return the last trained tokenizer as a tokenizer.json. */
  saveTrained: () => trained.save(),
};

function loaded(files, ranks) {
  const [first, second] = files;
  if (ranks) return Tokenizer.loadRanks(first.data, first.name, ranks.pipeline, ranks.tokens, new Uint32Array(ranks.ids));
  if (second) return Tokenizer.loadMerges(first.data, second.data, first.name, second.name);
  return Tokenizer.load(first.data, first.name);
}

function columnsOf(tokens) {
  const { ids, starts, ends, flags, distinct, unknown } = tokens;
  const header = { count: ids.length, distinct, unknown, tokens: tokens.tokens };
  tokens.free();
  return { header, ids, starts, ends, flags };
}

/** Return a number for each span; tokens that the post-processor added have the span before them, or -1. */
function spansOf({ starts, ends, flags }) {
  const spans = new Float64Array(starts.length);
  let last = -1;
  for (let i = 0; i < spans.length; i++) {
    if (!(flags[i] & TEMPLATE)) last = starts[i] * SPAN + ends[i];
    spans[i] = last;
  }
  return spans;
}

function isOrdered(numbers) {
  for (let i = 1; i < numbers.length; i++) if (numbers[i] < numbers[i - 1]) return false;
  return true;
}

/** Mark the spans that are among others, which are in order; the spans nearly are. */
function markShared(spans, others, isShared) {
  let at = 0;
  for (let i = 0; i < spans.length; i++) {
    if (i && spans[i] < spans[i - 1]) at = firstFrom(others, spans[i]);
    while (at < others.length && others[at] < spans[i]) at++;
    if (others[at] === spans[i]) isShared[i] = 1;
  }
}

function firstFrom(numbers, least) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

const ready = (async () => {
  if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly, which this page needs.");
  try {
    await init();
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new Error("The WebAssembly of this browser is too old. The page needs no SIMD, but a browser of 2022 or newer.");
  }
})();
// Each call reports the error.
ready.catch(() => {});

self.addEventListener("message", async ({ data: { id, name, given } }) => {
  try {
    await ready;
    self.postMessage({ id, result: functions[name](...given) });
  } catch (error) {
    if (globalThis.WebAssembly && error instanceof WebAssembly.RuntimeError) self.postMessage({ panic: panicMessage() });
    else self.postMessage({ id, error: { message: error.message ?? String(error), name: error.name } });
  }
});
