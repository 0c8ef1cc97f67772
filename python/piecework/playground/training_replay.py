"""The steps of a learner on a small corpus, as JSON data for the slider of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import piecework as pw
from piecework.errors import ArgumentError
from piecework.playground.limits import CORPUS_CHARS, STEPS, VOCAB_SIZE, check_length

_TOP = 12

Special: TypeAlias = tuple[str, ...]


def _wordpiece(score: Any) -> Callable[[int, Special], pw.train.Trainer]:
    return lambda size, special: pw.WordPieceTrainer(
        size, score, min_frequency=1, special_tokens=special, algorithm="merges"
    )


LEARNERS: Mapping[str, Callable[[int, Special], pw.train.Trainer]] = {
    "wordpiece-pmi": _wordpiece("pmi"),
    "wordpiece-likelihood": _wordpiece("likelihood"),
    "wordpiece-frequency": _wordpiece("frequency"),
    "bpe": lambda size, _: pw.BPETrainer(size, min_frequency=1, special_tokens=("<unk>",)),
    "unigram": lambda size, _: pw.UnigramTrainer(size, special_tokens=("<unk>",)),
}
"""The learners of the page, by name; each takes a vocabulary size, and special tokens for WordPiece."""


def training_replay(example: str, text: str, learner: str, vocab_size: int) -> dict[str, Any]:
    """Train on a published example, or on `text` if `example` is empty; return the trace.

    >>> found = training_replay("course", "", "wordpiece-pmi", 70)
    >>> found["steps"][0]["winner"]["left"], found["step_count"]
    ('a', 25)

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
    corpus: pw.Counts | list[str] = text.splitlines()
    special: Special = ("[UNK]",)
    if example:
        found = pw.analysis.training_example(example)
        special = found.trainer.special_tokens
        # Learners other than WordPiece split the texts in their own way.
        other = found.texts and not learner.startswith("wordpiece")
        corpus = list(found.texts) if other else found.counts
    trainer = LEARNERS[learner](vocab_size, special)
    trace = pw.analysis.explain_training(corpus, trainer, steps=f"1-{STEPS}", top=_TOP)
    data = trace.to_dict()
    for step in data["steps"]:
        step.pop("vocab", None)  # the page takes the first `vocab_size` entries of the vocabulary
    return data
