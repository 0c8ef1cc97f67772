"""Each of the ten divergences changes the ids of a text of its own, and of no plain one."""

from __future__ import annotations

import json

import pytest

import piecework as pw
from golden_mutants.__main__ import judged, report
from golden_mutants.engine import CONTROL
from golden_mutants.ten import TEN, code_units, from_code_units
from piecework.reference.aligned import align, as_text
from piecework.spec import (
    BPE,
    NFC,
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    Metaspace,
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

BY_NAME = {mutant.name: mutant for mutant in TEN}


WORDS = pw.TokenizerSpec(
    WordPiece(ids("[UNK]", "[CLS]", "[SEP]", "a", "b", "$", "क", "##ा")),
    normalizer=BertNormalizer(),
    pre_tokenizer=BertPreTokenizer(),
    post_processor=TemplateProcessing.bert(cls_id=1, sep_id=2),
    added_tokens=(AddedToken("[CLS]", 1), AddedToken("[SEP]", 2)),
)
# "'s", and the last byte of a small Cyrillic letter with the first of a capital.
MERGES = (("'", "s"), (CHARACTER_OF_BYTE[0xB0], CHARACTER_OF_BYTE[0xD0]))
BYTES = pw.TokenizerSpec(
    BPE(ids(*CHARACTER_OF_BYTE, *map("".join, MERGES)), MERGES),
    normalizer=NFC(),
    pre_tokenizer=named_pre_tokenizer("o200k"),
)
SCORED = (("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("b", -2.0), ("1", -2.0))
PIECES = pw.TokenizerSpec(Unigram(SCORED, unk_id=0), pre_tokenizer=Metaspace())
TYPED = tuple(ScoredPiece(text, score) for text, score in SCORED[1:])
SYMBOLS = {
    kind: pw.TokenizerSpec(
        SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), *TYPED), kind),
        normalizer=SentencePieceNormalizer(remove_extra_whitespaces=False),
    )
    for kind in ("bpe", "unigram")
}
CHARACTERS = pw.TokenizerSpec(BPE(ids("<unk>", "a", "b", "1", "\ufe0f"), (), unk_token="<unk>"))

SHOWN_BY = (
    ("clusters-are-characters", WORDS, row("का")),
    ("clusters-are-characters", PIECES, row("1\ufe0f")),
    ("clusters-are-characters", SYMBOLS["bpe"], row("1\ufe0f")),
    ("clusters-are-characters", SYMBOLS["unigram"], row("1\ufe0f")),
    ("clusters-are-characters", CHARACTERS, row("1\ufe0f")),
    ("symbols-dropped", WORDS, row("a$")),
    ("byte-ad-as-itself", BYTES, row("í")),
    ("patterns-in-code-units", BYTES, row("𠀀's")),
    ("cases-of-ascii", BYTES, row("аБ")),
    ("other-prefix-before-space", PIECES, row(" a")),
    ("other-prefix-before-space", SYMBOLS["bpe"], row(" a")),
    ("no-normal-form", BYTES, row("e\u0301")),
    ("special-tokens-in-normalized-text", WORDS, row("[sep]")),
    ("one-begin-token", WORDS, row("[CLS] a")),
    ("framed-then-cut", WORDS, row("a b a", truncation={"max_length": 4})),
    ("framed-then-cut", WORDS, row("a b a", truncation={"max_length": 4, "side": "left"})),
)


def test_ten_have_names_of_their_own() -> None:
    assert len(BY_NAME) == 10
    assert {name for name, _, _ in SHOWN_BY} == set(BY_NAME)


@pytest.mark.parametrize(("name", "spec", "shown"), SHOWN_BY)
def test_a_divergence_changes_the_ids_of_its_text_and_of_no_other(
    name: str, spec: pw.TokenizerSpec, shown: Row
) -> None:
    assert_shown(spec, BY_NAME[name], shown)


def test_clusters_are_unknown_both_ways_without_an_entry_that_continues_one() -> None:
    mutant = BY_NAME["clusters-are-characters"]
    spec = pw.TokenizerSpec(WordPiece(ids("[UNK]", "a")), pre_tokenizer=BertPreTokenizer())
    assert mutant.equivalent(spec)
    assert ids_of(spec, mutant, row("a\u0903")) == ids_of(spec, CONTROL, row("a\u0903"))


def test_code_units_come_back_as_their_characters_and_halves_as_replacements() -> None:
    units = [(unit, span) for c, span in align("a𠀀é") for unit in code_units(c)]
    assert len(units) == 4
    assert list(from_code_units(units)) == align("a𠀀é")
    assert as_text(list(from_code_units(units[:2]))) == "a\ufffd"
    assert as_text(list(from_code_units(units[2:]))) == "\ufffdé"


def test_a_file_is_judged_by_the_ten() -> None:
    rows = [row(text) | {"ids": ids_of(WORDS, CONTROL, row(text))} for text in ("a$", "[CLS]")]
    lines = "\n".join(json.dumps(one) for one in ({"header": 1}, *rows))
    found = judged("tiny", pw.Tokenizer.from_spec(WORDS), lines, {}, 0, TEN)
    caught = {verdict.mutant.name for verdict in found.verdicts if verdict.is_caught}
    assert caught == {"symbols-dropped", "one-begin-token"}
    assert "| symbols-dropped | 1 | 1 (100 %) |  |" in report([found], [], TEN)
