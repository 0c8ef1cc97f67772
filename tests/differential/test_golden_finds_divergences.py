"""Golden files of small tokenizers find each divergence of `tokenizers` in docs/reference/conformance.md.

Each tokenizer has the component that differs there. Offsets that lag, and tokens that are named otherwise,
count as found too: the ids are often equal.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import piecework as pw
from tests import data

Json = dict[str, Any]
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def entries(*tokens: str) -> dict[str, int]:
    return {token: id for id, token in enumerate(tokens)}


def bpe(*tokens: str, **settings: Any) -> Json:
    vocab = entries(*LETTERS, "ab", *tokens)
    return {"type": "BPE", "unk_token": None, "vocab": vocab, "merges": ["a b"], **settings}


def words(*tokens: str) -> Json:
    return {"type": "WordLevel", "vocab": entries("[UNK]", *tokens), "unk_token": "[UNK]"}


def unigram() -> Json:
    scores = [["<unk>", 0.0], ["▁", -2.0], *([letter, -3.0] for letter in LETTERS)]
    return {"type": "Unigram", "unk_id": 0, "vocab": scores, "byte_fallback": False}


def added(id: int, content: str, **flags: bool) -> Json:
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": content, **usual, "special": False, **flags}


def file(model: Json, **stages: Any) -> Json:
    every = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
    parts = {**dict.fromkeys(every), "pre_tokenizer": {"type": "WhitespaceSplit"}, **stages}
    return {"version": "1.0", "added_tokens": [], **parts, "model": model}


BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
LOWERCASE = {"type": "Lowercase"}
# Divergence -> the file, a flag of a row that differs, and the first field that differs.
DIVERGENCES: dict[str, tuple[Json, str, str]] = {
    "characters that BPE drops shift offsets": (file(bpe()), "case", "char_offsets"),
    "byte tokens with a prefix extend beyond the word": (
        file(
            bpe(
                *BYTES,
                *(f"##{letter}" for letter in LETTERS),
                byte_fallback=True,
                continuing_subword_prefix="##",
                merges=[],
            )
        ),
        "script",
        "char_offsets",
    ),
    "Prepend of nothing": (
        file(bpe(), normalizer={"type": "Prepend", "prepend": ""}),
        "pair",
        "char_offsets",
    ),
    "trimming of an unknown Unigram piece": (
        file(unigram(), post_processor=BYTE_LEVEL),
        "spaces",
        "char_offsets",
    ),
    "ids of added tokens that the file states": (
        file(words("a"), added_tokens=[added(50, "[Z]")]),
        "added-token",
        "ids",
    ),
    "two added tokens with one normalized form": (
        file(
            words("[A]", "[a]"),
            normalizer=LOWERCASE,
            added_tokens=[added(1, "[A]", normalized=True), added(2, "[a]", normalized=True)],
        ),
        "added-token",
        "tokens",
    ),
    "a special token that is left out hides a shorter one": (
        file(
            words("a", "b", "<x>", "<x>y"),
            added_tokens=[added(3, "<x>"), added(4, "<x>y", special=True)],
        ),
        "parse-special",
        "ids",
    ),
    "a decoder that strips all of a token": (
        file(words("a", "b"), decoder={"type": "Strip", "content": "a", "start": 1, "stop": 1}),
        "pair",
        "error",
    ),
}


@pytest.fixture(scope="module")
def compare() -> Callable[[Path, Path], list[tuple[Json, Json, list[str]]]]:
    """Return what examples/golden/check_golden.py finds with `tokenizers`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(data.ROOT / "examples" / "golden"))
        checker = importlib.import_module("check_golden")

    def differing(golden: Path, source: Path) -> list[tuple[Json, Json, list[str]]]:
        rows = [json.loads(line) for line in golden.read_text(encoding="utf-8").splitlines()[1:]]
        answer = checker.over_tokenizers(tokenizers, str(source))
        found: list[tuple[Json, Json, list[str]]]
        found, _ = checker.compare(rows, answer, checker.FIELDS.split(","))
        return found

    return differing


@pytest.mark.slow
@pytest.mark.parametrize("divergence", sorted(DIVERGENCES))
def test_a_known_divergence_is_found(
    divergence: str,
    compare: Callable[[Path, Path], list[tuple[Json, Json, list[str]]]],
    tmp_path: Path,
) -> None:
    content, flag, field = DIVERGENCES[divergence]
    source = tmp_path / "tokenizer.json"
    source.write_text(json.dumps(content), encoding="utf-8")
    pw.analysis.golden(pw.Tokenizer.load(source)).save(tmp_path / "golden.jsonl")
    found = compare(tmp_path / "golden.jsonl", source)
    # tokenizers draws which of two added tokens with one normalized form it finds: ids differ before tokens.
    first = {"ids", "tokens"} if field == "tokens" else {field}
    assert any(
        flag in row["flags"] and field in fields and fields[0] in first for row, _, fields in found
    )
