"""Learn a tokenizer specification: counts and a trainer in, model, pipeline and special tokens out.

`learn_spec` starts from a preset, `relearn_spec` in `relearn` from an existing specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from piecework.errors import ArgumentError
from piecework.spec import (
    BPE,
    AddedToken,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    ByteLevelProcessing,
    Char,
    CharDecoder,
    Decoder,
    Metaspace,
    MetaspaceDecoder,
    Model,
    PostProcessor,
    SequenceDecoder,
    TokenizerSpec,
    Unigram,
    WordPiece,
    WordPieceDecoder,
)
from piecework.spec.templates import template_for
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset, preset_for
from piecework.train.sentencepiece_presets import SentencePiecePreset
from piecework.train.trainers import (
    ByteBPETrainer,
    PresetTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    kind_of,
)


def learn_spec(
    counts: Counts,
    trainer: Trainer,
    preset: Preset | SentencePiecePreset | str | None = None,
    *,
    progress: Progress | None = None,
    num_threads: int | None = None,
) -> TokenizerSpec:
    """Learn a model from counts and return it with the pipeline of the preset.

    >>> from piecework.train import WordTrainer, count_texts
    >>> counts = count_texts(["hug pug"], pipeline="whitespace")
    >>> learn_spec(counts, WordTrainer(), "whitespace").model.vocab
    {'[UNK]': 0, 'hug': 1, 'pug': 2}

    Special tokens and user-defined symbols become added tokens. The template of the preset becomes the
    post-processor if the vocabulary has all its tokens. A `SentencePieceTrainer` has its own pipeline and
    takes only the template of a `SentencePiecePreset`. Raises `ArgumentError` if the counts come from
    another pipeline.
    """
    if isinstance(trainer, SentencePieceTrainer):
        return _learn_sentencepiece(counts, trainer, preset, progress, num_threads)
    assert not isinstance(preset, SentencePiecePreset)
    chosen = preset_for(kind_of(trainer), preset)
    check_pipeline(counts, chosen.pipeline, f"the pipeline of preset {chosen.name!r}")
    _check_byte_level(trainer, chosen.pipeline)
    model = trainer.learn(counts, progress, num_threads)
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
    """
    return Pipeline(spec.normalizer, spec.pre_tokenizer)


def check_pipeline(counts: Counts, pipeline: Pipeline, description: str) -> None:
    """Raise `ArgumentError` unless the counts come from this pipeline or an unknown one."""
    if counts.pipeline is not None and not counts.pipeline.agrees_with(pipeline):
        found = f"words of the pipeline {counts.pipeline}"
        raise ArgumentError("counts", found, f"{description}: {pipeline}")


def _learn_sentencepiece(
    counts: Counts,
    trainer: SentencePieceTrainer,
    preset: Preset | SentencePiecePreset | str | None,
    progress: Progress | None,
    num_threads: int | None,
) -> TokenizerSpec:
    if preset is not None and not isinstance(preset, SentencePiecePreset):
        expected = "None: SentencePieceTrainer has settings for the whole pipeline"
        raise ArgumentError("preset", repr(preset), expected)
    check_pipeline(counts, trainer.pipeline, "the pipeline of the trainer")
    spec = trainer.specification(trainer.learn(counts, progress, num_threads))
    template = None if preset is None else preset.template(spec.model.vocab)
    return replace(spec, post_processor=template)


def _check_byte_level(trainer: Trainer, pipeline: Pipeline) -> None:
    if isinstance(trainer, ByteBPETrainer) and not pipeline.is_byte_level:
        expected = "one with a byte-level pre-tokenizer, such as 'gpt2'"
        raise ArgumentError("preset", f"{pipeline}", expected)


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
    if pipeline.metaspace:
        return _metaspace_decoder(model, pipeline.metaspace)
    return CharDecoder() if isinstance(model, Char) else None


def _metaspace_decoder(model: Model, metaspace: Metaspace) -> Decoder:
    decoder = MetaspaceDecoder(metaspace.replacement, metaspace.prepend_scheme, metaspace.split)
    has_bytes = isinstance(model, Unigram) and model.byte_fallback
    return SequenceDecoder((ByteFallback(), decoder)) if has_bytes else decoder
