// What this package throws.

export class PieceworkError extends Error {
  constructor(kind, place, problem, { found = "", expected = "", cause } = {}) {
    super(`${place}: ${problem}`, cause === undefined ? undefined : { cause });
    this.name = "PieceworkError";
    Object.assign(this, { kind, place, found, expected });
  }
}

/** Return the error for an argument with an invalid value. */
export function argumentError(place, problem) {
  return new PieceworkError("ArgumentError", place, problem);
}

/** Return the error for an argument of another type than `expected`. */
export function typeError(place, expected, value) {
  return new PieceworkError("InputTypeError", place, `must be ${expected}, not ${shown(value)}`);
}

/** Return a value for a message: a number or a boolean itself, otherwise its type. */
function shown(value) {
  if (value === null || ["number", "bigint", "boolean", "undefined"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  return `an object of ${value.constructor?.name ?? "no class"}`;
}

/** Return an error of the WebAssembly module, which the module names by its kind. */
export function errorOfModule(error) {
  const { name: kind, message, place = "", found, expected } = error;
  const problem = message.startsWith(`${place}: `) ? message.slice(place.length + 2) : message;
  return new PieceworkError(kind, inCamelCase(place), problem, { found, expected });
}

/** Return the place of an argument as JavaScript writes it: `truncation.max_length` is `truncation.maxLength`. */
function inCamelCase(place) {
  const isArgument = /^[a-z_.]+$/.test(place);
  return isArgument ? place.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : place;
}
