"""Each of the third ten divergences changes the ids of a text of its own, and of no plain one."""

from __future__ import annotations

import pytest

import piecework as pw
from golden_mutants.__main__ import TENS, parsed
from golden_mutants.engine import CONTROL
from golden_mutants.third_ten import THIRD_TEN
from piecework.spec import (
    BPE,
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    Lowercase,
    Metaspace,
    Precompiled,
    ScoredPiece,
    SentencePiece,
    SentencePieceNormalizer,
    TemplateProcessing,
    Unigram,
    WordPiece,
    named_pre_tokenizer,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from tests.benchmarks.planted import Row, assert_shown, ids, ids_of, row

BY_NAME = {mutant.name: mutant for mutant in THIRD_TEN}
NO_RULES = (1024).to_bytes(4, "little") + bytes(1024)
WORDS = pw.TokenizerSpec(
    WordPiece(ids("[UNK]", "[CLS]", "[SEP]", "a", "b", "“", "[X]")),
    normalizer=BertNormalizer(),
    pre_tokenizer=BertPreTokenizer(),
    post_processor=TemplateProcessing.bert(cls_id=1, sep_id=2),
    added_tokens=(
        AddedToken("[CLS]", 1),
        AddedToken("[SEP]", 2, lstrip=True),
        AddedToken("[X]", 6, special=False),
    ),
)
CHARACTERS = ("a", "b", "c", "d", "▁")
MERGES = (("b", "c"), ("a", "b"), ("▁", "▁"))
JOINED = ids(*CHARACTERS, *map("".join, MERGES))
SPACES = pw.TokenizerSpec(BPE(JOINED, MERGES), pre_tokenizer=Metaspace(split=False))
LOWER = pw.TokenizerSpec(BPE(ids("i", "\u0307", "İ", "a", "b", " "), ()), normalizer=Lowercase())
BYTES = pw.TokenizerSpec(
    BPE(ids(*CHARACTER_OF_BYTE, "ĠĊ", "<x>"), (("Ġ", "Ċ"),)),
    pre_tokenizer=named_pre_tokenizer("cl100k"),
    added_tokens=(AddedToken("<x>", 257, rstrip=True),),
)
# Two `c` have a higher sum than `cc`.
SCORED = (*((c, -3.0) for c in CHARACTERS), ("ab", -5.0), ("bc", -4.0), ("cc", -7.0))
PIECES = pw.TokenizerSpec(
    Unigram((("<unk>", 0.0), *SCORED, ("f", -3.0), ("i", -3.0)), unk_id=0),
    normalizer=Precompiled(NO_RULES),
    pre_tokenizer=Metaspace(),
)
TYPED = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁▁", -2.0))
SYMBOLS = {
    kind: pw.TokenizerSpec(
        SentencePiece((*TYPED, *(ScoredPiece(*piece) for piece in SCORED)), kind),
        normalizer=SentencePieceNormalizer(NO_RULES, remove_extra_whitespaces=False),
    )
    for kind in ("bpe", "unigram")
}

SHOWN_BY = (
    ("lower-case-of-one-character", LOWER, row("İ")),
    ("nmt-and-nfkc-for-charsmap", PIECES, row("ﬁ")),
    ("nmt-and-nfkc-for-charsmap", SYMBOLS["bpe"], row("ａ")),
    ("punctuation-of-ascii", WORDS, row("a“")),
    ("split-before-every-space", SPACES, row("a  b")),
    ("split-before-every-space", SYMBOLS["bpe"], row("a  b")),
    ("no-branch-of-line-ends", BYTES, row("a \nb")),
    ("longest-entry-for-merges", SPACES, row("abc")),
    ("longest-entry-for-merges", SYMBOLS["bpe"], row("abc")),
    ("merges-by-score-for-unigram", PIECES, row("cc")),
    ("merges-by-score-for-unigram", SYMBOLS["unigram"], row("cc")),
    ("only-special-tokens-found", WORDS, row("[X]")),
    ("strips-no-other-whitespace", BYTES, row("<x>\na")),
    ("one-end-token", WORDS, row("a [SEP]")),
)


def test_third_ten_have_names_of_their_own() -> None:
    assert len(BY_NAME) == 10
    assert {name for name, _, _ in SHOWN_BY} == set(BY_NAME)
    assert TENS[parsed(["--ten", "third"]).ten] is THIRD_TEN
    others = (*TENS["first"], *TENS["more"])
    assert not set(BY_NAME) & {mutant.name for mutant in others}


@pytest.mark.parametrize(("name", "spec", "shown"), SHOWN_BY)
def test_a_divergence_changes_the_ids_of_its_text_and_of_no_other(
    name: str, spec: pw.TokenizerSpec, shown: Row
) -> None:
    assert_shown(spec, BY_NAME[name], shown)


@pytest.mark.parametrize(
    ("name", "text"),
    [("lower-case-of-one-character", "İ"), ("strips-no-other-whitespace", "a\n[SEP]")],
)
def test_arguments_hold_where_nothing_can_differ(name: str, text: str) -> None:
    mutant = BY_NAME[name]
    assert mutant.equivalent(WORDS)
    assert ids_of(WORDS, mutant, row(text)) == ids_of(WORDS, CONTROL, row(text))


def test_spaces_are_stripped_on_both_sides_by_all_that_strip() -> None:
    text = row("<x>  a")
    assert ids_of(BYTES, BY_NAME["strips-no-other-whitespace"], text) == ids_of(
        BYTES, CONTROL, text
    )
