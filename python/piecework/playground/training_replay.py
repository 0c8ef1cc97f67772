"""The steps of a learner on a small corpus, as JSON data for the slider of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import piecework as pw
from piecework.errors import ArgumentError
from piecework.playground.limits import CORPUS_CHARS, STEPS, VOCAB_SIZE, check_length

_TOP = 12
_LONGEST_WORD = 12

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


def training_replay(
    example: str, text: str, learner: str, vocab_size: int, word: str = ""
) -> dict[str, Any]:
    """Train on a published example, or on `text` if `example` is empty; return the trace.

    >>> found = training_replay("course", "", "wordpiece-pmi", 70)
    >>> found["steps"][0]["winner"]["left"], found["step_count"]
    ('a', 25)

    Unigram traces have the lattice of `word` at each step: a word of the corpus, else a long one.

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
    counts = corpus if isinstance(corpus, pw.Counts) else _counts(corpus, trainer)
    shown = _word(counts, word) if isinstance(trainer, pw.UnigramTrainer) else None
    steps = f"1-{STEPS}"
    trace = pw.analysis.explain_training(counts, trainer, steps=steps, top=_TOP, word=shown)
    data = trace.to_dict()
    for step in data["steps"]:
        step.pop("vocab", None)  # the page takes the first `vocab_size` entries of the vocabulary
    return data


def _counts(texts: list[str], trainer: pw.train.Trainer) -> pw.Counts:
    plan = pw.train.Plan.of(trainer, None, None, {})
    return pw.count_texts(texts, preset=plan.pipeline, sentences=plan.sentences)


def _word(counts: pw.Counts, wanted: str) -> str | None:
    """Return the word if the corpus has it, else the first of the longest words that are drawn well."""
    words = [word for word in counts.words if len(word) <= _LONGEST_WORD] or counts.words
    if wanted in counts.words or not words:
        return wanted if words else None
    return max(words, key=len)
