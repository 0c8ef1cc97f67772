"""Learn a BPE model: word counts in, `BPE` out, over characters or over bytes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Final

from piecework._internal._core import RawCounts, learn_bpe, learn_bpe_by_source
from piecework._internal.setting_fields import (
    Choice,
    Integer,
    Switch,
    Text,
    check_settings,
    documented,
    setting,
    settings_of,
)
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Self, Unpack
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, TrainingWarning
from piecework.spec import BPE, BPEDecoder, Decoder, Model, WordPieceDecoder
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.counts import AnyCounts, Counts
from piecework.train.learned import LearnedVocabulary, Merge, VocabularyTrainer
from piecework.train.presets import (
    PRESETS,
    AnyPreset,
    Pipeline,
    Preset,
    has_sequences,
    pipeline_within_punctuation,
    preset_of_pipeline,
    preset_of_words,
)
from piecework.train.source_counts import measured_sources
from piecework.train.trainer import (
    BYTE_LEVEL,
    SPLIT_AT_SPACES,
    Amount,
    LearnOptions,
    PresetTrainer,
    Traits,
    WordSizes,
    memory_of_merges,
    memory_of_parity,
)
from piecework.train.trainers import common

BYTE_ALPHABET: Final[tuple[str, ...]] = tuple(sorted(BYTE_OF_CHARACTER))
"""The 256 characters of the byte-level alphabet in code point order (GPT-2, Radford et al. 2019)."""

_BYTES_BY_VALUE = tuple(sorted(BYTE_OF_CHARACTER, key=BYTE_OF_CHARACTER.__getitem__))
_COUNT_SOURCES = (
    "pass count_sources({name: files, ...}, parallel={name: files, ...}) to train_from_counts"
)
_PARITY_SETTINGS = ("parity_unit", "parity_window", "global_merges")
_NOT_OF_MERGES = frozenset(
    ("unk_token", "parity", *_PARITY_SETTINGS, "transition", "max_words", "cross_punctuation")
)
_SEQUENCES: Final = tuple(name for name in BYTE_LEVEL if has_sequences(PRESETS[name]))


@dataclass(frozen=True)
class _AnyBPETrainer(VocabularyTrainer[BPE], PresetTrainer):
    """What the trainers over characters and over bytes share."""

    vocab_size: int = setting(30_000, common.VOCAB_SIZE)
    min_frequency: int = setting(2, common.MIN_FREQUENCY)
    special_tokens: tuple[str, ...] = setting(("<unk>",), common.SPECIAL_TOKENS)
    max_token_length: int | None = setting(None, common.MAX_TOKEN_LENGTH)
    ties: str = setting(
        "lowest-ids",
        Choice(
            "Which of several equally frequent pairs to merge first; first-seen needs counts with positions.",
            names=("lowest-ids", "greatest-strings", "first-seen"),
        ),
    )
    alphabet_order: str = setting(
        "sorted",
        Choice(
            "Order of the alphabet in the vocabulary: by code points, by first occurrence in the corpus, or "
            "as in the initial alphabet.",
            names=common.ALPHABET_ORDERS,
        ),
    )
    parity: bool = setting(
        False,
        Switch(
            "Let the source (such as a language) whose text takes the most tokens choose each merge; needs "
            "counts of several sources."
        ),
    )
    parity_unit: str | None = setting(
        None,
        Choice(
            "Without parallel texts, compare the tokens per byte, character or word of the sources; only for "
            "sources of one script.",
            names=("bytes", "characters", "words"),
            none="compare the tokens of parallel texts",
        ),
    )
    parity_window: int | None = setting(
        None,
        Integer(
            "Number of recent merges of which a source may choose at most twice its equal share.",
            least=1,
            none="no limit",
        ),
    )
    global_merges: int = setting(
        0,
        Integer(
            "Number of first merges that are chosen by the counts of all sources.",
            least=0,
        ),
    )
    transition: int | float | None = setting(
        None, common.transition_setting("preset o200k-superwords")
    )
    max_words: int | None = setting(4, common.MAX_WORDS)
    cross_punctuation: bool = setting(True, common.CROSS_PUNCTUATION)

    def __post_init__(self) -> None:
        check_settings(self)
        for name, (_, default) in settings_of(type(self)).items():
            if name in _PARITY_SETTINGS and not self.parity and getattr(self, name) != default:
                raise ArgumentError(name, f"{getattr(self, name)!r} needs parity")
        common.check_transition(self.transition, self.vocab_size)
        if self.transition is not None and self.parity:
            raise ArgumentError("transition", "cannot be combined", also=["parity"])

    @property
    def _nests(self) -> bool:
        """Whether a smaller vocabulary is the beginning of a larger one: not with a share of each size."""
        return not isinstance(self.transition, float)

    def _traits(self) -> Traits:
        traits = super()._traits()
        return replace(traits, learns_together=self._nests, learns_by_source=self.parity)

    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        if self.transition is not None:
            words = common.sizes_of_sequences(words)
        return memory_of_parity(words) if self.parity else memory_of_merges(words)

    def learn_vocabulary(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> LearnedVocabulary:
        """Return the vocabulary and every merge with its count; `num_threads` changes neither.

        With `parity`, the score of a merge is its count in the source that chose it.
        """
        return self._by_characters()._learn(counts, progress, how, byte_level=self._is_byte_level)

    def _model_of(self, learned: LearnedVocabulary) -> BPE:
        """Return the model of a learned vocabulary, with the warning of `learn`."""
        if learned.stopped_early:
            warn(f"stopped early: {learned.stopped_early}", TrainingWarning)
        settings = self._by_characters()
        return BPE(
            vocab=common.vocabulary_of(learned.entries),
            # A learner can merge one pair twice; the first merge decides the rank.
            merges=tuple(dict.fromkeys((merge.left, merge.right) for merge in learned.merges)),
            unk_token=settings.unk_token,
            continuing_subword_prefix=settings.continuing_subword_prefix or None,
            end_of_word_suffix=settings.end_of_word_suffix or None,
        )

    @abstractmethod
    def _by_characters(self) -> BPETrainer:
        """Return the trainer over characters that learns the same merges."""

    def _sized(self, vocab_size: int) -> Self:
        """Return the trainer with another size, without a transition that is out of reach."""
        if isinstance(self.transition, int) and self.transition >= vocab_size:
            return replace(self, vocab_size=vocab_size, transition=None)
        return super()._sized(vocab_size)

    def _preset_for(
        self, preset: str | AnyPreset | None, counted: Pipeline | None = None
    ) -> Preset:
        """Return the preset to train with; raise `ArgumentError` for counts without sequences of words."""
        if self.transition is not None and counted is not None:
            _preset_of_words(counted)
        return super()._preset_for(preset, counted)

    def _check_before_counting(self, files: int | None = None) -> None:
        """Raise for settings with which learning fails for every corpus."""
        if self._is_byte_level:
            self._by_characters()._check_before_counting(files)
            return
        super()._check_before_counting(files)
        if self.parity and files is not None:
            self._check_sources(files)

    def _check_sources(self, files: int) -> None:
        """Raise `ArgumentError` for parity without sources, or without what compares their tokens."""
        if files < 2:
            found = "an iterator has none" if files == 0 else "there is one file"
            raise ArgumentError("parity", f"needs sources, and {found}: {_COUNT_SOURCES}")
        if self.parity_unit is None:
            otherwise = "or, for languages of one script, pass a parity_unit"
            problem = f"needs a parallel text for each file: {_COUNT_SOURCES}, {otherwise}"
            raise ArgumentError("parity", problem)

    def _smallest_model(self) -> Model:
        """Return a model with the special tokens, the smallest alphabet and one merge."""
        settings = self._by_characters()
        last = "a" + settings.end_of_word_suffix
        merge = Merge("a", settings.continuing_subword_prefix + last, "a" + last, 1, 1.0)
        alphabet = settings.initial_alphabet if self._is_byte_level else ("a",)
        entries = dict.fromkeys((*self.special_tokens, *alphabet, merge.right, merge.token))
        return self._model_of(LearnedVocabulary(tuple(entries), (merge,), None))


@documented
@dataclass(frozen=True)
class BPETrainer(_AnyBPETrainer):
    """Learn merges of characters: repeatedly replace the most frequent pair by one token.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = BPETrainer(vocab_size=11, special_tokens=("<unk>",)).learn(counts)
    >>> model.merges
    (('u', 'g'), ('u', 'n'), ('h', 'ug'))

    `vocab_size` counts special tokens and alphabet: an alphabet of 478 and 40,000 merges make 40,478 entries.
    Among equally frequent pairs, `ties` selects the one with the lower ids, as `tokenizers` does, with the
    greater strings, as subword-nmt does, or the one that occurs first in the corpus, as tiktoken's teaching
    module does. "first-seen" needs counts with first positions.

    Source: Sennrich et al. 2016, section 3.2.
    """

    kind = "bpe"
    _model_class = BPE
    _title = "BPE"

    limit_alphabet: int | None = setting(None, common.LIMIT_ALPHABET)
    initial_alphabet: tuple[str, ...] = setting((), common.INITIAL_ALPHABET)
    continuing_subword_prefix: str = setting(
        "", Text("Prefix of each character except the first of a word.", metavar="PREFIX")
    )
    end_of_word_suffix: str = setting(
        "", Text("Suffix of the last character of a word, such as </w>.", metavar="SUFFIX")
    )
    unk_token: str | None = setting(
        "<unk>", replace(common.UNK_TOKEN, none="unknown characters are dropped")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        common.add_unknown_token(self)
        if self.transition is not None and self._marks_words:
            problem = "cannot be combined with a prefix or suffix: entries begin inside words"
            raise ArgumentError("transition", problem)

    @property
    def _presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text.

        Without a prefix or a suffix, tokens do not show where words begin, so spaces must be characters.
        "whitespace" is an exception for published examples: it decodes with spaces inside words.
        """
        if self._marks_words:
            return tuple(dict.fromkeys(("whitespace", *SPLIT_AT_SPACES)))
        if self.transition is not None:
            return _SEQUENCES
        return ("metaspace", "sentencepiece", "whitespace", "characters")

    def _words_and_sequences(self, counts: Counts) -> tuple[RawCounts, RawCounts | None]:
        """Return the counts of single words, and of the sequences that entries may cross."""
        if self.transition is None:
            return counts._raw, None
        sequences = counts._raw
        words = sequences.split(_preset_of_words(counts.pipeline).pipeline.to_json())
        if not self.cross_punctuation and counts.pipeline is not None:
            sequences = sequences.split(pipeline_within_punctuation(counts.pipeline).to_json())
        return words, sequences

    @property
    def _marks_words(self) -> bool:
        return bool(self.end_of_word_suffix or self.continuing_subword_prefix)

    def _decoder_for(self, pipeline: Pipeline) -> Decoder | None:
        """Return the decoder for the words of a pipeline, None where tokens are joined by spaces."""
        if self._marks_words and not pipeline.is_byte_level:
            if self.end_of_word_suffix:
                return BPEDecoder(suffix=self.end_of_word_suffix)
            return WordPieceDecoder(self.continuing_subword_prefix, cleanup=False)
        return super()._decoder_for(pipeline)

    def _by_characters(self) -> BPETrainer:
        """Return the trainer itself: its alphabet already is characters."""
        return self

    @property
    def _takes_any_words(self) -> bool:
        """Whether the model learns from counts of words that do not show where words begin."""
        return not self._marks_words

    def _hint_for(self, preset: Preset) -> str:
        if preset.name in SPLIT_AT_SPACES:
            return ', or end_of_word_suffix="</w>", to decode the spaces between words'
        return ""

    def _learn(
        self,
        counts: AnyCounts,
        progress: Progress,
        how: LearnOptions,
        *,
        byte_level: bool,
    ) -> LearnedVocabulary:
        counts = common.checked_counts(counts)
        settings = common.core_settings(self, without=_NOT_OF_MERGES)
        settings["num_threads"] = thread_count(how.get("num_threads"))
        checkpoint = how.get("checkpoint")
        if self.transition is not None:
            fixed = len({*BYTE_ALPHABET, *self.special_tokens})
            transition = common.core_transition(self.transition, self.vocab_size, fixed)
            settings["superwords"] = {**transition, "max_words": self.max_words}
        if not self.parity:
            words, sequences = self._words_and_sequences(counts)
            with common.resumable(self, counts, progress, checkpoint) as run:
                learned = learn_bpe(words, settings, sequences=sequences, **run)
            return LearnedVocabulary._of(learned)
        counts = measured_sources(counts, self.parity_unit)
        parity = {
            "unit": self.parity_unit,
            "byte_level": byte_level,
            "window": self.parity_window or 0,
            "global_merges": self.global_merges,
        }
        sources, parallel = (
            [one._raw for one in group.values()] for group in (counts.sources, counts.parallel)
        )
        with common.resumable(self, counts, progress, checkpoint) as run:
            learned = learn_bpe_by_source(sources, settings, parity, parallel=parallel, **run)
        return LearnedVocabulary._of(learned)


