"""What published SentencePiece models were trained with, as settings of `SentencePieceTrainer`.

Their `.model` files say it: type, size, coverage, symbols and their ids, rules. XLNet's and ALBERT's texts
were prepared by rules of their own before; here these are part of the model's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from piecework._core import Core
from piecework.errors import ArgumentError
from piecework.normalization_rules import NormalizationRules
from piecework.spec import (
    NFKD,
    Char,
    Lowercase,
    Normalizer,
    SequenceNormalizer,
    StripAccents,
    TemplateProcessing,
    TokenizerSpec,
)
from piecework.train.trainers import SentencePieceTrainer

_SYMBOLS = ("(", ")", '"', "-", ".", "–", "£", "€")
_NO_SOURCES = {0x0A, *range(0xD800, 0xE000)}
_BETWEEN = "\n"


@dataclass(frozen=True)
class SentencePiecePreset:
    """Settings of a trainer, how texts are prepared, and how sequences are framed.

    `prepared` is done to texts before the rules that `settings` name. `single` and `pair` are items as
    those of `TemplateProcessing`.
    """

    name: str
    settings: Mapping[str, Any]
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    prepared: tuple[Normalizer, ...] = ()

    def trainer(self, **settings: Any) -> SentencePieceTrainer:
        """Return the trainer, with other settings than usual where they are given.

        >>> SENTENCEPIECE_PRESETS["t5"].trainer(vocab_size=100).eos_id
        1
        """
        return SentencePieceTrainer(**self.settings_with(settings))

    def settings_with(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the usual settings, with those that are given instead."""
        own = dict(self.settings)
        if (
            self.prepared
            and not {"normalization_rule_name", "normalization_rule_tsv"} & given.keys()
        ):
            own["normalization_rule_tsv"] = prepared_rules(self.prepared)
        return own | dict(given)

    def frame(self, vocab: Mapping[str, int]) -> TemplateProcessing | None:
        """Return what puts the special tokens around texts, None where the vocabulary lacks one."""
        tokens = {item.rpartition(":")[0] for item in self.pair} - {"$A", "$B"}
        if not tokens <= vocab.keys():
            return None
        return TemplateProcessing(
            self.single, self.pair, {token: (vocab[token],) for token in sorted(tokens)}
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
        SentencePiecePreset(
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
            prepared=(NFKD(), StripAccents(), Lowercase()),
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
            prepared=(NFKD(), StripAccents()),
        ),
    )
}


def sentencepiece_preset(name: object) -> SentencePiecePreset:
    """Return the preset of this name; a preset stands for itself."""
    if isinstance(name, SentencePiecePreset):
        return name
    if not isinstance(name, str) or name not in SENTENCEPIECE_PRESETS:
        expected = f"one of {', '.join(SENTENCEPIECE_PRESETS)}"
        raise ArgumentError("preset", repr(name), expected)
    return SENTENCEPIECE_PRESETS[name]


@cache
def prepared_rules(before: tuple[Normalizer, ...]) -> NormalizationRules:
    """Return nmt_nfkc after normalizers of single characters, and after doubled quotes are made one.

    >>> rules = prepared_rules((NFKD(), StripAccents(), Lowercase()))
    >>> rules.normalize("``É''  ½"), rules.normalize("E\u0301")
    ('"e"  1⁄2', 'e')

    A rule for a sequence, such as a letter and its accent, leads to what it would after `before`.
    """
    rules = NormalizationRules.named("nmt_nfkc")
    own = rules.to_mapping()
    sources = [chr(code) for code in range(1, 0x110000) if code not in _NO_SOURCES]
    sources += [source for source in own if len(source) > 1]
    prepared = zip(sources, _normalized_each(SequenceNormalizer(before), sources), strict=True)
    changed = {
        source: rules.normalize(text)
        for source, text in prepared
        if text != source or source in own
    }
    return NormalizationRules.from_mapping(own | changed | {"``": '"', "''": '"'})


def _normalized_each(normalizer: Normalizer, texts: list[str]) -> list[str]:
    """Normalize many short texts at once, with what no normalizer touches between them."""
    specification, _ = TokenizerSpec(Char({"[UNK]": 0}), normalizer=normalizer).to_core()
    core = Core.from_json(specification.encode(), "")
    return core.normalize(_BETWEEN.join(texts)).split(_BETWEEN)
