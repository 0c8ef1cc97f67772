"""Caches keep within their budget, and give the same ids whatever it is."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

import piecework as pw

TRAIN = ["hug hugs pug pun bun žába"] * 5
TEXTS = ["hugs pug bun, pun žaba " + str(n) for n in range(3000)]


@pytest.mark.parametrize("kind", ["wordpiece", "byte-bpe", "bpe", "unigram"])
def test_any_budget_is_kept_and_changes_no_id(kind: str) -> None:
    size = {"byte-bpe": 270, "bpe": 20}.get(kind, 30)
    tok = pw.Tokenizer.train_from_iterator(TRAIN, model=kind, vocab_size=size)
    expected = tok.encode_batch(TEXTS).to_lists()
    for budget in (4096, 5000, 1 << 20, 1 << 40):
        bounded = tok.with_word_cache_budget(budget)
        assert bounded.encode_batch(TEXTS).to_lists() == expected
        assert bounded.memory().caches <= budget == bounded.memory().budget
        assert bounded == tok


def test_the_budget_stays_when_other_settings_change() -> None:
    tok = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=40).with_word_cache_budget(8192)
    assert tok.with_padding(length=5).memory().budget == 8192
    assert tok.with_parse_special(False).memory().budget == 8192


DERIVED: dict[str, Callable[[pw.Tokenizer], pw.Tokenizer]] = {
    "added tokens": lambda tok: tok.with_added_tokens(["<x>"]),
    "fewer added tokens": lambda tok: tok.without_added_tokens(["[SEP]"]),
    "normalizer": lambda tok: tok.with_normalizer(None),
    "custom normalizer": lambda tok: tok.with_normalizer(pw.spec.CustomNormalizer(str.lower)),
    "pre-tokenizer": lambda tok: tok.with_pre_tokenizer(pw.spec.WhitespaceSplit()),
    "truncation": lambda tok: tok.with_truncation(4),
    "padding": lambda tok: tok.with_padding(),
    "parse_special": lambda tok: tok.with_parse_special(False),
    "extend": lambda tok: pw.vocabulary.extend(tok, ["hugs hugs pugs"] * 9, 1)[0],
    "prune": lambda tok: pw.vocabulary.prune(tok, ["hug"])[0],
    "shrink": lambda tok: pw.vocabulary.shrink(tok, tok.get_vocab_size() - 1)[0],
    "retrain": lambda tok: tok.train_new_from_iterator(TRAIN, 40),
    "pickle": lambda tok: pickle.loads(pickle.dumps(tok)),
    "pickle with a function": lambda tok: pickle.loads(
        pickle.dumps(tok.with_normalizer(pw.spec.CustomNormalizer(str.lower)))
    ),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("change", DERIVED.values(), ids=DERIVED.keys())
def test_tokenizers_made_from_another_keep_its_budget_and_special_treatment(
    change: Callable[[pw.Tokenizer], pw.Tokenizer],
) -> None:
    tok = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=40)
    tok = tok.with_parse_special(False).with_word_cache_budget(8192)
    derived = change(tok)
    assert derived.memory().budget == 8192
    assert derived.spec.parse_special is False


def test_sentencepiece_variants_keep_the_budget() -> None:
    tok = pw.Tokenizer.train_from_iterator(
        TRAIN, model="sentencepiece", vocab_size=20, hard_vocab_limit=False
    ).with_word_cache_budget(8192)
    assert pw.vocabulary.restrict(tok, []).tokenizer.memory().budget == 8192
    assert tok.with_post_processor(None).memory().budget == 8192
    assert pickle.loads(pickle.dumps(tok)).memory().budget == 8192


def test_the_default_is_64_mib() -> None:
    memory = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=40).memory()
    assert memory.budget == 64 << 20
    assert 0 < memory.caches <= memory.budget
    assert 0 < memory.tables < 1 << 20


@pytest.mark.parametrize("wrong", [0, -1, 4095, 1 << 48])
def test_invalid_word_cache_budgets_are_rejected(wrong: int) -> None:
    tok = pw.Tokenizer.train_from_iterator(TRAIN, vocab_size=40)
    with pytest.raises(pw.errors.ArgumentError, match="bytes_per_thread"):
        tok.with_word_cache_budget(wrong)
    with pytest.raises(pw.errors.InputTypeError, match="bytes_per_thread"):
        tok.with_word_cache_budget(1.5)  # type: ignore[arg-type]
