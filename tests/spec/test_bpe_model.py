"""BPE segmentations drawn at random: what a seed fixes, and what it must not depend on."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tokenizers

import piecework as pw

TEXTS = ["hug the hugs of huge pugs", "pug pug pug", "", "a bug hugs a pug" * 20] * 30


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=60, special_tokens=["<unk>"], show_progress=False
    )
    theirs.train_from_iterator(TEXTS, trainer)
    return pw.Tokenizer.from_str(theirs.to_str())


def with_dropout(tok: pw.Tokenizer, dropout: float | None) -> pw.Tokenizer:
    return pw.Tokenizer.from_spec(replace(tok.spec, model=replace(tok.spec.model, dropout=dropout)))


def test_the_same_seed_gives_the_same_segmentation_and_another_one_others(
    tok: pw.Tokenizer,
) -> None:
    drawn = [
        tok.encode_batch(TEXTS, sampling=pw.Sampling(dropout=0.3, seed=seed)).to_lists()
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_every_call_without_a_seed_draws_another_sample(tok: pw.Tokenizer) -> None:
    drawn = {tuple(tok.encode(TEXTS[3], sampling=pw.Sampling(dropout=0.5)).ids) for _ in range(5)}
    assert len(drawn) == 5


@pytest.mark.parametrize("num_threads", [2, 3, 7])
def test_samples_do_not_depend_on_the_number_of_threads(
    tok: pw.Tokenizer, num_threads: int
) -> None:
    texts, sampling = TEXTS * 100, pw.Sampling(dropout=0.2, seed=9)
    one = tok.encode_batch(texts, sampling=sampling, num_threads=1)
    assert np.array_equal(
        one.ids, tok.encode_batch(texts, sampling=sampling, num_threads=num_threads).ids
    )


def test_rows_of_a_batch_are_drawn_apart_and_looked_at_again_as_they_were(
    tok: pw.Tokenizer,
) -> None:
    for seed in (3, None):
        batch = tok.encode_batch(
            [TEXTS[3]] * 8, TEXTS[:8], sampling=pw.Sampling(dropout=0.3, seed=seed)
        )
        rows = batch.to_lists()
        assert len({tuple(row) for row in rows}) == 8
        assert [batch[row].ids for row in range(8)] == rows
        assert batch[-1].ids == rows[-1]


@pytest.mark.parametrize(
    "stages",
    [
        {},
        {"normalizer": pw.spec.BertNormalizer(), "pre_tokenizer": pw.spec.BertPreTokenizer()},
        {"pre_tokenizer": pw.spec.Metaspace()},
    ],
    ids=["whole texts", "ASCII words", "pieces"],
)
@pytest.mark.parametrize("normalized", [False, True])
def test_ids_and_encodings_have_the_same_samples_on_every_path(
    tok: pw.Tokenizer, stages: dict[str, Any], normalized: bool
) -> None:
    token = pw.spec.AddedToken("pun", 60, normalized=normalized)
    spec = replace(tok.spec, pre_tokenizer=None, added_tokens=(*tok.spec.added_tokens, token))
    other = pw.Tokenizer.from_spec(replace(spec, **stages))
    texts = ["Hug! the pun of hüge pugs, andanotherverylongwordofhugs pun", *TEXTS[:4]] * 5
    batch = other.encode_batch(texts, sampling=pw.Sampling(dropout=0.5, seed=11))
    assert [row.ids for row in batch] == batch.to_lists()
    words = [text.split() or ["hug"] for text in texts]
    batch = other.encode_batch(
        words, words, is_pretokenized=True, sampling=pw.Sampling(dropout=0.5)
    )
    assert [row.ids for row in batch] == batch.to_lists()


def test_a_single_text_is_the_first_of_a_batch(tok: pw.Tokenizer) -> None:
    sampling = pw.Sampling(dropout=0.4, seed=5)
    encoding = tok.encode(TEXTS[3], sampling=sampling)
    assert encoding.ids == tok.encode_batch(TEXTS[3:], sampling=sampling).to_lists()[0]
    assert tok.count(TEXTS[3], sampling=sampling) == len(encoding)
    assert [TEXTS[3][start:end] for start, end in encoding.offsets] == encoding.tokens


def test_drawing_leaves_no_trace(tok: pw.Tokenizer) -> None:
    expected = tok.encode_batch(TEXTS).to_lists()
    for seed in range(5):
        tok.encode_batch(TEXTS, sampling=pw.Sampling(dropout=0.9, seed=seed))
        assert tok.encode_batch(TEXTS).to_lists() == expected
        assert tok.encode(TEXTS[0]).ids == expected[0]


def test_alpha_0_does_not_sample_and_alpha_1_gives_characters(tok: pw.Tokenizer) -> None:
    assert tok.encode(TEXTS[0], sampling=pw.Sampling(dropout=0)).ids == tok.encode(TEXTS[0]).ids
    characters = tok.encode(TEXTS[0], sampling=pw.Sampling(dropout=1)).tokens
    assert characters == list(TEXTS[0].replace(" ", ""))


def test_a_models_own_dropout_is_followed(tok: pw.Tokenizer) -> None:
    dropping = with_dropout(tok, 0.5)
    assert len({tuple(dropping.encode(TEXTS[3]).ids) for _ in range(5)}) == 5
    seeded = [dropping.encode(TEXTS[3], sampling=pw.Sampling(seed=4)).ids for _ in range(2)]
    assert (
        seeded[0]
        == seeded[1]
        == tok.encode(TEXTS[3], sampling=pw.Sampling(dropout=0.5, seed=4)).ids
    )
    assert (
        dropping.encode(TEXTS[3], sampling=pw.Sampling(dropout=0)).ids == tok.encode(TEXTS[3]).ids
    )
    batch = dropping.encode_batch(TEXTS)
    assert batch[3].ids == batch.to_lists()[3]
    for nothing in (None, 0.0):
        assert with_dropout(tok, nothing).encode(TEXTS[3]).ids == tok.encode(TEXTS[3]).ids


def test_tokenizers_made_from_another_one_follow_the_dropout_of_their_own_model(
    tok: pw.Tokenizer,
) -> None:
    dropping = with_dropout(tok, 1.0)
    characters = [tok.encode(TEXTS[0], sampling=pw.Sampling(dropout=1)).ids]
    made = [
        dropping.with_word_cache_budget(1 << 16),
        dropping.with_truncation(100),
        dropping.with_normalizer(None),
        dropping.with_added_tokens(["<new>"]),
        dropping.with_parse_special("refuse"),
        pickle.loads(pickle.dumps(dropping)),
    ]
    assert [one.encode_batch(TEXTS[:1]).to_lists() for one in made] == [characters] * len(made)
    plain = with_dropout(dropping, None).with_truncation(100)
    assert plain.encode_batch(TEXTS[:1]).to_lists() == [tok.encode(TEXTS[0]).ids]


def test_segmentations_are_as_frequent_as_in_tokenizers() -> None:
    """Where their queue never holds a pair that is gone after one that is not, the two must agree."""
    model = {
        "type": "BPE",
        "dropout": 0.4,
        "vocab": {},
        "merges": [["a", "b"], ["b", "c"], ["ab", "c"]],
    }
    model["vocab"] = {token: number for number, token in enumerate("a b c ab bc abc".split())}
    text, words = json.dumps({"model": model, "added_tokens": []}), 40_000
    theirs, ours = tokenizers.Tokenizer.from_str(text), pw.Tokenizer.from_str(text)
    expected = Counter(tuple(theirs.encode("abc").ids) for _ in range(words))
    rows = ours.encode_batch(["abc"] * words, sampling=pw.Sampling(seed=1)).to_lists()
    counted = Counter(map(tuple, rows))
    assert counted.keys() == expected.keys()
    for outcome, count in expected.items():
        assert abs(counted[outcome] - count) < 6 * (2 * count) ** 0.5 + 1


def test_a_model_with_one_segmentation_cannot_be_sampled() -> None:
    word = pw.Tokenizer.train_from_iterator(["to be"], model="word")
    for call in (word.encode, word.count):
        with pytest.raises(pw.errors.ArgumentError, match="sampling"):
            call("to be", sampling=pw.Sampling(dropout=0.1))
    with pytest.raises(pw.errors.ArgumentError, match="sampling"):
        word.encode_batch(["to be"], sampling=pw.Sampling(dropout=0.1))
    assert word.encode("to be", sampling=pw.Sampling(dropout=0)).ids == word.encode("to be").ids


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"dropout": 1.5}, "dropout"),
        ({"dropout": float("nan")}, "dropout"),
        ({"dropout": "0.1"}, "dropout"),
        ({"alpha": float("inf")}, "alpha"),
        ({"alpha": -0.1}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": "0.1"}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": 0.5}, "seed"),
        ({"nbest_size": 1025}, "nbest_size"),
        ({"nbest_size": 2.0}, "nbest_size"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object], name: str) -> None:
    with pytest.raises(pw.PieceworkError, match=name):
        pw.Sampling(**settings)


def test_sampling_must_be_a_sampling_object(tok: pw.Tokenizer) -> None:
    with pytest.raises(pw.errors.InputTypeError, match="sampling"):
        tok.encode("hug", sampling=0.1)
