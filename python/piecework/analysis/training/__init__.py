"""Follow a learner step by step on a small corpus.

Merges come from the trainer, and the reference computes the scores of the pairs that lose. Learners that
remove entries are repeated by the reference; a result that differs from the trainer's is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piecework._internal import validation as checks
from piecework._internal.step_selection import Selection
from piecework._internal.validation import check_choice
from piecework.analysis.training.merges import trace_bpe, trace_wordpiece
from piecework.analysis.training.removals import trace_pruning
from piecework.analysis.training.trace import TrainingTrace, nothing_to_prune
from piecework.analysis.training.unigram import trace_unigram
from piecework.errors import ArgumentError
from piecework.train import (
    PRESETS,
    ByteUnigramTrainer,
    Counts,
    Merges,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    count_texts,
)
from piecework.train.plan import Plan
from piecework.train.trainer import traits_of

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
    together. Learners that remove entries are repeated in plain Python: at most 20,000 characters, 3,000 for
    `Pruning`. `TopDown` and the trainers of SentencePiece, words and characters have their vocabulary only.

    Raises `ArgumentError` for steps that do not exist and for a corpus that is too large, `CorpusError` for
    one without words, and the errors of the trainer.
    """
    wanted = Selection.of(steps)
    top = checks.whole_number("top", top, 1)
    checks.check_type("trainer", trainer, Trainer, "a trainer")
    counts = _counts(corpus, trainer)
    if word is not None and not isinstance(trainer, UnigramTrainer | ByteUnigramTrainer):
        raise ArgumentError("word", f"needs a Unigram learner, not {type(trainer).__name__}")
    trace = _trace(counts, trainer, wanted, top, word)
    wanted.check(trace.step_count)
    return replace(trace, note=nothing_to_prune(trace, trainer.vocab_size))


_TRACES: dict[str, Callable[[Counts, Any, Selection, int], TrainingTrace]] = {
    "wordpiece merges": trace_wordpiece,
    "wordpiece pruning": trace_pruning,
    "bpe": trace_bpe,
    "byte-bpe": trace_bpe,
}
"""The traces by kind of trainer, and learner; other trainers have no steps."""


def _trace(
    counts: Counts, trainer: Trainer, wanted: Selection, top: int, word: str | None
) -> TrainingTrace:
    if isinstance(trainer, UnigramTrainer | ByteUnigramTrainer):
        return trace_unigram(counts, trainer, wanted, top, word)
    traits = traits_of(trainer)
    trace = _TRACES.get(f"{trainer.kind} {traits.detail}".rstrip())
    if trace is not None:
        return trace(counts, trainer, wanted, top)
    model: Any = trainer.learn(counts)
    is_scored = isinstance(trainer, SentencePieceTrainer)
    return TrainingTrace(
        learner=f"{traits.title} {traits.detail}".rstrip(),
        words=tuple(counts.most_common()),
        special_tokens=traits.fixed_tokens,
        alphabet=(),
        steps=(),
        step_count=0,
        vocab=tuple(model.vocab),
        scores=tuple(piece.score for piece in model.pieces) if is_scored else (),
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
