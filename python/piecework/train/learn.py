"""Learn a tokenizer specification: counts and a trainer in, model, pipeline and special tokens out.

`learn_spec` starts from a preset, `relearn_spec` in `relearn` from an existing specification.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, whole_number
from piecework.errors import ArgumentError, TrainingError, TrainingWarning
from piecework.spec import (
    BPE,
    AddedToken,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    ByteLevelProcessing,
    Char,
    Decoder,
    Fuse,
    Metaspace,
    MetaspaceDecoder,
    Model,
    PostProcessor,
    SentencePiece,
    SequenceDecoder,
    Split,
    TokenizerSpec,
    Unigram,
    WordPiece,
    WordPieceDecoder,
)
from piecework.spec.patterns import Behavior
from piecework.spec.templates import template_for
from piecework.train.checkpoints import has_checkpoints
from piecework.train.counts import Counts
from piecework.train.memory import fit_to_memory
from piecework.train.pipeline import Pipeline
from piecework.train.preset_choice import preset_of
from piecework.train.presets import Preset, preset_for_counts, preset_of_pipeline
from piecework.train.sentencepiece_presets import SentencePiecePreset, sentencepiece_preset_of
from piecework.train.smallest import smallest_model
from piecework.train.trainers import (
    BPETrainer,
    ByteBPETrainer,
    CharTrainer,
    PresetTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    WordTrainer,
    kind_of,
)
from piecework.train.trainers.common import LearnedVocabulary


def learn_spec(
    counts: Counts,
    trainer: Trainer,
    preset: Preset | SentencePiecePreset | str | None = None,
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
    check_can_encode(trainer)
    if training_log is not None:
        _check_merges(trainer)
    counts, _ = fit_to_memory(counts, trainer, memory)
    if isinstance(trainer, SentencePieceTrainer):
        if not has_checkpoints(trainer):
            _warn_without_checkpoints(trainer, checkpoint)
            checkpoint = None
        return _learn_sentencepiece(counts, trainer, preset, progress, num_threads, checkpoint)
    assert not isinstance(preset, SentencePiecePreset)
    chosen = _preset_of(counts, trainer, preset)
    if training_log is not None:
        assert isinstance(trainer, WordPieceTrainer | BPETrainer | ByteBPETrainer)
        learned = trainer.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        learned.save(training_log)
        return _spec_of(trainer, trainer.model_of(learned), chosen)
    if checkpoint is None or not has_checkpoints(trainer):
        _warn_without_checkpoints(trainer, checkpoint)
        model: Model = trainer.learn(counts, progress, num_threads)
    else:
        assert not isinstance(trainer, WordTrainer | CharTrainer)
        model = trainer.learn(counts, progress, num_threads, checkpoint=checkpoint)
    return _spec_of(trainer, model, chosen)


def learn_specs(
    counts: Counts,
    trainer: Trainer,
    sizes: Sequence[int],
    preset: Preset | SentencePiecePreset | str | None = None,
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

    Where smaller vocabularies are prefixes of larger ones (see `nests`), one run learns all sizes, and so
    does pruning, whose sizes share the seeds of the largest one. The other models are learned once for each
    size. Each specification equals that of `learn_spec` with its size; for pruning, with its size and the
    `seed_vocab_size` of the largest. The other arguments are those of `learn_spec`.
    """
    check_can_encode(trainer)
    chosen_sizes = _checked_sizes(sizes)
    sized = {size: replace(trainer, vocab_size=size) for size in chosen_sizes}
    # All sizes learn from the same words: those that the largest vocabulary has memory for.
    counts, _ = fit_to_memory(counts, sized[max(sized)], memory)
    largest = sized[max(sized)]
    if isinstance(largest, WordPieceTrainer) and largest.learner.learns_sizes:
        assert not isinstance(preset, SentencePiecePreset)
        chosen = _preset_of(counts, largest, preset)
        pruned = largest.learn_sizes(
            counts, chosen_sizes, progress, num_threads, checkpoint=checkpoint
        )
        return {
            size: _spec_of(largest, replace(largest, vocab_size=size).model_of(vocabulary), chosen)
            for size, vocabulary in pruned.items()
        }
    if not nests(trainer) or isinstance(largest, SentencePieceTrainer | UnigramTrainer):
        return {
            size: learn_spec(
                counts,
                one,
                preset,
                progress=progress,
                num_threads=num_threads,
                memory=memory,
                checkpoint=checkpoint,
            )
            for size, one in sized.items()
        }
    assert not isinstance(preset, SentencePiecePreset)
    chosen = _preset_of(counts, largest, preset)
    if isinstance(largest, WordTrainer | CharTrainer):
        # Ranking takes seconds, and the vocabulary of each size is a prefix.
        return {
            size: _spec_of(one, one.learn(counts), chosen)
            for size, one in sized.items()
            if isinstance(one, WordTrainer | CharTrainer)
        }
    learned = largest.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
    specs = {}
    for size, one in sized.items():
        assert isinstance(one, WordPieceTrainer | BPETrainer | ByteBPETrainer)
        _check_size(learned, size)
        specs[size] = _spec_of(one, one.model_of(learned.prefix(size)), chosen)
    return specs


