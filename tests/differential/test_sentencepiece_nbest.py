"""Native `.model`s list, score and draw segmentations as `sentencepiece` 0.2.3 does.

Lists are compared whole: ids, 32-bit scores and the order of equals. Drawn segmentations are compared by how
often they come, with exact probabilities or, for BPE, with their own draws. PIECEWORK_FULL=1 takes all
corpora and settings.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests.data import need
from tests.differential import peer
from tests.differential.test_segmentations_equal_sentencepiece import ours_from_file
from tests.differential.test_segmentations_equal_sentencepiece import scores_of as scores_in
from tests.differential.test_sentencepiece import (
    CORPUS,
    FLAGS,
    HARD_TEXTS,
    MODELS,
    RULES,
    both,
    code_point_texts,
    combination,
)
from tests.tie_texts import tie_texts

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
DRAWS = 20_000

MADE_TEXTS = [
    "internationalization of antidisestablishmentarianism \u2603\u2603 \u00e9",
    "a" * 60,
    "ab" * 80,
    "banana bandana " * 6,
    "\u2603" * 12 + "x\0y",
    *tie_texts(12, seed=8),
]


def is_unigram(tok: pw.Tokenizer) -> bool:
    return tok._core.scores_segmentations


def assert_same_lists(
    ours: pw.Tokenizer, theirs: Any, texts: Iterable[str], sizes: Iterable[int]
) -> None:
    gave_up = compared = 0
    for text, n in itertools.product(texts, sizes):
        rows = theirs.nbest_encode(text, nbest_size=n, return_type=int)
        proto = theirs.nbest_encode(text, nbest_size=n, return_type="serialized_proto")
        listed = pw.tokenizer.lattice.nbest(ours, text, n)
        found = [s.encoding.ids for s in listed]
        compared += 1
        if len(rows) == 1 < len(found):
            gave_up += 1
            assert (
                found[0] in rows
                or listed[0].score >= pw.tokenizer.lattice.score_ids(ours, rows[0]) - 1e-3
            )
            continue
        assert found == rows, f"{n} of {text[:80]!r}"
        if n > 1:
            assert [s.score for s in listed] == scores_in(proto), f"{n} of {text[:80]!r}"
        for s in listed[:: max(1, n // 3)]:
            expected = pytest.approx(s.score, rel=1e-5, abs=1e-3)
            if ours.token_to_id("<unk>") not in s.encoding.ids:
                assert pw.tokenizer.lattice.score_ids(ours, s.encoding.ids) == expected
    assert gave_up <= compared / 10


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_published_models_list_the_same(path: Path) -> None:
    ours, theirs = both(path)
    if not is_unigram(ours):
        with pytest.raises(pw.errors.ArgumentError, match="model"):
            pw.tokenizer.lattice.nbest(ours, "a", 2)
        with pytest.raises(RuntimeError):
            theirs.nbest_encode("a", nbest_size=2)
        return
    rng = random.Random(3)
    documents = [document[:120] for document in peer.sample_documents(60)]
    documents = rng.sample(documents, len(documents) if FULL else min(30, len(documents)))
    short = [text for text in HARD_TEXTS if len(text) < 600]
    texts = [*documents, *short, *MADE_TEXTS, *itertools.islice(code_point_texts(), 20)]
    assert_same_lists(ours, theirs, texts, (1, 2, 7, 40))
    assert_same_lists(ours, theirs, [*documents[:10], *MADE_TEXTS], (512,))


COMBINATIONS = list(itertools.product(RULES, range(len(FLAGS))))


@pytest.mark.parametrize(("rules", "flags"), COMBINATIONS[:: 1 if FULL else 3])
def test_trained_models_list_the_same(rules: str, flags: int, tmp_path: Path) -> None:
    ours, theirs = combination("unigram", rules, flags, tmp_path)
    rng = random.Random(flags)
    letters = "abnd aaa  <x>\t漢é.1▁ﬁ<y z>"
    drawn = ["".join(rng.choices(letters, k=rng.randrange(40))) for _ in range(60)]
    assert_same_lists(ours, theirs, [*CORPUS[:6], *MADE_TEXTS, *drawn], (1, 2, 9, 64))


def chi_square(counted: Counter[Any], shares: dict[Any, float], draws: int) -> bool:
    """Whether counts are what shares say, at about one in a million; rare outcomes go together."""
    common = {way: share for way, share in shares.items() if share * draws >= 10}
    expected = [share * draws for share in common.values()]
    found: list[float] = [counted[way] for way in common]
    rest = draws - sum(expected)
    if rest >= 10:
        expected.append(rest)
        found.append(draws - sum(found))
    distance = sum((f - e) ** 2 / e for f, e in zip(found, expected, strict=True))
    freedom = max(1, len(expected) - 1)
    spread = 2 / (9 * freedom)
    return ((distance / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < 4.75


def drawn(ours: pw.Tokenizer, text: str, sampling: pw.Sampling) -> Counter[Any]:
    rows = ours.encode_batch([text] * DRAWS, sampling=sampling).to_lists()
    return Counter(map(tuple, rows))


def drawn_there(theirs: Any, text: str, alpha: float, nbest_size: int) -> Counter[Any]:
    sentencepiece.set_random_generator_seed(5)
    settings: dict[str, Any] = {"enable_sampling": True, "alpha": alpha, "nbest_size": nbest_size}
    return Counter(tuple(theirs.encode(text, **settings)) for _ in range(DRAWS))


@pytest.mark.parametrize(("alpha", "nbest_size"), [(0.2, -1), (0.7, -1), (0.0, -1), (0.3, 5)])
@pytest.mark.parametrize("flags", [0, 1, 5, 10] if FULL else [5])
def test_unigram_draws_as_often(alpha: float, nbest_size: int, flags: int, tmp_path: Path) -> None:
    """User-defined symbols and unknown characters stand among what is drawn."""
    ours, theirs = combination("unigram", "nmt_nfkc", flags, tmp_path)
    for text in ("ban <x>☃", "an ☃a"):
        listed = pw.tokenizer.lattice.nbest(ours, text, 1024 if nbest_size < 0 else nbest_size)
        if len(listed) == 1024:
            continue
        weights: Counter[Any] = Counter()
        for s in listed:
            weights[tuple(s.encoding.ids)] += math.exp(alpha * s.score)  # type: ignore[assignment]
        shares = {way: weight / sum(weights.values()) for way, weight in weights.items()}
        size = None if nbest_size < 0 else nbest_size
        here = drawn(ours, text, pw.Sampling(alpha=alpha, seed=11, nbest_size=size))
        there = drawn_there(theirs, text, alpha, nbest_size)
        assert here.keys() <= shares.keys()
        assert there.keys() <= shares.keys()
        assert chi_square(here, shares, DRAWS)
        assert chi_square(there, shares, DRAWS)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
@pytest.mark.parametrize("flags", [0, 1, 5] if FULL else [5])
def test_bpe_leaves_out_as_much(alpha: float, flags: int, tmp_path: Path) -> None:
    ours, theirs = combination("bpe", "nmt_nfkc", flags, tmp_path)
    for text in ("banana", "ban <x>☃", "The lazy"):
        here = drawn(ours, text, pw.Sampling(dropout=alpha, seed=11))
        there = drawn_there(theirs, text, alpha, -1)
        # Both are samples: half their sum is what to expect, and the spread is half.
        ways = [way for way in here | there if here[way] + there[way] >= 20]
        distance = sum((here[way] - there[way]) ** 2 / (here[way] + there[way]) for way in ways)
        freedom = max(1, len(ways) - 1)
        spread = 2 / (9 * freedom)
        assert ((distance / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < 4.75
    assert ours.encode("banana", sampling=pw.Sampling(dropout=0)).ids == theirs.encode("banana")
    every = theirs.encode("banana", enable_sampling=True, alpha=1.0, nbest_size=-1)
    assert ours.encode("banana", sampling=pw.Sampling(dropout=1.0)).ids == every


@pytest.mark.parametrize("kind", ["word", "char"])
def test_models_with_one_segmentation_refuse_to_draw(kind: str, tmp_path: Path) -> None:
    ours, theirs = combination(kind, "nmt_nfkc", 0, tmp_path)
    with pytest.raises(pw.errors.ArgumentError, match="sampling"):
        ours.encode("banana", sampling=pw.Sampling(dropout=0.5))
    with pytest.raises(RuntimeError):
        theirs.encode("banana", enable_sampling=True, alpha=0.5, nbest_size=-1)
    with pytest.raises(pw.errors.ArgumentError, match="model"):
        pw.tokenizer.lattice.nbest(ours, "banana", 2)
    with pytest.raises(RuntimeError):
        theirs.nbest_encode("banana", nbest_size=2)
    assert ours.encode(
        "banana", sampling=pw.Sampling(alpha=0.5, nbest_size=1)
    ).ids == theirs.encode("banana")


def test_the_seed_determines_the_samples(tmp_path: Path) -> None:
    for kind, strength in (("unigram", "alpha"), ("bpe", "dropout")):
        ours, _ = combination(kind, "nmt_nfkc", 1, tmp_path)
        texts = [*CORPUS[:6], *MADE_TEXTS]
        sampling = pw.Sampling(**{strength: 0.2}, seed=7)
        batch = ours.encode_batch(texts, sampling=sampling, num_threads=1).to_lists()
        assert batch == ours.encode_batch(texts, sampling=sampling, num_threads=3).to_lists()
        assert batch[0] == ours.encode(texts[0], sampling=sampling).ids
        assert batch != ours.encode_batch(texts).to_lists()
        again = ours.encode_batch(texts).to_lists()
        assert again == [ours.encode(text).ids for text in texts]
        if kind == "unigram":
            samples = pw.tokenizer.lattice.sample(ours, texts[0], 20, sampling)
            rows = ours.encode_batch([texts[0]] * 20, sampling=sampling).to_lists()
            assert [s.encoding.ids for s in samples] == rows
            apart = pw.tokenizer.lattice.sample(ours, texts[0], 20, sampling, replacement=False)
            assert len({tuple(s.encoding.ids) for s in apart}) == 20


def test_entropy_equals_that_of_their_nbest_list() -> None:
    ours, theirs = both(need("vocab/maxtext-default/tokenizer.model"))
    for text in ("hugs", "a bug", "reuse", "☃ so"):
        proto = theirs.nbest_encode(text, nbest_size=512, return_type="serialized_proto")
        scores = scores_in(proto)
        assert len(scores) < 512
        for alpha in (0.1, 1.0, 2.0):
            weights = [math.exp(alpha * score) for score in scores]
            shares = [weight / math.fsum(weights) for weight in weights]
            expected = -math.fsum(share * math.log(share) for share in shares if share)
            assert pw.tokenizer.lattice.entropy(ours, text, alpha) == pytest.approx(
                expected, abs=1e-4
            )


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "nbest_size"), [(1.0, None), (0.3, 6), (0.7, 40)])
@pytest.mark.parametrize("name", ["t5", "albert-v2"])
def test_tokenizers_draws_as_often(name: str, alpha: float, nbest_size: int | None) -> None:
    """From all only at alpha 1: at others theirs are no longer in proportion to exp(alpha * score).

    Their n best are those of a word, so the text is one.
    """
    ours = ours_from_file(name)
    theirs = tokenizers.Tokenizer.from_str(ours.to_str())
    theirs.model.alpha, theirs.model.nbest_size = alpha, nbest_size
    for text in ("hugs", "reuse"):
        rows = (theirs.encode(text, add_special_tokens=False).ids for _ in range(DRAWS))
        counted = Counter(map(tuple, rows))
        listed = pw.tokenizer.lattice.nbest(
            ours, text, nbest_size or 1024, add_special_tokens=False
        )
        assert len(listed) < 1024
        weights = {tuple(s.encoding.ids): math.exp(alpha * s.score) for s in listed}
        shares = {way: weight / sum(weights.values()) for way, weight in weights.items()}
        assert counted.keys() <= shares.keys()
        assert chi_square(counted, shares, DRAWS)
