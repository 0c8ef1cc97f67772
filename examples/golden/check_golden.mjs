// Compare the ids of piecework's WebAssembly module with a golden file.
//
//     node check_golden.mjs build/wasm golden.jsonl tokenizer.json
//
// The first argument is the folder that `make wasm` builds. Prints the rows that differ, the shortest text first, and counts
// the rows that the module has no call for. The exit code is 0 if all compared rows are equal, and 1 if a row differs or
// none was compared.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, golden, file] = process.argv.slice(2);
const { initSync, Tokenizer } = await import(pathToFileURL(resolve(folder, "piecework.js")));
initSync({ module: readFileSync(resolve(folder, "piecework_bg.wasm")) });
const tokenizer = Tokenizer.load(readFileSync(file), file);

/** Return why the module cannot answer a row, or undefined. */
function reasonToSkip(row) {
  if (!row.parse_special) return "special tokens in text are always parsed";
  return ["pair", "truncation", "padding"].find((key) => key in row);
}

/** Return offsets in UTF-16 units as offsets in code points. */
function inCodePoints(text, units) {
  return Array.from(units, (unit) => Array.from(text.slice(0, unit)).length);
}

function answer(row) {
  try {
    const { ids, starts, ends, tokens } = tokenizer.encode(row.text, row.add_special_tokens);
    const [from, to] = [starts, ends].map((units) => inCodePoints(row.text, units));
    return {
      ids: [...ids],
      tokens: Array.from(ids, (id) => tokens[id][0]),
      char_offsets: from.map((start, index) => [start, to[index]]),
      decoded: tokenizer.decode(ids, false),
    };
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return { error: true, message: error.message };
  }
}

const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const [, ...rows] = readFileSync(golden, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const skipped = new Map();
let [compared, differing] = [0, 0];
for (const given of rows.sort((one, other) => one.text.length - other.text.length)) {
  const row = { decoded: given.text, ...given };
  const reason = reasonToSkip(row);
  if (reason) {
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    continue;
  }
  compared += 1;
  const found = answer(row);
  const fields = found.error || row.error ? ["error"] : ["ids", "tokens", "char_offsets", "decoded"];
  const wrong = fields.filter((field) => !isEqual(found[field], row[field]));
  if (!wrong.length) continue;
  differing += 1;
  console.log(`row ${row.row} (${row.flags.join(", ")}): ${JSON.stringify(row.text)}`);
  for (const field of wrong) {
    console.log(`  ${field}: expected ${JSON.stringify(row[field])}, found ${found.message ?? JSON.stringify(found[field])}`);
  }
}
for (const [reason, count] of skipped) console.log(`skipped ${count} rows: ${reason}`);
console.log(`piecework: ${differing} of ${compared} compared rows differ`);
process.exitCode = differing || !compared ? 1 : 0;
