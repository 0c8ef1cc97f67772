"""Trainers whose pipeline comes from a preset: which presets suit them, and the tokenizer around a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from piecework import spec
from piecework.errors import ArgumentError
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.pipeline import Pipeline
from piecework.train.presets import PRESETS, AnyPreset, Preset, named_preset, preset_of_pipeline
from piecework.train.trainer import Trainer

SPLIT_AT_SPACES: Final = (
    "bert-uncased",
    "bert-cased",
    "bert-original-uncased",
    "bert-original-cased",
    "whitespace",
    "punctuation",
)
"""The presets that drop the spaces between words, for models whose tokens show where words begin."""

BYTE_LEVEL: Final = tuple(name for name, preset in PRESETS.items() if preset.pipeline.is_byte_level)
"""The presets whose words are bytes."""


class PresetOfCounts(Preset):
    """The preset of counts that were made for another model; `preset_for` takes it as it is."""


class PresetTrainer(Trainer):
    """A trainer that learns from the words of a preset, with special tokens of its own."""

    is_byte_level: ClassVar[bool] = False
    """Whether the alphabet is all bytes, so that words must come from a byte-level pipeline."""

    special_tokens: tuple[str, ...]
    unk_token: Any  # a string; None drops unknown characters

    @property
    @abstractmethod
    def presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text."""

    @property
    def default_preset(self) -> str:
        """The name of the preset to train with if the caller names none."""
        return self.presets[0]

    @property
    def _takes_any_words(self) -> bool:
        """Whether the model learns from counts of words that do not show where words begin.

        Its tokens are then decoded with spaces between them.
        """
        return False

    @property
    def added_symbols(self) -> tuple[str, ...]:
        """The tokens besides special tokens that encoding finds in any text."""
        return ()

    @property
    def fixed_tokens(self) -> tuple[str, ...]:
        """The entries that are not learned from the corpus."""
        return self.special_tokens

    # ---- presets

    def preset_for(self, preset: str | AnyPreset | None, counted: Pipeline | None = None) -> Preset:
        """Return the preset to train with: the named one, that of counts, or the default.

        >>> from piecework.train import BPETrainer
        >>> BPETrainer().preset_for(None).name, BPETrainer(end_of_word_suffix="</w>").preset_for(None).name
        ('metaspace', 'whitespace')

        Raises `ArgumentError` for a preset with which the model loses characters or the spaces between
        words, and for counts whose words it cannot have. A `Preset` with a name of your own is checked for a
        byte-level stage only.
        """
        if preset is None and counted is not None:
            return self._preset_of_counts(counted)
        chosen = named_preset(self.default_preset if preset is None else preset)
        if chosen.pipeline.is_byte_level != self.is_byte_level:
            self._check_bytes(chosen)
        elif PRESETS.get(chosen.name) == chosen and chosen.name not in self.presets:
            raise self._unusable(chosen)
        return chosen

    def pipeline_with(self, preset: Preset) -> Pipeline:
        """Return the stages that split texts into the words to learn from."""
        return preset.pipeline

    @property
    def knows_all_bytes(self) -> bool:
        """Whether no character of a byte-level alphabet is unknown to the model."""
        return set(getattr(self, "initial_alphabet", ())).issuperset(BYTE_OF_CHARACTER)

    def _preset_of_counts(self, counted: Pipeline) -> Preset:
        """Return the default preset if it made counts, else that of their pipeline, or one for them alone."""
        default = PRESETS[self.default_preset]
        if default.pipeline.agrees_with(counted):
            return default
        if counted.lacks_functions:
            expected = "preset=Preset(name, pipeline) with the functions of its stages"
            raise ArgumentError("counts", f"have words of the pipeline {counted}; pass {expected}")
        named = preset_of_pipeline(counted)
        chosen = Preset("of the counts", counted) if named is None else named
        if counted.is_byte_level != self.is_byte_level and not self.knows_all_bytes:
            raise self._unusable_counts(chosen)
        if named is None or named.name in self.presets:
            return chosen
        if self._takes_any_words and not counted.is_byte_level:
            return PresetOfCounts(**vars(named))
        raise self._unusable_counts(named)

    def _unusable_counts(self, preset: Preset) -> ArgumentError:
        """Return the error for counts whose words the model cannot have."""
        named = PRESETS.get(preset.name) == preset
        source = f"preset {preset.name!r}" if named else f"the pipeline {preset.pipeline}"
        if self.is_byte_level:
            why, expected = "", "model 'bpe', or counts made with preset 'gpt2'"
        elif preset.pipeline.is_byte_level:
            why, expected = ", whose words are byte-level", f"model {_byte_level_kind(self.kind)!r}"
        else:
            why = ", whose words it cannot decode"
            others = "" if self.kind == "bpe" else "model 'bpe' or 'unigram', or "
            expected = f"{others}counts made with preset {self.default_preset!r}"
        hint = self._hint_for(preset)
        problem = f"{self.kind!r} does not support counts of {source}{why}; use {expected}{hint}"
        return ArgumentError("model", problem)

    def _check_bytes(self, preset: Preset) -> None:
        """Raise if only one of model and preset is byte-level, and bytes can then be unknown."""
        if self.is_byte_level:
            raise self._unusable(preset)
        if self.knows_all_bytes:
            return
        problem = (
            f"{preset.name!r} does not support model {self.kind!r}: its words are bytes; "
            f"use {_byte_level_trainer(self.kind)}, or one of the presets "
            f"{', '.join(self.presets)}"
        )
        raise ArgumentError("preset", problem)

    def _unusable(self, preset: Preset) -> ArgumentError:
        expected = f"one of {', '.join(self.presets)}{self._hint_for(preset)}"
        problem = f"{preset.name!r} does not support model {self.kind!r}; use {expected}"
        return ArgumentError("preset", problem)

    def _hint_for(self, preset: Preset) -> str:
        """Return the setting with which the model takes the words of a preset, "" without one."""
        return ""

    # ---- the tokenizer around a model

    def specification(self, model: spec.Model, preset: Preset | None = None) -> spec.TokenizerSpec:
        """Return the specification of a learned model with the stages and tokens of a preset."""
        chosen = self.preset_for(preset)
        return spec.TokenizerSpec(
            model=model,
            normalizer=chosen.pipeline.normalizer,
            pre_tokenizer=chosen.pipeline.pre_tokenizer,
            post_processor=_post_processor(model, chosen),
            decoder=self.decoder_for(chosen.pipeline),
            added_tokens=self._added_tokens(model.vocab),
        )

    def decoder_for(self, pipeline: Pipeline) -> spec.Decoder | None:
        """Return the decoder for the words of a pipeline, None where tokens are joined by spaces."""
        if pipeline.is_byte_level:
            return spec.ByteLevelDecoder()
        if pipeline.metaspace:
            return self.metaspace_decoder(pipeline.metaspace)
        return spec.Fuse() if pipeline.pre_tokenizer is None else None

    def metaspace_decoder(self, metaspace: spec.Metaspace) -> spec.Decoder:
        """Return the decoder for words with a mark in place of spaces."""
        return spec.MetaspaceDecoder(
            metaspace.replacement, metaspace.prepend_scheme, metaspace.split
        )

    def _added_tokens(self, vocab: Mapping[str, int]) -> tuple[spec.AddedToken, ...]:
        special = (spec.AddedToken(token, vocab[token]) for token in self.special_tokens)
        symbols = (
            spec.AddedToken(token, vocab[token], special=False) for token in self.added_symbols
        )
        return (*special, *symbols)


def _byte_level_kind(kind: str) -> str:
    """Return the kind of model over bytes to use in place of one over characters."""
    return "byte-unigram" if kind == "unigram" else "byte-bpe"


def _byte_level_trainer(kind: str) -> str:
    name = "ByteUnigramTrainer" if kind == "unigram" else "ByteBPETrainer"
    return f"model {_byte_level_kind(kind)!r} ({name})"


def _post_processor(model: spec.Model, preset: Preset) -> spec.PostProcessor | None:
    if preset.single:
        return preset.template(model.vocab)
    return spec.ByteLevelProcessing(trim_offsets=False) if preset.pipeline.is_byte_level else None
