"""Unigram segmentations listed, drawn and scored, held against plain enumeration."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.tokenizer import lattice

COUNTS = {"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "un": 16}
"""Subwords of "hug" 10, "pug" 5, "pun" 12, "bun" 4, "hugs" 5, as many courses count them."""
COUNTS |= {"b": 4, "bu": 4, "s": 5, "hug": 15, "gs": 5, "ugs": 5}

ALL_HUGS = [["hug", "s"], ["h", "ugs"], ["hu", "gs"], ["h", "ug", "s"], ["h", "u", "gs"]]
ALL_HUGS += [["hu", "g", "s"], ["h", "u", "g", "s"]]
TEXTS = ["hug the hugs of huge pugs", "pug pug pug", "", "a bug hugs a pug" * 20] * 30


def scored(counts: dict[str, int]) -> tuple[tuple[str, float], ...]:
    total = sum(counts.values())
    known = ((piece, math.log(count / total)) for piece, count in counts.items())
    return (("<unk>", 0.0), *known)


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    model = pw.spec.Unigram(scored(COUNTS), unk_id=0)
    return pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())


def enumerated(tok: pw.Tokenizer, word: str) -> dict[tuple[str, ...], float]:
    """Return every way to write a known word, with the sum of its scores."""
    scores = dict(tok.spec.model.pieces)
    ways: dict[tuple[str, ...], float] = {(): 0.0} if not word else {}
    for end in range(1, len(word) + 1):
        if word[:end] in scores:
            for rest, score in enumerated(tok, word[end:]).items():
                ways[(word[:end], *rest)] = scores[word[:end]] + score
    return ways


def test_hugs_has_three_segmentations_of_which_the_best_is_taken() -> None:
    counts = {piece: COUNTS[piece] for piece in ("h", "u", "g", "s", "ug", "hug")}
    tok = pw.Tokenizer(pw.spec.Unigram(scored(counts), unk_id=0))
    listed = lattice.nbest(tok, "hugs", 10)
    assert [s.encoding.tokens for s in listed] == [["hug", "s"], ["h", "ug", "s"], list("hugs")]
    total = sum(counts.values())
    probabilities = [math.exp(s.score) * total ** len(s.encoding) for s in listed]
    assert probabilities == pytest.approx([15 * 5, 15 * 20 * 5, 15 * 36 * 20 * 5])
    assert tok.encode("hugs").tokens == ["hug", "s"]


def test_all_segmentations_are_listed_in_the_order_of_their_scores(tok: pw.Tokenizer) -> None:
    listed, expected = lattice.nbest(tok, "hugs", 100), enumerated(tok, "hugs")
    assert sorted(s.encoding.tokens for s in listed) == sorted(ALL_HUGS)
    assert sorted(map(list, expected)) == sorted(ALL_HUGS)
    for s in listed:
        assert s.score == pytest.approx(expected[tuple(s.encoding.tokens)], abs=1e-12)
    assert [s.score for s in listed] == sorted((s.score for s in listed), reverse=True)
    assert sum(math.exp(s.log_probability) for s in listed) == pytest.approx(1)
    assert [s.encoding.tokens for s in lattice.nbest(tok, "hugs", 3)] == [
        s.encoding.tokens for s in listed[:3]
    ]


def test_nbest_lists_of_several_words_are_combined(tok: pw.Tokenizer) -> None:
    listed = lattice.nbest(tok, "hugs pun", 1000)
    one, other = enumerated(tok, "hugs"), enumerated(tok, "pun")
    sums = {(*a, *b): one[a] + other[b] for a in one for b in other}
    assert {tuple(s.encoding.tokens) for s in listed} == sums.keys()
    assert [s.score for s in listed] == pytest.approx(sorted(sums.values(), reverse=True))
    assert listed[0].encoding.ids == tok.encode("hugs pun").ids
    for s in listed:
        e = s.encoding
        assert ["hugs pun"[start:end] for start, end in e.offsets] == e.tokens
        assert e.word_ids == sorted(e.word_ids)


def test_listed_encodings_have_added_tokens_templates_and_truncation(tok: pw.Tokenizer) -> None:
    """Added tokens, template, truncation and padding are those of `encode`."""
    spec = replace(
        tok.spec,
        added_tokens=(
            pw.spec.AddedToken("<s>", 20, special=True),
            pw.spec.AddedToken("bugs", 21, normalized=True),
        ),
        normalizer=pw.spec.Lowercase(),
        post_processor=pw.spec.BertProcessing(sep=("<s>", 20), cls=("<s>", 20)),
    )
    other = pw.Tokenizer.from_spec(spec).with_truncation(6)
    text = "HUGS <s> Bugs ☃☃ pun"
    for parse_special in (True, False):
        best = lattice.nbest(other, text, 5, parse_special=parse_special)
        expected = other.encode(text, parse_special=parse_special)
        for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask"):
            assert getattr(best[0].encoding, name) == getattr(expected, name)
        assert [w.ids for w in best[0].encoding.overflowing] == [
            w.ids for w in expected.overflowing
        ]
        assert len({tuple(s.encoding.ids) for s in best}) > 1


def test_entropy_equals_that_of_enumeration(tok: pw.Tokenizer) -> None:
    for text in ("hugs", "hugs pun bug", "", "s", "☃"):
        for alpha in (0, 0.1, 1, 3.0):
            expected = 0.0
            for word in text.replace("☃", "").split():
                weights = [math.exp(alpha * score) for score in enumerated(tok, word).values()]
                expected -= sum(w / sum(weights) * math.log(w / sum(weights)) for w in weights)
            assert lattice.entropy(tok, text, alpha) == pytest.approx(expected, abs=1e-9)
    assert lattice.entropy(tok, "hugs") == lattice.entropy(tok, "hugs", 1.0)


def test_scores_of_texts_and_of_ids(tok: pw.Tokenizer) -> None:
    for s in lattice.nbest(tok, "hugs pun", 20):
        assert lattice.score_ids(tok, s.encoding.ids) == pytest.approx(s.score)
        assert lattice.score_ids(tok, np.array(s.encoding.ids)) == pytest.approx(s.score)
    assert lattice.score(tok, "hugs pun") == lattice.nbest(tok, "hugs pun", 1)[0].score
    lowest = min(score for _, score in tok.spec.model.pieces)
    assert lattice.score(tok, "☃☃") == pytest.approx(2 * (lowest - 10))
    assert lattice.score_ids(tok, [0]) == pytest.approx(lowest - 10)
    assert lattice.score(tok, "") == lattice.score_ids(tok, []) == 0
    added = tok.with_added_tokens(["<s>"], special=True)
    assert lattice.score_ids(added, [added.token_to_id("<s>"), 1]) == lattice.score_ids(tok, [1])
    with pytest.raises(pw.errors.ArgumentError, match=r"ids\[1\]"):
        lattice.score_ids(tok, [1, 999])
    with pytest.raises(pw.errors.InputTypeError, match=r"ids\[0\]"):
        lattice.score_ids(tok, ["hug"])


@pytest.mark.parametrize(
    "sampling",
    [
        pw.Sampling(alpha=0.5, seed=3),
        pw.Sampling(alpha=0, seed=3),
        pw.Sampling(alpha=0.2, seed=3, nbest_size=4),
    ],
    ids=["all", "all alike", "of the best"],
)
def test_segmentations_are_drawn_as_often_as_their_probabilities_say(
    tok: pw.Tokenizer, sampling: pw.Sampling
) -> None:
    scores = Counter(enumerated(tok, "hugs"))
    best = scores.most_common(sampling.nbest_size)
    weights = {way: math.exp((sampling.alpha or 0) * score) for way, score in best}
    rows = tok.encode_batch(["hugs"] * 100_000, sampling=sampling).to_lists()
    tokens = {id: token for token, id in tok.get_vocab().items()}
    counted = Counter(tuple(tokens[id] for id in row) for row in rows)
    assert counted.keys() == weights.keys()
    share = 100_000 / sum(weights.values())
    distance = sum((counted[way] - share * w) ** 2 / (share * w) for way, w in weights.items())
    # The hundred-thousandth of chi-square with 6 degrees of freedom.
    assert distance < 33.1


@pytest.mark.parametrize("nbest_size", [None, -1, 5])
@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_the_seed_alone_determines_the_samples(
    tok: pw.Tokenizer, nbest_size: int | None, num_threads: int
) -> None:
    texts, sampling = TEXTS * 30, pw.Sampling(alpha=0.2, seed=9, nbest_size=nbest_size)
    batch = tok.encode_batch(texts, sampling=sampling, num_threads=num_threads)
    assert np.array_equal(batch.ids, tok.encode_batch(texts, sampling=sampling).ids)
    other = replace(sampling, seed=10)
    assert not np.array_equal(batch.ids, tok.encode_batch(texts, sampling=other).ids)
    assert tok.encode(texts[0], sampling=sampling).ids == batch[0].ids
    assert tok.count_batch(texts, sampling=sampling) == batch.lengths.tolist()
    for row in (0, 3, 7):
        assert batch[row].ids == batch.to_lists()[row]


def test_every_call_without_a_seed_draws_another_sample(tok: pw.Tokenizer) -> None:
    for nbest_size in (None, 50):
        sampling = pw.Sampling(alpha=0.1, nbest_size=nbest_size)
        assert len({tuple(tok.encode(TEXTS[3], sampling=sampling).ids) for _ in range(5)}) > 1


def test_drawing_leaves_no_trace(tok: pw.Tokenizer) -> None:
    expected = tok.encode_batch(TEXTS).to_lists()
    for sampling in (pw.Sampling(alpha=0.1, seed=1), pw.Sampling(alpha=0.1, seed=1, nbest_size=4)):
        tok.encode_batch(TEXTS, sampling=sampling)
        assert tok.encode_batch(TEXTS).to_lists() == expected
        assert tok.encode(TEXTS[0]).ids == expected[0]


def test_nbest_size_0_and_1_give_the_best_segmentation(tok: pw.Tokenizer) -> None:
    merges = (("h", "u"),)
    bpe = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, merges, dropout=1.0))
    assert bpe.encode("hu").ids == [0, 1]
    for nbest_size in (0, 1):
        sampling = pw.Sampling(alpha=0.5, nbest_size=nbest_size)
        assert tok.encode(TEXTS[3], sampling=sampling).ids == tok.encode(TEXTS[3]).ids
        assert bpe.encode("hu", sampling=sampling).ids == [2]


def test_pairs_are_drawn_apart(tok: pw.Tokenizer) -> None:
    for nbest_size in (None, 7):
        sampling = pw.Sampling(alpha=0.1, seed=4, nbest_size=nbest_size)
        e = tok.encode(TEXTS[3], TEXTS[3], sampling=sampling)
        first = [id for id, n in zip(e.ids, e.sequence_ids, strict=True) if n == 0]
        second = [id for id, n in zip(e.ids, e.sequence_ids, strict=True) if n == 1]
        assert first == tok.encode(TEXTS[3], sampling=sampling).ids != second
        words = tok.encode(TEXTS[0].split(), is_pretokenized=True, sampling=sampling)
        assert words.word_ids[-1] == 5


def test_samples_are_the_rows_of_a_batch(tok: pw.Tokenizer) -> None:
    sampling = pw.Sampling(alpha=0.3, seed=5)
    samples = lattice.sample(tok, "hugs pun", 40, sampling)
    rows = tok.encode_batch(["hugs pun"] * 40, sampling=sampling).to_lists()
    assert [s.encoding.ids for s in samples] == rows
    total = sum(math.exp(0.3 * s.score) for s in lattice.nbest(tok, "hugs pun", 1000))
    for s in samples:
        assert s.log_probability == pytest.approx(0.3 * s.score - math.log(total))
        assert s.log_inclusion is None


def test_samples_without_replacement_are_all_different(tok: pw.Tokenizer) -> None:
    best = tok.encode("hugs pun").ids
    for seed in range(20):
        for include_best in (False, True):
            samples = lattice.sample(
                tok,
                "hugs pun",
                5,
                pw.Sampling(alpha=0.5, seed=seed),
                replacement=False,
                include_best=include_best,
            )
            ids = [s.encoding.ids for s in samples]
            assert len({*map(tuple, ids)}) == 5
            if include_best:
                assert ids[0] == best
                assert samples[0].log_inclusion == 0
            for s in samples[include_best:]:
                assert s.log_inclusion is not None
                assert s.log_inclusion < 0
    everything = lattice.sample(tok, "hugs", 50, pw.Sampling(alpha=1, seed=1), replacement=False)
    assert sorted(s.encoding.tokens for s in everything) == sorted(ALL_HUGS)


def test_long_texts_are_bounded_not_refused(tok: pw.Tokenizer) -> None:
    text = "hugs" * 50_000
    assert len(lattice.nbest(tok, text, 5)) == 5
    assert lattice.entropy(tok, text) > 0
    with pytest.raises(pw.errors.ArgumentError, match="n: must be at most 41 for this text"):
        lattice.nbest(tok, text, 500)
    with pytest.raises(pw.errors.ArgumentError, match="nbest_size"):
        tok.encode(text, sampling=pw.Sampling(nbest_size=500))


def test_a_model_without_an_unknown_entry_raises_an_error() -> None:
    tok = pw.Tokenizer(pw.spec.Unigram((("a", -1.0), ("ab", -2.0))))
    calls: list[Any] = [
        lambda: tok.encode("b", sampling=pw.Sampling(alpha=0.1)),
        lambda: tok.encode("b", sampling=pw.Sampling(alpha=0.1, nbest_size=3)),
        lambda: lattice.nbest(tok, "b", 3),
        lambda: lattice.entropy(tok, "b"),
    ]
    for call in calls:
        with pytest.raises(pw.errors.VocabularyError, match="unk_id"):
            call()
    assert [s.encoding.tokens for s in lattice.nbest(tok, "aab", 3)] == [["a", "ab"]]


def test_other_models_have_no_scores() -> None:
    vocab = {"[UNK]": 0, "to": 1, "be": 2}
    for model in (pw.spec.WordLevel(vocab), pw.spec.WordPiece(vocab)):
        tok = pw.Tokenizer(model)
        calls: list[Any] = [
            lambda tok=tok: lattice.nbest(tok, "to be", 2),
            lambda tok=tok: lattice.sample(tok, "to be", 2),
            lambda tok=tok: lattice.entropy(tok, "to be"),
            lambda tok=tok: lattice.score(tok, "to be"),
            lambda tok=tok: lattice.score_ids(tok, [1]),
        ]
        for call in calls:
            with pytest.raises(pw.errors.ArgumentError, match="model"):
                call()
    bpe = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),)))
    with pytest.raises(pw.errors.ArgumentError, match="nbest_size"):
        bpe.encode("hu", sampling=pw.Sampling(nbest_size=3))
    with pytest.raises(pw.errors.ArgumentError, match=r"alpha is .*Sampling\(dropout="):
        bpe.encode("hu", sampling=pw.Sampling(alpha=0.5))


def test_the_strength_of_bpe_is_refused(tok: pw.Tokenizer) -> None:
    for call in (
        tok.encode,
        lambda text, sampling: lattice.sample(tok, text, 2, sampling),
    ):
        with pytest.raises(pw.errors.ArgumentError, match=r"dropout is .*Sampling\(alpha="):
            call("hugs", sampling=pw.Sampling(dropout=0.5))
    assert tok.encode("hugs", sampling=pw.Sampling(dropout=0.5, nbest_size=1)) == tok.encode("hugs")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0,), "n"),
        ((1025,), "n"),
        (("3",), "n"),
        ((True,), "n"),
        ((2, 0.1), "sampling"),
        ((2, pw.Sampling(nbest_size=4)), "nbest_size"),
        ((2, pw.Sampling(nbest_size=0)), "nbest_size"),
    ],
)
def test_arguments_out_of_range_are_named(
    tok: pw.Tokenizer, arguments: tuple[Any, ...], name: str
) -> None:
    with pytest.raises(pw.PieceworkError, match=name):
        lattice.sample(tok, "hugs", *arguments)
    if len(arguments) == 1:
        with pytest.raises(pw.PieceworkError, match=name):
            lattice.nbest(tok, "hugs", *arguments)


@pytest.mark.parametrize("arguments", [(1025,), (2, pw.Sampling(nbest_size=4))])
def test_the_error_names_the_call_for_more_samples(
    tok: pw.Tokenizer, arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=r"; encode_batch\(\[text\] \* n, sampling="):
        lattice.sample(tok, "hugs", *arguments)
    sampled = tok.encode_batch(
        ["hugs"] * 1025, sampling=pw.Sampling(alpha=0.1, seed=3, nbest_size=4)
    )
    assert len({tuple(row.ids) for row in sampled}) <= 4


def test_the_best_is_included_without_replacement_only(tok: pw.Tokenizer) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="include_best"):
        lattice.sample(tok, "hugs", 2, include_best=True)
    for alpha in (-1, float("inf"), "1", True, 10**400):
        with pytest.raises(pw.PieceworkError, match="alpha"):
            lattice.entropy(tok, "hugs", alpha)
    for text in (None, ["hugs"]):
        with pytest.raises(pw.errors.InputTypeError, match="text"):
            lattice.nbest(tok, text, 2)
