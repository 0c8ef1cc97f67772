// The answers to the requests of the static page: a worker with WebAssembly computes them, and nothing leaves the page.

import { TokenColumns } from "./token_columns.js";
import { grouped } from "./dom.js";
import { CORPUS_CHARS, VOCAB_SIZE, checkLength, loadPageData, trainIn } from "./worker_training.js";
import { WorkerClient } from "./worker_client.js";

const FILE_BYTES = 64 * 2 ** 20;
const TEXT_CHARS = 4_000_000;
const LARGE = 20_000;
const ONLY_HERE = 1;

/** The tokenizers of the page: name, description, files, and key in the worker. */
const opened = [];
const client = new WorkerClient(() => opened.map(({ key, sources, ranks }) => ["open", key, sources, ranks]));
const data = loadPageData();
let latest = 0;
client.start();

/** Return the descriptions of the tokenizers, learner -> preset -> what it does, and the limits of training. */
export async function loadTokenizers() {
  const { presets, tokenizers, version } = await data;
  const files = await Promise.all(tokenizers.map(({ file }) => ownFile(file)));
  await Promise.all(tokenizers.map(({ name }, i) => add(name, [{ name, data: files[i] }])));
  const limits = { corpusChars: CORPUS_CHARS, vocabSize: VOCAB_SIZE };
  return { tokenizers: described(), presets, limits, version };
}

/** Return the bytes of a file of this page. */
async function ownFile(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

function described() {
  return opened.map(({ name, description }) => ({ name, ...description }));
}

async function add(name, sources, ranks) {
  const key = ++latest;
  const description = await client.call("open", key, sources, ranks);
  opened.push({ name, sources, ranks, key, description });
}

/** Return index of a tokenizer -> its `TokenColumns` for a text. */
export async function encode(text, indices, special) {
  if (!indices.length) return new Map();
  checkLength("text", text, TEXT_CHARS);
  const keys = indices.map(keyOf);
  const isLarge = text.length > LARGE;
  const found = isLarge ? await encodeInTurn(keys, text, special) : await client.call("encodeAll", keys, text, special);
  const encoded = indices.map((index, i) => [index, found[i]]).filter(([, one]) => one);
  return new Map(encoded.map(([index, one]) => [index, columnsOf(index, one)]));
}

function columnsOf(index, { header, ids, starts, ends, flags }) {
  const onlyHere = flags.reduce((count, flag) => count + (flag & ONLY_HERE), 0);
  return new TokenColumns({ ...header, index, onlyHere }, ids, starts, ends, flags);
}

/** Encode with one tokenizer a call: between two of them, the worker can encode a part of a text that is edited meanwhile. */
async function encodeInTurn(keys, text, special) {
  const found = [];
  for (const key of keys) found.push(await client.call("encode", key, text, special));
  const encoded = found.filter(Boolean);
  const flags = await client.call("flagOnlyHere", encoded.map(({ starts, ends, flags }) => ({ starts, ends, flags })));
  encoded.forEach((one, i) => (one.flags = flags[i]));
  return found;
}

function keyOf(index) {
  return opened[index].key;
}

/** Return how each word of a text is segmented. */
export function explain(tokenizer, text) {
  return client.call("explain", keyOf(tokenizer), text);
}

/** Return the best segmentations of a text, or samples. */
export function segmentations(tokenizer, text, settings) {
  return client.call("segmentations", keyOf(tokenizer), text, settings);
}

/** Return the steps of a learner. */
export async function train(settings, text) {
  return trainIn(client, await data, settings, text);
}

/** A comparison with charts needs Python. */
export const compare = undefined;

export const files = {
  /**
   * Open tokenizer files, a vocab.json together with its merges.txt.
   *
   * Return the new descriptions, and a sentence for each file that did not load.
   */
  async open(list) {
    const sources = await Promise.all([...list].map(sourceOf));
    const errors = sources.filter(({ error }) => error).map(({ error }) => error);
    for (const [name, group] of await grouping(sources.filter(({ error }) => !error))) {
      try {
        await add(name, group, await ranksOf(group[0]));
      } catch (error) {
        if (error.name === "Cancelled") throw error;
        errors.push(error.message);
      }
    }
    return { tokenizers: described(), errors };
  },

  /** Return the names of published tokenizers that the page was built with. */
  async published() {
    return (await data).published.map(({ name }) => name);
  },

  /** Open a published tokenizer; return the descriptions, and a sentence if its file cannot be had. */
  async openPublished(name) {
    const { file } = (await data).published.find((one) => one.name === name);
    const found = await ownFile(file).catch((error) => error);
    if (found instanceof Error) {
      return { tokenizers: described(), errors: [`${name} cannot be loaded from the address of this page: ${found.message}.`] };
    }
    const source = { name, data: found };
    await add(name, [source], await ranksOf(source));
    return { tokenizers: described(), errors: [] };
  },

  /** Close a tokenizer; return the descriptions of the others. */
  async close(index) {
    const [{ key }] = opened.splice(index, 1);
    await client.call("close", key);
    return { tokenizers: described(), errors: [] };
  },

  /** Add the tokenizer that was trained last; return the descriptions. */
  async addTrained(name) {
    await add(name, [{ name, data: new TextEncoder().encode(await client.call("saveTrained")) }]);
    return { tokenizers: described(), errors: [] };
  },

  /** Return the tokenizer that was trained last, as a tokenizer.json. */
  saveTrained: () => client.call("saveTrained"),

  cancel: () => client.cancel(),

  /** Call `changed(isBusy)` when the worker begins and ends to work. */
  watch(changed) {
    client.busy = changed;
  },
};

async function sourceOf(file) {
  if (file.size > FILE_BYTES) {
    const found = `${file.name} has ${grouped(file.size)} bytes; the limit of this page is ${grouped(FILE_BYTES)}`;
    return { name: file.name, error: `${found}. A tokenizer is seldom larger than 40 MB; is this a model?` };
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const kind = await binaryKind(bytes);
    if (kind) return { name: file.name, error: `${file.name} is ${kind}, not a tokenizer.` };
    return { name: file.name, data: bytes };
  } catch (error) {
    return { name: file.name, error: `${file.name}: the browser cannot read it (${error.message})` };
  }
}

/** Return what a file is by its first bytes, undefined if these are not of a kind that holds no tokenizer. */
async function binaryKind(bytes) {
  const head = hex(bytes.subarray(0, 16));
  return Object.entries((await data).binaryKinds).find(([magic]) => head.startsWith(magic))?.[1];
}

function hex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the files of each tokenizer under its name: a vocab.json with a merges.txt, others alone. */
async function grouping(sources) {
  const formats = await Promise.all(sources.map(({ data: bytes }) => client.call("formatOf", bytes)));
  const find = (format) => sources.find((_, i) => formats[i] === format);
  const [vocab, merges] = [find("vocab.json"), find("merges.txt")];
  if (!vocab || !merges) return sources.map((one) => [one.name, [one]]);
  const others = sources.filter((one) => one !== vocab && one !== merges);
  return [[vocab.name, [vocab, merges]], ...others.map((one) => [one.name, [one]])];
}

/** Return the pattern and special tokens of published tiktoken ranks, which their content identifies. */
async function ranksOf({ data: bytes }) {
  if ((await client.call("formatOf", bytes)) !== "tiktoken ranks" || !globalThis.crypto?.subtle) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return (await data).encodings[hex(digest)];
}
