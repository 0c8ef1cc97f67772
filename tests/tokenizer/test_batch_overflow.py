"""`encode_batch(..., overflow=True)` makes a row of each window that `encode` gives as overflowing."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import numpy as np
import pytest
import tokenizers

import piecework as pw
from tests.tokenizer.test_batch_spans import KINDS, same, texts, trained

STRATEGIES = ("longest_first", "only_first", "only_second")


def windows(encodings: list[pw.Encoding]) -> tuple[list[pw.Encoding], list[int]]:
    """Return every window of some encodings, and the number of the text of each."""
    rows = [[encoding, *encoding.overflowing] for encoding in encodings]
    return list(chain(*rows)), [text for text, row in enumerate(rows) for _ in row]


def check(batch: pw.Batch, encodings: list[pw.Encoding]) -> None:
    rows, samples = windows(encodings)
    same(batch, rows)
    assert batch.overflow_to_sample_mapping.dtype == np.int64
    assert batch.overflow_to_sample_mapping.tolist() == samples


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", ["right", "left"])
def test_windows_equal_those_of_encode(kind: str, direction: Any) -> None:
    tok = KINDS[kind]().with_truncation(9, stride=2, side=direction)
    first, second = texts(11), texts(12)
    for settings in ({}, {"add_special_tokens": False}, {"parse_special": False}):
        check(
            tok.encode_batch(first, offsets=True, overflow=True, **settings),
            [tok.encode(text, **settings) for text in first],
        )
    words = [text.split() for text in first]
    check(
        tok.encode_batch(words, is_pretokenized=True, offsets=True, overflow=True),
        [tok.encode(row, is_pretokenized=True) for row in words],
    )
    # The windows of a pair are all combinations of those of its texts.
    first, second = ([text[:20] for text in several] for several in (first, second))
    pairs = [tok.encode(*pair) for pair in zip(first, second, strict=True)]
    check(tok.encode_batch(first, second, offsets=True, overflow=True), pairs)
    without_spans = tok.encode_batch(first, second, overflow=True)
    rows, samples = windows(pairs)
    assert without_spans.to_lists() == [row.ids for row in rows]
    assert without_spans.type_ids.tolist() == list(chain(*(row.type_ids for row in rows)))
    assert without_spans.overflow_to_sample_mapping.tolist() == samples


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_cuts_pairs_as_encode_does(strategy: Any) -> None:
    whole = KINDS["bert"]()
    tok = whole.with_truncation(12, stride=3, strategy=strategy)
    first = [
        text for text in texts(13, 200) if 9 < whole.count(text, add_special_tokens=False) < 40
    ]
    short = ["hug pug"] * len(first)
    pairs = (first, short) if strategy == "only_first" else (short, first)
    encodings = [tok.encode(*pair) for pair in zip(*pairs, strict=True)]
    check(tok.encode_batch(*pairs, offsets=True, overflow=True), encodings)


def test_windows_are_padded_as_those_of_encode() -> None:
    for length in (12, None):
        tok = KINDS["bert"]().with_truncation(9, stride=1).with_padding(length)
        many = [text for text in texts(14) if len(tok.encode(text).ids) >= 9]
        check(
            tok.encode_batch(many, offsets=True, overflow=True), [tok.encode(text) for text in many]
        )


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_windows(num_threads: int) -> None:
    tok, many = KINDS["gpt2"]().with_truncation(16, stride=4), texts(15, 3000)
    batch = tok.encode_batch(many, overflow=True, num_threads=num_threads)
    rows, samples = windows([tok.encode(text) for text in many])
    assert batch.to_lists() == [row.ids for row in rows]
    assert batch.overflow_to_sample_mapping.tolist() == samples


def test_windows_of_a_sampled_text_join_to_its_sample() -> None:
    tok = trained(model="unigram", vocab_size=60)
    sampling = pw.Sampling(alpha=0.3, seed=5)
    whole = tok.encode_batch(texts(16), sampling=sampling)
    short = tok.with_truncation(7).encode_batch(texts(16), sampling=sampling, overflow=True)
    joined: list[list[int]] = [[] for _ in whole.to_lists()]
    for sample, row in zip(short.overflow_to_sample_mapping, short.to_lists(), strict=True):
        joined[sample] += row
    assert joined == whole.to_lists()


def test_without_truncation_each_text_is_a_row() -> None:
    tok = trained(preset="bert-uncased", vocab_size=80)
    batch = tok.encode_batch(["hug", "", "pug hugs"], overflow=True)
    assert batch == tok.encode_batch(["hug", "", "pug hugs"])
    assert batch.overflow_to_sample_mapping.tolist() == [0, 1, 2]
    assert batch[1:].overflow_to_sample_mapping.tolist() == [1, 2]


def test_an_empty_batch_has_no_windows() -> None:
    tok = trained(preset="bert-uncased", vocab_size=80).with_truncation(4)
    batch = tok.encode_batch([], overflow=True)
    assert (len(batch), batch.overflow_to_sample_mapping.tolist()) == (0, [])


def test_an_error_names_the_text_and_not_the_window() -> None:
    tok = KINDS["bert"]().with_truncation(6, strategy="only_second")
    with pytest.raises(pw.errors.ArgumentError, match=r"texts\[1\]"):
        tok.encode_batch(["hug", "hug " * 30], ["pug", "pug"], overflow=True)


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("is_padded", [False, True])
def test_windows_equal_those_of_tokenizers(direction: Any, is_padded: bool) -> None:
    tok = KINDS["bert"]().with_truncation(14, stride=3, side=direction)
    tok = tok.with_padding() if is_padded else tok
    theirs = tokenizers.Tokenizer.from_str(tok.to_str())
    first, second = ([text[:60] for text in texts(seed)] for seed in (18, 19))
    for pairs in ([(text,) for text in texts(17)], list(zip(first, second, strict=True))):
        encoded = theirs.encode_batch([pair if len(pair) == 2 else pair[0] for pair in pairs])
        rows = [[encoding, *encoding.overflowing] for encoding in encoded]
        batch = tok.encode_batch(*map(list, zip(*pairs, strict=True)), offsets=True, overflow=True)
        flat = list(chain(*rows))
        assert batch.to_lists() == [row.ids for row in flat]
        assert batch.offsets.tolist() == [list(span) for row in flat for span in row.offsets]
        for mask in ("special_tokens_mask", "attention_mask"):
            theirs_of_rows = chain(*(getattr(row, mask) for row in flat))
            assert getattr(batch, mask).tolist() == list(theirs_of_rows)
        samples = [text for text, row in enumerate(rows) for _ in row]
        assert batch.overflow_to_sample_mapping.tolist() == samples
    assert json.loads(tok.to_str())["truncation"]["max_length"] == 14


def test_a_row_says_how_to_get_the_windows_that_its_batch_dropped() -> None:
    tok = trained(preset="bert-uncased", vocab_size=80).with_truncation(4)
    with pytest.raises(pw.errors.ArgumentError, match="overflow: must be True"):
        _ = tok.encode_batch(["hug hug hug hug"])[0].overflowing
    assert tok.encode_batch(["hug hug hug hug"], overflow=True)[0].overflowing == []
