// Answers requests from standard input with the WebAssembly module of the folder in the first argument.
//
// A request has `files`, pairs of a name and data in base64, and the calls on the tokenizer of these files; or `train`, the
// arguments of that function. An answer is the list of results, or an error with its fields.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { initSync, panicMessage, Tokenizer, train, version } = await import(new URL("piecework.js", folder));
initSync({ module: readFileSync(new URL("piecework_bg.wasm", folder)) });

const calls = {
  version: () => version(),
  describe: (tokenizer) => tokenizer.describe(),
  save: (tokenizer) => tokenizer.save(),
  decode: (tokenizer, ids, skip) => tokenizer.decode(new Uint32Array(ids), skip),
  explain: (tokenizer, text) => tokenizer.explain(text),
  segmentations: (tokenizer, ...given) => tokenizer.segmentations(...given),
  encode(tokenizer, text, special) {
    const { ids, starts, ends, flags, tokens, distinct, unknown } = tokenizer.encode(text, special);
    return { ids: [...ids], starts: [...starts], ends: [...ends], flags: [...flags], tokens, distinct, unknown };
  },
};

function loaded(files, ranks) {
  const [first, second] = files.map(([name, data]) => [name, Buffer.from(data, "base64")]);
  if (ranks) return Tokenizer.loadRanks(first[1], first[0], ranks.pipeline, ranks.tokens, new Uint32Array(ranks.ids));
  if (second) return Tokenizer.loadMerges(first[1], second[1], first[0], second[0]);
  return Tokenizer.load(first[1], first[0]);
}

function answer({ files, ranks, train: given, calls: called }) {
  try {
    if (!given) {
      const tokenizer = loaded(files, ranks);
      const results = called.map(([name, ...rest]) => calls[name](tokenizer, ...rest));
      tokenizer.free();
      return results;
    }
    const training = train(...given);
    const { trace } = training;
    return [trace, training.tokenizer().save()];
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw new Error(panicMessage());
    const { name, message, place, found, expected } = error;
    return { error: { name, message, place, found, expected } };
  }
}

const requests = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(requests.map(answer)));
