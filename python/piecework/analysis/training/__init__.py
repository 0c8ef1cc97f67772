"""Follow a learner step by step on a small corpus.

Merges come from the trainer, and the reference computes the scores of the pairs that lose. Learners that
remove entries are repeated by the reference; a result that differs from the trainer's is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from piecework._internal import validation as checks
from piecework._internal.step_selection import Selection
from piecework.analysis.training.examples import EXAMPLES, TrainingExample, training_example
from piecework.analysis.training.merges import settings_of, trace_bpe, trace_wordpiece
from piecework.analysis.training.pruning import trace_pruning
from piecework.analysis.training.sentencepiece import is_replayed, trace_sentencepiece
from piecework.analysis.training.steps import (
    EntryLoss,
    LengthCount,
    PairScore,
    PieceEstimate,
    PieceLoss,
    SplitChange,
    TrainingEstimate,
    TrainingLattice,
    TrainingMerge,
    TrainingPruning,
    TrainingRemoval,
    TrainingThreshold,
)
from piecework.analysis.training.top_down import trace_top_down
from piecework.analysis.training.trace import TrainingTrace, nothing_to_prune
from piecework.analysis.training.unigram import trace_unigram
from piecework.errors import ArgumentError
from piecework.reference.wordpiece_training import Settings, alphabet_entries
from piecework.train import Counts, Trainer, count_texts
from piecework.train.plan import Plan
from piecework.train.trainer import traits_of

__all__ = [
    "EXAMPLES",
    "EntryLoss",
    "LengthCount",
    "PairScore",
    "PieceEstimate",
    "PieceLoss",
    "SplitChange",
    "TrainingEstimate",
    "TrainingExample",
    "TrainingLattice",
    "TrainingMerge",
    "TrainingPruning",
    "TrainingRemoval",
    "TrainingThreshold",
    "TrainingTrace",
    "explain_training",
    "training_example",
]

DEFAULT_STEPS = "1-10"


def explain_training(
    corpus: Counts | Mapping[str, int] | Iterable[str | Sequence[str]],
    trainer: Trainer,
    *,
    steps: str | Iterable[int] = DEFAULT_STEPS,
    top: int = 10,
    word: str | None = None,
) -> TrainingTrace:
    """Train on a small corpus and return what the learner did, step by step.

    >>> import piecework as pw
    >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> trainer = pw.BPETrainer(vocab_size=11, special_tokens=("<unk>",))
    >>> for step in explain_training(counts, trainer).steps:
    ...     print(step.winner.left, step.winner.right, step.winner.count, step.changed_words)
    u g 20 3
    u n 16 2
    h ug 15 2

    `corpus` is word counts (`Counts`, or a dict), or texts that the default pipeline of the trainer splits.
    `steps` selects steps, numbered from 1: "3,5-8", "10-", "all", or numbers. Each step has the `top` best
    candidates and the first `top` changed words. `word` is a word of the corpus, as the pipeline splits it:
    Unigram learners have its lattice at each step and at the end.

    A step takes time proportional to the corpus, whose distinct words may have at most 2,000,000 characters
    together. Learners that remove entries, and those of SentencePiece, are repeated in plain Python: at most
    20,000 characters, 3,000 for `Pruning`. SentencePiece's Unigram with a delimiter, a file of seeds or a
    learner has only the log-likelihood of each EM iteration.

    Raises `ArgumentError` for steps that do not exist and for a corpus that is too large, `CorpusError` for
    one without words, and the errors of the trainer.
    """
    wanted = Selection.of(steps)
    top = checks.whole_number("top", top, 1)
    checks.check_type("trainer", trainer, Trainer, "a trainer")
    counts = _counts(corpus, trainer)
    if word is not None and not has_lattices(trainer):
        raise ArgumentError("word", f"needs a Unigram learner, not {type(trainer).__name__}")
    trace = _trace(counts, trainer, wanted, top, word)
    wanted.check(trace.step_count)
    return replace(trace, note=nothing_to_prune(trace, trainer.vocab_size))


def has_lattices(trainer: Trainer) -> bool:
    """Return whether the trace of a learner can have the lattices of a word.

    >>> from piecework.train import BPETrainer, UnigramTrainer
    >>> has_lattices(UnigramTrainer()), has_lattices(BPETrainer())
    (True, False)
    """
    if trainer.kind == "sentencepiece":
        return is_replayed(trainer)
    return trainer.kind in ("unigram", "byte-unigram")


_TRACES: dict[str, Callable[[Counts, Any, Selection, int], TrainingTrace]] = {
    "wordpiece merges": trace_wordpiece,
    "wordpiece pruning": trace_pruning,
    "wordpiece top-down": trace_top_down,
    "bpe": trace_bpe,
    "byte-bpe": trace_bpe,
}
"""The traces by kind of trainer, and learner; other trainers have no steps."""

_TRACES_OF_WORDS: dict[str, Callable[[Counts, Any, Selection, int, str | None], TrainingTrace]] = {
    "unigram": trace_unigram,
    "byte-unigram": trace_unigram,
    "sentencepiece": trace_sentencepiece,
}


def _trace(
    counts: Counts, trainer: Trainer, wanted: Selection, top: int, word: str | None
) -> TrainingTrace:
    if trainer.kind in _TRACES_OF_WORDS:
        return _TRACES_OF_WORDS[trainer.kind](counts, trainer, wanted, top, word)
    trace = _TRACES.get(f"{trainer.kind} {traits_of(trainer).detail}".rstrip())
    return (
        trace_without_steps(counts, trainer)
        if trace is None
        else trace(counts, trainer, wanted, top)
    )


def _counts(
    corpus: Counts | Mapping[str, int] | Iterable[str | Sequence[str]], trainer: Trainer
) -> Counts:
    """Return the counts of a corpus."""
    if isinstance(corpus, Counts):
        return corpus
    if isinstance(corpus, Mapping):
        return Counts(corpus)
    if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
        problem = f"must be Counts, or a list of texts, not {type(corpus).__name__}"
        raise ArgumentError("corpus", problem)
    plan = Plan.of(trainer)
    return count_texts(corpus, preset=plan.pipeline, sentences=plan.sentences)


def trace_without_steps(counts: Counts, trainer: Trainer) -> TrainingTrace:
    """Return the vocabulary that a trainer learns, and the alphabet of WordPiece."""
    traits = traits_of(trainer)
    unit = {"word": "words", "char": "characters"}.get(trainer.kind)
    return TrainingTrace(
        learner=f"the most frequent {unit}" if unit else f"{traits.title} {traits.detail}",
        words=tuple(counts.most_common()),
        special_tokens=traits.fixed_tokens,
        alphabet=_alphabet(counts, trainer),
        steps=(),
        step_count=0,
        vocab=tuple(trainer.learn(counts).vocab),
    )


def _alphabet(counts: Counts, trainer: Trainer) -> tuple[str, ...]:
    """Return the entries of single characters that come before the learned ones."""
    if trainer.kind != "wordpiece":
        return ()
    return tuple(alphabet_entries(list(counts), settings_of(Settings, trainer, counts)))
