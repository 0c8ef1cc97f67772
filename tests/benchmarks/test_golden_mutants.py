"""Divergences that judge golden files: each is planted alone, and the reference itself contradicts no row."""

from __future__ import annotations

import json
from typing import Any

import pytest

import piecework as pw
from golden_mutants.__main__ import judged, report
from golden_mutants.engine import Judged, Mutant
from golden_mutants.mutants import MUTANTS
from piecework.reference import bert
from piecework.spec import AddedToken, BertNormalizer, BertPreTokenizer, WordPiece

VOCAB = ("[UNK]", "[MASK]", "hug", "##s", "e", "é", "σας", "σασ", "ab", "a")
MASK = AddedToken("[MASK]", 1, single_word=True)
SPEC = pw.TokenizerSpec(
    WordPiece({entry: id for id, entry in enumerate(VOCAB)}, max_input_chars_per_word=4),
    normalizer=BertNormalizer(),
    pre_tokenizer=BertPreTokenizer(),
    added_tokens=(MASK,),
)
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
SHOWN_BY = {
    "single-word-ignored": "hug[MASK]",
    "final-sigma": "ΣΑΣ",
    "accents-of-one-block": "a\u05bf",
    "han-without-extensions": "hug\u3400",
    "format-characters-kept": "hu\u200bg",
    "other-unknown-runs": "hugz",
    "word-limit-in-bytes": "σας",
}


def row(text: str, **settings: Any) -> dict[str, Any]:
    return {"text": text, "add_special_tokens": True, "parse_special": True, **settings}


def ids_of(mutant: Mutant | None, given: dict[str, Any]) -> list[int] | None:
    """Return the ids of a row, with a divergence or without."""
    with Judged(SPEC).encoder(*[mutant] if mutant else []) as encode:
        return encode(given)


def test_thirty_have_names_of_their_own() -> None:
    assert len(BY_NAME) == 30


@pytest.mark.parametrize(("name", "text"), SHOWN_BY.items())
def test_a_divergence_changes_the_ids_of_its_text_and_of_no_other(name: str, text: str) -> None:
    assert BY_NAME[name].applies(SPEC)
    assert ids_of(BY_NAME[name], row(text)) != ids_of(None, row(text))
    assert ids_of(BY_NAME[name], row("hugs ab")) == ids_of(None, row("hugs ab"))


def test_the_reference_is_whole_after_a_divergence() -> None:
    lowercase = bert.lowercase
    with Judged(SPEC).encoder(BY_NAME["final-sigma"]):
        assert bert.lowercase is not lowercase
    assert bert.lowercase is lowercase


def test_rows_are_encoded_with_their_settings() -> None:
    tokenizer = pw.Tokenizer.from_spec(SPEC)
    assert ids_of(None, row("hugs [MASK]")) == tokenizer.encode("hugs [MASK]").ids == [2, 3, 1]
    assert ids_of(None, row("a [MASK]", parse_special=False))[:2] == [9, 0]
    cut = row("hugs", pair="ab a", truncation={"max_length": 3})
    assert ids_of(None, cut) == tokenizer.with_truncation(3).encode("hugs", "ab a").ids


def test_a_file_is_judged_by_what_its_rows_show() -> None:
    tokenizer = pw.Tokenizer.from_spec(SPEC)
    rows = [row(text) | {"ids": tokenizer.encode(text).ids} for text in ("ΣΑΣ", "hugz", "hug")]
    wrong = row("hugs") | {"ids": [0]}
    lines = [json.dumps(line) for line in ({"header": 1}, *rows, wrong)]
    found = judged("tiny", tokenizer, "\n".join(lines), {"plain": ["hug", "ab"]}, 50)
    assert found.control == 1
    caught = {verdict.mutant.name for verdict in found.verdicts if verdict.is_caught}
    assert caught == {"final-sigma", "other-unknown-runs", "word-limit-in-bytes"}
    assert not any(verdict.by_corpus["plain"] for verdict in found.verdicts)
    [head, _, tiny, *_] = report([found], ["plain"])
    assert head.startswith("| tokenizer | rows |")
    assert tiny.startswith("| tiny | 4 | 0 | 1 |")
