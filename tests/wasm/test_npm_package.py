"""The package for npm: its files, its answers compared with the Python package, its errors, its examples."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import PieceworkError
from piecework.tokenizer.segments import SegmentedEncoding
from tests.playground.tokenizers import all_kinds, hostile
from tests.wasm.module import FOLDER, PAGES, answered, examples, install_package
from tests.wasm.test_wasm_conformance import all_cases
from tests.wasm.test_wasm_tokenizer import EXPLAINED, TEXT, kinds

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")

FILES = {
    "LICENSE", "README.md", "THIRD-PARTY-NOTICES", "errors.js", "index.d.ts", "index.js", "module.js",
    "node.js", "package.json", "piecework.js", "piecework_bg.wasm", "tokenizer.js",
}  # fmt: skip
Ask = Callable[[list[dict[str, Any]]], list[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed."""
    made = tmp_path_factory.mktemp("npm")
    install_package(made)
    shutil.copy(FOLDER / "answer_package.mjs", made)
    return made


@pytest.fixture(scope="module")
def ask(folder: Path) -> Ask:
    return lambda requests: answered(folder / "answer_package.mjs", requests)


def request(tokenizer: pw.Tokenizer, *calls: Any, path: Path) -> dict[str, Any]:
    tokenizer.save(path / "tokenizer.piecework")
    data = (path / "tokenizer.piecework").read_bytes()
    return {"file": b64encode(data).decode(), "calls": calls}


# ---- files


def test_the_archive_has_what_a_package_needs_and_no_more(folder: Path) -> None:
    package = folder / "node_modules" / "piecework"
    assert {path.name for path in package.iterdir()} == FILES
    manifest = json.loads((package / "package.json").read_text())
    assert manifest["version"] == pw.__version__
    named = [manifest[key].removeprefix("./") for key in ("main", "browser", "types")]
    named += [target.removeprefix("./") for target in manifest["exports"]["."].values()]
    assert set(named) <= FILES


def test_scripts_import_and_types_declare_the_same_names(folder: Path) -> None:
    package = folder / "node_modules" / "piecework"
    declared = re.findall(
        r"^export (?:class|function) (\w+)", (package / "index.d.ts").read_text(), re.MULTILINE
    )
    for entry in ("node.js", "index.js"):
        program = (
            f"console.log(Object.keys(await import('./node_modules/piecework/{entry}')).join())"
        )
        assert run(folder, program).strip().split(",") == sorted(declared)


def test_methods_and_types_have_the_same_names(folder: Path) -> None:
    types = (folder / "node_modules/piecework/index.d.ts").read_text()
    for name in ("Tokenizer", "Encoding", "SegmentedEncoding", "Batch", "DecodeStream"):
        body = types.partition(f"export class {name} ")[2].partition("\n}\n")[0]
        declared = re.findall(r"^  (?:static |readonly )?(\w+)[(:]", body, re.MULTILINE)
        program = f"""
            import {{ {name} }} from "piecework";
            const own = [...Object.getOwnPropertyNames({name}.prototype), ...Object.keys(
              Object.getOwnPropertyDescriptors({name}))];
            console.log(own.filter((one) => !["length", "name", "prototype"].includes(one)).join());
        """
        found = set(run(folder, program).strip().split(","))
        stated = {"length", "ids", "rowOffsets", "encoding", "charSpans", "tokenSpans"}
        assert found - stated == set(declared) - stated | {"constructor"}, name


