// Tokenizers: arguments are checked here, and the WebAssembly module does the work.

import { argumentError, typeError } from "./errors.js";
import { call, release } from "./module.js";

const MAX_ID = 2 ** 32 - 1;
const MAX_NUMBER = 2 ** 31 - 1;
const ENCODING_OPTIONS = ["addSpecialTokens", "parseSpecial", "truncation"];

export class Tokenizer {
  #raw;
  /** The last settings of truncation, and a tokenizer with them that shares the tables. */
  #truncated = null;

  constructor(raw) {
    if (typeof raw?.encodeRows !== "function") throw argumentError("Tokenizer", "has no constructor; call Tokenizer.load");
    this.#raw = raw;
  }

  static load(data, options = {}) {
    checkOptions(options, ["source", "merges", "pattern", "specialTokens"]);
    const { merges, pattern } = options;
    const source = checkedString(options.source ?? "data", "source");
    const bytes = checkedBytes(data, "data");
    if (pattern !== undefined) return new Tokenizer(loadedRanks(bytes, source, options));
    if (options.specialTokens !== undefined) throw argumentError("specialTokens", "needs a pattern; other files have their special tokens");
    if (merges === undefined) return new Tokenizer(call((core) => core.Tokenizer.load(bytes, source)));
    const rules = checkedBytes(merges, "merges");
    return new Tokenizer(call((core) => core.Tokenizer.loadMerges(bytes, rules, source, "merges")));
  }

