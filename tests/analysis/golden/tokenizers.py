"""Small tokenizers of every kind, whose golden files the tests make."""

from __future__ import annotations

import warnings
from functools import cache

import pytest

import piecework as pw
from piecework.analysis import Golden, golden
from piecework.spec import (
    NFC,
    NFD,
    NFKC,
    AddedToken,
    ByteLevel,
    Digits,
    Lowercase,
    Metaspace,
    Replace,
    SequenceNormalizer,
    SequencePreTokenizer,
    StripAccents,
)
from tests.conftest import choose_among_few

TEXTS = ["the hug of a pug, the pun of 12 buns", "größer naïve Ünder", "low lower lowest 2024"] * 9
ADDED = [
    AddedToken("<mask>", lstrip=True),
    AddedToken("<word>", single_word=True, special=False),
    AddedToken("Pug", normalized=True, special=False),
    AddedToken("<mask>er", rstrip=True),
]
KINDS = ("wordpiece", "byte-bpe", "bpe", "unigram", "word", "char", "sentencepiece")


@cache
def small(kind: str) -> pw.Tokenizer:
    """Return a tokenizer of a kind; all but SentencePiece's have added tokens with every flag."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the texts are few
        if kind == "sentencepiece":
            trainer = pw.train.SentencePieceTrainer(model_type="unigram", vocab_size=50)
            return pw.Tokenizer.train_from_iterator(TEXTS, trainer=trainer)
        trained = pw.Tokenizer.train_from_iterator(TEXTS, model=kind, vocab_size=300)
    return _with_stages(trained, kind).with_added_tokens(ADDED)


def _with_stages(tokenizer: pw.Tokenizer, kind: str) -> pw.Tokenizer:
    if kind == "bpe":
        steps = (NFD(), StripAccents(), Lowercase(), Replace("ß", "ss"))
        return tokenizer.with_normalizer(SequenceNormalizer(steps))
    if kind == "unigram":
        return tokenizer.with_normalizer(NFKC()).with_pre_tokenizer(Metaspace())
    if kind == "byte-bpe":
        split = SequencePreTokenizer((Digits(), ByteLevel(add_prefix_space=False)))
        return tokenizer.with_normalizer(NFC()).with_pre_tokenizer(split)
    return tokenizer


@cache
def few_pins(kind: str) -> Golden:
    """Return a golden file of a kind with few texts, but every mode."""
    with pytest.MonkeyPatch.context() as patch:
        choose_among_few(patch)
        return golden(small(kind), name=kind)


@cache
def pins(kind: str) -> Golden:
    """Return the golden file of a kind."""
    return golden(small(kind), name=kind)