def run(folder: Path, program: str) -> str:
    """Return what a program prints."""
    (folder / "program.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["node", "program.mjs"], cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the same answers


def encoded(encoding: pw.Encoding) -> dict[str, Any]:
    """Return an encoding in the form of the package for npm."""
    return {
        "ids": encoding.ids,
        "tokens": encoding.tokens,
        "offsets": [end for span in encoding.utf16_offsets for end in span],
        "typeIds": encoding.type_ids,
        "wordIds": [-1 if word is None else word for word in encoding.word_ids],
        "sequenceIds": [-1 if one is None else one for one in encoding.sequence_ids],
        "specialTokensMask": encoding.special_tokens_mask,
    }


def batched(batch: pw.Batch, offsets: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ids": batch.ids.tolist(),
        "rowOffsets": batch.row_offsets.tolist(),
        "typeIds": batch.type_ids.tolist(),
        "overflowToSampleMapping": batch.overflow_to_sample_mapping.tolist(),
        "rows": batch.to_lists(),
    }
    if offsets:
        found |= {
            "offsets": batch.offsets.ravel().tolist(),
            "wordIds": batch.word_ids.tolist(),
            "sequenceIds": batch.sequence_ids.tolist(),
            "specialTokensMask": batch.special_tokens_mask.tolist(),
        }
    return found


def segmented(found: SegmentedEncoding, texts: list[str]) -> dict[str, Any]:
    ends = [
        len("".join(texts[:number]).encode("utf-16-le")) // 2 for number in range(len(texts) + 1)
    ]
    spans = [list(span) for span in pairwise(ends)]
    tokens = [list(span) for span in found.token_spans]
    return {**encoded(found.encoding), "charSpans": spans, "tokenSpans": tokens}


def streamed(tokenizer: pw.Tokenizer, ids: list[int], skip: bool) -> list[str]:
    stream = tokenizer.decode_stream(skip_special_tokens=skip)
    return [text or "" for text in [*map(stream.step, ids), stream.finish()]]


def or_error(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except PieceworkError as error:
        return type(error).__name__


def pairs(tokenizer: pw.Tokenizer, text: str, special: bool) -> Iterator[tuple[Any, Any]]:
    """Yield calls of the package for npm, and what the Python package answers."""
    other = {"addSpecialTokens": special}
    yield (
        ["encode", text, other],
        lambda: encoded(tokenizer.encode(text, add_special_tokens=special)),
    )
    texts = [text, "", f"{text} {text}"]
    for offsets in (True, False):
        yield (
            ["encodeBatch", texts, {**other, "offsets": offsets}],
            lambda offsets=offsets: batched(
                tokenizer.encode_batch(
                    texts, add_special_tokens=special, offsets="utf16" if offsets else False
                ),
                offsets,
            ),
        )
    yield (
        ["encodeBatch", texts, {**other, "offsets": True, "pairs": texts[::-1]}],
        lambda: batched(
            tokenizer.encode_batch(texts, texts[::-1], add_special_tokens=special, offsets="utf16"),
            True,
        ),
    )
    yield (
        ["countBatch", texts, other],
        lambda: tokenizer.count_batch(texts, add_special_tokens=special),
    )
    for length, stride, side in ((3, 0, "right"), (5, 1, "left"), (9, 2, "right")):
        truncation = {"maxLength": length, "stride": stride, "side": side}
        given = {**other, "truncation": truncation, "overflow": True, "offsets": True}
        yield (
            ["encodeBatch", texts, given],
            lambda length=length, stride=stride, side=side: batched(
                tokenizer.with_truncation(length, stride=stride, side=side).encode_batch(
                    texts, add_special_tokens=special, overflow=True, offsets="utf16"
                ),
                True,
            ),
        )
        yield (
            ["encode", text, {**other, "truncation": truncation}],
            lambda length=length, stride=stride, side=side: encoded(
                tokenizer.with_truncation(length, stride=stride, side=side).encode(
                    text, add_special_tokens=special
                )
            ),
        )
    middle = len(text) // 2
    special_text = "".join(token.content for token in tokenizer.added_tokens)
    parts = [text[:middle], text[middle:], special_text, "", text[:3], special_text]
    permitted = [False, True, True, True, False, False]
    segments = [*zip(parts, permitted, strict=True)]
    yield (
        ["encodeSegments", segments, other],
        lambda: segmented(tokenizer.encode_segments(segments, add_special_tokens=special), parts),
    )
    for parse in (False, True, "refuse"):
        given = {**other, "parseSpecial": parse}
        yield (
            ["encode", special_text + text, given],
            lambda parse=parse: encoded(
                tokenizer.encode(
                    special_text + text, add_special_tokens=special, parse_special=parse
                )
            ),
        )
    ids = or_error(lambda: tokenizer.encode(text, add_special_tokens=special).ids)
    yield from decoding_pairs(tokenizer, ids if isinstance(ids, list) else [])


def decoding_pairs(tokenizer: pw.Tokenizer, ids: list[int]) -> Iterator[tuple[Any, Any]]:
    for skip in (True, False):
        settings = {"skipSpecialTokens": skip}
        yield (
            ["decode", ids, settings],
            lambda skip=skip: tokenizer.decode(ids, skip_special_tokens=skip),
        )
        yield (
            ["stream", ids, settings],
            lambda skip=skip: streamed(tokenizer, ids, skip),
        )
    yield ["decode", ids, {"cleanUp": True}], lambda: tokenizer.decode(ids, clean_up=True)
    yield ["vocabSize"], lambda: tokenizer.get_vocab_size()


def test_answers_equal_those_of_the_package(ask: Ask, tmp_path: Path) -> None:
    checks = []
    for case in all_cases():
        tokenizer = pw.Tokenizer.from_spec(case.spec)
        found: Iterable[tuple[Any, Any]] = (
            pairs(tokenizer, case.text, case.special)
            if case.ids is None
            else decoding_pairs(tokenizer, case.ids)
        )
        checks.append((case.name, tokenizer, [*found]))
    for name, tokenizer in {**kinds(), **all_kinds(), "hostile": hostile()}.items():
        for text in (TEXT, *EXPLAINED, "😀 a😀b 👩‍🚀"):
            checks.append((name, tokenizer, [*pairs(tokenizer, text, True)]))
    requests = [
        request(tokenizer, *(call for call, _ in found), path=tmp_path)
        for _, tokenizer, found in checks
    ]
    answers = ask(requests)
    compared = 0
    for (name, _, found), answer in zip(checks, answers, strict=True):
        for (call, work), result in zip(found, answer, strict=True):
            expected = or_error(work)
            if isinstance(result, dict) and "error" in result:
                result = result["error"]["kind"]
            assert result == expected, (name, call)
            compared += 1
    assert compared > 5000


def test_files_without_a_pattern_and_merges_take_them_as_options(ask: Ask) -> None:
    bpe = kinds()["byte-bpe"]
    model = bpe.spec.model
    assert isinstance(model, pw.spec.BPE)
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    data = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    pattern, special = r"\w+|\W+", {"<|end|>": 258}
    options = {"pattern": pattern, "specialTokens": special, "source": "a.tiktoken"}
    calls = [
        ["encode", TEXT],
        ["encode", "<|end|>"],
        ["encode", "<|end|>", {"parseSpecial": ["<|end|>"]}],
    ]
    ours = pw.Tokenizer.from_ranks(ranks, pattern=pattern, special_tokens=special)
    [answer] = ask([{"file": b64encode(data).decode(), "options": options, "calls": calls}])
    assert answer[0] == encoded(ours.encode(TEXT))
    assert answer[1]["error"]["message"] == (
        'text: found the special token "<|end|>"; parseSpecial: true parses it, false encodes it as text'
    )
    assert answer[2]["ids"] == [258]


# ---- loading the module

VOCAB = "[UNK]\n[CLS]\n[SEP]\nto\nbe\n"
START = f"""
import {{ init, initSync, PieceworkError, Tokenizer, train, version }} from "piecework";
import {{ readFileSync }} from "node:fs";
const vocab = new TextEncoder().encode({json.dumps(VOCAB)});
const shown = (work) => {{
  try {{
    return work();
  }} catch (error) {{
    if (!(error instanceof PieceworkError)) throw error;
    return `${{error.kind}}: ${{error.message}}`;
  }}
}};
const module = new URL("node_modules/piecework/piecework_bg.wasm", import.meta.url);
"""


@pytest.mark.parametrize(
    "source",
    [
        "",
        "module",
        "module.href",
        "readFileSync(module)",
        "readFileSync(module).buffer",
        "await WebAssembly.compile(readFileSync(module))",
        "new Response(readFileSync(module), { headers: { 'content-type': 'application/wasm' } })",
        "Promise.resolve(readFileSync(module))",
    ],
)
def test_the_module_loads_once_from_any_source(folder: Path, source: str) -> None:
    program = f"""{START}
        await Promise.all([init({source}), init({source}), init()]);
        await init("file:///nowhere");
        initSync();
        console.log(Tokenizer.load(vocab).count("to be"), version());
    """
    assert run(folder, program).split() == ["4", pw.__version__]


@pytest.mark.parametrize(
    "source", ["", "readFileSync(module)", "new WebAssembly.Module(readFileSync(module))"]
)
def test_the_module_loads_at_once(folder: Path, source: str) -> None:
    program = (
        f"{START} initSync({source}); await init(); console.log(Tokenizer.load(vocab).vocabSize);"
    )
    assert run(folder, program).split() == ["5"]


def test_a_module_that_does_not_load_says_why_and_can_be_loaded_again(folder: Path) -> None:
    program = f"""{START}
        console.log(shown(() => Tokenizer.load(vocab)));
        const error = await init(new Uint8Array([1, 2, 3])).catch((error) => error);
        console.log(`${{error.kind}}: ${{error.message}}`);
        console.log(shown(() => initSync(new Uint8Array())));
        await init();
        console.log(Tokenizer.load(vocab).vocabSize);
    """
    before, bytes_, sync, after = run(folder, program).splitlines()
    assert before == "ArgumentError: piecework: is not loaded; run `await init()` first"
    assert bytes_.startswith("FileError: init: the WebAssembly module does not load: ")
    assert sync.startswith("FileError: init: the WebAssembly module does not load: ")
    assert after == "5"


def test_a_panic_ends_every_later_call_with_its_message(folder: Path) -> None:
    program = f"""{START}
        const core = await import("./node_modules/piecework/piecework.js");
        await init();
        const tokenizer = Tokenizer.load(vocab);
        core.Tokenizer.prototype.decode = () => {{ throw new WebAssembly.RuntimeError("unreachable"); }};
        core.Tokenizer.prototype.free = () => {{ throw new Error("borrowed"); }};
        console.log(shown(() => tokenizer.decode([3])));
        console.log(shown(() => tokenizer.count("to")));
        tokenizer.free();
    """
    first, second = run(folder, program).splitlines()
    assert first == second
    assert first.startswith(
        "MemoryLimitError: piecework: ran out of memory; this thread or process cannot"
    )


# ---- sentences

REFUSED = {
    "tokenizer.encode(1)": "InputTypeError: text: must be a string, not 1",
    "tokenizer.encode()": "InputTypeError: text: must be a string, not undefined",
    "tokenizer.encode(['a'])": (
        "InputTypeError: text: must be one string (encodeBatch and countBatch take many), not an array"
    ),
    "tokenizer.encode('a', true)": "InputTypeError: options: must be an object, not true",
    "tokenizer.encode('a', { add_special_tokens: true })": (
        "ArgumentError: options.add_special_tokens: is unknown; "
        "the options are pair, addSpecialTokens, parseSpecial, truncation"
    ),
    "tokenizer.encode('a', { pair: 2 })": "InputTypeError: pair: must be a string, not 2",
    "tokenizer.encode('a', { addSpecialTokens: 1 })": (
        "InputTypeError: addSpecialTokens: must be true or false, not 1"
    ),
    "tokenizer.encode('a', { parseSpecial: 'all' })": (
        'InputTypeError: parseSpecial: must be true, false, "refuse" or an array of special tokens, '
        "not a string"
    ),
    "tokenizer.encode('a', { parseSpecial: ['to'] })": (
        'ArgumentError: parseSpecial: must be special tokens of the tokenizer, not "to"'
    ),
    "tokenizer.encode('a[SEP]', { parseSpecial: 'refuse' })": (
        'SpecialTokenError: text: found the special token "[SEP]"; '
        "parseSpecial: true parses it, false encodes it as text"
    ),
    "tokenizer.encode('a', { truncation: '5' })": (
        "InputTypeError: truncation: must be a number of tokens or an object, not a string"
    ),
    "tokenizer.encode('a', { truncation: 0 })": (
        "ArgumentError: truncation.maxLength: must be a whole number from 1 to 2147483647, not 0"
    ),
    "tokenizer.encode('a', { truncation: 1 })": (
        "ArgumentError: truncation.maxLength: must be at least 2, the special tokens alone, not 1"
    ),
    "tokenizer.encode('a', { truncation: { maxLength: 5, stride: 3 } })": (
        "ArgumentError: truncation.stride: must be less than 3, "
        "the tokens left beside the special ones, not 3"
    ),
    "tokenizer.encode('a', { truncation: { maxLength: 5, side: 'top' } })": (
        'ArgumentError: truncation.side: must be "right" or "left", not "top"'
    ),
    "tokenizer.encode('a', { truncation: { length: 5 } })": (
        "ArgumentError: truncation.length: is unknown; the settings are maxLength, stride, side, strategy"
    ),
    "tokenizer.encodeBatch('a')": "InputTypeError: texts: must be an array of strings, not a string",
    "tokenizer.encodeBatch(['a', null])": "InputTypeError: texts[1]: must be a string, not null",
    "tokenizer.encodeBatch(['a'], { pairs: [] })": (
        "ArgumentError: pairs: must have one text for each of the 1 texts, not 0"
    ),
    "tokenizer.encodeBatch(['a']).offsets": (
        "ArgumentError: offsets: is not in this batch; encode with { offsets: true }"
    ),
    "tokenizer.encodeBatch(['a']).row(1)": "ArgumentError: row: must be a row of a batch of 1, not 1",
    "tokenizer.countBatch([new Date(0)])": (
        "InputTypeError: texts[0]: must be a string, not an object of Date"
    ),
    "tokenizer.encodeSegments(['a'])": (
        "InputTypeError: segments[0]: must be a [text, allowSpecial] pair, not a string"
    ),
    "tokenizer.encodeSegments([['a', 1]])": "InputTypeError: segments[0][1]: must be true or false, not 1",
    "tokenizer.encodeSegments([['a', true]], { markers: ['to'] })": (
        'ArgumentError: markers: must be added tokens of the tokenizer, not "to"'
    ),
    "tokenizer.decode('1')": "InputTypeError: ids: must be an array of ids, not a string",
    "tokenizer.decode([1, -1])": "ArgumentError: ids[1]: must be an id from 0 to 4294967295, not -1",
    "tokenizer.decode([1.5])": "ArgumentError: ids[0]: must be an id from 0 to 4294967295, not 1.5",
    "tokenizer.decode(['a'])": "InputTypeError: ids[0]: must be an id, not a string",
    "tokenizer.decodeStream().step(null)": "InputTypeError: id: must be an id, not null",
    "tokenizer.idToToken(2 ** 32)": "ArgumentError: id: must be an id from 0 to 4294967295, not 4294967296",
    "tokenizer.tokenToId(3)": "InputTypeError: token: must be a string, not 3",
    "new Tokenizer()": "ArgumentError: Tokenizer: has no constructor; call Tokenizer.load",
    "Tokenizer.load('a.json')": (
        "InputTypeError: data: must be the bytes of a file, a Uint8Array or an ArrayBuffer, not a string"
    ),
    "Tokenizer.load(vocab, { specialTokens: {} })": (
        "ArgumentError: specialTokens: needs a pattern; other files have their special tokens"
    ),
    "Tokenizer.load(vocab, { pattern: 'a', merges: vocab })": (
        "ArgumentError: merges: and pattern belong to different files; pass one of them"
    ),
    "Tokenizer.load(new TextEncoder().encode('{'), { source: 'a.json' }).free()": (
        "FormatError: a.json: line 1, column 1: found EOF while parsing an object, expected JSON"
    ),
    "tokenizer.segmentations('a', { n: 1.5 })": (
        "ArgumentError: n: must be a whole number from 1 to 2147483647, not 1.5"
    ),
    "train('a', { learner: 'bpe', vocabSize: 9 })": (
        "InputTypeError: template: must be a string, not undefined"
    ),
    "(tokenizer.free(), tokenizer.free(), tokenizer.count('a'))": (
        "ArgumentError: tokenizer: was freed; load it again"
    ),
    "(stream.free(), stream.step(1))": "ArgumentError: stream: was freed; load it again",
}


def test_arguments_that_are_refused_have_a_sentence(folder: Path) -> None:
    calls = "\n".join(f"console.log(shown(() => {call}));" for call in REFUSED)
    load = 'await init(); const tokenizer = Tokenizer.load(vocab, { source: "vocab.txt" });'
    found = run(folder, f"{START}{load} const stream = tokenizer.decodeStream();\n{calls}")
    assert dict(zip(REFUSED, found.splitlines(), strict=True)) == REFUSED


def test_lone_surrogates_views_and_numbers_of_64_bits(folder: Path) -> None:
    program = f"""{START}
        await init();
        const padded = new Uint8Array(vocab.length + 8);
        padded.set(vocab, 4);
        const tokenizer = Tokenizer.load(new DataView(padded.buffer, 4, vocab.length));
        const {{ ids, offsets }} = tokenizer.encode("to\\ud800 be");
        console.log(ids.join(), offsets.join(), tokenizer.decode(new BigInt64Array([3n, 4n])));
        const segments = [["\\ud83d", false], ["\\ude00", false], ["to", false]];
        console.log(JSON.stringify(tokenizer.encodeSegments(segments).tokenSpans));
        const stream = tokenizer.decodeStream({{ prefill: [3] }});
        console.log([...stream.feed([4, 3])].join("|"));
        console.log(tokenizer.decodeBatch(tokenizer.encodeBatch(["to", "be be"])).join("|"));
        console.log(Tokenizer.load(new TextEncoder().encode(tokenizer.toStr())).encode("to be").ids.join());
    """
    lines = run(folder, program).splitlines()
    assert lines[0] == "1,3,4,2 0,0,0,2,4,6,0,0 to be"
    assert lines[1:] == ["[[0,0],[0,0],[0,1]]", " be| to", "to|be be", "1,3,4,2"]


def test_a_text_is_learned(folder: Path) -> None:
    template = kinds()["byte-bpe"].to_str()
    program = f"""{START}
        await init();
        const options = {{ learner: "bpe", vocabSize: 14, template: {json.dumps(template)}, steps: 2 }};
        const {{ tokenizer, trace }} = train("low low lower newest newest", options);
        console.log(tokenizer.vocabSize, trace.steps.length, tokenizer.explain("low").words.length);
    """
    assert run(folder, program).split() == ["14", "2", "1"]


# ---- examples

PROGRAMS = [
    pytest.param(program, id=f"{page.name}-{number}")
    for page in PAGES
    for number, program in enumerate(examples(page, "js"))
    if "self." not in program  # workers run in a browser
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_examples_print_what_they_show(folder: Path, program: str) -> None:
    """A comment after a call of `console.log` is what it prints."""
    vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhug\n##s\nor\nnot\n"
    (folder / "vocab.txt").write_text(vocab, encoding="utf-8")
    shown = re.findall(r"^ *console\.log\(.*\); // (.*)$", program, re.MULTILINE)
    assert len(shown) == program.count("console.log(") > 0
    found = run(folder, program).splitlines()
    assert [normal(line) for line in found] == [normal(line) for line in shown]


def normal(printed: str) -> str:
    """Return a printed value without spaces and kinds of quotes."""
    return re.sub(r"\s", "", printed).replace("'", '"')
