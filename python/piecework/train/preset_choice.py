"""The preset of a trainer: the default one, and those with which the model decodes to the same text."""

from __future__ import annotations

from collections.abc import Iterable

from piecework.errors import ArgumentError
from piecework.train.presets import PRESETS, Preset, preset_for
from piecework.train.trainers import (
    BPETrainer,
    ByteBPETrainer,
    PresetTrainer,
    UnigramTrainer,
    WordTrainer,
    kind_of,
)
from piecework.train.trainers.bpe import BYTE_ALPHABET

_SPLIT_AT_SPACES = (
    "bert-uncased",
    "bert-cased",
    "bert-original-uncased",
    "bert-original-cased",
    "whitespace",
    "punctuation",
)
_BYTE_LEVEL = tuple(name for name, preset in PRESETS.items() if preset.pipeline.is_byte_level)
_TEXTS_OF_MODEL = {
    # The notation of WordPiece shows where words begin; a long text without spaces is unknown to it.
    "wordpiece": _SPLIT_AT_SPACES,
    # These show no beginnings of words, so spaces must be characters. "whitespace" is an exception for
    # published examples: it decodes with spaces inside words.
    "bpe": ("metaspace", "sentencepiece", "whitespace", "characters"),
    "unigram": ("sentencepiece", "metaspace", "whitespace", "characters"),
    "char": ("characters", "sentencepiece", "metaspace"),
    "byte-bpe": _BYTE_LEVEL,
    "word": tuple(PRESETS),
}


def preset_of(trainer: PresetTrainer, preset: str | Preset | None) -> Preset:
    """Return the preset to train with, by default that of the model.

    >>> preset_of(BPETrainer(), None).name, preset_of(BPETrainer(end_of_word_suffix="</w>"), None).name
    ('metaspace', 'whitespace')

    Raises `ArgumentError` for a preset with which the model loses characters or the spaces between words. A
    `Preset` with a name of your own is checked for a byte-level stage only.
    """
    kind = kind_of(trainer)
    if preset is None and _marks_words(trainer):
        preset = "whitespace"
    chosen = preset_for(kind, preset)
    if chosen.pipeline.is_byte_level != isinstance(trainer, ByteBPETrainer):
        _check_bytes(trainer, chosen)
    elif PRESETS.get(chosen.name) == chosen and chosen.name not in _usable(trainer):
        raise _unusable(chosen, kind, _usable(trainer))
    return chosen


def model_of(preset: str | Preset | None) -> str:
    """Return the model to train with a preset, if the caller names none.

    >>> model_of(None), model_of("gpt2"), model_of("metaspace")
    ('wordpiece', 'byte-bpe', 'bpe')
    """
    if preset is None:
        return "wordpiece"
    chosen = preset_for(name=preset)
    if chosen.pipeline.is_byte_level:
        return "byte-bpe"
    models = {"sentencepiece": "unigram", "metaspace": "bpe", "characters": "char"}
    return models.get(chosen.name, "wordpiece")


def _check_bytes(trainer: PresetTrainer, preset: Preset) -> None:
    """Raise if only one of model and preset is byte-level, and bytes can then be unknown."""
    kind = kind_of(trainer)
    if isinstance(trainer, ByteBPETrainer):
        raise _unusable(preset, kind, _BYTE_LEVEL)
    # Whole words are known or unknown in any alphabet.
    if isinstance(trainer, WordTrainer) or _has_all_bytes(trainer):
        return
    found = f"{preset.name!r}, whose words are bytes, with model {kind!r}"
    expected = (
        f'model="byte-bpe" (ByteBPETrainer), or one of the presets {", ".join(_usable(trainer))}'
    )
    raise ArgumentError("preset", found, expected)


def _has_all_bytes(trainer: PresetTrainer) -> bool:
    if not isinstance(trainer, BPETrainer | UnigramTrainer):
        return False
    return set(trainer.initial_alphabet).issuperset(BYTE_ALPHABET)


def _usable(trainer: PresetTrainer) -> tuple[str, ...]:
    """Return the names of the presets for a trainer."""
    return _SPLIT_AT_SPACES if _marks_words(trainer) else _TEXTS_OF_MODEL[kind_of(trainer)]


def _marks_words(trainer: PresetTrainer) -> bool:
    """Whether the tokens of a BPE model show where words begin or end."""
    if not isinstance(trainer, BPETrainer):
        return False
    return bool(trainer.end_of_word_suffix or trainer.continuing_subword_prefix)


def _unusable(preset: Preset, kind: str, usable: Iterable[str]) -> ArgumentError:
    expected = f"one of {', '.join(usable)}"
    if kind == "bpe" and preset.name in _SPLIT_AT_SPACES:
        expected += ', or end_of_word_suffix="</w>", to decode the spaces between words'
    return ArgumentError("preset", f"{preset.name!r} with model {kind!r}", expected)
