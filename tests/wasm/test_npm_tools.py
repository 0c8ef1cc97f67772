"""The package for npm with TypeScript's compiler and a bundler, where they are at hand (`make test-npm`)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.wasm.module import PAGES, examples, install_package

VOCAB = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhug\n##s\nor\nnot\n"
needs_tsc = pytest.mark.skipif(shutil.which("tsc") is None, reason="apt install node-typescript")
needs_esbuild = pytest.mark.skipif(shutil.which("esbuild") is None, reason="apt install esbuild")
pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the package is installed."""
    install_package(tmp_path)
    return tmp_path


def ran(folder: Path, *command: str) -> str:
    """Return what a command prints; it must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- types

# What node's own types declare, as far as the examples use it.
NODE = """
declare module "node:fs/promises" { export function readFile(path: string): Promise<Uint8Array>; }
"""
# Every call with its options, and calls that do not compile.
PROGRAM = """
import { init, initSync, PieceworkError, Tokenizer, train, version } from "piecework";
import type { Batch, Encoding, EncodeOptions, Learner, Segmentation, Trace } from "piecework";

await init();
await init(new URL("https://localhost/piecework_bg.wasm"));
await init(fetch("piecework_bg.wasm"));
initSync(new Uint8Array());
const made: string = version();
const tokenizer: Tokenizer = Tokenizer.load(new ArrayBuffer(8), { source: "a", merges: new Uint8Array() });
Tokenizer.load(new Uint8Array(), { pattern: ["\\\\w+", "\\\\s+"], specialTokens: { "<|end|>": 1 } });

const options: EncodeOptions = { addSpecialTokens: false, parseSpecial: "refuse", truncation: 8 };
const encoding: Encoding = tokenizer.encode("a", { ...options, pair: "b", parseSpecial: ["[CLS]"] });
const ids: Uint32Array = encoding.ids;
const word: number | undefined = encoding.wordIds[0];
const truncation = { maxLength: 8, stride: 2, side: "left", strategy: "only_first" } as const;
const batched = { pairs: ["b"], offsets: true, overflow: true, truncation };
const batch: Batch = tokenizer.encodeBatch(["a"], batched);
for (const row of batch) row.subarray(1);
const lists: number[][] = batch.toLists();
const count: number = tokenizer.count("a", options) + tokenizer.countBatch(["a"])[0]!;
const { tokenSpans } = tokenizer.encodeSegments([["a", true], ["b", false]], { markers: [], truncation: 4 });
const [start, end]: [number, number] = tokenSpans[0]!;
const text: string = tokenizer.decode(ids, { skipSpecialTokens: false, cleanUp: true });
const same: string = tokenizer.decode([1n]);
const texts: string[] = tokenizer.decodeBatch(batch, {});
const stream = tokenizer.decodeStream({ prefill: ids, skipSpecialTokens: true });
for (const part of stream.feed([1, 2n])) part.trim();
const rest: string = stream.step(1) + stream.finish();
const token: string | undefined = tokenizer.idToToken(tokenizer.tokenToId("a") ?? 0);
const found: Segmentation[] = tokenizer.segmentations("a", { draw: "sample", n: 2, alpha: 0.1, seed: 1 });
const pieces = tokenizer.explain("a").words[0]!.lattice?.edges.map((edge) => edge.piece);
const learner: Learner = "bpe";
const settings = { learner, vocabSize: 9, template: tokenizer.toStr(), steps: 1 };
const { trace }: { trace: Trace } = train("a", settings);
try {
  tokenizer.free();
} catch (error) {
  if (error instanceof PieceworkError) error.kind.trim();
}

