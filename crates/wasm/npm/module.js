// The WebAssembly module: starting it once, and calls of its functions.

import load, * as core from "./piecework.js";

import { argumentError, errorOfModule, PieceworkError } from "./errors.js";

let loading = null;
let isReady = false;
/** The error of a module that stopped. */
let stopped = null;

/** Load the module from what `sourceOf()` returns; later calls return the promise of the first. */
export function start(sourceOf) {
  loading ??= loaded(sourceOf);
  return loading;
}

async function loaded(sourceOf) {
  try {
    const source = await sourceOf();
    if (!isReady) await load(source === undefined ? undefined : { module_or_path: source });
    isReady = true;
  } catch (error) {
    loading = null;
    throw notLoaded(error);
  }
}

/** Compile the module in this thread, from bytes or a compiled module. */
export function startSync(sourceOf) {
  if (isReady) return;
  try {
    core.initSync({ module: sourceOf() });
    isReady = true;
  } catch (error) {
    throw notLoaded(error);
  }
}

function notLoaded(cause) {
  const problem = `the WebAssembly module does not load: ${cause.message}`;
  return new PieceworkError("FileError", "init", problem, { cause });
}

/** Return what `work(core)` returns; every call of the module is made here. */
export function call(work) {
  if (stopped) throw stopped;
  if (!isReady) throw argumentError("piecework", "is not loaded; run `await init()` first");
  try {
    return work(core);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw (stopped = errorOfPanic(error));
    throw error instanceof PieceworkError || error.found === undefined ? error : errorOfModule(error);
  }
}

/** Free an object of the module; one that stopped frees nothing. */
export function release(raw) {
  if (!stopped) raw?.free();
}

/** Return the error of a panic, which leaves the module unusable; without a message, memory ran out. */
function errorOfPanic(cause) {
  const message = core.panicMessage();
  const advice = "this thread or process cannot use piecework again";
  if (!message) return new PieceworkError("MemoryLimitError", "piecework", `ran out of memory; ${advice}`, { cause });
  const problem = `stopped: ${message}; ${advice}; please report it with the text or file`;
  return new PieceworkError("InternalError", "piecework", problem, { cause });
}
