"""Caches keep within their budget, and give the same ids whatever it is."""

from __future__ import annotations

import pytest

import piecework as pw

TRAIN = ["hug hugs pug pun bun žába"] * 5
TEXTS = ["hugs pug bun, pun žaba " + str(n) for n in range(3000)]


@pytest.mark.parametrize("kind", ["wordpiece", "byte-bpe", "bpe", "unigram"])
def test_any_budget_is_kept_and_changes_no_id(kind: str) -> None:
    size = {"byte-bpe": 270, "unigram": 30}.get(kind, 20)
    tok = pw.Tokenizer.train_from_iterator(TRAIN, model=kind, vocab_size=size)
    expected = tok.encode_batch(TEXTS).to_lists()
    for budget in (4096, 5000, 1 << 20, 1 << 40):
        bounded = tok.with_cache_budget(budget)
        assert bounded.encode_batch(TEXTS).to_lists() == expected
        assert bounded.memory().caches <= budget == bounded.memory().budget
        assert bounded == tok


def test_it_stays_when_something_else_changes() -> None:
    tok = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=20).with_cache_budget(8192)
    assert tok.with_padding(length=5).memory().budget == 8192
    assert tok.with_special_in_text("text").memory().budget == 8192


def test_the_default_is_64_mib() -> None:
    memory = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=20).memory()
    assert memory.budget == 64 << 20
    assert 0 < memory.caches <= memory.budget
    assert 0 < memory.tables < 1 << 20


@pytest.mark.parametrize("wrong", [0, -1, 4095, 1 << 48])
def test_budgets_that_are_none_are_refused(wrong: int) -> None:
    tok = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=20)
    with pytest.raises(pw.errors.ArgumentError, match="bytes_per_thread"):
        tok.with_cache_budget(wrong)
    with pytest.raises(pw.errors.InputTypeError, match="bytes_per_thread"):
        tok.with_cache_budget(1.5)  # type: ignore[arg-type]
