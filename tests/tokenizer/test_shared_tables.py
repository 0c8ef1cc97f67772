"""Variants that change no table share the compiled tables and give the results of a fresh compilation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import piecework as pw
from piecework.errors import ArgumentError
from tests.tokenizer.test_batch_spans import KINDS, texts

Change = Callable[[pw.Tokenizer], pw.Tokenizer]

SHARING: dict[str, Change] = {
    "truncation": lambda tok: tok.with_truncation(6, stride=1, side="left"),
    "longest first": lambda tok: tok.with_truncation(7, strategy="longest_first"),
    "no truncation": lambda tok: tok.with_truncation(6).without_truncation(),
    "padding": lambda tok: tok.with_padding(9, pad_token=first_token(tok), pad_type_id=3),
    "padding to a multiple": lambda tok: tok.with_padding(
        side="left", pad_to_multiple_of=4, pad_token=first_token(tok)
    ),
    "no padding": lambda tok: tok.with_padding(9, pad_token=first_token(tok)).without_padding(),
    "both": lambda tok: tok.with_truncation(6).with_padding(8, pad_token=first_token(tok)),
    "parse_special": lambda tok: tok.with_parse_special(False),
    "word cache budget": lambda tok: tok.with_word_cache_budget(1 << 16),
}


def first_token(tok: pw.Tokenizer) -> str:
    token = tok.id_to_token(min(tok.get_vocab().values()))
    assert token is not None
    return token


@pytest.mark.parametrize("change", SHARING.values(), ids=SHARING.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_a_variant_shares_the_tables(kind: str, change: Change) -> None:
    tok = KINDS[kind]()
    variant = change(tok)
    assert variant._core.shares_tables_with(tok._core)
    assert not variant._core.shares_tables_with(pw.Tokenizer.from_spec(tok.spec)._core)


@pytest.mark.parametrize("change", SHARING.values(), ids=SHARING.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_a_variant_equals_the_tokenizer_compiled_from_its_specification(
    kind: str, change: Change
) -> None:
    tok = KINDS[kind]()
    before = tok.encode_batch(texts(30))
    variant = change(tok)
    compiled = pw.Tokenizer.from_spec(variant.spec)
    assert variant == compiled
    for add_special_tokens in (True, False):
        batches = [
            either.encode_batch(
                texts(30), texts(30)[::-1], offsets=True, add_special_tokens=add_special_tokens
            )
            for either in (variant, compiled)
        ]
        assert batches[0] == batches[1]
        for text in texts(30):
            encodings = [
                either.encode(text, add_special_tokens=add_special_tokens)
                for either in (variant, compiled)
            ]
            assert encodings[0] == encodings[1]
    assert tok.encode_batch(texts(30)) == before


def test_settings_are_rejected_as_when_they_are_compiled() -> None:
    tok = KINDS["bert"]()
    for max_length, stride in [(1, 0), (0, 0), (3, 1), (5, 3)]:
        truncation = pw.spec.Truncation(max_length, stride)
        with pytest.raises(ArgumentError) as compiled:
            pw.Tokenizer.from_spec(replace(tok.spec, truncation=truncation))
        with pytest.raises(ArgumentError) as shared:
            tok.with_truncation(max_length, stride=stride)
        assert str(shared.value) == str(compiled.value)
    with pytest.raises(ArgumentError) as compiled:
        pw.Tokenizer.from_spec(replace(tok.spec, padding=pw.spec.Padding(1 << 30)))
    with pytest.raises(ArgumentError) as shared:
        tok.with_padding(1 << 30)
    assert str(shared.value) == str(compiled.value)


@pytest.mark.parametrize("pad_type_id", [-1, 256, 1 << 70])
def test_a_type_id_beyond_255_is_rejected(pad_type_id: int) -> None:
    with pytest.raises(ArgumentError, match="pad_type_id"):
        KINDS["bert"]().with_padding(pad_type_id=pad_type_id)
