"""Inspection: every kind of token, in vocabularies of every family, and the published counts."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import inspect
from piecework.analysis.entry_bytes import vocabulary_entries
from piecework.analysis.readable import bytes_of
from piecework.analysis.vocabulary_report import is_numeric
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE as PRINTABLE
from tests.data import need


def ids(tokens: str) -> dict[str, int]:
    return {token: id for id, token in enumerate(tokens.split())}


def byte_level(
    tokens: list[str], merges: tuple[tuple[str, str], ...] = (), **settings: Any
) -> pw.Tokenizer:
    """A byte-level BPE of these tokens, with GPT-2's pre-tokenizer."""
    return pw.Tokenizer(
        pw.spec.BPE({token: id for id, token in enumerate(tokens)}, merges, **settings),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    )


def test_wordpiece_tokens_by_kind() -> None:
    tok = pw.Tokenizer(
        pw.spec.WordPiece(ids("[UNK] hug ##s ##1 ##! 12 ٣ don't h ##")),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        added_tokens=[pw.spec.AddedToken("[UNK]", 0), pw.spec.AddedToken("hug", 1, special=False)],
    )
    found = inspect(tok)
    assert (found.family, found.vocab_size, found.inside_words) == ("WordPiece", 10, 3)
    assert (found.special, found.added) == (("[UNK]",), ("hug",))
    assert found.numeric == ("##1", "12", "٣")
    assert found.unreachable == ("##!", "don't", "##")
    assert found.byte_tokens == found.invalid_utf8 == found.duplicates == ()
    assert found.entry_lengths == ((1, 5), (2, 2), (3, 1), (5, 2))


def test_byte_level_tokens_are_bytes_first() -> None:
    tokens = ["a", "1", "Ġ", "Ã", "©", "Ġ1", "Ã©", "©Ã", "1a", "Ł"]
    found = inspect(byte_level(tokens, (("Ġ", "1"), ("Ã", "©"))))
    assert found.family == "byte-level BPE"
    assert found.byte_tokens == ("a", "1", "Ġ", "Ã", "©", "Ł")
    assert found.invalid_utf8 == ("Ã", "©", "©Ã", "Ł")
    assert found.numeric == ("1", "Ġ1")
    # "Ã" is byte C3, which other characters than é have; "Ł" is byte 9F.
    assert found.unreachable == ("©Ã", "1a")
    assert found.entry_lengths == ((1, 8), (2, 2))


def test_line_ends_joined_to_symbols_or_to_an_indent_are_fused() -> None:
    fused = ["Ġ;Ċ", ");čĊ", "ĊĠ", "ĊĠĊĠ", "Ċa", "}ĊĊ", "Ã©Ċ"]
    found = inspect(byte_level([*fused, "Ċ", "ĠĊ", "ĉĊĊ", "ĊĠĊ", "čĊ", ";", "Ġ;", "\\n"]))
    assert found.fused_line_ends == tuple(fused)
    added = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), added_tokens=[pw.spec.AddedToken(";\n", 1)])
    assert inspect(added).fused_line_ends == ()


def test_bytes_that_no_text_has_are_unreachable() -> None:
    found = inspect(byte_level(list(PRINTABLE)))
    never = [0xC0, 0xC1, *range(0xF5, 0x100)]
    assert [PRINTABLE.index(token) for token in found.unreachable] == never
    assert len(found.byte_tokens) == 256
    assert len(found.invalid_utf8) == 128


def test_parts_of_characters_are_reachable_only_by_merges() -> None:
    tokens = [*PRINTABLE, "ãĢ"]
    assert "ãĢ" in inspect(byte_level(tokens)).unreachable
    assert "ãĢ" not in inspect(byte_level(tokens, (("ã", "Ģ"),))).unreachable
    # Whole words are taken as they are, but this is never a whole word.
    assert "ãĢ" in inspect(byte_level(tokens, ignore_merges=True)).unreachable


def test_fallback_bytes_and_tokens_that_repeat_them_are_counted() -> None:
    pieces = [("<unk>", 0.0), *((f"<0x{byte:02X}>", -9.0) for byte in range(256)), ("A", -1.0)]
    pieces.append(("▁A", -1.0))
    tok = pw.Tokenizer(
        pw.spec.Unigram(tuple(pieces), unk_id=0, byte_fallback=True),
        pre_tokenizer=pw.spec.Metaspace(),
        decoder=pw.spec.MetaspaceDecoder(),
    )
    found = inspect(tok)
    assert found.family == "Unigram"
    assert len(found.byte_tokens) == 256
    assert found.duplicates == (("<0x41>", "A"),)
    # "A" has an entry, and a space is written as a mark; but the texts "<0x41>" and "<0x20>" are entries too.
    assert not {"<0x41>", "<0x20>"} & set(found.unreachable)
    assert {"<0xC0>", "<0xFF>"} <= set(found.unreachable)  # UTF-8 does not have them
    assert not {"<0x42>", "<0xE2>", "<0xBF>", "A", "▁A"} & set(found.unreachable)


