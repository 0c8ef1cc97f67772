"""Pipelines, which split text into words, and presets: pipelines with special tokens and a template."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from piecework import spec
from piecework._internal.validation import unknown_choice
from piecework.spec import ByteLevel, Metaspace, Normalizer, PreTokenizer, SequencePreTokenizer
from piecework.spec.custom import (
    MissingFunction,
    custom_stages_of,
    functions_of,
    loads_with_functions,
)
from piecework.spec.encodings import named_pre_tokenizer, split_bytes
from piecework.spec.normalizers import normalizer_from_json
from piecework.spec.post_processors import template_for
from piecework.spec.pre_tokenizers import pre_tokenizer_from_json
from piecework.spec.split_patterns import WITHIN_PUNCTUATION


@dataclass(frozen=True)
class Pipeline:
    """A normalizer and a pre-tokenizer, each optional.

    >>> from piecework.spec import WhitespaceSplit
    >>> print(Pipeline(None, WhitespaceSplit()))
    WhitespaceSplit()
    """

    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None

    @property
    def is_byte_level(self) -> bool:
        """Whether a stage is byte-level, so that words include white space and line ends.

        >>> from piecework.spec import ByteLevel
        >>> Pipeline(None, ByteLevel()).is_byte_level
        True
        """
        return any(isinstance(member, ByteLevel) for member in self._pre_tokenizers)

    @property
    def metaspace(self) -> Metaspace | None:
        """The metaspace stage, None if there is none.

        >>> Pipeline(None, Metaspace(replacement="_")).metaspace.replacement
        '_'
        """
        stages = (member for member in self._pre_tokenizers if isinstance(member, Metaspace))
        return next(stages, None)

    @property
    def _pre_tokenizers(self) -> tuple[PreTokenizer | None, ...]:
        stage = self.pre_tokenizer
        return stage.pretokenizers if isinstance(stage, SequencePreTokenizer) else (stage,)

    def to_json(self) -> str:
        """Return a JSON object with both stages as in a `tokenizer.json`; custom stages by name.

        >>> Pipeline().to_json()
        '{"normalizer": null, "pre_tokenizer": null}'
        """
        return json.dumps(
            {
                "normalizer": self.normalizer and self.normalizer.to_json(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_json(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Read a pipeline from a JSON object; raises ValueError, KeyError or TypeError if it is invalid.

        >>> Pipeline.from_json(Pipeline().to_json()) == Pipeline()
        True

        Custom stages lack their functions: such a pipeline can be compared but not run.
        """
        value = loads_with_functions(text, MissingFunction)
        return cls(
            normalizer=normalizer_from_json(value["normalizer"]),
            pre_tokenizer=pre_tokenizer_from_json(value["pre_tokenizer"]),
        )

    def to_core(self) -> tuple[str, list[Callable[[str], Any]]]:
        """Return the JSON, and the functions of the custom stages in the order of the JSON."""
        return self.to_json(), functions_of(self.normalizer, self.pre_tokenizer)

    def without_functions(self) -> Pipeline:
        """Return the pipeline with names instead of functions in custom stages.

        >>> Pipeline().without_functions()
        Pipeline(normalizer=None, pre_tokenizer=None)
        """
        has_functions = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return Pipeline.from_json(self.to_json()) if has_functions else self

    def agrees_with(self, other: Pipeline) -> bool:
        """Return whether both split text alike; custom stages without functions are compared by name."""
        if self.lacks_functions or other.lacks_functions:
            return self.to_json() == other.to_json()
        return self == other

    @property
    def lacks_functions(self) -> bool:
        """Whether custom stages have names only, so that the pipeline can be compared but not run."""
        stages = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return any(isinstance(stage.function, MissingFunction) for _, stage in stages)

    def __str__(self) -> str:
        stages = [stage for stage in (self.normalizer, self.pre_tokenizer) if stage is not None]
        return " then ".join(map(str, stages)) or "no normalizer and no pre-tokenizer"


class AnyPreset:
    """The base of presets: a name, a template, and roles of tokens."""

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
    one of its tokens. Without `special_tokens`, the defaults of the trainer apply. `roles` are the roles in
    the published tokenizer of tokens whose names do not state them; see `Tokenizer.special_tokens_map`.
    """

    name: str
    pipeline: Pipeline
    single: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str = "<unk>"
    roles: Mapping[str, str] = field(default_factory=dict, hash=False)

    def tokens_for(self, settings: Collection[str]) -> dict[str, Any]:
        """Return the default special tokens, for the settings that a trainer has."""
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
    """Return a preset with a named pattern; `<|endoftext|>` has these roles."""
    pipeline = Pipeline(normalizer, named_pre_tokenizer(name))
    return Preset(name, pipeline, roles=dict.fromkeys(roles, "<|endoftext|>"))


# The space handling of SentencePiece, built from components of tokenizer.json.
_SENTENCEPIECE_NORMALIZER = spec.SequenceNormalizer(
    (spec.Nmt(), spec.NFKC(), spec.Strip(), spec.Replace(spec.Regex(" {2,}"), " "))
)
# Lines of a corpus end at these characters, so a vocabulary rarely has them.
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
        _byte_level_preset("cl100k-nl", "eos_token"),
        _byte_level_preset("o200k-nl", "eos_token"),
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