@documented
@dataclass(frozen=True)
class ByteBPETrainer(_AnyBPETrainer):
    """Learn merges of bytes; the alphabet is all 256 bytes, so no text is unknown.

    >>> from piecework.train import count_texts
    >>> trainer = ByteBPETrainer(vocab_size=257 + 2, min_frequency=1)
    >>> trainer.learn(count_texts(["hug pug hug"], preset="gpt2")).merges
    (('u', 'g'), ('h', 'ug'))

    The settings are the same as for `BPETrainer`. The `vocab_size` of GPT-2 is 256 bytes, 50,000 merges and
    one special token: 50,257. Counts must come from a byte-level pipeline. `alphabet_order` is "sorted", the
    256 characters that stand for the bytes by code points, as in GPT-2, or "byte-values", the bytes by value.
    With `ties="first-seen"` and "byte-values", ids equal the ids of tiktoken's teaching module.
    """

    kind = "byte-bpe"
    _title = "byte-level BPE"
    _is_byte_level = True

    vocab_size: int = setting(50_257, common.VOCAB_SIZE)
    special_tokens: tuple[str, ...] = setting(("<|endoftext|>",), common.SPECIAL_TOKENS)
    max_token_length: int | None = setting(
        None, Integer("Longest entry to learn, in bytes.", least=1, none="no limit")
    )
    alphabet_order: str = setting(
        "sorted",
        Choice(
            "Order of the bytes in the vocabulary: by the characters that stand for them, as in GPT-2, or by "
            "value.",
            names=("sorted", "byte-values"),
        ),
    )

    unk_token = None  # every byte is an entry

    @property
    def _presets(self) -> tuple[str, ...]:
        """The names of the presets whose words are bytes."""
        if self.transition is not None:
            return _SEQUENCES
        return tuple(name for name in BYTE_LEVEL if name not in _SEQUENCES)

    def _hint_for(self, preset: Preset) -> str:
        if preset.name in _SEQUENCES:
            return ", or transition=, the number of entries before those that cross spaces"
        return ""

    def _by_characters(self) -> BPETrainer:
        """Return the trainer over the byte-level alphabet that learns the same merges."""
        by_value = self.alphabet_order == "byte-values"
        characters: dict[str, Any] = {
            "initial_alphabet": _BYTES_BY_VALUE if by_value else BYTE_ALPHABET,
            "alphabet_order": "given" if by_value else "sorted",
            "unk_token": None,
        }
        return BPETrainer(**{**vars(self), **characters})


def _preset_of_words(sequences: Pipeline | None) -> Preset:
    """Return the preset of the words of sequences; raise `ArgumentError` for counts of other words."""
    words = None if sequences is None else preset_of_words(sequences)
    if words is None:
        named = None if sequences is None else preset_of_pipeline(sequences)
        source = f"preset {named.name!r}" if named else f"the pipeline {sequences or 'unknown'}"
        names = " or ".join(f"preset {name!r}" for name in _SEQUENCES)
        problem = (
            f"have words of {source}; transition needs sequences of words: count again with {names}"
        )
        raise ArgumentError("counts", problem)
    return words
