"""The steps of a learner on a small corpus, as JSON data for the slider of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import piecework as pw
from piecework.errors import ArgumentError
from piecework.playground.limits import CORPUS_CHARS, STEPS, VOCAB_SIZE, check_length

_TOP = 12

LEARNERS: Mapping[str, Callable[[int], pw.train.Trainer]] = {
    "wordpiece-pmi": lambda size: pw.WordPieceTrainer(
        size, "pmi", min_frequency=1, algorithm="merges"
    ),
    "wordpiece-likelihood": lambda size: pw.WordPieceTrainer(
        size, "likelihood", min_frequency=1, algorithm="merges"
    ),
    "wordpiece-frequency": lambda size: pw.WordPieceTrainer(
        size, "frequency", min_frequency=1, algorithm="merges"
    ),
    "bpe": lambda size: pw.BPETrainer(size, min_frequency=1, special_tokens=("[UNK]",)),
    "unigram": lambda size: pw.UnigramTrainer(size, special_tokens=("<unk>",)),
}
"""The learners of the page, by name; each takes the size of the vocabulary."""


def training_replay(example: str, text: str, learner: str, vocab_size: int) -> dict[str, Any]:
    """Train on a published example, or on `text` if `example` is empty; return the trace.

    >>> found = training_replay("course", "", "wordpiece-pmi", 70)
    >>> found["steps"][0]["winner"]["left"], found["step_count"]
    ('a', 26)

    Raises `ArgumentError` for a corpus, a size or a learner outside the limits of the page, and the errors of
    the trainer.
    """
    if learner not in LEARNERS:
        raise ArgumentError("learner", repr(learner), " or ".join(LEARNERS))
    if not 1 <= vocab_size <= VOCAB_SIZE:
        raise ArgumentError("vocab_size", f"{vocab_size:,}", f"1 to {VOCAB_SIZE:,}")
    check_length("corpus", text, CORPUS_CHARS)
    if not example and not text.strip():
        raise ArgumentError("corpus", "no words", "a text, or one of the examples")
    trainer = LEARNERS[learner](vocab_size)
    corpus = text.splitlines() if not example else _example_corpus(example, learner)
    trace = pw.analysis.explain_training(corpus, trainer, steps=f"1-{STEPS}", top=_TOP)
    found = trace.to_dict()
    for step in found["steps"]:
        step.pop("vocab", None)  # the page takes the first `vocab_size` entries of the vocabulary
    return found


def _example_corpus(example: str, learner: str) -> pw.Counts | list[str]:
    """Return the word counts of a published example, its texts for learners that split them otherwise."""
    found = pw.analysis.training_example(example)
    if found.texts and not learner.startswith("wordpiece"):
        return list(found.texts)
    return found.counts
