"""Corpora of published worked examples, each with a trainer for it."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._internal.validation import check_choice
from piecework.train import PRESETS, Counts, Merges, WordPieceTrainer, count_texts

EXAMPLES = ("course", "hugs")
"""The names of the examples."""

_COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)
_HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


@dataclass(frozen=True)
class TrainingExample:
    """The word counts of a published example, and the trainer whose steps it shows.

    >>> training_example("hugs").trainer.learner
    Merges(score='pmi', ties=None)

    `texts` are empty for an example that has counts only. `preset` is the name of the pipeline for them.
    """

    name: str
    counts: Counts
    trainer: WordPieceTrainer
    texts: tuple[str, ...] = ()
    preset: str = "bert-cased"


def training_example(name: str) -> TrainingExample:
    """Return a published example of WordPiece training: "course", four sentences, or "hugs", five words.

    >>> import piecework as pw
    >>> example = training_example("course")
    >>> trace = pw.analysis.explain_training(example.counts, example.trainer, steps="1")
    >>> [merge] = trace.steps
    >>> merge.winner.left, merge.winner.right, float(merge.winner.score)
    ('a', '##b', 0.2)
    >>> [change.after for change in merge.changes if "##o" in change.after]
    [('ab', '##o', '##u', '##t')]
    >>> len(trace.vocab), trace.vocab[45:50]
    (70, ('ab', '##fu', 'Fa', 'Fac', '##ct'))

    Source: the WordPiece chapter of the Hugging Face course. Raises `ArgumentError` for another name.
    """
    check_choice("example", name, EXAMPLES)
    if name == "course":
        counts = count_texts(_COURSE, preset=PRESETS["bert-cased"].pipeline)
        trainer = WordPieceTrainer(70, Merges("pmi"), min_frequency=1, alphabet_forms="seen")
        return TrainingExample(name, counts, trainer, _COURSE)
    counts = Counts(list(_HUGS), list(_HUGS.values()))
    trainer = WordPieceTrainer(
        12, Merges("pmi"), min_frequency=1, special_tokens=("[UNK]",), alphabet_forms="seen"
    )
    return TrainingExample(name, counts, trainer)