def smallest_spec(
    trainer: Trainer, preset: Preset | SentencePiecePreset | None = None
) -> TokenizerSpec:
    """Return what `learn_spec` returns, with the smallest vocabulary that the trainer can have.

    >>> from piecework.train import WordTrainer
    >>> smallest_spec(WordTrainer()).model.vocab
    {'[UNK]': 0, 'a': 1}

    It needs no counts, and shows before a training what a file format can store.
    """
    model = smallest_model(trainer)
    if isinstance(trainer, SentencePieceTrainer):
        assert isinstance(model, SentencePiece)
        assert not isinstance(preset, Preset)
        return _sentencepiece_spec(trainer, model, preset)
    assert not isinstance(preset, SentencePiecePreset)
    return _spec_of(trainer, model, preset_of(trainer, preset))


def nests(trainer: Trainer) -> bool:
    """Whether a smaller vocabulary of a trainer is the beginning of a larger one.

    >>> from piecework.train import BPETrainer, Merges, UnigramTrainer, WordPieceTrainer
    >>> nests(BPETrainer()), nests(UnigramTrainer())
    (True, False)
    >>> nests(WordPieceTrainer(learner=Merges())), nests(WordPieceTrainer())
    (True, False)
    """
    if isinstance(trainer, WordPieceTrainer):
        return trainer.learner.nests
    return not isinstance(trainer, UnigramTrainer | SentencePieceTrainer)


def check_can_encode(trainer: Trainer) -> None:
    """Raise `ArgumentError` for a trainer whose model would have no unknown token but needs one.

    >>> from piecework.train import WordPieceTrainer
    >>> check_can_encode(WordPieceTrainer())
    """
    if isinstance(trainer, WordPieceTrainer) and not trainer.special_tokens:
        expected = f"the unknown token {trainer.unk_token!r} among them, which a tokenizer needs"
        raise ArgumentError("special_tokens", "none", expected)


def _check_merges(trainer: Trainer) -> None:
    """Raise `ArgumentError` for a trainer that merges no pairs, so that it has nothing to log."""
    merges = isinstance(trainer, BPETrainer | ByteBPETrainer)
    if isinstance(trainer, WordPieceTrainer):
        merges = trainer.learner.merges_pairs
    if not merges:
        expected = "a trainer that merges pairs: BPE, or WordPiece with learner=Merges()"
        raise ArgumentError("training_log", f"the {kind_of(trainer)} trainer", expected)


def _checked_sizes(sizes: Sequence[int]) -> list[int]:
    checked = [whole_number(f"sizes[{at}]", size, 1) for at, size in enumerate(sizes)]
    if not checked or len(set(checked)) != len(checked):
        raise ArgumentError("sizes", repr(list(sizes)), "distinct sizes, at least one")
    return checked


def _check_size(learned: LearnedVocabulary, size: int) -> None:
    """Raise `TrainingError` for a size that cannot hold special tokens and alphabet."""
    needed = learned._first_size()
    if size < needed:
        expected = f"at least {needed} (special tokens and alphabet)"
        raise TrainingError("vocab_size", str(size), expected)


def _preset_of(counts: Counts, trainer: PresetTrainer, preset: Preset | str | None) -> Preset:
    if preset is None and counts.pipeline is not None:
        return preset_of(trainer, preset_for_counts(kind_of(trainer), counts.pipeline))
    chosen = preset_of(trainer, preset)
    if counts.pipeline is not None and not counts.pipeline.agrees_with(chosen.pipeline):
        found = f"{chosen.name!r} with counts of {_source_of(counts.pipeline)}"
        raise ArgumentError("preset", found, f"no preset, or counts of preset {chosen.name!r}")
    return chosen


