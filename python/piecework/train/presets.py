"""Presets: named pipelines with their special tokens and templates, such as those of BERT and GPT-2."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from piecework.errors import ArgumentError
from piecework.spec import (
    NFC,
    NFKC,
    BertNormalizer,
    BertPreTokenizer,
    Metaspace,
    Nmt,
    Regex,
    Replace,
    SequenceNormalizer,
    Strip,
    WhitespaceSplit,
)
from piecework.spec.named_patterns import named_pre_tokenizer
from piecework.train.pipeline import Pipeline


@dataclass(frozen=True)
class Preset:
    """A pipeline with its default special tokens and its template.

    >>> PRESETS["bert-uncased"].single
    ('[CLS]:0', '$A:0', '[SEP]:0')

    `single` and `pair` are items of `TemplateProcessing`; the template is omitted if the vocabulary lacks
    one of its tokens. Without `special_tokens`, the defaults of the trainer apply.
    """

    name: str
    pipeline: Pipeline
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str = "<unk>"

    def tokens_for(self, settings: Collection[str]) -> dict[str, Any]:
        """Return the default tokens for those settings that a trainer has."""
        names = ("special_tokens", "unk_token") if self.special_tokens else ()
        return {name: getattr(self, name) for name in names if name in settings}


def _bert_preset(name: str, pipeline: Pipeline) -> Preset:
    return Preset(
        name,
        pipeline,
        single=("[CLS]:0", "$A:0", "[SEP]:0"),
        pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
    )


# The space handling of SentencePiece, built from components of tokenizer.json.
_SENTENCEPIECE_NORMALIZER = SequenceNormalizer(
    (Nmt(), NFKC(), Strip(), Replace(Regex(" {2,}"), " "))
)


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _bert_preset("bert-uncased", Pipeline(BertNormalizer(), BertPreTokenizer())),
        _bert_preset("bert-cased", Pipeline(BertNormalizer(lowercase=False), BertPreTokenizer())),
        Preset("sentencepiece", Pipeline(_SENTENCEPIECE_NORMALIZER, Metaspace())),
        Preset("whitespace", Pipeline(None, WhitespaceSplit())),
        Preset("punctuation", Pipeline(None, BertPreTokenizer())),
        Preset("characters", Pipeline()),
        *(
            Preset(name, Pipeline(None, named_pre_tokenizer(name)))
            for name in ("gpt2", "cl100k", "o200k", "llama3")
        ),
        Preset("qwen2", Pipeline(NFC(), named_pre_tokenizer("qwen2"))),
    )
}

_DEFAULT_PRESETS = {
    "wordpiece": "bert-uncased",
    "bpe": "whitespace",
    "byte-bpe": "gpt2",
    "unigram": "sentencepiece",
    "word": "punctuation",
    "char": "characters",
}


def preset_for(model: str = "wordpiece", name: str | Preset | None = None) -> Preset:
    """Return the preset with this name, or the default preset of `model` if `name` is None.

    A `Preset` is returned unchanged.

    >>> preset_for("word").name
    'punctuation'
    """
    if isinstance(name, Preset):
        return name
    if name is None and model not in _DEFAULT_PRESETS:
        raise ArgumentError("model", repr(model), f"one of {', '.join(_DEFAULT_PRESETS)}")
    chosen = _DEFAULT_PRESETS[model] if name is None else name
    if chosen not in PRESETS:
        raise ArgumentError("preset", repr(chosen), f"one of {', '.join(PRESETS)}")
    return PRESETS[chosen]
