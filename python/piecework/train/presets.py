"""Presets: named pipelines around a model, from BERT's and GPT's to the simple ones for teaching."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.errors import ArgumentError
from piecework.spec import NFC, BertNormalizer, BertPreTokenizer, WhitespaceSplit
from piecework.spec.named_patterns import named_pre_tokenizer
from piecework.train.pipeline import Pipeline


@dataclass(frozen=True)
class Preset:
    """A pipeline, and whether sequences are framed by `[CLS]` and `[SEP]` as BERT's are."""

    name: str
    pipeline: Pipeline
    framed: bool = False


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("bert-uncased", Pipeline(BertNormalizer(), BertPreTokenizer()), framed=True),
        Preset(
            "bert-cased",
            Pipeline(BertNormalizer(lowercase=False), BertPreTokenizer()),
            framed=True,
        ),
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
