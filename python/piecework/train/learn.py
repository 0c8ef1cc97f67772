"""Learn a tokenizer specification: counts and a trainer in, model, pipeline and special tokens out.

`learn_spec` starts from a preset, `relearn_spec` in `relearn` from an existing specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, whole_number
from piecework.errors import ArgumentError
from piecework.spec import SentencePiece, Split, TokenizerSpec
from piecework.spec.patterns import Behavior
from piecework.train.counts import Counts
from piecework.train.memory import fit_to_memory
from piecework.train.pipeline import Pipeline
from piecework.train.presets import AnyPreset, preset_of_pipeline
from piecework.train.sentencepiece_presets import sentencepiece_preset_of
from piecework.train.source_counts import SourceCounts
from piecework.train.trainer import Trainer, merging_trainer
from piecework.train.trainers.common import checked_counts


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

    >>> from piecework.train import WordTrainer, count_texts
    >>> counts = count_texts(["hug pug"], preset="whitespace")
    >>> learn_spec(counts, WordTrainer(), "whitespace").model.vocab
    {'[UNK]': 0, 'hug': 1, 'pug': 2}

    Special tokens and user-defined symbols become added tokens. The template of the preset becomes the
    post-processor if the vocabulary has all its tokens. A `SentencePieceTrainer` has its own pipeline and
    takes only the template of a `SentencePiecePreset`.

    `memory` is the budget of learning besides the counts, a size in bytes or a text such as "2GB"; None
    means a quarter of the memory of the machine. If the estimate exceeds it, rare words are dropped with a
    `TrainingWarning` (see `fit_to_memory`). `checkpoint` is a folder: WordPiece, BPE, Unigram and the
    SentencePiece models of these types write what they have learned there once a minute and when they are
    interrupted, continue from it in the next run, and delete it at the end. The result is that of an
    undisturbed run.

    `training_log` is a file for the merges with their counts and scores, for `LearnedVocabulary.load`; only
    trainers that merge pairs have any.

    Raises `ArgumentError` if the counts come from another pipeline or the checkpoint from other counts or
    settings, and `MemoryLimitError` if the budget or the memory of the system is too small.
    """
    trainer.check_can_encode()
    counts = _read_by(trainer, checked_counts(counts))
    logging = None if training_log is None else merging_trainer(trainer)
    counts, _ = fit_to_memory(counts, trainer, memory)
    chosen = preset_for_counts(counts.pipeline, trainer, preset)
    counts = counts._of_pipeline(trainer.pipeline_with(chosen))
    if logging is None or training_log is None:
        model = trainer.learn(counts, progress, num_threads, checkpoint=checkpoint)
    else:
        learned = logging.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        learned.save(training_log)
        model = logging.model_of(learned)
    return trainer.specification(model, chosen)


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

    >>> from piecework.train import WordTrainer, count_texts
    >>> counts = count_texts(["hug pug hug"], preset="whitespace")
    >>> specs = learn_specs(counts, WordTrainer(), [2, 3], "whitespace")
    >>> [list(spec.model.vocab) for spec in specs.values()]
    [['[UNK]', 'hug'], ['[UNK]', 'hug', 'pug']]

    Where smaller vocabularies are prefixes of larger ones (`trainer.nests`), one run learns all sizes, and so
    does pruning, whose sizes share the seeds of the largest one. The other models are learned once for each
    size. Each specification equals that of `learn_spec` with its size; for pruning, with its size and the
    `seed_vocab_size` of the largest. The other arguments are those of `learn_spec`.
    """
    trainer.check_can_encode()
    counts = _read_by(trainer, checked_counts(counts))
    sized = {size: trainer.sized(size) for size in _checked_sizes(sizes)}
    largest = sized[max(sized)]
    # All sizes learn from the same words: those that the largest vocabulary has memory for.
    counts, _ = fit_to_memory(counts, largest, memory)
    chosen = preset_for_counts(counts.pipeline, largest, preset)
    counts = counts._of_pipeline(largest.pipeline_with(chosen))
    models = largest.learn_models(counts, list(sized), progress, num_threads, checkpoint=checkpoint)
    return {size: largest.specification(model, chosen) for size, model in models.items()}


def smallest_spec(trainer: Trainer, preset: AnyPreset | None = None) -> TokenizerSpec:
    """Return what `learn_spec` returns, with the smallest vocabulary that the trainer can have.

    >>> from piecework.train import WordTrainer
    >>> smallest_spec(WordTrainer()).model.vocab
    {'[UNK]': 0, 'a': 1}

    It needs no counts, and shows before a training what a file format can store.
    """
    return trainer.specification(trainer.smallest_model(), trainer.preset_for(preset, None))


def _read_by(trainer: Trainer, counts: Counts) -> Counts:
    """Return the counts that a trainer reads: the sum of the sources, unless it learns by source."""
    if isinstance(counts, SourceCounts) and not trainer.learns_by_source:
        return counts.merged()
    return counts


def _checked_sizes(sizes: Sequence[int]) -> list[int]:
    checked = [whole_number(f"sizes[{at}]", size, 1) for at, size in enumerate(sizes)]
    if not checked or len(set(checked)) != len(checked):
        raise ArgumentError("sizes", repr(list(sizes)), "a list of distinct sizes, at least one")
    return checked


def preset_for_counts(
    counted: Pipeline | None, trainer: Trainer, preset: AnyPreset | str | None
) -> Any:
    """Return the preset to learn with; raise `ArgumentError` if counts come from another pipeline.

    >>> from piecework.train import PRESETS, UnigramTrainer
    >>> preset_for_counts(PRESETS["metaspace"].pipeline, UnigramTrainer(), None).name
    'metaspace'
    """
    chosen = trainer.preset_for(preset, counted)
    pipeline = trainer.pipeline_with(chosen)
    if counted is None or counted.agrees_with(pipeline):
        return chosen
    source = source_of(counted)
    if not trainer.has_own_pipeline:
        expected = f"no preset, or counts of preset {chosen.name!r}"
        problem = f"={chosen.name!r} does not fit counts of {source}; pass {expected}"
        raise ArgumentError("preset", problem)
    expected = f"the pipeline of the trainer: {pipeline}"
    if named := sentencepiece_preset_of(pipeline):
        expected = f'counts made with preset="{named.name}", or a model that is not SentencePiece'
    raise ArgumentError("counts", f"have words of {source}; use {expected}")


def pipeline_of(spec: TokenizerSpec) -> Pipeline:
    """Return the normalizer and the pre-tokenizer of a specification, to count words for it.

    >>> from piecework.spec import Char
    >>> pipeline_of(TokenizerSpec(Char({"a": 0})))
    Pipeline(normalizer=None, pre_tokenizer=None)

    SentencePiece models segment whole texts; for them, the pre-tokenizer splits at ▁.
    """
    if isinstance(spec.model, SentencePiece) and spec.pre_tokenizer is None:
        ends = getattr(spec.normalizer, "treat_whitespace_as_suffix", False)
        behavior: Behavior = "merged_with_previous" if ends else "merged_with_next"
        return Pipeline(spec.normalizer, Split("▁", behavior))
    return Pipeline(spec.normalizer, spec.pre_tokenizer)


def check_pipeline(counts: Counts, pipeline: Pipeline, description: str) -> None:
    """Raise `ArgumentError` unless the counts come from this pipeline or an unknown one."""
    if counts.pipeline is not None and not counts.pipeline.agrees_with(pipeline):
        problem = f"have words of {source_of(counts.pipeline)}, not of {description}: {pipeline}"
        raise ArgumentError("counts", problem)


def source_of(pipeline: Pipeline) -> str:
    """Return what made counts: the preset with a pipeline, or the pipeline.

    >>> from piecework.train import PRESETS
    >>> source_of(PRESETS["gpt2"].pipeline)
    "preset 'gpt2'"
    """
    preset = sentencepiece_preset_of(pipeline) or preset_of_pipeline(pipeline)
    return f"the pipeline {pipeline}" if preset is None else f"preset {preset.name!r}"
