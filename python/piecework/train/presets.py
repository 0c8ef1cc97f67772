"""Presets: named pipelines around a model, from BERT's and GPT-2's to the simple ones for teaching."""

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
    """A pipeline, the special tokens that are usual with it, and how they frame sequences.

    `single` and `pair` are items as those of `TemplateProcessing`; where one is no special token of the
    vocabulary, there is no frame. Without `special_tokens`, those of the trainer are usual.
    """

    name: str
    pipeline: Pipeline
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str = "<unk>"

    def tokens_for(self, settings: Collection[str]) -> dict[str, Any]:
        """Return the usual tokens under those of the names that are among `settings`."""
        names = ("special_tokens", "unk_token") if self.special_tokens else ()
        return {name: getattr(self, name) for name in names if name in settings}


def _framed_as_bert(name: str, pipeline: Pipeline) -> Preset:
    return Preset(
        name,
        pipeline,
        single=("[CLS]:0", "$A:0", "[SEP]:0"),
        pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
    )


# SentencePiece's way with spaces, of components that others know: one at a time, marked.
_SPACED = SequenceNormalizer((Nmt(), NFKC(), Strip(), Replace(Regex(" {2,}"), " ")))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _framed_as_bert("bert-uncased", Pipeline(BertNormalizer(), BertPreTokenizer())),
        _framed_as_bert(
            "bert-cased", Pipeline(BertNormalizer(lowercase=False), BertPreTokenizer())
        ),
        Preset("sentencepiece", Pipeline(_SPACED, Metaspace())),
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
    """Return the preset called `name`, or the usual one of `model` when no name is given.

    A `Preset` stands for itself, so that a pipeline of one's own can be given wherever a name can.

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
