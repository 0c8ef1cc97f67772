"""Rank files and the published library beside ours: the same file, the same texts."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as published

import piecework as pw
from piecework.compat.tiktoken import Encoding, get_encoding
from tests import data
from tests.routes import assert_rows, rows_by_every_route

NAMES = ("r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony")


def rank_file(name: str) -> Path:
    """Return the rank file of that name; skip the test when it is not on this machine."""
    return data.need(f"vocab/tiktoken/{name}")


def read_ranks(path: Path) -> dict[bytes, int]:
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    pairs = (line.split() for line in raw.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


@lru_cache(maxsize=1)
def theirs(name: str) -> tiktoken.Encoding:
    """Build their encoding from our file, with the settings that they publish."""
    ranks = read_ranks(rank_file(pw.spec.ENCODINGS[name].rank_file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "load_tiktoken_bpe", lambda *_, **__: ranks)
        patch.setattr(published, "data_gym_to_mergeable_bpe_ranks", lambda *_, **__: ranks)
        facts = published.ENCODING_CONSTRUCTORS[name]()
    # The second name of an id; see docs/reference/conformance.md.
    facts["special_tokens"].pop("<|reserved_200018|>", None)
    return tiktoken.Encoding(**facts)


@lru_cache(maxsize=1)
def ours(name: str) -> Encoding:
    return get_encoding(name, ranks=rank_file(pw.spec.ENCODINGS[name].rank_file))


def assert_same(ours: Encoding, theirs: tiktoken.Encoding, texts: list[str]) -> int:
    """Compare tokens, by the routes of both surfaces; returns how many."""
    found = ours.encode_ordinary_batch(texts, num_threads=2)
    settings = {"add_special_tokens": False, "parse_special": False}
    routes = rows_by_every_route(ours._tokenizer, texts, **settings)
    assert_rows(routes, found, texts, "the tokenizer itself")
    expected = theirs.encode_ordinary_batch(texts, num_threads=2)
    for text, mine, other in zip(texts, found, expected, strict=True):
        assert mine == other, f"tokens differ in {text!r}"
    return sum(map(len, found))


def tiny(longer: Mapping[bytes, int] = {}) -> dict[bytes, int]:
    return {bytes([byte]): byte for byte in range(256)} | dict(longer)
