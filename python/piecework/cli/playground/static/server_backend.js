// The answers to the requests of the page from `piecework serve`. Texts are the body, settings are in the query.

import { TokenColumns } from "./token_columns.js";

export class RequestError extends Error {}

async function answerOf(request) {
  let answer;
  try {
    answer = await request;
  } catch {
    throw new RequestError("The server does not answer. Is piecework serve still running?");
  }
  if (answer.ok) return answer;
  let message = `The server answered ${answer.status}.`;
  try {
    message = (await answer.json()).error ?? message;
  } catch {
    // The answer is no JSON: its status says enough.
  }
  throw new RequestError(message);
}

function post(path, settings, text) {
  return answerOf(fetch(`api/${path}?${new URLSearchParams(settings)}`, { method: "POST", body: text }));
}

/** Return the descriptions of the tokenizers, and learner -> preset -> what it does. */
export async function loadTokenizers() {
  return (await answerOf(fetch("api/tokenizers"))).json();
}

/** Return index of a tokenizer -> its `TokenColumns` for a text. */
export async function encode(text, indices, special) {
  if (!indices.length) return new Map();
  const settings = { tokenizers: indices.join(","), special: special ? "1" : "0" };
  return columnsOf(await (await post("encode", settings, text)).arrayBuffer());
}

function columnsOf(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const { tokenizers } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  const numbers = (count) => {
    const found = new Int32Array(buffer, at, count);
    at += 4 * count;
    return found;
  };
  const columns = new Map();
  for (const header of tokenizers) {
    const [ids, starts, ends] = [0, 1, 2].map(() => numbers(header.count));
    const flags = new Uint8Array(buffer, at, header.count);
    at += 4 * Math.ceil(header.count / 4);
    columns.set(header.index, new TokenColumns(header, ids, starts, ends, flags));
  }
  return columns;
}

/** Return how each word of a text is segmented. */
export async function explain(tokenizer, text) {
  return (await post("explain", { tokenizers: tokenizer }, text)).json();
}

/** Return the best segmentations of a text, or samples. */
export async function segmentations(tokenizer, text, settings) {
  return (await post("segmentations", { tokenizers: tokenizer, ...settings }, text)).json();
}

/** Return the steps of a learner. */
export async function train(settings, text) {
  return (await post("training", settings, text)).json();
}

/** Return the comparison of tokenizers on a text: findings, words, tables, and charts if the server can draw them. */
export async function compare(text, indices) {
  return (await post("compare", { tokenizers: indices.join(",") }, text)).json();
}

/** A server reads its files itself. */
export const files = undefined;