def test_suffixes_and_prefixes_mark_places_not_text() -> None:
    tok = pw.Tokenizer(
        pw.spec.BPE(
            ids("h u s</w> hu hus</w> 1</w> 1"),
            (("h", "u"), ("hu", "s</w>")),
            end_of_word_suffix="</w>",
        ),
        pre_tokenizer=pw.spec.WhitespaceSplit(),
    )
    found = inspect(tok)
    assert found.numeric == ("1</w>", "1")
    assert found.duplicates == ()
    assert found.unreachable == ()
    assert found.entry_lengths == ((1, 5), (2, 1), (3, 1))


def test_byte_level_tokens_may_have_suffixes() -> None:
    tokens = "h 1 Ã © h</w> 1</w> Ã</w> ©</w> Ã©</w> Ã© h1 ©Ã</w> ©Ã".split()
    merges = (("Ã", "©</w>"), ("h", "1"), ("©", "Ã"))
    found = inspect(byte_level(tokens, merges, end_of_word_suffix="</w>"))
    assert found.byte_tokens == ("h", "1", "Ã", "©", "h</w>", "1</w>", "Ã</w>", "©</w>")
    assert found.invalid_utf8 == ("Ã", "©", "Ã</w>", "©</w>", "©Ã</w>", "©Ã")
    assert found.numeric == ("1", "1</w>")
    # No word ends in the first byte of two; letters and digits are kept apart; two have no merge.
    assert found.unreachable == ("Ã</w>", "Ã©", "h1", "©Ã</w>")
    assert found.duplicates == ()


@pytest.mark.parametrize(
    ("model", "name"),
    [(pw.spec.WordLevel({"[UNK]": 0, "a": 1}), "word"), (pw.spec.Char({"[UNK]": 0}), "character")],
)
def test_simple_families_have_names(model: pw.spec.Model, name: str) -> None:
    assert inspect(pw.Tokenizer(model)).family == name


def test_the_models_of_sentencepiece_are_told_apart() -> None:
    unknown = pw.spec.ScoredPiece("<unk>", 0.0, "unknown")
    found = [
        inspect(pw.Tokenizer(pw.spec.SentencePiece((unknown,), kind=kind))).family  # type: ignore[arg-type]
        for kind in ("unigram", "bpe", "word", "char")
    ]
    assert found == [f"SentencePiece {name}" for name in ("Unigram", "BPE", "word", "character")]


def test_plain_data_is_what_json_keeps() -> None:
    found = inspect(byte_level(list(PRINTABLE))).to_dict()
    assert json.loads(json.dumps(found)) == found


@given(st.binary())
def test_printable_bytes_are_read_back(data: bytes) -> None:
    assert bytes_of("".join(PRINTABLE[byte] for byte in data)) == data


def test_a_character_for_no_byte_has_no_bytes() -> None:
    assert bytes_of("a語") is None


# ---- published vocabularies


def published(*parts: str) -> Path:
    return need("/".join(["vocab", *parts]))


def test_gpt2_has_the_published_number_of_numeric_tokens() -> None:
    text = gzip.decompress(published("gpt2", "tokenizer.json.gz").read_bytes()).decode()
    found = inspect(pw.Tokenizer.from_str(text))
    assert found.vocab_size == 50_257
    assert len(found.numeric) == 1_691
    assert len(found.byte_tokens) == 256
    assert len(found.unreachable) == 13  # the bytes that UTF-8 has no use for
    assert found.special == ("<|endoftext|>",)


def test_cl100k_has_the_published_number_of_numeric_tokens() -> None:
    lines = published("tiktoken", "cl100k_base.tiktoken").read_bytes().split(b"\n")
    ranks = dict(line.split() for line in lines if line)
    tokens = ["".join(PRINTABLE[byte] for byte in base64.b64decode(data)) for data in ranks]
    entries = vocabulary_entries(byte_level(tokens))
    assert len(entries) == 100_256
    assert sum(map(is_numeric, entries)) == 1_122
