// Answers requests from standard input with the package `piecework` that is installed beside this file.
//
// A request has `file`, data in base64, and `calls`: the name of a method with its arguments. An answer is the list of
// results, with arrays in place of typed arrays, or an error with its fields.

import { readFileSync } from "node:fs";

import { init, PieceworkError, Tokenizer } from "piecework";

const ENCODING = ["ids", "tokens", "offsets", "typeIds", "wordIds", "sequenceIds", "specialTokensMask"];
const BATCH = ["ids", "rowOffsets", "typeIds", "overflowToSampleMapping"];

const columns = (value, names) => Object.fromEntries(names.map((name) => [name, [...value[name]]]));

const calls = {
  encode: (tokenizer, ...given) => columns(tokenizer.encode(...given), ENCODING),
  encodeBatch(tokenizer, texts, options) {
    const batch = tokenizer.encodeBatch(texts, options);
    return { ...columns(batch, options?.offsets ? [...BATCH, ...ENCODING.slice(2)] : BATCH), rows: batch.toLists() };
  },
  encodeSegments(tokenizer, ...given) {
    const { encoding, charSpans, tokenSpans } = tokenizer.encodeSegments(...given);
    return { ...columns(encoding, ENCODING), charSpans, tokenSpans };
  },
  countBatch: (tokenizer, ...given) => [...tokenizer.countBatch(...given)],
  stream(tokenizer, ids, options) {
    const stream = tokenizer.decodeStream(options);
    return [...ids.map((id) => stream.step(id)), stream.finish()];
  },
  vocabSize: (tokenizer) => tokenizer.vocabSize,
};

function result(tokenizer, [name, ...given]) {
  try {
    return (calls[name] ?? ((_, ...given) => tokenizer[name](...given)))(tokenizer, ...given) ?? null;
  } catch (error) {
    if (!(error instanceof PieceworkError)) throw error;
    const { kind, message, place } = error;
    return { error: { kind, message, place } };
  }
}

function answer({ file, options, calls: called }) {
  const tokenizer = Tokenizer.load(Buffer.from(file, "base64"), options);
  const results = called.map((call) => result(tokenizer, call));
  tokenizer.free();
  return results;
}

await init();
const requests = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(requests.map(answer)));
