"""The base of all trainers: settings that say which model to learn from word counts.

Counting, learning, checkpoints, memory budgets, traces and the command line see only `Trainer`.
`PresetTrainer` is what trainers with the pipeline of a preset share, `VocabularyTrainer` in `learned` what
trainers of entries and merges share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypedDict

from piecework import spec
from piecework._internal.names_of_other_libraries import unknown_setting
from piecework._internal.setting_fields import settings_of
from piecework._internal.types import Progress, Self, Unpack
from piecework._internal.validation import PathLike, counted
from piecework.errors import ArgumentError, TrainingError
from piecework.spec import Model, TokenizerSpec
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.counts import AnyCounts
from piecework.train.presets import (
    PRESETS,
    AnyPreset,
    Pipeline,
    Preset,
    named_preset,
    preset_of_pipeline,
)
from piecework.train.sentences import Sentences

Amount: TypeAlias = Any  # a float64 array, or one number

_PAIR: Final = 110  # a tracked pair, in the tables of the trainer
_COUNTED_PAIR: Final = 86  # a pair in the table that counts all of them, while that grows
_BY_SOURCE: Final = 100  # a pair in the counts by source and in heaps, and rarer tracked pairs
_CELLS_PER_PAIR: Final = 8  # characters of the words for each pair in that table, at least

FREQUENCY_POSITIONS: Final = 1.5
"""The bytes a character that positions of pairs take which are tracked by count."""


@dataclass(frozen=True)
class WordSizes:
    """The distinct words of counts, their bytes and their characters."""

    words: Amount
    text: Amount
    chars: Amount


# ---- the learners that several trainers share


def memory_of_merges(words: WordSizes, position_bytes: float = FREQUENCY_POSITIONS) -> Amount:
    """Return the memory of the words, and of tracked pairs or of the table that counts pairs before.

    `position_bytes` are the bytes a character that the positions of tracked pairs take, outdated ones
    included.
    """
    import numpy as np

    counted = _COUNTED_PAIR / _CELLS_PER_PAIR * (words.chars + words.words)
    tracked = _PAIR * np.minimum(words.chars / 8, 400_000) + position_bytes * words.chars
    # Words are sequences of entries: 4 bytes a character, 8 a word, and an index of half a byte a character.
    packed = 4.5 * (words.chars + words.words) + 8 * words.words
    return packed + np.maximum(counted, tracked)


def memory_of_parity(words: WordSizes) -> Amount:
    """Return the memory of merging the most frequent pair of one source after the other.

    Rare pairs of a large source are tracked as soon as a small source chooses pairs that are as rare.
    """
    by_source = _BY_SOURCE / _CELLS_PER_PAIR * (words.chars + words.words)
    return memory_of_merges(words) + by_source


def memory_of_unigram(words: WordSizes) -> Amount:
    """Return the memory of the text sorted by substrings, and of seeds or the links of positions."""
    index, seeds = 10.25, 12
    return (index + seeds) * (words.chars + words.words) + 12 * words.words


def memory_of_ranking(words: WordSizes) -> Amount:
    """Return the memory of Python objects: strings, numbers and pairs, by word."""
    return 2 * words.text + 300 * words.words


Resumption: TypeAlias = Literal["merges", "choices", "round"]
"""What restores an interrupted run: the argument of `LearningLog` with its name."""


class LearnOptions(TypedDict, total=False):
    """Keyword arguments of learning, besides progress.

    `num_threads` (None: one for each CPU) changes no result. `checkpoint` is a folder from which an
    interrupted run continues.
    """

    num_threads: int | None
    checkpoint: PathLike | None


_ALL_SENTENCES: Final = Sentences()


@dataclass(frozen=True)
class Traits:
    """Facts about a trainer that counting, learning and the command line need; `traits_of` returns them.

    `detail` is the learner or the type of model within the kind, "" without one. `fixed_tokens` are the
    entries that are not learned. `sentences` are the texts to learn from.
    """

    title: str
    """The kind of model as prose names it."""
    detail: str = ""
    fixed_tokens: tuple[str, ...] = ()
    sentences: Sentences = _ALL_SENTENCES
    learns_together: bool = False
    """Whether one run learns several sizes."""
    merges_pairs: bool = False
    """Whether learning merges pairs, which a training log lists."""
    learns_by_source: bool = False
    """Whether learning needs the counts of each source: `SourceCounts`."""
    resumption: Resumption | None = None
    """What a checkpoint stores; None for a trainer that starts again after an interruption."""
    needs_positions: str | None = None
    """The setting that needs counts with first positions, None without one."""
    has_own_pipeline: bool = False
    """Whether the settings determine the pipeline, so that it does not come from a preset."""


class Trainer(ABC):
    """The settings of training: a frozen dataclass for each kind of model.

    >>> from piecework.train import WordPieceTrainer
    >>> isinstance(WordPieceTrainer(), Trainer)
    True
    """

    kind: ClassVar[str]
    """The name of the kind of model in `TRAINERS`, such as "wordpiece"."""

    _title: ClassVar[str]

    _model_class: ClassVar[type[Model] | None] = None
    """The class of the models that are trained anew with this trainer, None for no class."""

    _sections: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The headings of a long list of settings, by the first setting of each."""

    vocab_size: Any  # an int; None stands for every unit of the corpus

    # ---- learning

    @abstractmethod
    def learn(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> Model:
        """Learn a model from counts."""

    def _learn_models(
        self, counts: AnyCounts, sizes: Sequence[int], **how: Any
    ) -> dict[int, Model]:
        """Return the model of each size, learned in one run if `Traits.learns_together`."""
        return {size: self._sized(size).learn(counts, **how) for size in sizes}

    def _traits(self) -> Traits:
        """Return the facts about the trainer that counting, learning and the command line need."""
        positions = ("ties", "alphabet_order")
        needs = (name for name in positions if getattr(self, name, None) == "first-seen")
        return Traits(self._title, needs_positions=next(needs, None))

    def _sized(self, vocab_size: int) -> Self:
        """Return the trainer with another size."""
        return replace(self, vocab_size=vocab_size)  # type: ignore[type-var]

    # ---- resources

    @abstractmethod
    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""

    @property
    def _checkpoint_settings(self) -> dict[str, Any]:
        """The settings that a checkpoint must agree with."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]

    # ---- the tokenizer around the model

    @abstractmethod
    def _preset_for(self, preset: str | AnyPreset | None, counted: Pipeline | None) -> Any:
        """Return the preset to train with: the named one, the preset of the counts, or the default.

        Raises `ArgumentError` for a preset that does not suit the model.
        """

    @abstractmethod
    def _pipeline_with(self, preset: Any) -> Pipeline:
        """Return the stages that split texts into the words to learn from."""

    @abstractmethod
    def _specification(self, model: Any, preset: Any = None) -> TokenizerSpec:
        """Return the specification of a learned model with the stages and tokens of a preset."""

    @abstractmethod
    def _smallest_model(self) -> Model:
        """Return a model with the special tokens and the smallest alphabet, which needs no counts."""

    # ---- checks before a corpus is read

    def _check_before_counting(self, files: int | None = None) -> None:
        """Raise for settings with which learning fails for every corpus.

        `files` is the number of files without parallel texts, 0 for an iterator, None for other corpora.
        Raises `TrainingError` for a `vocab_size` without room for the entries that are not learned and for
        an alphabet, and `ArgumentError`.
        """
        self._check_can_encode()
        reserved = set(self._reserved_entries)
        alphabet = set(getattr(self, "initial_alphabet", ())) - reserved
        # A special token can be the only character of a corpus.
        unknown = not alphabet and all(len(entry) > 1 for entry in reserved)
        least = len(reserved) + len(alphabet) + unknown
        if self.vocab_size is None or self.vocab_size >= least:
            return
        entries = counted(len(reserved), "reserved entry")
        expected = f"at least {least} ({entries} and an alphabet of {len(alphabet)})"
        if unknown:
            expected = (
                f"more than {len(reserved)} (the reserved entries, which an alphabet follows)"
            )
        raise TrainingError("vocab_size", f"must be {expected}, not {self.vocab_size}")

    def _check_can_encode(self) -> None:  # noqa: B027 - most trainers always have an unknown token
        """Raise `ArgumentError` if the model would have no unknown token but needs one."""

    @property
    def _reserved_entries(self) -> tuple[str, ...]:
        """The entries that come before the alphabet."""
        return self._traits().fixed_tokens

    # ---- settings

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Check the names of the settings."""
        known = settings_of(cls)
        for name in settings:
            if name not in known:
                raise unknown_setting(cls.__name__, name, known)
        return super().__new__(cls)


def traits_of(trainer: Trainer) -> Traits:
    """Return the facts about a trainer that counting, learning and the command line need.

    >>> from piecework.train import WordPieceTrainer
    >>> traits_of(WordPieceTrainer()).detail
    'pruning'
    """
    return trainer._traits()


def sections_of(trainer: type[Trainer]) -> Mapping[str, str]:
    """Return the headings of the settings of a kind of trainer, by the first setting of each."""
    return trainer._sections


def check_size(trainer: Trainer, vocab_size: int | None) -> None:
    """Raise the errors that learning raises for this size with any corpus.

    >>> from piecework.train import WordPieceTrainer
    >>> check_size(WordPieceTrainer(), 2)
    Traceback (most recent call last):
    piecework.errors.TrainingError: vocab_size: must be more than 5 (the reserved entries, which an ...
    """
    sized = trainer if vocab_size is None else trainer._sized(vocab_size)
    sized._check_before_counting()


def by_characters(trainer: Any) -> Any:
    """Return the trainer over characters that learns the same entries as a trainer over bytes.

    >>> from piecework.train import ByteBPETrainer
    >>> by_characters(ByteBPETrainer(300)).alphabet_order
    'sorted'
    """
    return trainer._by_characters()


# ---- trainers with the pipeline of a preset

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
    """The preset of counts that were made for another model; `_preset_for` takes it as it is."""


class PresetTrainer(Trainer):
    """A trainer that learns from the words of a preset, with special tokens of its own."""

    _is_byte_level: ClassVar[bool] = False
    """Whether the alphabet is all bytes, so that words must come from a byte-level pipeline."""

    special_tokens: tuple[str, ...]
    unk_token: Any  # a string; None drops unknown characters

    @property
    @abstractmethod
    def _presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text, the default one first."""

    @property
    def _takes_any_words(self) -> bool:
        """Whether the model learns from counts of words that do not show where words begin.

        Its tokens are then decoded with spaces between them.
        """
        return False

    @property
    def _added_symbols(self) -> tuple[str, ...]:
        """The tokens besides special tokens that encoding finds in any text."""
        return ()

    def _traits(self) -> Traits:
        return replace(super()._traits(), fixed_tokens=self.special_tokens)

    # ---- presets

    def _preset_for(
        self, preset: str | AnyPreset | None, counted: Pipeline | None = None
    ) -> Preset:
        """Return the preset to train with: the named one, the preset of the counts, or the default.

        >>> from piecework.train import BPETrainer
        >>> BPETrainer()._preset_for(None).name, BPETrainer(end_of_word_suffix="</w>")._preset_for(None).name
        ('metaspace', 'whitespace')

        Raises `ArgumentError` for a preset with which the model loses characters or the spaces between
        words, and for counts whose words it cannot have. A `Preset` with a name of your own is checked for a
        byte-level stage only.
        """
        if preset is None and counted is not None:
            return self._preset_of_counts(counted)
        chosen = named_preset(self._presets[0] if preset is None else preset)
        if chosen.pipeline.is_byte_level != self._is_byte_level:
            if self._is_byte_level or not self._knows_all_bytes:
                raise self._unusable(chosen)
        elif PRESETS.get(chosen.name) == chosen and chosen.name not in self._presets:
            raise self._unusable(chosen)
        return chosen

    def _pipeline_with(self, preset: Preset) -> Pipeline:
        """Return the stages that split texts into the words to learn from."""
        return preset.pipeline

    @property
    def _knows_all_bytes(self) -> bool:
        """Whether no character of a byte-level alphabet is unknown to the model."""
        return set(getattr(self, "initial_alphabet", ())).issuperset(BYTE_OF_CHARACTER)

    def _preset_of_counts(self, counted: Pipeline) -> Preset:
        """Return the default preset if it made the counts, else the one of their pipeline, or a new one."""
        default = PRESETS[self._presets[0]]
        if default.pipeline.agrees_with(counted):
            return default
        if counted.lacks_functions:
            expected = "preset=Preset(name, pipeline) with the functions of its stages"
            raise ArgumentError("counts", f"have words of the pipeline {counted}; pass {expected}")
        named = preset_of_pipeline(counted)
        chosen = Preset("of the counts", counted) if named is None else named
        if counted.is_byte_level != self._is_byte_level and not self._knows_all_bytes:
            raise self._unusable_counts(chosen)
        if named is None or named.name in self._presets:
            return chosen
        if self._takes_any_words and not counted.is_byte_level:
            return PresetOfCounts(**vars(named))
        raise self._unusable_counts(named)

    def _unusable_counts(self, preset: Preset) -> ArgumentError:
        """Return the error for counts whose words the model cannot have."""
        named = PRESETS.get(preset.name) == preset
        source = f"preset {preset.name!r}" if named else f"the pipeline {preset.pipeline}"
        if self._is_byte_level:
            why, expected = "", "model 'bpe', or counts made with preset 'gpt2'"
        elif preset.pipeline.is_byte_level:
            why, expected = ", whose words are byte-level", f"model {_byte_level_kind(self.kind)!r}"
        else:
            why = ", whose words it cannot decode"
            others = "" if self.kind == "bpe" else "model 'bpe' or 'unigram', or "
            expected = f"{others}counts made with preset {self._presets[0]!r}"
        hint = self._hint_for(preset)
        problem = f"{self.kind!r} does not support counts of {source}{why}; use {expected}{hint}"
        return ArgumentError("model", problem)

    def _unusable(self, preset: Preset) -> ArgumentError:
        """Return the error for a preset that does not suit the model."""
        are_bytes = preset.pipeline.is_byte_level and not self._is_byte_level
        why = ": its words are bytes" if are_bytes else ""
        other = f"model {_byte_level_kind(self.kind)!r}, or " if are_bytes else ""
        expected = f"{other}one of {', '.join(self._presets)}{self._hint_for(preset)}"
        problem = f"{preset.name!r} does not support model {self.kind!r}{why}; use {expected}"
        return ArgumentError("preset", problem)

    def _hint_for(self, preset: Preset) -> str:
        """Return the setting with which the model takes the words of a preset, "" without one."""
        return ""

    # ---- the tokenizer around a model

    def _specification(self, model: spec.Model, preset: Preset | None = None) -> spec.TokenizerSpec:
        """Return the specification of a learned model with the stages and tokens of a preset."""
        chosen = preset or self._preset_for(None)
        return spec.TokenizerSpec(
            model=model,
            normalizer=chosen.pipeline.normalizer,
            pre_tokenizer=chosen.pipeline.pre_tokenizer,
            post_processor=_post_processor(model, chosen),
            decoder=self._decoder_for(chosen.pipeline),
            added_tokens=self._added_tokens(model.vocab),
        )

    def _decoder_for(self, pipeline: Pipeline) -> spec.Decoder | None:
        """Return the decoder for the words of a pipeline, None where tokens are joined by spaces."""
        if pipeline.is_byte_level:
            return spec.ByteLevelDecoder()
        if pipeline.metaspace:
            return self._metaspace_decoder(pipeline.metaspace)
        return spec.Fuse() if pipeline.pre_tokenizer is None else None

    def _metaspace_decoder(self, metaspace: spec.Metaspace) -> spec.Decoder:
        """Return the decoder for words with a metaspace instead of spaces."""
        return spec.MetaspaceDecoder(
            metaspace.replacement, metaspace.prepend_scheme, metaspace.split
        )

    def _added_tokens(self, vocab: Mapping[str, int]) -> tuple[spec.AddedToken, ...]:
        special = (spec.AddedToken(token, vocab[token]) for token in self.special_tokens)
        symbols = (
            spec.AddedToken(token, vocab[token], special=False) for token in self._added_symbols
        )
        return (*special, *symbols)


def _byte_level_kind(kind: str) -> str:
    """Return the kind of model over bytes to use in place of one over characters."""
    return "byte-unigram" if kind == "unigram" else "byte-bpe"


def _post_processor(model: spec.Model, preset: Preset) -> spec.PostProcessor | None:
    if preset.single:
        return preset.template(model.vocab)
    return spec.ByteLevelProcessing(trim_offsets=False) if preset.pipeline.is_byte_level else None
