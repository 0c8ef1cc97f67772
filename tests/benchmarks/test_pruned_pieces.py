"""The comparison of pieces by pruning: every learner on the same words, and MinGram as it is described."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import piecework as pw
from pruned_pieces import UNITS, encoded, fewest_tokens, measured, read_words


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


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
def test_a_row_has_its_figures(corpus: Path) -> None:
    row = measured(corpus, "bytes", 300, "pruning")
    assert row["entries"] == 300
    assert row["tokens_word"] >= 1
    assert row["bytes_token"] > 1
    assert 0 < row["used"] <= 100
