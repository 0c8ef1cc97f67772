"""Follow a learner step by step on a small corpus.

The compiled trainer reports its steps. The tests compare them with the steps of `piecework.reference`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piecework._internal import validation as checks
from piecework._internal._core import LearningLog
from piecework._internal.step_selection import Selection
from piecework._internal.validation import check_choice
from piecework.analysis.training.steps import (
    TrainingLattice,
    TrainingMerge,
    TrainingStep,
    splits_of,
    step_of,
)
from piecework.analysis.training.trace import TrainingTrace, nothing_to_prune
from piecework.analysis.word_steps import MAX_CHARS
from piecework.errors import ArgumentError
from piecework.train import (
    PRESETS,
    BPETrainer,
    ByteBPETrainer,
    ByteUnigramTrainer,
    Counts,
    Merges,
    Pruning,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    count_texts,
)
from piecework.train.learned import VocabularyTrainer
from piecework.train.learners import SCORES
from piecework.train.plan import Plan
from piecework.train.trainer import by_characters, traits_of

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
    together. Trainers of words and characters have their vocabulary only, as do those whose entries cross
    spaces.

    Raises `ArgumentError` for steps that do not exist and for a corpus that is too large, `CorpusError` for
    one without words, and the errors of the trainer.
    """
    wanted = Selection.of(steps)
    top = checks.whole_number("top", top, 1)
    checks.check_type("trainer", trainer, Trainer, "a trainer")
    counts = _counts(corpus, trainer)
    _check_traced(trainer, counts)
    if word is not None:
        _check_word(word, trainer, counts)
    log = LearningLog(trace={"steps": wanted.ranges, "top": top, "word": word})
    trace = _learned(trainer, counts, log)
    wanted.check(trace.step_count)
    return replace(trace, note=nothing_to_prune(trace, trainer.vocab_size))


MAX_CHARACTERS = 2_000_000


def _check_traced(trainer: Trainer, counts: Counts) -> None:
    """Raise `ArgumentError` for settings without steps, and for a corpus that is too large."""
    if isinstance(trainer, BPETrainer | ByteBPETrainer):
        if trainer.parity:
            problem = (
                "has no steps to show; learn without it, or read the merges of `learn_vocabulary`"
            )
            raise ArgumentError("parity", problem)
        if trainer.transition is not None:
            problem = "cannot be traced: its two stages have different words; use preset o200k"
            raise ArgumentError("transition", problem)
    found = sum(map(len, counts.words))
    if found > MAX_CHARACTERS:
        problem = (
            f"has distinct words of {found:,} characters; a trace takes at most {MAX_CHARACTERS:,}: "
            "give a part of the corpus"
        )
        raise ArgumentError("corpus", problem)


_WORDS_NAMED = 3


def _check_word(word: str, trainer: Trainer, counts: Counts) -> None:
    """Raise `ArgumentError` unless a word is one of the corpus, and the learner has a lattice of it."""
    if isinstance(trainer, SentencePieceTrainer):
        has_lattices = trainer.model_type == "unigram"
    else:
        has_lattices = isinstance(trainer, UnigramTrainer | ByteUnigramTrainer)
    if not has_lattices:
        raise ArgumentError("word", f"needs a Unigram learner, not {type(trainer).__name__}")
    if word not in counts.words:
        some = ", ".join(repr(one) for one in counts.words[:_WORDS_NAMED])
        raise ArgumentError("word", f"must be a word of the corpus, such as {some}, not {word!r}")
    if len(word) > MAX_CHARS:
        raise ArgumentError("word", f"has {len(word):,} characters; the limit is {MAX_CHARS}")


def _learned(trainer: Trainer, counts: Counts, log: LearningLog) -> TrainingTrace:
    """Train, and return what the trainer reports and learns."""
    vocab, scores, stopped_early = _result(trainer, counts, log)
    data = log.take_trace() or {}
    is_published = {*counts} == _PUBLISHED and _is_pmi(trainer)
    steps = tuple(_with_note(step_of(step), is_published) for step in data["steps"])
    return TrainingTrace(
        learner=_name_of(trainer),
        words=tuple(counts),
        special_tokens=traits_of(trainer).fixed_tokens,
        alphabet=tuple(data["alphabet"]),
        splits=splits_of(data["splits"]),
        seeds=tuple((seed, score) for seed, score in data["seeds"]),
        steps=steps,
        step_count=data["step_count"],
        vocab=vocab,
        scores=scores,
        lattice=TrainingLattice.of(data["lattice"]),
        stopped_early=stopped_early,
    )


def _result(
    trainer: Trainer, counts: Counts, log: LearningLog
) -> tuple[tuple[str, ...], tuple[float, ...], str | None]:
    """Return the entries that a trainer learns, their scores, and why there are few; `log` gets the steps."""
    crosses_spaces = getattr(trainer, "transition", None) is not None
    has_steps = traits_of(trainer).resumption is not None and not crosses_spaces
    how: Any = {"checkpoint": log} if has_steps else {}
    if isinstance(trainer, UnigramTrainer | ByteUnigramTrainer):
        pieces = by_characters(trainer).learn_pieces(counts, **how).pieces
        return tuple(entry for entry, _ in pieces), tuple(score for _, score in pieces), None
    if isinstance(trainer, VocabularyTrainer):
        of_entries: Any = by_characters(trainer) if isinstance(trainer, ByteBPETrainer) else trainer
        learned = of_entries.learn_vocabulary(counts, **how)
        return learned.entries, (), learned.stopped_early
    model: Any = trainer.learn(counts, **how)
    is_scored = isinstance(trainer, SentencePieceTrainer)
    scores = tuple(piece.score for piece in model.pieces) if is_scored else ()
    return tuple(model.vocab), scores, None


def _name_of(trainer: Trainer) -> str:
    traits = traits_of(trainer)
    if isinstance(trainer, BPETrainer | ByteBPETrainer):
        return f"{traits.title}, ties {by_characters(trainer).ties!r}"
    learner = getattr(trainer, "learner", None)
    if isinstance(trainer, WordPieceTrainer) and isinstance(learner, Merges):
        ties = learner.ties or SCORES[learner.score].ties
        return f"WordPiece by merges, score {learner.score!r}, ties {ties!r}"
    if isinstance(trainer, WordPieceTrainer) and isinstance(learner, Pruning):
        return f"WordPiece by pruning, segmentation {learner.segmentation!r}"
    return f"{traits.title} {traits.detail}".rstrip()


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


# ---- published worked examples that print another result than their own formula gives

_PUBLISHED = {*_HUGS.items()}
_NOTES = {
    3: "the published text merges hu ##g here, as a tie at 1/15. By its formula hu ##g scores "
    "10 / (15 x 15) = 2/45 at this step and hu ##gs 5 / (15 x 5) = 1/15, so hu ##gs comes first.",
    4: "the published text has hu ##g as its third merge; by its formula it is the fourth.",
}


def _is_pmi(trainer: Trainer) -> bool:
    learner = getattr(trainer, "learner", None)
    return isinstance(learner, Merges) and learner.score == "pmi"


def _with_note(step: TrainingStep, is_published: bool) -> TrainingStep:
    if is_published and isinstance(step, TrainingMerge):
        return replace(step, note=_NOTES.get(step.number))
    return step
