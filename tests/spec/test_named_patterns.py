"""The named patterns are those of the models' own files."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests import data


def published(model: str, name: str) -> dict[str, Any]:
    path = data.need(f"vocab/{model}/{name}")
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


@pytest.mark.parametrize("name", ["qwen2.5", "deepseek-v3"])
def test_pattern_is_the_one_in_the_tokenizer_json(name: str) -> None:
    stages = published(name, "tokenizer.json.gz")["pre_tokenizer"]["pretokenizers"]
    splits = [stage["pattern"]["Regex"] for stage in stages if stage["type"] == "Split"]
    assert tuple(splits) == pw.spec.NAMED_PATTERNS[name]


def test_pattern_of_tekken_is_the_one_in_its_file() -> None:
    config = published("mistral", "tekken_240911.json.gz")["config"]
    assert pw.spec.NAMED_PATTERNS["tekken"] == (config["pattern"],)


@pytest.mark.parametrize("name", pw.spec.NAMED_PATTERNS)
def test_every_pattern_keeps_all_bytes_in_order(name: str) -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=pw.spec.named_pre_tokenizer(name))
    text = "I'LL  go,\r\n 12345½ straße/ça va?!\n\n ナカ漢字 x\t \n  "
    spans = [span for _, span in tok.pre_tokenize(text)]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("name", pw.spec.NAMED_PATTERNS)
def test_ranks_are_read_with_the_pre_tokenizer_of_the_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bytes.tiktoken"
    path.write_bytes(b"".join(b64encode(bytes([id])) + b" %d\n" % id for id in range(256)))
    expected = pw.spec.named_pre_tokenizer(name)
    patterns = pw.spec.NAMED_PATTERNS[name]
    for pattern, pre_tokenizer in ((name, expected), (patterns, pw.spec.split_bytes(patterns))):
        tok = pw.Tokenizer.load(path, pattern=pattern, special_tokens={})
        assert tok.spec.pre_tokenizer == pre_tokenizer


def test_digits_are_cut_as_the_model_does() -> None:
    def pieces(name: str) -> list[str]:
        pre_tokenizer = pw.spec.named_pre_tokenizer(name)
        tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=pre_tokenizer)
        return [piece for piece, _ in tok.pre_tokenize("12345")]

    assert pieces("gpt2") == ["12345"]
    assert pieces("cl100k") == pieces("o200k") == pieces("deepseek-v3") == ["123", "45"]
    assert pieces("qwen3") == pieces("tekken") == list("12345")


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(pw.errors.ArgumentError, match="pattern: must be one of gpt2.*, not 'gpt5'"):
        pw.spec.named_pre_tokenizer("gpt5")


@pytest.mark.parametrize("name", sorted(pw.spec.NAMED_PATTERNS.keys() - {"deepseek-v3", "bloom"}))
def test_core_holds_its_scanner_to_the_very_text_of_the_pattern(name: str) -> None:
    scanners = data.ROOT / "crates" / "core" / "src" / "stages" / "pretokenize" / "scanners"
    tested = (scanners / "tests" / "published.rs").read_text(encoding="utf-8")
    assert f'r"{pw.spec.NAMED_PATTERNS[name][0]}"' in tested
