"""Each of the ten divergences more changes the ids of a text of its own, and of no plain one."""

from __future__ import annotations

import pytest

import piecework as pw
from golden_mutants.__main__ import TENS, parsed
from golden_mutants.engine import CONTROL
from golden_mutants.ten_more import TEN_MORE, as_modified, excluded, odd_to_the_first
from piecework.reference.patterns import decode_bytes
from piecework.spec import (
    BPE,
    NFC,
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    TemplateProcessing,
    Unigram,
    WordPiece,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from tests.benchmarks.planted import Row, assert_shown, ids, ids_of, row

BY_NAME = {mutant.name: mutant for mutant in TEN_MORE}


WORDS = pw.TokenizerSpec(
    WordPiece(
        ids("[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "ᄀ", "##ᅡ"), max_input_chars_per_word=2
    ),
    normalizer=BertNormalizer(),
    pre_tokenizer=BertPreTokenizer(),
    post_processor=TemplateProcessing.bert(cls_id=1, sep_id=2),
    added_tokens=(AddedToken("[CLS]", 1), AddedToken("[SEP]", 2)),
)
CONTRACTION = ("'", "s")
BYTES = pw.TokenizerSpec(
    BPE(ids(*CHARACTER_OF_BYTE, "'s", "<x>"), (CONTRACTION,)),
    normalizer=NFC(),
    pre_tokenizer=ByteLevel(add_prefix_space=False),
    added_tokens=(AddedToken("<x>", 257),),
)
LINES = pw.TokenizerSpec(BPE(ids("a", " ", "b", ";", "\r", ";\r"), ((";", "\r"),)))
LONG = row("a b a b", pair="b a b a", truncation={"max_length": 8})

SHOWN_BY = (
    ("spaces-around-added-tokens", BYTES, row("a <x> b")),
    ("hangul-without-arithmetic", WORDS, row("가")),
    ("hangul-without-arithmetic", BYTES, row("\u1100\u1161")),
    ("exclusions-composed", BYTES, row("\u09a1\u09bc")),
    ("exclusions-composed", BYTES, row("\u09dc")),
    ("byte-order-mark-is-space", BYTES, row("\ufeff's")),
    ("merges-split-at-all-spaces", LINES, row(";\r")),
    ("no-word-limit", WORDS, row("abb")),
    ("modified-utf-8", BYTES, row("😀")),
    ("modified-utf-8", BYTES, row("\0")),
    ("empty-pair-is-none", WORDS, row("a", pair="")),
    ("odd-token-to-the-first", WORDS, LONG),
    ("padding-always-right", WORDS, row("a", padding={"length": 4, "side": "left", "id": 0})),
)


def test_ten_more_have_names_of_their_own() -> None:
    assert len(BY_NAME) == 10
    assert {name for name, _, _ in SHOWN_BY} == set(BY_NAME)
    assert TENS[parsed(["--ten", "more"]).ten] is TEN_MORE
    assert not set(BY_NAME) & {mutant.name for mutant in TENS[parsed(["--ten"]).ten]}


@pytest.mark.parametrize(("name", "spec", "shown"), SHOWN_BY)
def test_a_divergence_changes_the_ids_of_its_text_and_of_no_other(
    name: str, spec: pw.TokenizerSpec, shown: Row
) -> None:
    assert_shown(spec, BY_NAME[name], shown)


def test_arguments_hold_where_nothing_can_differ() -> None:
    assert BY_NAME["spaces-around-added-tokens"].equivalent(WORDS)
    unknown = pw.TokenizerSpec(Unigram((("<unk>", 0.0), ("a", -1.0)), unk_id=0), normalizer=NFC())
    for name, text in (
        ("hangul-without-arithmetic", "\u1100\u1161"),
        ("exclusions-composed", "\u09dc"),
    ):
        assert BY_NAME[name].equivalent(unknown)
        assert (
            ids_of(unknown, BY_NAME[name], row(text)) == ids_of(unknown, CONTROL, row(text)) == [0]
        )


def test_excluded_pairs_are_those_of_letters_and_their_own_marks() -> None:
    assert excluded()["\u0915\u093c"] == "\u0958"
    assert "\u0308\u0301" not in excluded()
    assert "e\u0301" not in excluded()


def test_modified_bytes_are_those_of_utf_8_within_its_first_plane() -> None:
    assert decode_bytes([as_modified("aé中")]) == "aé中"
    assert len(as_modified("𠀀")) == 6
    assert len(as_modified("\0")) == 2


def test_the_first_text_keeps_the_odd_token_of_two_that_are_cut() -> None:
    assert odd_to_the_first([8, 8], 7) == odd_to_the_first([8, 9], 7) == [4, 3]
    assert odd_to_the_first([3, 9], 8) == [3, 5]
