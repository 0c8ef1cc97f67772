"""The comparison of pieces by pruning: every learner on the same words, and MinGram as it is described."""

from __future__ import annotations

import doctest
import random
import re
from math import inf
from pathlib import Path

import numpy as np
import pytest

import piecework as pw
import pruned_pieces
from pruned_pieces import (
    UNITS,
    added_by_use,
    added_tokens,
    encoded,
    fewest_tokens,
    measured,
    read_words,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of made-up words."""
    draw = random.Random(1)
    syllables = ["ba", "ku", "ri", "so", "ten", "lo", "mi", "hug", "pun", "s", "é"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(400)]
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(" ".join(draw.choices(words, k=12)) for _ in range(300)))
    return path


@pytest.mark.parametrize(
    ("units", "name"), [(units, name) for units, learners in UNITS.items() for name in learners]
)
def test_every_learner_has_its_size_and_knows_the_words(
    corpus: Path, units: str, name: str
) -> None:
    training, held_out, alphabet = read_words(corpus, units)
    size = len(alphabet) + 60
    model = UNITS[units][name](training, alphabet, size)
    assert len(model.vocab) == size
    batch = encoded(model, held_out.words)
    vocab = {id: entry for entry, id in model.vocab.items()}
    spelled = "".join(vocab[id] for id in batch.ids.tolist())
    assert spelled == "".join(held_out.words)


def test_mingram_takes_the_fewest_tokens_and_then_the_best_score() -> None:
    model = fewest_tokens(["a", "b", "ab", "ba", "aba"], [-1.0, -1.0, -9.0, -2.0, -20.0])
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    assert tokenizer.encode("aba").tokens == ["aba"]
    assert tokenizer.encode("bab").tokens == ["ba", "b"]


def test_doctests_pass() -> None:
    assert doctest.testmod(pruned_pieces).failed == 0


def test_the_bound_of_a_piece_is_what_its_removal_adds_where_it_is_used_once() -> None:
    draw = random.Random(2)
    checked = 0
    for _ in range(300):
        word = "".join(draw.choices("ab", k=draw.randint(1, 9)))
        longer = {"".join(draw.choices("ab", k=draw.randint(2, 5))) for _ in range(8)}
        pieces = np.array(["a", "b", *sorted(longer)], object)
        scores = np.array([-draw.random() for _ in pieces])
        counts = pw.Counts([word], [3])
        losses = added_tokens(pieces, scores, counts)
        path = encoded(fewest_tokens(pieces, scores), [word]).ids.tolist()
        for id in (id for id in path if id > 1 and path.count(id) == 1):
            without = np.arange(len(pieces)) != id
            shorter = encoded(fewest_tokens(pieces[without], scores[without]), [word]).ids
            assert losses[id] <= 3 * (len(shorter) - len(path))
            # A piece that is found at one place only: the bound is exact.
            if len(re.findall(f"(?={pieces[id]})", word)) == 1:
                assert losses[id] == 3 * (len(shorter) - len(path))
                checked += 1
    assert checked > 50


def test_characters_are_never_removed() -> None:
    assert [*added_by_use("aab", [1, 2], {"a", "b", "ab"}, 2)] == [inf, 1]


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
def test_a_row_has_its_figures(corpus: Path) -> None:
    row = measured(corpus, "bytes", 300, "pruning")
    assert row["entries"] == 300
    assert row["tokens_word"] >= 1
    assert row["bytes_token"] > 1
    assert 0 < row["used"] <= 100