// @ts-expect-error: the source is a field of the options
Tokenizer.load(new Uint8Array(), "vocab.txt");
// @ts-expect-error: made by Tokenizer.load
new Tokenizer();
// @ts-expect-error: as in the Python package
tokenizer.encode("a", { add_special_tokens: false });
// @ts-expect-error: not a value of this option
tokenizer.encode("a", { parseSpecial: "all" });
// @ts-expect-error: an option of batches
tokenizer.encode("a", { overflow: true });
// @ts-expect-error: the length is missing
tokenizer.encode("a", { truncation: { stride: 1 } });
// @ts-expect-error: does not change
encoding.ids = new Uint32Array();
// @ts-expect-error: each text has its permission
tokenizer.encodeSegments(["a"]);
// @ts-expect-error: no learner
train("a", { learner: "bert", vocabSize: 9, template: "" });
export { count, end, found, lists, made, pieces, rest, same, start, text, texts, token, trace, word };
"""


OPTIONS = {
    "noEmit": True,
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "useUnknownInCatchVariables": False,
    "allowJs": True,
    "checkJs": True,
    "maxNodeModuleJsDepth": 0,
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable"],
    "types": [],
}


def compiled(folder: Path, *files: str, module: str = "nodenext") -> None:
    """Compile programs with all checks, also of the package's own types."""
    resolution = {"module": module, "moduleResolution": "node" if module == "es2022" else module}
    config = {"compilerOptions": OPTIONS | resolution, "files": files}
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    ran(folder, "tsc", "--project", ".")


@needs_tsc
@pytest.mark.parametrize("module", ["nodenext", "es2022"])
def test_programs_compile_and_wrong_calls_do_not(folder: Path, module: str) -> None:
    (folder / "program.mts").write_text(PROGRAM, encoding="utf-8")
    compiled(folder, "program.mts", module=module)


@needs_tsc
def test_the_examples_of_the_pages_compile(folder: Path) -> None:
    (folder / "node.d.ts").write_text(NODE, encoding="utf-8")
    names = []
    for program in [each for page in PAGES for each in examples(page, "js")]:
        names.append(f"example_{len(names)}.mjs")
        own = program.replace("./node_modules/piecework/index.js", "piecework")
        (folder / names[-1]).write_text(own, encoding="utf-8")
    assert len(names) > 6
    compiled(folder, "node.d.ts", *names)


# ---- bundles

COUNT = """
await init(SOURCE);
const vocab = new TextEncoder().encode(VOCAB);
const tokenizer = Tokenizer.load(vocab, { source: "vocab.txt" });
console.log(tokenizer.count("Hugs or not"), tokenizer.encode("hugs").tokens.join());
"""


def bundled(folder: Path, head: str, source: str, *options: str) -> str:
    """Return what a bundled program prints in node, in a folder of its own without the package."""
    count = COUNT.replace("SOURCE", source).replace("VOCAB", repr(VOCAB))
    (folder / "program.mjs").write_text(head + count, encoding="utf-8")
    ran(folder, "esbuild", "program.mjs", "--bundle", "--minify", "--format=esm", "--outdir=out",
        "--out-extension:.js=.mjs", *options)  # fmt: skip
    elsewhere = (folder / "out").rename(folder.parent / f"{folder.name}-out")
    if not source:
        shutil.copy(folder / "node_modules/piecework/piecework_bg.wasm", elsewhere)
    return ran(elsewhere, "node", "program.mjs").strip()


IMPORT = 'import { init, Tokenizer } from "piecework";\n'
IMPORT_MODULE = IMPORT + 'import module from "piecework/piecework_bg.wasm";\n'


@needs_esbuild
@pytest.mark.parametrize(
    ("head", "source", "options"),
    [
        pytest.param(IMPORT, "", ["--platform=node"], id="node, the module beside the bundle"),
        pytest.param(
            IMPORT_MODULE,
            "module",
            ["--platform=browser", "--loader:.wasm=binary"],
            id="browser, the module in the bundle",
        ),
    ],
)
def test_a_bundle_counts_tokens(folder: Path, head: str, source: str, options: list[str]) -> None:
    assert bundled(folder, head, source, *options) == "6 [CLS],hug,##s,[SEP]"


@needs_esbuild
def test_a_bundle_leaves_out_what_is_not_used(folder: Path) -> None:
    (folder / "program.mjs").write_text(
        'import { PieceworkError } from "piecework";\nconsole.log(PieceworkError.name);\n'
    )
    bundle = ran(folder, "esbuild", "program.mjs", "--bundle", "--format=esm", "--platform=browser")
    assert "WebAssembly" not in bundle
