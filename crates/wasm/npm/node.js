// The entry of node, which reads the module from a file.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { start, startSync } from "./module.js";

export { PieceworkError } from "./errors.js";
export { Batch, DecodeStream, Encoding, SegmentedEncoding, Tokenizer, train, version } from "./tokenizer.js";

const MODULE = new URL("piecework_bg.wasm", import.meta.url);

export function init(source = MODULE) {
  return start(() => (isFile(source) ? readFile(new URL(source)) : source));
}

export function initSync(source = MODULE) {
  startSync(() => (isFile(source) ? readFileSync(new URL(source)) : source));
}

function isFile(source) {
  return (typeof source === "string" || source instanceof URL) && String(source).startsWith("file:");
}
