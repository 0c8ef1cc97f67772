"""The patterns `cl100k-r2l` and `o200k-r2l` group digits from the right, and differ in nothing else."""

from __future__ import annotations

import unicodedata
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import piecework as pw
from piecework.spec import NAMED_PATTERNS, named_pre_tokenizer, split_bytes
from tests.component_engines import CORE, REFERENCE

ALPHABET = "0123456789" * 3 + "٣½²①Ⅳ aB'sé.,!/-\n\r\t漢\u0301"
NAMES = ("cl100k-r2l", "o200k-r2l")
names = pytest.mark.parametrize("name", NAMES)
texts = st.text(ALPHABET, max_size=60) | st.text("0123456789", max_size=300)


def is_number(character: str) -> bool:
    return unicodedata.category(character).startswith("N")


def bounds(name: str, text: str) -> set[int]:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=named_pre_tokenizer(name))
    return {position for _, span in tok.pre_tokenize(text) for position in span}


@names
@given(text=texts)
def test_core_equals_the_reference(name: str, text: str) -> None:
    stage = named_pre_tokenizer(name)
    assert CORE.pieces(stage, text) == REFERENCE.pieces(stage, text)


@names
@given(text=texts)
def test_groups_of_three_end_where_the_number_ends(name: str, text: str) -> None:
    inside = {at for at, (a, b) in enumerate(pairwise(text), 1) if is_number(a) and is_number(b)}
    found = bounds(name, text)
    assert found - inside == bounds(name.removesuffix("-r2l"), text) - inside
    # The digits from each position to the end of its number.
    counts = [*accumulate(reversed(text), lambda n, c: (n + 1) * is_number(c), initial=0)][::-1]
    assert found & inside == {at for at in inside if counts[at] % 3 == 0}


@names
@given(text=texts)
def test_the_pattern_that_looks_ahead_at_each_group_splits_alike(name: str, text: str) -> None:
    [pattern] = NAMED_PATTERNS[name]
    former = pattern.replace(r"(?<!\p{N})", "").replace(r"|\p{N}{3}|", "|")
    assert former.count(r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|") == 1
    assert CORE.pieces(split_bytes((former,)), text) == CORE.pieces(named_pre_tokenizer(name), text)


@names
def test_tokenizers_splits_a_long_number_alike(name: str) -> None:
    tok = pw.Tokenizer(
        pw.spec.BPE({"7": 0, "77": 1, "777": 2}, (("7", "7"), ("77", "7"))),
        pre_tokenizer=named_pre_tokenizer(name),
    )
    text = "7" * 200_000
    ids = [1, *[2] * 66_666]
    assert tok.encode(text).ids == ids
    # The pattern that looks ahead at each group would take quadratic time.
    assert Tokenizer.from_str(tok.to_str()).encode(text).ids == ids


@names
def test_a_long_number_takes_linear_time(name: str) -> None:
    words = bounds(name, "7" * 1_000_001)
    assert sorted(words)[:3] == [0, 2, 5]
    assert len(words) == 333_335


@names
def test_a_saved_tokenizer_has_the_same_ids_in_tokenizers(name: str) -> None:
    corpus = [f"{n} and {n * 1009} or {n**3}, '{n}s" for n in range(300)]
    tok = pw.Tokenizer.train_from_iterator(corpus, model="byte-bpe", preset=name, vocab_size=700)
    theirs = Tokenizer.from_str(tok.to_str())
    for text in (*corpus, "1234567890123 12,345.6789 ²1234 Ⅳ567\n 1\n\n22333x4444'S"):
        assert tok.encode(text).ids == theirs.encode(text).ids, text
    assert [tok.decode([id]) for id in tok.encode("1000000").ids][-2:] == ["000", "000"]
    again = pw.Tokenizer.from_str(tok.to_str())
    assert again.encode(corpus[7]).ids == tok.encode(corpus[7]).ids
