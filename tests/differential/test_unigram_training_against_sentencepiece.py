"""What the Unigram learner makes of a corpus explains new text better than what sentencepiece makes of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.reference.lattice import Lattice
from piecework.train import PRESETS, UnigramTrainer
from tests.data import corpora_dir, missing

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
# Beyond this the other refuses the smallest of the books.
SIZE = 5_000 if FULL else 2_000
SAMPLE_CHARS = 20_000_000 if FULL else 600_000
PIPELINE = PRESETS["sentencepiece"].pipeline
SPACED = ("tinyshakespeare.txt", "botchan.txt", "valid.txt")  # text whose words are set apart

Scores = dict[str, float]


def corpora() -> list[Any]:
    folder = corpora_dir()
    if folder is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=missing("corpora")))]
    files = sorted(path for path in folder.rglob("*.txt") if path.name in SPACED)
    return [pytest.param(path, id=path.name) for path in files]


@pytest.mark.slow
@pytest.mark.parametrize("corpus", corpora())
def test_new_text_is_likelier_and_takes_about_as_many_tokens(corpus: Path, tmp_path: Path) -> None:
    with corpus.open(encoding="utf-8", errors="replace") as stream:
        lines = stream.read(SAMPLE_CHARS).splitlines()
    training = [line for row, line in enumerate(lines) if row % 10]
    ours = learned_by_us(training)
    theirs = learned_by_sentencepiece(training, tmp_path)
    assert len(ours) == len(theirs) == SIZE
    known = {c for c in ours if len(c) == 1} & {c for c in theirs if len(c) == 1}
    held_out = pw.count_texts(lines[::10], preset=PIPELINE)
    words = [(word, count) for word, count in held_out if known.issuperset(word)]
    likelihood, tokens = measured(ours, words)
    their_likelihood, their_tokens = measured(theirs, words)
    assert likelihood > their_likelihood
    assert tokens <= 1.01 * their_tokens


def learned_by_us(texts: list[str]) -> Scores:
    counts = pw.count_texts(texts, preset=PIPELINE)
    return dict(UnigramTrainer(vocab_size=SIZE).learn(counts).pieces)


def learned_by_sentencepiece(texts: list[str], folder: Path) -> Scores:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=str(folder / "model"),
        vocab_size=SIZE,
        model_type="unigram",
        split_by_unicode_script=False,
        split_by_number=False,
        minloglevel=2,
    )
    rows = (folder / "model.vocab").read_text(encoding="utf-8").splitlines()
    return {piece: float(score) for piece, score in (row.split("\t") for row in rows)}


def measured(scores: Scores, words: list[tuple[str, int]]) -> tuple[float, int]:
    """Return the log-likelihood of the best segmentations, and how many tokens they have."""
    likelihood, tokens = 0.0, 0
    for word, count in words:
        pieces, score = Lattice(word, scores).best()
        likelihood += count * score
        tokens += count * len(pieces)
    return likelihood, tokens
