"""The package for npm: its files, its answers beside those of the Python package, its sentences, its examples."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import PieceworkError
from tests.playground.tokenizers import all_kinds, hostile
from tests.wasm.module import FOLDER, ROOT, answered, install_package
from tests.wasm.test_wasm_conformance import all_cases
from tests.wasm.test_wasm_tokenizer import EXPLAINED, TEXT, kinds

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")

FILES = {
    "LICENSE", "README.md", "THIRD-PARTY-NOTICES", "errors.js", "index.d.ts", "index.js", "module.js",
    "node.js", "package.json", "piecework.js", "piecework_bg.wasm", "tokenizer.js",
}  # fmt: skip
PAGES = [ROOT / "crates/wasm/npm/README.md", ROOT / "docs/how-to/use-from-javascript.md"]
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
        program = f"console.log(Object.keys(await import('./node_modules/piecework/{entry}')).join())"
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


def segmented(found: pw.SegmentedEncoding, texts: list[str]) -> dict[str, Any]:
    ends = [len("".join(texts[:number]).encode("utf-16-le")) // 2 for number in range(len(texts) + 1)]
    spans = [list(span) for span in zip(ends, ends[1:], strict=False)]
    tokens = [list(span) for span in found.token_spans]
    return {**encoded(found.encoding), "charSpans": spans, "tokenSpans": tokens}


def streamed(tokenizer: pw.Tokenizer, ids: list[int], **settings: bool) -> list[str]:
    stream = tokenizer.decode_stream(**settings)
    return [text or "" for text in [*map(stream.step, ids), stream.finish()]]


def or_error(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except PieceworkError as error:
        return type(error).__name__


def pairs(tokenizer: pw.Tokenizer, text: str, special: bool) -> Iterator[tuple[Any, Any]]:
    """Yield calls of the package for npm, and what the Python package answers."""
    other = {"addSpecialTokens": special}
    yield ["encode", text, other], lambda: encoded(tokenizer.encode(text, add_special_tokens=special))
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
            tokenizer.encode_batch(
                texts, texts[::-1], add_special_tokens=special, offsets="utf16"
            ),
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
        lambda: segmented(
            tokenizer.encode_segments(segments, add_special_tokens=special), parts
        ),
    )
    for parse in (False, True, "refuse"):
        given = {**other, "parseSpecial": parse}
        yield (
            ["encode", special_text + text, given],
            lambda parse=parse: encoded(
                tokenizer.encode(special_text + text, add_special_tokens=special, parse_special=parse)
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
            lambda skip=skip: streamed(tokenizer, ids, skip_special_tokens=skip),
        )
    yield ["decode", ids, {"cleanUp": True}], lambda: tokenizer.decode(ids, clean_up=True)
    yield ["vocabSize"], lambda: tokenizer.get_vocab_size()


def test_answers_equal_those_of_the_package(ask: Ask, tmp_path: Path) -> None:
    checks = []
    for case in all_cases():
        tokenizer = pw.Tokenizer.from_spec(case.spec)
        found = (
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
    calls = [["encode", TEXT], ["encode", "<|end|>"], ["encode", "<|end|>", {"parseSpecial": ["<|end|>"]}]]
    ours = pw.Tokenizer.from_ranks(ranks, pattern=pattern, special_tokens=special)
    [answer] = ask([{"file": b64encode(data).decode(), "options": options, "calls": calls}])
    assert answer[0] == encoded(ours.encode(TEXT))
    assert answer[1]["error"]["message"] == (
        'text: found the special token "<|end|>"; parseSpecial: true parses it, false encodes it as text'
    )
    assert answer[2]["ids"] == [258]
