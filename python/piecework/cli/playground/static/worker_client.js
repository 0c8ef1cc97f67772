// Calls of functions in a worker with WebAssembly. A worker that stops is replaced at the next call.

export class WorkerError extends Error {
  /** `kind` is the name of the error: a class of the Python package, "Cancelled" or "Stopped". */
  constructor(message, kind = "Stopped") {
    super(message);
    this.name = kind;
  }
}

const ADDRESS = new URL("./wasm_worker.js", import.meta.url).href;
const REPORT = "This is a defect of piecework: please report it with the text or file.";
// The only script that this page starts as a worker.
const policy = globalThis.trustedTypes?.createPolicy("piecework-worker", { createScriptURL: () => ADDRESS });

export class WorkerClient {
  /** `restore()` returns the calls, each a name and its arguments, that a new worker needs first. */
  constructor(restore = () => []) {
    this.restore = restore;
    this.pending = new Map();
    this.latest = 0;
    this.worker = null;
    this.isBusy = false;
    this.busy = () => {};
  }

  /** Return the result of a function of the worker. */
  call(name, ...given) {
    if (!this.worker) this.start();
    return this.post(name, given);
  }

  /** End what the worker does; its calls fail. */
  cancel() {
    this.stop(new WorkerError("Cancelled.", "Cancelled"));
  }

  start() {
    this.worker = new Worker(policy ? policy.createScriptURL("") : ADDRESS, { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.answered(data));
    this.worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.stop(new WorkerError("The worker of this page did not start. It needs a browser of 2023 or newer."));
    });
    // What they answer was shown before.
    for (const [name, ...given] of this.restore()) this.post(name, given).catch(() => {});
  }

  post(name, given) {
    const id = ++this.latest;
    this.worker.postMessage({ id, name, given });
    const answer = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.reportBusy();
    return answer;
  }

  reportBusy() {
    const isBusy = this.pending.size > 0;
    if (isBusy === this.isBusy) return;
    this.isBusy = isBusy;
    this.busy(isBusy);
  }

  answered({ id, result, error, panic }) {
    if (panic !== undefined) {
      const why = panic ? `piecework stopped: ${panic} ${REPORT}` : "piecework ran out of memory.";
      this.stop(new WorkerError(why));
      return;
    }
    const { resolve, reject } = this.pending.get(id);
    this.pending.delete(id);
    // A call that follows from the answer belongs to the same work.
    setTimeout(() => this.reportBusy());
    if (error) reject(new WorkerError(error.message, error.name));
    else resolve(result);
  }

  stop(error) {
    this.worker?.terminate();
    this.worker = null;
    const waiting = [...this.pending.values()];
    this.pending.clear();
    this.reportBusy();
    for (const { reject } of waiting) reject(error);
  }
}
