"""A batch says where its tokens come from as `encode` does, whatever the pipeline and the settings."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError
from piecework.spec import (
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelProcessing,
    RobertaProcessing,
    TemplateProcessing,
)

PARTS = (
    *("hug", "hugs", "pug", "don't", "unbelievable", "Straße", "éclair", "e\u0301", "漢字", "かな"),
    *(
        "🤗",
        "👩\u200d🚀",
        " ",
        "  ",
        "\n",
        "\t",
        "\u3000",
        ",",
        "!?",
        "...",
        "12",
        "3456",
        "\0",
        "ﬁ",
        "Ａ",
    ),
    *("[SEP]", "<add>", "<Norm>", "<b>", "x" * 40),
)
CORPUS = ["hug hugs pug don't 漢字 éclair, 12 3456 unbelievable!? 🤗 Straße かな"] * 5


def texts(seed: int, count: int = 60) -> list[str]:
    drawn = random.Random(seed)
    lengths = [drawn.choice((0, 1, 3, 10, 60)) for _ in range(count)]
    return ["".join(drawn.choices((*PARTS, " ", " ", " "), k=length)) for length in lengths]


@cache
def trained(**settings: Any) -> pw.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pw.Tokenizer.train_from_iterator(CORPUS, **settings)


def added(tok: pw.Tokenizer) -> pw.Tokenizer:
    return tok.with_added_tokens(
        [
            AddedToken("<add>", lstrip=True, rstrip=True, special=True, normalized=False),
            AddedToken("<Norm>", normalized=True),
            AddedToken("<b>", single_word=True, normalized=True),
        ]
    )


def processed(tok: pw.Tokenizer, post_processor: Any) -> pw.Tokenizer:
    return tok._replaced(post_processor=post_processor)


def without_bytes() -> pw.Tokenizer:
    """Return a byte-level tokenizer that knows a few bytes, so that ids do not spell every word."""
    vocab = {letter: id for id, letter in enumerate("hugspĠ,1")}
    merges = [("h", "u"), ("hu", "g")]
    model = pw.spec.BPE({**vocab, "hu": 8, "hug": 9, "?????": 10}, merges, unk_token="?????")
    return pw.Tokenizer(model, pre_tokenizer=ByteLevel(add_prefix_space=False))


def pair_template(tok: pw.Tokenizer) -> pw.Tokenizer:
    tok = tok.with_added_tokens(["[SEP]"], special=True)
    template = TemplateProcessing(
        single=("$A:0", "[SEP]:0"),
        pair=("[SEP]:2", "$B:1", "[SEP]:1", "$A:0"),
        special_tokens={"[SEP]": (tok.token_to_id("[SEP]"),)},
    )
    return processed(tok, template)


BYTES = {"model": "byte-bpe", "vocab_size": 320}
KINDS: dict[str, Callable[[], pw.Tokenizer]] = {
    "bert": lambda: trained(preset="bert-uncased", vocab_size=80),
    "bert-cased": lambda: added(trained(preset="bert-cased", vocab_size=80)),
    "bert without a fast path": lambda: added(trained(preset="bert-uncased", vocab_size=80)),
    "gpt2": lambda: trained(**BYTES),
    "cl100k": lambda: added(trained(**BYTES, preset="cl100k")),
    "qwen2": lambda: trained(**BYTES, preset="qwen2"),
    "trimmed": lambda: processed(trained(**BYTES), ByteLevelProcessing(add_prefix_space=True)),
    "roberta": lambda: processed(
        trained(**BYTES),
        RobertaProcessing(
            ("a", trained(**BYTES).token_to_id("a")), ("b", trained(**BYTES).token_to_id("b"))
        ),
    ),
    "prefix space": lambda: trained(**BYTES).with_pre_tokenizer(ByteLevel(add_prefix_space=True)),
    "few bytes": without_bytes,
    "bpe": lambda: trained(model="bpe", vocab_size=80),
    "unigram": lambda: added(trained(model="unigram", vocab_size=60)),
    "t5": lambda: trained(model="unigram", preset="t5", vocab_size=70),
    "word": lambda: trained(model="word", vocab_size=30),
    "char": lambda: pw.Tokenizer(
        pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "漢": 3}),
        normalizer=BertNormalizer(),
        pre_tokenizer=BertPreTokenizer(),
    ),
    "template": lambda: pair_template(trained(**BYTES)),
}


def same(batch: pw.Batch, rows: list[pw.Encoding]) -> None:
    starts = batch.row_offsets.tolist()
    offsets, words, sequences = batch.offsets, batch.word_ids, batch.sequence_ids
    assert (str(offsets.dtype), str(words.dtype), str(sequences.dtype)) == (
        "uint32",
        "int32",
        "int8",
    )
    assert offsets.shape == (len(batch.ids), 2)
    assert len(rows) == len(batch)
    for row, (start, end) in zip(rows, pairwise(starts), strict=True):
        assert batch.ids[start:end].tolist() == row.ids
        assert list(map(tuple, offsets[start:end].tolist())) == row.offsets
        assert words[start:end].tolist() == [-1 if word is None else word for word in row.word_ids]
        expected = [-1 if sequence is None else sequence for sequence in row.sequence_ids]
        assert sequences[start:end].tolist() == expected
        assert batch.type_ids[start:end].tolist() == row.type_ids
        assert batch.attention_mask[start:end].tolist() == row.attention_mask


@pytest.mark.parametrize("kind", KINDS)
def test_rows_equal_those_of_encode(kind: str) -> None:
    tok, first, second = KINDS[kind](), texts(1), texts(2)
    for settings in ({}, {"add_special_tokens": False}, {"parse_special": False}):
        same(
            tok.encode_batch(first, offsets=True, **settings),
            [tok.encode(t, **settings) for t in first],
        )
    pairs = zip(first, second, strict=True)
    same(tok.encode_batch(first, second, offsets=True), [tok.encode(*pair) for pair in pairs])
    words = [text.split() for text in first]
    rows = [tok.encode(row, is_pretokenized=True) for row in words]
    same(tok.encode_batch(words, is_pretokenized=True, offsets=True), rows)
    assert tok.encode_batch(first, offsets=True).to_lists() == tok.encode_batch(first).to_lists()


@pytest.mark.parametrize("kind", ["bert", "gpt2", "trimmed", "t5"])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_rows_are_cut_and_filled_as_those_of_encode(kind: str, direction: Any) -> None:
    first, second = texts(3), texts(4)
    cut = KINDS[kind]().with_truncation(7, stride=2, side=direction)
    pad = cut.get_vocab()
    filled = cut.with_padding(9, side=direction, pad_token=next(iter(pad)), pad_type_id=1)
    for tok in (cut, filled):
        same(tok.encode_batch(first, offsets=True), [tok.encode(text) for text in first])
        pairs = list(zip(first, second, strict=True))
        same(tok.encode_batch(first, second, offsets=True), [tok.encode(*pair) for pair in pairs])


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "trimmed", "few bytes", "template"])
def test_fast_and_plain_encoding_have_the_same_ids_and_spans(kind: str) -> None:
    tok = KINDS[kind]()
    plainly = pw.Sampling(dropout=0)  # nothing is drawn, and every word is segmented by itself
    for text in texts(5, 300):
        fast, plain = tok.encode(text), tok.encode(text, sampling=plainly)
        assert (fast.ids, fast.offsets, fast.word_ids) == (plain.ids, plain.offsets, plain.word_ids)


def test_sampled_rows_are_the_same_with_and_without_spans() -> None:
    tok, sampling = trained(model="unigram", vocab_size=60), pw.Sampling(alpha=0.3, seed=5)
    batch = tok.encode_batch(texts(6), offsets=True, sampling=sampling)
    same(batch, list(batch))
    assert batch.to_lists() == tok.encode_batch(texts(6), sampling=sampling).to_lists()


@pytest.mark.parametrize("num_threads", [2, 3, 16])
def test_any_number_of_threads_gives_the_same_spans(num_threads: int) -> None:
    tok, many = trained(preset="bert-uncased", vocab_size=80), texts(7, 20_000)
    one, other = (tok.encode_batch(many, offsets=True, num_threads=n) for n in (1, num_threads))
    for column in ("ids", "row_offsets", "offsets", "word_ids", "sequence_ids", "type_ids"):
        assert (getattr(one, column) == getattr(other, column)).all(), column


def test_an_empty_batch_has_empty_spans() -> None:
    batch = trained(preset="bert-uncased", vocab_size=80).encode_batch([], offsets=True)
    assert (batch.offsets.shape, batch.word_ids.shape, batch.sequence_ids.shape) == (
        (0, 2),
        (0,),
        (0,),
    )


def test_spans_that_were_not_requested_are_rejected() -> None:
    batch = trained(preset="bert-uncased", vocab_size=80).encode_batch(["hug"])
    for column in ("offsets", "word_ids", "sequence_ids"):
        with pytest.raises(ArgumentError, match="offsets"):
            getattr(batch, column)
