// Compare the ids of piecework in JavaScript with a golden file.
//
//     node check_golden.mjs node_modules/piecework golden.jsonl tokenizer.json
//
// The first argument is the folder of the npm package, which `make wasm` writes into build/wasm. Prints the rows that differ,
// the shortest text first, and counts the rows that the package has no call for. The exit code is 0 if all compared rows are
// equal, 1 if a row differs or none was compared, and 2 for other arguments.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

if (process.argv.length !== 5) {
  console.error("usage: node check_golden.mjs FOLDER_OF_THE_PACKAGE GOLDEN_JSONL TOKENIZER");
  process.exit(2);
}
const [folder, golden, file] = process.argv.slice(2);
const { init, PieceworkError, Tokenizer } = await import(pathToFileURL(resolve(folder, "node.js")));
await init();
const tokenizer = Tokenizer.load(readFileSync(file), { source: file });

function optionsOf({ pair, add_special_tokens: addSpecialTokens, parse_special: parseSpecial, truncation }) {
  if (!truncation) return { pair, addSpecialTokens, parseSpecial };
  const { max_length: maxLength, ...others } = truncation;
  return { pair, addSpecialTokens, parseSpecial, truncation: { maxLength, ...others } };
}

/** Return the span of each token in code points; the package counts UTF-16 units. */
function charOffsets({ length, offsets, sequenceIds }, texts) {
  const inCodePoints = (unit, sequence) => Array.from((texts[sequence] ?? "").slice(0, unit)).length;
  return Array.from({ length }, (_, i) => [offsets[2 * i], offsets[2 * i + 1]].map((unit) => inCodePoints(unit, sequenceIds[i])));
}

function answer(row) {
  try {
    const encoding = tokenizer.encode(row.text, optionsOf(row));
    return {
      ids: [...encoding.ids],
      tokens: encoding.tokens,
      char_offsets: charOffsets(encoding, [row.text, row.pair]),
      decoded: tokenizer.decode(encoding.ids, { skipSpecialTokens: false }),
    };
  } catch (error) {
    if (!(error instanceof PieceworkError) || error.kind === "InternalError") throw error;
    return { error: true, message: error.message };
  }
}

const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const [, ...rows] = readFileSync(golden, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
let [compared, differing, skipped] = [0, 0, 0];
for (const given of rows.sort((one, other) => one.text.length - other.text.length)) {
  const row = { decoded: given.text, ...given };
  if ("padding" in row) {
    skipped += 1;
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
if (skipped) console.log(`skipped ${skipped} rows: no padding`);
console.log(`piecework: ${differing} of ${compared} compared rows differ`);
process.exitCode = differing || !compared ? 1 : 0;
