"""Learn a tokenizer specification from counts with a trainer, within a memory budget.

The model gets the pipeline and the special tokens of a preset; `relearn_spec` in `relearn` starts from an
existing specification. The estimates of memory are upper bounds, at most 2.5 times the measured peak and 20
MB more. They count what learning adds to the counts themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from piecework._internal._core import check_memory
from piecework._internal.memory_budget import format_size, memory_budget
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, check_type, listed, whole_number
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, MemoryLimitError, TrainingWarning
from piecework.spec import SentencePiece, Split, TokenizerSpec
from piecework.spec.patterns import Behavior
from piecework.spec.tokenizer_spec import checked_spec
from piecework.train.counts import Counts
from piecework.train.learned import merging_trainer
from piecework.train.presets import AnyPreset, Pipeline, preset_of_pipeline
from piecework.train.sentencepiece_presets import sentencepiece_preset_of
from piecework.train.source_counts import SourceCounts
from piecework.train.trainer import Amount, Trainer, WordSizes
from piecework.train.trainers.common import checked_counts

_CONSTANT = 48_000_000  # buckets of a small corpus, freed memory that is not reused, Python objects
_PART = 200  # a part of a word with boundaries: counted anew, besides its text
_ENTRY = 700  # an entry and its merge: in the trainer, and as Python objects of the result


def learn_spec(
    counts: Counts | Mapping[str, int],
    trainer: Trainer,
    preset: AnyPreset | str | None = None,
    *,
    progress: Progress = None,
    num_threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: PathLike | None = None,
    training_log: PathLike | None = None,
) -> TokenizerSpec:
    """Learn a model from counts and return it with the pipeline of the preset.

    >>> from piecework.train import WordLevelTrainer, count_texts
    >>> counts = count_texts(["hug pug"], preset="whitespace")
    >>> learn_spec(counts, WordLevelTrainer(), "whitespace").model.vocab
    {'[UNK]': 0, 'hug': 1, 'pug': 2}

    Special tokens and user-defined symbols become added tokens. The template of the preset becomes the
    post-processor if the vocabulary has all its tokens. A `SentencePieceTrainer` has its own pipeline and
    takes only the template of a `SentencePiecePreset`.

    `memory` is the budget of learning besides the counts, a size in bytes or a text such as "2GB"; None
    means a quarter of the memory of the machine. If the estimate exceeds it, rare words are dropped with a
    `TrainingWarning`. `checkpoint` is a folder: WordPiece, BPE, Unigram and the
    SentencePiece models of these types write what they have learned there once a minute and when they are
    interrupted, continue from it in the next run, and delete it at the end. An undisturbed run has
    the same result.

    `training_log` is a file for the merges with their counts and scores, for `LearnedVocabulary.load`; only
    trainers that merge pairs have any.

    Raises `ArgumentError` if the counts come from another pipeline or the checkpoint from other counts or
    settings, and `MemoryLimitError` if the budget or the memory of the system is too small.
    """
    check_type("trainer", trainer, Trainer, "a trainer")
    chosen = preset_for_counts(getattr(counts, "pipeline", None), trainer, preset)
    how = {"progress": progress, "num_threads": num_threads, "checkpoint": checkpoint}
    return learn(counts, trainer, chosen, training_log, memory, **how)


def learn(
    counts: Counts | Mapping[str, int],
    trainer: Trainer,
    preset: Any,
    training_log: PathLike | None,
    memory: int | str | None,
    **how: Any,
) -> TokenizerSpec:
    """Do what `learn_spec` does with a preset of `_preset_for`; `how` has the arguments of `learn`."""
    trainer._check_can_encode()
    counts = _read_by(trainer, checked_counts(counts))
    logging = None if training_log is None else merging_trainer(trainer)
    counts = fit_to_memory(counts, trainer, memory)
    counts = counts._of_pipeline(trainer._pipeline_with(preset))
    if logging is None or training_log is None:
        return trainer._specification(trainer.learn(counts, **how), preset)
    learned = logging.learn_vocabulary(counts, **how)
    learned.save(training_log)
    return trainer._specification(logging._model_of(learned), preset)


def learn_specs(
    counts: Counts | Mapping[str, int],
    trainer: Trainer,
    sizes: Sequence[int],
    preset: AnyPreset | str | None = None,
    *,
    progress: Progress = None,
    num_threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: PathLike | None = None,
) -> dict[int, TokenizerSpec]:
    """Learn one specification for each vocabulary size.

    >>> from piecework.train import WordLevelTrainer, count_texts
    >>> counts = count_texts(["hug pug hug"], preset="whitespace")
    >>> specs = learn_specs(counts, WordLevelTrainer(), [2, 3], "whitespace")
    >>> [list(spec.model.vocab) for spec in specs.values()]
    [['[UNK]', 'hug'], ['[UNK]', 'hug', 'pug']]

    Where smaller vocabularies are prefixes of larger ones, one run learns all sizes, and so
    does pruning, whose sizes share the seeds of the largest one. The other models are learned once for each
    size. Each specification equals the result of `learn_spec` with its size; for pruning, with its size and
    the `seed_vocab_size` of the largest. The other arguments are the same as for `learn_spec`.
    """
    check_type("trainer", trainer, Trainer, "a trainer")
    trainer._check_can_encode()
    counts = _read_by(trainer, checked_counts(counts))
    sized = {size: trainer._sized(size) for size in _checked_sizes(sizes)}
    largest = sized[max(sized)]
    # All sizes learn from the same words: those that the largest vocabulary has memory for.
    counts = fit_to_memory(counts, largest, memory)
    chosen = preset_for_counts(counts.pipeline, largest, preset)
    counts = counts._of_pipeline(largest._pipeline_with(chosen))
    models = largest._learn_models(
        counts, list(sized), progress=progress, num_threads=num_threads, checkpoint=checkpoint
    )
    return {size: largest._specification(model, chosen) for size, model in models.items()}


def _read_by(trainer: Trainer, counts: Counts) -> Counts:
    """Return the counts that a trainer reads: the sum of the sources, unless it learns by source."""
    if isinstance(counts, SourceCounts) and not trainer._traits().learns_by_source:
        return counts.merged()
    return counts


def _checked_sizes(sizes: Sequence[int]) -> list[int]:
    checked = [
        whole_number(f"sizes[{at}]", size, 1)
        for at, size in enumerate(listed(sizes, "sizes", "int"))
    ]
    if not checked or len(set(checked)) != len(checked):
        problem = f"must be a list of distinct sizes, at least one, not {list(sizes)!r}"
        raise ArgumentError("sizes", problem)
    return checked


def preset_for_counts(
    counted: Pipeline | None, trainer: Trainer, preset: AnyPreset | str | None
) -> Any:
    """Return the preset to learn with; raise `ArgumentError` if counts come from another pipeline.

    >>> from piecework.train import PRESETS, UnigramTrainer
    >>> preset_for_counts(PRESETS["metaspace"].pipeline, UnigramTrainer(), None).name
    'metaspace'
    """
    chosen = trainer._preset_for(preset, counted)
    if counted is not None:
        check_words(counted, trainer, chosen)
    return chosen


def check_words(counted: Pipeline, trainer: Trainer, chosen: Any) -> None:
    """Raise `ArgumentError` unless a trainer with a preset learns from words of this pipeline."""
    pipeline = trainer._pipeline_with(chosen)
    if counted.agrees_with(pipeline):
        return
    source = source_of(counted)
    if not trainer._traits().has_own_pipeline:
        expected = f"no preset, or counts of preset {chosen.name!r}"
        problem = f"{chosen.name!r} does not fit counts of {source}; pass {expected}"
        raise ArgumentError("preset", problem)
    expected = f"the pipeline of the trainer: {pipeline}"
    if named := sentencepiece_preset_of(pipeline):
        expected = f"counts made with preset {named.name!r}, or a model that is not SentencePiece"
    raise ArgumentError("counts", f"have words of {source}; use {expected}")


def pipeline_of(spec: TokenizerSpec) -> Pipeline:
    """Return the normalizer and the pre-tokenizer of a specification, to count words for it.

    >>> from piecework.spec import Char
    >>> pipeline_of(TokenizerSpec(Char({"a": 0})))
    Pipeline(normalizer=None, pre_tokenizer=None)

    SentencePiece models segment whole texts; for them, the pre-tokenizer splits at ▁.
    """
    spec = checked_spec(spec)
    if isinstance(spec.model, SentencePiece) and spec.pre_tokenizer is None:
        ends = getattr(spec.normalizer, "treat_whitespace_as_suffix", False)
        behavior: Behavior = "merged_with_previous" if ends else "merged_with_next"
        return Pipeline(spec.normalizer, Split("▁", behavior))
    return Pipeline(spec.normalizer, spec.pre_tokenizer)


def source_of(pipeline: Pipeline) -> str:
    """Return where counts come from: the preset with this pipeline, or the pipeline.

    >>> from piecework.train import PRESETS
    >>> source_of(PRESETS["gpt2"].pipeline)
    "preset 'gpt2'"
    """
    preset = sentencepiece_preset_of(pipeline) or preset_of_pipeline(pipeline)
    return f"the pipeline {pipeline}" if preset is None else f"preset {preset.name!r}"


# ---- memory


def estimated_memory(counts: Counts | Mapping[str, int], trainer: Trainer) -> int:
    """Return an upper bound, in bytes, of the memory that learning takes in addition to the counts.

    >>> from piecework.train import WordPieceTrainer
    >>> estimated_memory(Counts(["hug", "pug"], [10, 5]), WordPieceTrainer()) < 50_000_000
    True

    The bound is at most 2.5 times the peak and 20 MB more. It depends on the numbers of distinct words and
    characters, not on how often they occur. Raises `CorpusError` for counts without words.
    """
    check_type("trainer", trainer, Trainer, "a trainer")
    import numpy as np

    counts = checked_counts(counts)
    text, chars, _ = counts._word_sizes()
    totals = [len(text), text.sum(dtype=np.uint64), chars.sum(dtype=np.uint64)]
    size = WordSizes(*(np.asarray(total, np.float64) for total in totals))
    return int(_estimate(trainer, size, counts.has_boundaries))


def fit_to_memory(
    counts: Counts | Mapping[str, int], trainer: Trainer, memory: int | str | None
) -> Counts:
    """Return the counts that a trainer can learn from within a budget.

    >>> from piecework.train import WordPieceTrainer
    >>> fit_to_memory(Counts(["hug", "pug"], [10, 5]), WordPieceTrainer(), "1GB")
    Counts(2 words, 15 in total)

    `memory` is a size in bytes or a text such as "512MB"; None means a quarter of the memory of the
    machine. If the estimate exceeds it, words that occur less than k times are dropped, with the smallest
    k for which the rest fits, and a `TrainingWarning` says what was dropped. Raises `MemoryLimitError` if
    nothing fits, or if the system does not provide the memory.
    """
    budget = memory_budget(memory)
    counts = checked_counts(counts)
    needed = estimated_memory(counts, trainer)
    if needed <= budget:
        check_memory(needed)
        return counts
    try:
        least, kept = _least_count(counts, trainer, budget, needed)
        reduced = counts._at_least(least)
    except MemoryLimitError:
        raise
    except MemoryError as error:
        raise MemoryLimitError("counts", "do not fit into memory: an allocation failed") from error
    check_memory(kept)
    total = counts.total
    message = (
        f"words that occur less than {least:,} times were dropped: "
        f"{len(counts) - len(reduced):,} of {len(counts):,} distinct words, "
        f"{100 * (total - reduced.total) / total:.2g}% of all occurrences, "
        f"to learn within {format_size(budget)}; a larger memory budget keeps them"
    )
    warn(message, TrainingWarning)
    return reduced


def _least_count(counts: Counts, trainer: Trainer, budget: int, needed: int) -> tuple[int, int]:
    """Return the least k for which learning from words with at least k occurrences fits, and its estimate."""
    import numpy as np

    text, chars, numbers = counts._word_sizes()
    values = np.unique(numbers)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], values)
    # Sums over the words that occur at least `values[i]` times.
    above = [
        np.cumsum(lengths[order][::-1], dtype=np.float64)[::-1][starts] for lengths in (text, chars)
    ]
    size = WordSizes((len(numbers) - starts).astype(np.float64), *above)
    copy = size.text + 24 * size.words
    estimates = _estimate(trainer, size, counts.has_boundaries) + copy
    fitting = np.flatnonzero(estimates <= budget)
    if not len(fitting):
        found = f"{format_size(budget)}, but learning takes about {format_size(needed)}"
        expected = f"at least {format_size(int(estimates[-1]) + 1)}, or a smaller vocabulary"
        raise MemoryLimitError("memory", f"allows {found}; allow {expected}")
    return int(values[fitting[0]]), int(estimates[fitting[0]])


def _estimate(trainer: Trainer, size: WordSizes, are_parts: bool) -> Amount:
    """Return the bytes that learning takes, with the result; for parts of words, their counts too."""
    import numpy as np

    # A vocabulary has at most one entry for each character of the distinct words.
    entries = np.minimum(trainer.vocab_size or 0, size.chars)
    parts = size.text + _PART * size.words if are_parts else 0
    return trainer._memory(size) + parts + _ENTRY * entries + _CONSTANT
