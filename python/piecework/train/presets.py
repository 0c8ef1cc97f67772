"""Presets: named pipelines with their special tokens and templates, such as those of BERT and GPT-2."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from piecework import spec
from piecework._internal.validation import unknown_choice
from piecework.spec.named_patterns import named_pre_tokenizer, split_bytes
from piecework.spec.templates import template_for
from piecework.split_patterns import WITHIN_PUNCTUATION
from piecework.train.pipeline import Pipeline


class AnyPreset:
    """What a `Preset` and a `SentencePiecePreset` have: a name, a template, and roles of tokens."""

    name: str
    single: tuple[str, ...]
    pair: tuple[str, ...]
    roles: Mapping[str, str]

    def template(self, vocab: Mapping[str, int]) -> spec.TemplateProcessing | None:
        """Return the template with the ids of a vocabulary, None if it lacks one of the tokens.

        >>> from piecework.train import SENTENCEPIECE_PRESETS
        >>> SENTENCEPIECE_PRESETS["t5"].template({"</s>": 1}).single
        ('$A:0', '</s>:0')
        """
        return template_for(self.single, self.pair, vocab)


@dataclass(frozen=True)
class Preset(AnyPreset):
    """A pipeline with its default special tokens and its template.

    >>> PRESETS["bert-uncased"].single
    ('[CLS]:0', '$A:0', '[SEP]:0')

    `single` and `pair` are items of `TemplateProcessing`; the template is omitted if the vocabulary lacks
    one of its tokens. Without `special_tokens`, the defaults of the trainer apply. `roles` are those of the
    published tokenizer whose tokens do not state them by name; see `Tokenizer.special_tokens_map`.
    """

    name: str
    pipeline: Pipeline
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str = "<unk>"
    roles: Mapping[str, str] = field(default_factory=dict, hash=False)

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


def _byte_level_preset(name: str, *roles: str, normalizer: spec.Normalizer | None = None) -> Preset:
    """Return a preset with a named pattern, in which `<|endoftext|>` has these roles."""
    pipeline = Pipeline(normalizer, named_pre_tokenizer(name))
    return Preset(name, pipeline, roles=dict.fromkeys(roles, "<|endoftext|>"))


# The space handling of SentencePiece, built from components of tokenizer.json.
_SENTENCEPIECE_NORMALIZER = spec.SequenceNormalizer(
    (spec.Nmt(), spec.NFKC(), spec.Strip(), spec.Replace(spec.Regex(" {2,}"), " "))
)
# Lines of a corpus end at these characters, so that a vocabulary seldom has them.
_LINE_BREAKS_AND_TABS = spec.Replace(spec.Regex(r"[\t\n\r]"), " ")


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _bert_preset("bert-uncased", Pipeline(spec.BertNormalizer(), spec.BertPreTokenizer())),
        _bert_preset(
            "bert-cased", Pipeline(spec.BertNormalizer(lowercase=False), spec.BertPreTokenizer())
        ),
        *(
            _bert_preset(
                f"bert-original-{name}",
                Pipeline(
                    spec.BertNormalizer(lowercase=lowercase, cleaning="original"),
                    spec.BertPreTokenizer(),
                ),
            )
            for name, lowercase in (("uncased", True), ("cased", False))
        ),
        Preset("sentencepiece", Pipeline(_SENTENCEPIECE_NORMALIZER, spec.Metaspace())),
        Preset("metaspace", Pipeline(_LINE_BREAKS_AND_TABS, spec.Metaspace())),
        Preset("whitespace", Pipeline(None, spec.WhitespaceSplit())),
        Preset("punctuation", Pipeline(None, spec.BertPreTokenizer())),
        Preset("characters", Pipeline()),
        _byte_level_preset("gpt2", "unk_token", "bos_token", "eos_token"),
        _byte_level_preset("cl100k", "eos_token"),
        _byte_level_preset("o200k", "eos_token"),
        _byte_level_preset("cl100k-r2l", "eos_token"),
        _byte_level_preset("o200k-r2l", "eos_token"),
        _byte_level_preset("o200k-superwords", "eos_token"),
        _byte_level_preset("llama3"),
        _byte_level_preset("qwen2", "eos_token", "pad_token", normalizer=spec.NFC()),
    )
}


def named_preset(preset: str | AnyPreset) -> Preset:
    """Return the preset with this name; a `Preset` is returned unchanged.

    >>> named_preset("gpt2").pipeline.is_byte_level
    True
    """
    if isinstance(preset, Preset):
        return preset
    if not isinstance(preset, str) or preset not in PRESETS:
        raise unknown_choice("preset", preset, PRESETS)
    return PRESETS[preset]


def preset_of_pipeline(pipeline: Pipeline) -> Preset | None:
    """Return the preset with this pipeline, None if there is none.

    >>> preset_of_pipeline(PRESETS["gpt2"].pipeline).name
    'gpt2'
    """
    return next((one for one in PRESETS.values() if one.pipeline.agrees_with(pipeline)), None)


_SUPERWORDS = "-superwords"


def has_sequences(preset: AnyPreset) -> bool:
    """Return whether the words of a preset are sequences of words, for entries that cross spaces.

    >>> has_sequences(PRESETS["o200k-superwords"]), has_sequences(PRESETS["o200k"])
    (True, False)
    """
    return preset.name.endswith(_SUPERWORDS)


def pipeline_within_punctuation(sequences: Pipeline) -> Pipeline:
    """Return the pipeline that also splits the sequences of a pipeline at punctuation.

    >>> pipeline_within_punctuation(PRESETS["o200k-superwords"].pipeline).is_byte_level
    True
    """
    named = preset_of_pipeline(sequences)
    assert named is not None, sequences
    return Pipeline(sequences.normalizer, split_bytes((WITHIN_PUNCTUATION[named.name],)))


def preset_of_words(sequences: Pipeline) -> Preset | None:
    """Return the preset of the words that make up the sequences of a pipeline, None without sequences.

    >>> preset_of_words(PRESETS["o200k-superwords"].pipeline).name
    'o200k'
    """
    named = preset_of_pipeline(sequences)
    if named is None or not has_sequences(named):
        return None
    return PRESETS[named.name.removesuffix(_SUPERWORDS)]