  get vocabSize() {
    return call(() => this.#use().vocabSize());
  }

  tokenToId(token) {
    checkedString(token, "token");
    return call(() => this.#use().tokenToId(token));
  }

  idToToken(id) {
    checkedId(id, "id");
    return call(() => this.#use().idToToken(id));
  }

  encode(text, options = {}) {
    checkOptions(options, ["pair", ...ENCODING_OPTIONS]);
    const texts = [checkedText(text)];
    const pairs = options.pair === undefined ? undefined : [checkedString(options.pair, "pair")];
    const chosen = { ...options };
    const encoded = (offsets) => this.#encoded(texts, pairs, chosen, offsets, false);
    return new Encoding(this, encoded(false), () => encoded(true));
  }

  encodeBatch(texts, options = {}) {
    checkOptions(options, ["pairs", "offsets", "overflow", ...ENCODING_OPTIONS]);
    checkedStrings(texts, "texts");
    const pairs = options.pairs === undefined ? undefined : checkedStrings(options.pairs, "pairs");
    if (pairs && pairs.length !== texts.length) {
      throw argumentError("pairs", `must have one text for each of the ${texts.length} texts, not ${pairs.length}`);
    }
    const offsets = checkedBoolean(options.offsets, false, "offsets");
    const overflow = checkedBoolean(options.overflow, false, "overflow");
    return new Batch(this.#encoded(texts, pairs, options, offsets, overflow));
  }

  #encoded(texts, pairs, options, offsets, overflow) {
    const addSpecialTokens = checkedBoolean(options.addSpecialTokens, true, "addSpecialTokens");
    const [parse, refuse] = this.#parsed(options.parseSpecial);
    const raw = this.#truncating(options.truncation);
    return call(() => raw.encodeRows(texts, pairs, addSpecialTokens, parse, refuse, offsets, overflow));
  }

  count(text, options = {}) {
    return this.#counted([checkedText(text)], options)[0];
  }

  countBatch(texts, options = {}) {
    return this.#counted(checkedStrings(texts, "texts"), options);
  }

  #counted(texts, options) {
    checkOptions(options, ENCODING_OPTIONS);
    const [, rowOffsets] = this.#encoded(texts, undefined, options, false, false);
    return rowOffsets.subarray(1).map((end, row) => end - rowOffsets[row]);
  }

  encodeSegments(segments, options = {}) {
    checkOptions(options, ["addSpecialTokens", "markers", "truncation"]);
    const { texts, allowed } = checkedSegments(segments);
    const addSpecialTokens = checkedBoolean(options.addSpecialTokens, false, "addSpecialTokens");
    const markers = options.markers === undefined ? undefined : checkedStrings(options.markers, "markers");
    const raw = this.#truncating(options.truncation);
    const columns = call(() => raw.encodeSegments(texts, allowed, addSpecialTokens, markers));
    return new SegmentedEncoding(new Encoding(this, columns, () => columns), texts);
  }

  /** Return the special tokens to parse, undefined for all; and whether a text that contains one is an error. */
  #parsed(value) {
    const chosen = value === undefined ? (call(() => this.#use().parseSpecial()) ?? "refuse") : value;
    if (Array.isArray(chosen)) return [checkedStrings(chosen, "parseSpecial"), false];
    if (typeof chosen === "boolean") return [chosen ? undefined : [], false];
    if (chosen === "refuse") return [undefined, true];
    throw typeError("parseSpecial", 'true, false, "refuse" or an array of special tokens', chosen);
  }

  /** Return the tokenizer of the module that truncates as an option says. */
  #truncating(value) {
    const raw = this.#use();
    if (value === undefined) return raw;
    const settings = checkedTruncation(value);
    const key = settings.join();
    if (this.#truncated?.key !== key) {
      const made = call(() => raw.withTruncation(...settings));
      release(this.#truncated?.raw);
      this.#truncated = { key, raw: made };
    }
    return this.#truncated.raw;
  }

  decode(ids, options = {}) {
    const { skip, cleanUp } = checkedDecoding(options);
    const numbers = checkedIds(ids, "ids");
    return call(() => this.#use().decode(numbers, skip, cleanUp));
  }

  decodeBatch(rows, options = {}) {
    return Array.from(rows, (row) => this.decode(row, options));
  }

  decodeStream(options = {}) {
    const { skip, cleanUp } = checkedDecoding(options, ["prefill"]);
    const prefill = checkedIds(options.prefill ?? [], "prefill");
    return new DecodeStream(call(() => this.#use().decodeStream(prefill, skip, cleanUp)));
  }

  explain(text) {
    checkedText(text);
    return call(() => this.#use().explain(text));
  }

  segmentations(text, options = {}) {
    checkOptions(options, ["draw", "n", "alpha", "seed"]);
    const draw = checkedChoice(options.draw, ["best", "sample"], "draw");
    const n = checkedInteger(options.n ?? 5, 1, "n");
    const seed = checkedInteger(options.seed ?? 0, 0, "seed");
    const alpha = options.alpha ?? 0.1;
    if (typeof alpha !== "number") throw typeError("alpha", "a number", alpha);
    return call(() => this.#use().segmentations(checkedText(text), draw, n, alpha, seed));
  }

  toStr() {
    return call(() => this.#use().save());
  }

  free() {
    release(this.#truncated?.raw);
    release(this.#raw);
    this.#truncated = this.#raw = null;
  }

  #use() {
    return this.#raw ?? refuseFreed("tokenizer");
  }
}

/** Decodes the ids of one sequence as they arrive. */
export class DecodeStream {
  #raw;

  constructor(raw) {
    if (typeof raw?.step !== "function") throw argumentError("DecodeStream", "has no constructor; call tokenizer.decodeStream");
    this.#raw = raw;
  }

  step(id) {
    const number = checkedId(id, "id");
    return call(() => this.#use().step(number)) ?? "";
  }

  finish() {
    return call(() => this.#use().finish()) ?? "";
  }

  *feed(ids) {
    for (const id of ids) {
      const text = this.step(id);
      if (text) yield text;
    }
    const rest = this.finish();
    if (rest) yield rest;
  }

  free() {
    release(this.#raw);
    this.#raw = null;
  }

  #use() {
    return this.#raw ?? refuseFreed("stream");
  }
}

for (const { prototype } of Symbol.dispose ? [Tokenizer, DecodeStream] : []) prototype[Symbol.dispose] = prototype.free;

export class Encoding {
  #tokenizer;
  #encode;
  #all = null;

  /** `encode()` returns all columns; texts are encoded again when one of the others than `ids` is read. */
  constructor(tokenizer, [ids], encode) {
    this.#tokenizer = tokenizer;
    this.#encode = encode;
    this.ids = ids;
  }

  get length() {
    return this.ids.length;
  }

  get tokens() {
    return Array.from(this.ids, (id) => this.#tokenizer.idToToken(id));
  }

  get typeIds() {
    return this.#columns()[2] ?? new Uint8Array(this.length);
  }

  get offsets() {
    return this.#columns()[4];
  }

  get wordIds() {
    return this.#columns()[5];
  }

  get sequenceIds() {
    const [, , , , , wordIds, sequenceIds] = this.#columns();
    return sequenceIds ?? sequencesOf(wordIds);
  }

  get specialTokensMask() {
    return maskOf(this.sequenceIds);
  }

  #columns() {
    return (this.#all ??= this.#encode());
  }
}

export class SegmentedEncoding {
  constructor(encoding, texts) {
    this.encoding = encoding;
    this.charSpans = spansOf(texts);
    this.tokenSpans = tokenSpans(encoding, this.charSpans);
  }

  get ids() {
    return this.encoding.ids;
  }
}

export class Batch {
  #columns;

  constructor(columns) {
    this.#columns = columns;
    [this.ids, this.rowOffsets] = columns;
  }

  get length() {
    return this.rowOffsets.length - 1;
  }

  row(index) {
    const at = index < 0 ? this.length + index : index;
    if (!(Number.isInteger(at) && at >= 0 && at < this.length)) {
      throw argumentError("row", `must be a row of a batch of ${this.length}, not ${index}`);
    }
    return this.ids.subarray(this.rowOffsets[at], this.rowOffsets[at + 1]);
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.length; row++) yield this.row(row);
  }

  toLists() {
    return Array.from(this, (row) => [...row]);
  }

  get typeIds() {
    return this.#columns[2] ?? new Uint8Array(this.ids.length);
  }

  get overflowToSampleMapping() {
    return this.#columns[3] ?? Uint32Array.from({ length: this.length }, (_, row) => row);
  }

  get offsets() {
    return this.#column(4, "offsets");
  }

  get wordIds() {
    return this.#column(5, "wordIds");
  }

  get sequenceIds() {
    return this.#columns[6] ?? sequencesOf(this.#column(5, "sequenceIds"));
  }

  get specialTokensMask() {
    return maskOf(this.#columns[6] ?? this.#column(5, "specialTokensMask"));
  }

  #column(at, name) {
    return this.#columns[at] ?? refuseColumn(name);
  }
}

export function train(text, options) {
  checkOptions(options, ["learner", "vocabSize", "template", "steps", "word"]);
  const { learner, template, word } = options;
  checkedText(text);
  checkedString(learner, "learner");
  checkedString(template, "template");
  if (word !== undefined) checkedString(word, "word");
  const vocabSize = checkedInteger(options.vocabSize, 1, "vocabSize");
  const steps = checkedInteger(options.steps ?? 0, 0, "steps");
  const training = call((core) => core.train(text, learner, vocabSize, template, steps, word));
  const { trace } = training;
  return { tokenizer: new Tokenizer(training.tokenizer()), trace };
}

export function version() {
  return call((core) => core.version());
}

// ---- columns

/** Return the sequence of each token of texts without pairs. */
function sequencesOf(wordIds) {
  const sequences = new Int8Array(wordIds.length);
  for (let at = 0; at < wordIds.length; at++) sequences[at] = wordIds[at] < 0 ? -1 : 0;
  return sequences;
}

function maskOf(sequenceIds) {
  return new Uint8Array(sequenceIds).map((sequence) => sequence >> 7);
}

/** Return the span of each text in their concatenation. */
function spansOf(texts) {
  let end = 0;
  return texts.map((text) => [end, (end += text.length)]);
}

/** Return the tokens that have a character of each span; a token may have characters of two. */
function tokenSpans({ offsets, sequenceIds }, spans) {
  const first = Math.max(0, sequenceIds.findIndex((sequence) => sequence >= 0));
  const last = sequenceIds.findLastIndex((sequence) => sequence >= 0) + 1;
  let done = first;
  return spans.map(([start, end]) => {
    if (start === end) return [done, done];
    const from = firstToken(first, last, (token) => offsets[2 * token + 1] > start);
    done = firstToken(from, last, (token) => offsets[2 * token] >= end);
    return [from, done];
  });
}

/** Return the first token from `low` on for which a condition holds, which then holds for all after it; else `high`. */
function firstToken(low, high, holds) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ---- checks of arguments

function refuseFreed(name) {
  throw argumentError(name, "was freed; load it again");
}

function refuseColumn(name) {
  throw argumentError(name, "is not in this batch; encode with { offsets: true }");
}

function checkOptions(options, names) {
  if (typeof options !== "object" || options === null) throw typeError("options", "an object", options);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw argumentError(`options.${name}`, `is unknown; the options are ${names.join(", ")}`);
  }
}

function checkedText(text) {
  if (typeof text === "string") return text;
  const expected = Array.isArray(text) ? "one string (encodeBatch and countBatch take many)" : "a string";
  throw typeError("text", expected, text);
}

function checkedString(value, place) {
  if (typeof value !== "string") throw typeError(place, "a string", value);
  return value;
}

function checkedStrings(values, place) {
  if (!Array.isArray(values)) throw typeError(place, "an array of strings", values);
  for (let at = 0; at < values.length; at++) {
    if (typeof values[at] !== "string") throw typeError(`${place}[${at}]`, "a string", values[at]);
  }
  return values;
}

function checkedBoolean(value, otherwise, place) {
  if (value === undefined) return otherwise;
  if (typeof value !== "boolean") throw typeError(place, "true or false", value);
  return value;
}

function checkedInteger(value, least, place) {
  if (typeof value !== "number") throw typeError(place, "a number", value);
  if (Number.isInteger(value) && value >= least && value <= MAX_NUMBER) return value;
  throw argumentError(place, `must be a whole number from ${least} to ${MAX_NUMBER}, not ${value}`);
}

function checkedChoice(value, choices, place) {
  const chosen = value ?? choices[0];
  if (choices.includes(chosen)) return chosen;
  throw argumentError(place, `must be ${choices.map((one) => `"${one}"`).join(" or ")}, not ${JSON.stringify(chosen)}`);
}

function checkedTruncation(value) {
  const settings = typeof value === "number" ? { maxLength: value } : value;
  const place = "truncation";
  if (typeof settings !== "object" || settings === null) throw typeError(place, "a number of tokens or an object", value);
  for (const name of Object.keys(settings)) {
    if (["maxLength", "stride", "side", "strategy"].includes(name)) continue;
    throw argumentError(`${place}.${name}`, "is unknown; the settings are maxLength, stride, side, strategy");
  }
  const maxLength = checkedInteger(settings.maxLength, 1, `${place}.maxLength`);
  const stride = checkedInteger(settings.stride ?? 0, 0, `${place}.stride`);
  const side = checkedChoice(settings.side, ["right", "left"], `${place}.side`);
  const strategies = ["longest_first", "only_first", "only_second"];
  return [maxLength, stride, side === "left", checkedChoice(settings.strategy, strategies, `${place}.strategy`)];
}

function checkedDecoding(options, more = []) {
  checkOptions(options, ["skipSpecialTokens", "cleanUp", ...more]);
  const skip = checkedBoolean(options.skipSpecialTokens, true, "skipSpecialTokens");
  return { skip, cleanUp: checkedBoolean(options.cleanUp, undefined, "cleanUp") };
}

function checkedId(value, place) {
  const id = typeof value === "bigint" ? Number(value) : value;
  if (typeof id !== "number") throw typeError(place, "an id", value);
  if (Number.isInteger(id) && id >= 0 && id <= MAX_ID) return id;
  throw argumentError(place, `must be an id from 0 to ${MAX_ID}, not ${value}`);
}

function checkedIds(ids, place) {
  if (ids instanceof Uint32Array) return ids;
  if (!Array.isArray(ids) && !ArrayBuffer.isView(ids)) throw typeError(place, "an array of ids", ids);
  return Uint32Array.from(ids, (id, at) => checkedId(id, `${place}[${at}]`));
}

function checkedBytes(data, place) {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw typeError(place, "the bytes of a file, a Uint8Array or an ArrayBuffer", data);
}

function checkedSegments(segments) {
  if (!Array.isArray(segments)) throw typeError("segments", "an array of [text, allowSpecial] pairs", segments);
  segments.forEach((segment, at) => {
    const place = `segments[${at}]`;
    if (!Array.isArray(segment) || segment.length !== 2) throw typeError(place, "a [text, allowSpecial] pair", segment);
    checkedString(segment[0], `${place}[0]`);
    if (typeof segment[1] !== "boolean") throw typeError(`${place}[1]`, "true or false", segment[1]);
  });
  return { texts: segments.map(([text]) => text), allowed: Uint8Array.from(segments, ([, allow]) => Number(allow)) };
}

/** Load tiktoken ranks, which lack the pattern that splits text and the special tokens. */
function loadedRanks(bytes, source, { pattern, specialTokens = {}, merges }) {
  if (merges !== undefined) throw argumentError("merges", "and pattern belong to different files; pass one of them");
  const patterns = Array.isArray(pattern) ? checkedStrings(pattern, "pattern") : [checkedString(pattern, "pattern")];
  if (typeof specialTokens !== "object" || specialTokens === null) {
    throw typeError("specialTokens", "an object of ids by token", specialTokens);
  }
  const tokens = Object.keys(specialTokens);
  const ids = Uint32Array.from(tokens, (token) => checkedId(specialTokens[token], `specialTokens[${JSON.stringify(token)}]`));
  const split = patterns.map((Regex) => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false }));
  const last = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  const pipeline = JSON.stringify({ pre_tokenizer: { type: "Sequence", pretokenizers: [...split, last] } });
  return call((core) => core.Tokenizer.loadRanks(bytes, source, pipeline, tokens, ids));
}
