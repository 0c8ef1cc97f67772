// The requests of the page. `piecework serve` answers them, or on the static page a worker with WebAssembly. Only this
// module knows of both, so the static page is the same page.

const name = document.documentElement.dataset.backend === "browser" ? "./browser_backend.js" : "./server_backend.js";

/** `files` has what only the static page can do: open files, and cancel. It is undefined on a served page. */
export const { loadTokenizers, encode, explain, segmentations, train, compare, files } = await import(name);
