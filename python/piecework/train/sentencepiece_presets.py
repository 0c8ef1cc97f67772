"""The settings of published SentencePiece models, for `SentencePieceTrainer`.

The settings come from the `.model` files: type, size, coverage, symbols with their ids, rules. XLNet and
ALBERT also preprocess their texts; here this preprocessing is part of the normalization rules.
`llama-superwords` is of no published model: the settings of `llama` with pieces that cross spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from piecework import spec
from piecework._internal._core import Core
from piecework._internal.validation import unknown_choice
from piecework.io.normalization_rules import NormalizationRules
from piecework.train.presets import PRESETS, AnyPreset, Pipeline, Preset
from piecework.train.trainers.common import DEFAULT_TRANSITION
from piecework.train.trainers.sentencepiece import SentencePieceTrainer

_SYMBOLS = ("(", ")", '"', "-", ".", "–", "£", "€")
_SEPARATOR = "\n"
_EXCLUDED_SOURCES = {ord(_SEPARATOR), *range(0xD800, 0xE000)}


@dataclass(frozen=True)
class SentencePiecePreset(AnyPreset):
    """Settings of a trainer, with the preprocessing and the template of the model.

    >>> SENTENCEPIECE_PRESETS["llama"].settings["model_type"]
    'bpe'

    `preprocessing` normalizers apply before the rules that `settings` name. `single` and `pair` are items
    of `TemplateProcessing`. `roles` are those whose tokens do not state them by name.
    """

    name: str
    settings: Mapping[str, Any]
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    preprocessing: tuple[spec.Normalizer, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        """The stages that split texts into words."""
        return self.trainer().pipeline

    def trainer(self, **settings: Any) -> SentencePieceTrainer:
        """Return the trainer; `settings` override the settings of the preset.

        >>> SENTENCEPIECE_PRESETS["t5"].trainer(vocab_size=100).eos_id
        1
        """
        return SentencePieceTrainer(**self.settings_with(settings))

    def settings_with(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the preset, with these overrides."""
        defaults = dict(self.settings)
        rule_names = {"normalization_rule_name", "normalization_rule_tsv"}
        if self.preprocessing and not rule_names & overrides.keys():
            defaults["normalization_rule_tsv"] = preprocessing_rules(self.preprocessing)
        return defaults | dict(overrides)


_LLAMA = SentencePiecePreset(
    "llama",
    {
        "model_type": "bpe",
        "vocab_size": 32_000,
        "character_coverage": 0.99995,
        "input_sentence_size": 200_000_000,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "byte_fallback": True,
    },
    single=("<s>:0", "$A:0"),
    pair=("<s>:0", "$A:0", "<s>:0", "$B:0"),
)

SENTENCEPIECE_PRESETS = {
    preset.name: preset
    for preset in (
        SentencePiecePreset(
            "t5",
            {
                "vocab_size": 32_000,
                "input_sentence_size": 100_000_000,
                "pad_id": 0,
                "eos_id": 1,
                "unk_id": 2,
                "bos_id": -1,
            },
            single=("$A:0", "</s>:0"),
            pair=("$A:0", "</s>:0", "$B:0", "</s>:0"),
        ),
        _LLAMA,
        replace(
            _LLAMA,
            name="llama-superwords",
            settings={**_LLAMA.settings, "transition": DEFAULT_TRANSITION},
        ),
        SentencePiecePreset(
            "albert",
            {
                "vocab_size": 30_000,
                "character_coverage": 0.99995,
                "input_sentence_size": 10_000_000,
                "pad_id": 0,
                "unk_id": 1,
                "bos_id": -1,
                "eos_id": -1,
                "control_symbols": ("[CLS]", "[SEP]", "[MASK]"),
                "user_defined_symbols": _SYMBOLS,
            },
            single=("[CLS]:0", "$A:0", "[SEP]:0"),
            pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
            preprocessing=(spec.NFKD(), spec.StripAccents(), spec.Lowercase()),
            roles={"bos_token": "[CLS]", "eos_token": "[SEP]"},
        ),
        SentencePiecePreset(
            "xlnet",
            {
                "vocab_size": 32_000,
                "character_coverage": 0.99995,
                "input_sentence_size": 10_000_000,
                "control_symbols": ("<cls>", "<sep>", "<pad>", "<mask>", "<eod>"),
                "user_defined_symbols": ("<eop>", ".", "(", ")", '"', "-", "–", "£", "€"),
            },
            single=("$A:0", "<sep>:0", "<cls>:2"),
            pair=("$A:0", "<sep>:0", "$B:1", "<sep>:1", "<cls>:2"),
            preprocessing=(spec.NFKD(), spec.StripAccents()),
        ),
    )
}


def any_preset(preset: object) -> Preset | SentencePiecePreset:
    """Return the preset with this name; a preset is returned unchanged.

    >>> any_preset("t5").roles, any_preset("gpt2").pipeline.is_byte_level
    ({}, True)
    """
    if isinstance(preset, Preset | SentencePiecePreset):
        return preset
    every: dict[str, Preset | SentencePiecePreset] = {**PRESETS, **SENTENCEPIECE_PRESETS}
    if not isinstance(preset, str) or preset not in every:
        raise unknown_choice("preset", preset, every)
    return PRESETS.get(preset) or SENTENCEPIECE_PRESETS[preset]


def sentencepiece_preset_of(pipeline: Pipeline) -> SentencePiecePreset | None:
    """Return the preset that counts words with this pipeline, None if there is none.

    >>> sentencepiece_preset_of(SENTENCEPIECE_PRESETS["llama"].trainer().pipeline).name
    'llama'
    """
    if not isinstance(pipeline.normalizer, spec.SentencePieceNormalizer):
        return None
    presets = SENTENCEPIECE_PRESETS.values()
    return next((one for one in presets if one.pipeline.agrees_with(pipeline)), None)


@cache
def preprocessing_rules(preprocessing: tuple[spec.Normalizer, ...]) -> NormalizationRules:
    """Return rules for these normalizers, then for `` and '' as one quote, then for nmt_nfkc.

    >>> rules = preprocessing_rules((spec.NFKD(), spec.StripAccents(), spec.Lowercase()))
    >>> rules.normalize("``É''  ½"), rules.normalize("E\u0301")
    ('"e"  1⁄2', 'e')

    The normalizers must map each character independently. A rule of nmt_nfkc for a sequence, such as a
    letter and its accent, gets the result that it has after `preprocessing`.
    """
    rules = NormalizationRules.named("nmt_nfkc")
    mapping = rules.to_mapping()
    sources = [chr(code) for code in range(1, 0x110000) if code not in _EXCLUDED_SOURCES]
    sources += [source for source in mapping if len(source) > 1]
    preprocessed = _normalized_each(spec.SequenceNormalizer(preprocessing), sources)
    changed = {
        source: rules.normalize(text)
        for source, text in zip(sources, preprocessed, strict=True)
        if text != source or source in mapping
    }
    return NormalizationRules.from_mapping(mapping | changed | {"``": '"', "''": '"'})


def _normalized_each(normalizer: spec.Normalizer, texts: list[str]) -> list[str]:
    """Normalize many short texts in one call, joined by a separator that the normalizer keeps."""
    specification, _ = spec.TokenizerSpec(spec.Char({"[UNK]": 0}), normalizer=normalizer).to_core()
    core = Core.from_json(specification.encode(), "")
    return core.normalize(_SEPARATOR.join(texts)).split(_SEPARATOR)
