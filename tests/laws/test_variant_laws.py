"""Tokenizers that differ from published ones in one step, pattern, flag or score encode by definition.

A fast path first decides whether a specification lets it apply. The neighbours of a published one show
more often than random ones where that decision is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import piecework as pw
from piecework.analysis.golden.fixed_texts import fixed_candidates
from piecework.analysis.golden.small import small_spec
from piecework.analysis.golden.variants import variants
from piecework.errors import PieceworkError
from tests.analysis.golden.tokenizers import KINDS, small
from tests.differential import peer
from tests.differential.test_published_golden import SETS, TOOL, unpacked

TEXTS = [candidate.text for candidate in fixed_candidates()]
# A full run varies all of them.
VARIED = "albert-v2 bert-base-uncased cl100k_base gpt2 mistral-v1 t5-small xlm-roberta-base".split()


@pytest.mark.parametrize("kind", KINDS)
def test_variants_of_small_tokenizers(kind: str) -> None:
    check_variants(small(kind))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SETS) if peer.FULL else VARIED)
def test_variants_of_published_tokenizers(name: str, tmp_path: Path) -> None:
    check_variants(TOOL.tokenizer_of(unpacked(name, tmp_path)))


def check_variants(tokenizer: pw.Tokenizer) -> None:
    """Compare the tokenizer with few entries, and each of its variants, with the definition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about mistakes in settings, which the changes are
        few = pw.Tokenizer.from_spec(small_spec(tokenizer, TEXTS))
        for change, changed in all_of(few):
            definition = changed._variant(changed._core.by_definition())
            assert answers(changed) == answers(definition), change


def all_of(tokenizer: pw.Tokenizer) -> Iterator[tuple[str, pw.Tokenizer]]:
    """Yield the tokenizer and its variants but for those that are refused."""
    yield "no change", tokenizer
    for change, make in variants(tokenizer):
        try:
            changed = make()
        except PieceworkError:  # a pattern that is not valid, or two tokens of one form
            continue
        yield change, changed


def answers(tokenizer: pw.Tokenizer) -> list[list[int]] | str:
    """Return the ids of the texts, or the error that they raise."""
    try:
        return tokenizer.encode_batch(TEXTS, num_threads=1).to_lists()
    except PieceworkError as error:  # a model that refuses unknown characters
        return str(error)
