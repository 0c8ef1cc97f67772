// The entry of browsers and workers. node.js is the entry of node.

import { start, startSync } from "./module.js";

export { PieceworkError } from "./errors.js";
export { Batch, DecodeStream, Encoding, SegmentedEncoding, Tokenizer, train, version } from "./tokenizer.js";

export function init(source) {
  return start(() => source);
}

export function initSync(source) {
  startSync(() => source);
}