def _warn_without_checkpoints(trainer: Trainer, checkpoint: PathLike | None) -> None:
    if checkpoint is not None:
        message = f"no checkpoint: a {kind_of(trainer)} run with these settings starts again"
        warnings.warn(message, TrainingWarning, stacklevel=3)


def _spec_of(trainer: PresetTrainer, model: Model, chosen: Preset) -> TokenizerSpec:
    return TokenizerSpec(
        model=model,
        normalizer=chosen.pipeline.normalizer,
        pre_tokenizer=chosen.pipeline.pre_tokenizer,
        post_processor=_post_processor(model, chosen),
        decoder=_decoder(model, chosen.pipeline),
        added_tokens=_added_tokens(trainer, model.vocab),
    )


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
        found = f"words of {_source_of(counts.pipeline)}"
        raise ArgumentError("counts", found, f"{description}: {pipeline}")


def _source_of(pipeline: Pipeline) -> str:
    preset = sentencepiece_preset_of(pipeline) or preset_of_pipeline(pipeline)
    return f"the pipeline {pipeline}" if preset is None else f"preset {preset.name!r}"


def _learn_sentencepiece(
    counts: Counts,
    trainer: SentencePieceTrainer,
    preset: Preset | SentencePiecePreset | str | None,
    progress: Progress,
    num_threads: int | None,
    checkpoint: PathLike | None,
) -> TokenizerSpec:
    if preset is not None and not isinstance(preset, SentencePiecePreset):
        expected = "None: SentencePieceTrainer has settings for the whole pipeline"
        raise ArgumentError("preset", repr(preset), expected)
    _check_sentencepiece_counts(counts, trainer)
    model = trainer.learn(counts, progress, num_threads, checkpoint=checkpoint)
    return _sentencepiece_spec(trainer, model, preset)


def _check_sentencepiece_counts(counts: Counts, trainer: SentencePieceTrainer) -> None:
    preset = sentencepiece_preset_of(trainer.pipeline)
    if preset is None or counts.pipeline is None or counts.pipeline.agrees_with(trainer.pipeline):
        check_pipeline(counts, trainer.pipeline, "the pipeline of the trainer")
        return
    expected = f'counts made with preset="{preset.name}", or a model that is not SentencePiece'
    raise ArgumentError("counts", f"words of {_source_of(counts.pipeline)}", expected)


def _sentencepiece_spec(
    trainer: SentencePieceTrainer, model: SentencePiece, preset: SentencePiecePreset | None
) -> TokenizerSpec:
    spec = trainer.specification(model)
    template = None if preset is None else preset.template(spec.model.vocab)
    return replace(spec, post_processor=template)


def _added_tokens(trainer: PresetTrainer, vocab: Mapping[str, int]) -> tuple[AddedToken, ...]:
    special = [AddedToken(token, vocab[token]) for token in trainer.special_tokens]
    symbols = trainer.user_defined_symbols if isinstance(trainer, UnigramTrainer) else ()
    return (*special, *(AddedToken(token, vocab[token], special=False) for token in symbols))


def _post_processor(model: Model, preset: Preset) -> PostProcessor | None:
    if preset.single:
        return template_for(preset.single, preset.pair, model.vocab)
    return ByteLevelProcessing(trim_offsets=False) if preset.pipeline.is_byte_level else None


def _decoder(model: Model, pipeline: Pipeline) -> Decoder | None:
    if isinstance(model, WordPiece):
        return WordPieceDecoder(prefix=model.continuing_subword_prefix)
    if pipeline.is_byte_level:
        return ByteLevelDecoder()
    if isinstance(model, BPE) and model.end_of_word_suffix:
        return BPEDecoder(suffix=model.end_of_word_suffix)
    if isinstance(model, BPE) and model.continuing_subword_prefix:
        return WordPieceDecoder(model.continuing_subword_prefix, cleanup=False)
    if pipeline.metaspace:
        return _metaspace_decoder(model, pipeline.metaspace)
    keeps_spaces = pipeline.pre_tokenizer is None
    return Fuse() if keeps_spaces or isinstance(model, Char) else None


def _metaspace_decoder(model: Model, metaspace: Metaspace) -> Decoder:
    decoder = MetaspaceDecoder(metaspace.replacement, metaspace.prepend_scheme, metaspace.split)
    has_bytes = isinstance(model, Unigram) and model.byte_fallback
    return SequenceDecoder((ByteFallback(), decoder)) if has_bytes else decoder
