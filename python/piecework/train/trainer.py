"""What every trainer is: settings that say which model to learn from word counts.

`Trainer` is all that counting, learning, checkpoints, memory budgets, traces and the command line know of a
trainer. `VocabularyTrainer` is what trainers of entries and merges share, `PresetTrainer` in `preset_trainer`
what those with the pipeline of a preset share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from piecework._internal.counted import counted
from piecework._internal.renamed_arguments import reject_former_name
from piecework._internal.types import Progress, Self
from piecework._internal.validation import PathLike
from piecework.attributes.names_of_other_libraries import reject_setting
from piecework.errors import ArgumentError, FormatError, InputTypeError, TrainingError
from piecework.spec import Model, TokenizerSpec
from piecework.train.counts import Counts
from piecework.train.learned import LearnedVocabulary
from piecework.train.learners import LEARNERS
from piecework.train.pipeline import Pipeline
from piecework.train.presets import AnyPreset
from piecework.train.sentences import Sentences
from piecework.train.word_sizes import Amount, WordSizes

Resumption: TypeAlias = Literal["merges", "choices", "round"]
"""What restores an interrupted run: the argument of `LearningLog` with its name."""


class Trainer(ABC):
    """The settings of a training, a frozen dataclass for each kind of model.

    >>> from piecework.train import WordPieceTrainer
    >>> isinstance(WordPieceTrainer(), Trainer)
    True
    """

    kind: ClassVar[str]
    """The name of the kind of model in `TRAINERS`, such as "wordpiece"."""

    title: ClassVar[str]
    """The kind of model as prose names it."""

    model_class: ClassVar[type[Model] | None] = None
    """The class of the models that are trained anew with this trainer, None for no class."""

    has_own_pipeline: ClassVar[bool] = False
    """Whether the settings determine the pipeline, so that it does not come from a preset."""

    sections: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The headings of a long list of settings, by the first setting of each."""

    vocab_size: Any  # an int; None stands for every unit of the corpus

    # ---- learning

    @abstractmethod
    def learn(
        self,
        counts: Counts | Mapping[str, int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Model:
        """Return the model; `num_threads` does not change it."""

    def learn_models(
        self,
        counts: Counts | Mapping[str, int],
        sizes: Sequence[int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> dict[int, Model]:
        """Return the model of each size, learned in one run if `learns_together`."""
        return {
            size: self.sized(size).learn(counts, progress, num_threads, checkpoint=checkpoint)
            for size in sizes
        }

    @property
    def nests(self) -> bool:
        """Whether a smaller vocabulary is the beginning of a larger one."""
        return False

    @property
    def learns_together(self) -> bool:
        """Whether one run learns several sizes."""
        return self.nests

    @property
    def merges_pairs(self) -> bool:
        """Whether learning merges pairs, which a training log lists."""
        return False

    @property
    def learns_by_source(self) -> bool:
        """Whether learning needs the counts of each source: `SourceCounts`."""
        return False

    @property
    def _source_unit(self) -> str | None:
        """The unit by which sources are compared, None for parallel texts."""
        return None

    def _without_sources(self) -> Trainer:
        """Return the trainer that learns in the same way from the sum of the sources."""
        return self

    @property
    def detail(self) -> str:
        """The learner or the type of model within the kind, "" without one."""
        return ""

    def sized(self, vocab_size: int) -> Self:
        """Return the trainer with another size."""
        return replace(self, vocab_size=vocab_size)  # type: ignore[type-var]

    # ---- resources

    @abstractmethod
    def memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""

    @property
    def resumption(self) -> Resumption | None:
        """What a checkpoint stores; None for a trainer that starts again after an interruption."""
        return None

    @property
    def checkpoint_settings(self) -> dict[str, Any]:
        """The settings that a checkpoint must agree with."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]

    # ---- the tokenizer around the model

    @abstractmethod
    def preset_for(self, preset: str | AnyPreset | None, counted: Pipeline | None) -> Any:
        """Return the preset to train with: the named one, that of counts, or the default.

        Raises `ArgumentError` for a preset that does not suit the model.
        """

    @abstractmethod
    def pipeline_with(self, preset: Any) -> Pipeline:
        """Return the stages that split texts into the words to learn from."""

    @abstractmethod
    def specification(self, model: Any, preset: Any = None) -> TokenizerSpec:
        """Return the specification of a learned model with the stages and tokens of a preset."""

    @abstractmethod
    def smallest_model(self) -> Model:
        """Return a model with the special tokens and the smallest alphabet, which needs no counts."""

    @property
    def sentences(self) -> Sentences:
        """The texts to learn from."""
        return Sentences()

    @property
    def self_tests(self) -> int:
        """The number of sentences to store in the model with their tokens."""
        return 0

    @property
    @abstractmethod
    def fixed_tokens(self) -> tuple[str, ...]:
        """The entries that are not learned from the corpus."""

    # ---- checks before a corpus is read

    def check_before_counting(self, files: int | None = None) -> None:
        """Raise for settings with which learning fails whatever the corpus is.

        `files` is the number of files without parallel texts, 0 for an iterator, None for other corpora.
        Raises `TrainingError` for a `vocab_size` without room for the entries that are not learned and for
        an alphabet, and `ArgumentError`.
        """
        self.check_can_encode()
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
        raise TrainingError("vocab_size", str(self.vocab_size), expected)

    def check_can_encode(self) -> None:  # noqa: B027 - most trainers always have an unknown token
        """Raise `ArgumentError` if the model would have no unknown token but needs one."""

    @property
    def _reserved_entries(self) -> tuple[str, ...]:
        """The entries that come before the alphabet."""
        return self.fixed_tokens

    @property
    def needs_positions(self) -> str | None:
        """The setting that needs counts with first positions, None without one."""
        names = ("ties", "alphabet_order")
        return next((name for name in names if getattr(self, name, None) == "first-seen"), None)

    # ---- settings

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Check the names of the settings."""
        cls.check_names(settings)
        known = cls.setting_names()
        for name in settings:
            if name not in known:
                reject_setting(cls.__name__, name, known)
        return super().__new__(cls)

    @classmethod
    def check_names(cls, settings: Mapping[str, Any]) -> None:
        """Raise `ArgumentError` for a setting that another trainer or an earlier version has."""
        if "learner" in settings and "learner" not in cls.setting_names():
            names = ", ".join(f"{kind.__name__}()" for kind in LEARNERS.values())
            message = (
                f"{cls.__name__} has no setting learner; WordPieceTrainer takes {names}, and "
                f"the Unigram trainers Pruning(); this one has {', '.join(cls.setting_names())}"
            )
            raise InputTypeError("learner", message=message)
        reject_former_name(settings, "seed_size", "seed_vocab_size")

    @classmethod
    def setting_names(cls) -> dict[str, None]:
        """Return the names of the settings, in order."""
        return dict.fromkeys(field.name for field in fields(cls))  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled trainer; raise `FormatError` for one of an earlier version."""
        missing = self.setting_names() - state.keys()
        if missing:
            found = f"no {', '.join(sorted(missing))}: an earlier version wrote it"
            message = (
                f"the pickled {type(self).__name__} has {found}; make it again with this version"
            )
            raise FormatError(f"pickled {type(self).__name__}", message=message)
        self.__dict__.update(state)


ModelT = TypeVar("ModelT", bound=Model)


class VocabularyTrainer(Trainer, Generic[ModelT]):
    """A trainer whose result is a `LearnedVocabulary`: entries, and merges if it merges pairs."""

    def learn(
        self,
        counts: Counts | Mapping[str, int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> ModelT:
        """Return the model; warns with `TrainingWarning` if it is small or has mostly rare entries.

        Raises `TrainingError` if special tokens and alphabet exceed `vocab_size`, `CorpusError` if there
        are no words, and `ArgumentError` for "first-seen" if counts lack first positions.
        """
        learned = self.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        return self.model_of(learned)

    @abstractmethod
    def learn_vocabulary(
        self,
        counts: Counts | Mapping[str, int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedVocabulary:
        """Return the entries and every merge."""

    @abstractmethod
    def model_of(self, learned: LearnedVocabulary) -> ModelT:
        """Return the model of a learned vocabulary, with the warnings of `learn`."""

    @property
    def nests(self) -> bool:
        """Whether a smaller vocabulary is the beginning of a larger one."""
        return self.merges_pairs

    @property
    def merges_pairs(self) -> bool:
        """Whether learning merges pairs, which a training log lists."""
        return True

    def learn_models(
        self,
        counts: Counts | Mapping[str, int],
        sizes: Sequence[int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> dict[int, Model]:
        """Return the model of each size, learned in one run if `learns_together`."""
        if not self.nests:
            return super().learn_models(counts, sizes, progress, num_threads, checkpoint=checkpoint)
        largest = self.sized(max(sizes))
        learned = largest.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        return {size: self._model_of_prefix(learned, size) for size in sizes}

    def _model_of_prefix(self, learned: LearnedVocabulary, size: int) -> Model:
        """Return the model of the first entries; raise `TrainingError` if they lack the alphabet."""
        needed = learned._first_size()
        if size < needed:
            expected = f"at least {needed} (special tokens and alphabet)"
            raise TrainingError("vocab_size", str(size), expected)
        return self.sized(size).model_of(learned.prefix(size))


def merging_trainer(trainer: Trainer) -> VocabularyTrainer[Any]:
    """Return a trainer that merges pairs; raise `ArgumentError` for another, which has nothing to log.

    >>> from piecework.train import BPETrainer
    >>> merging_trainer(BPETrainer()).kind
    'bpe'
    """
    if isinstance(trainer, VocabularyTrainer) and trainer.merges_pairs:
        return trainer
    expected = "a trainer that merges pairs: BPE, or WordPiece with learner=Merges()"
    raise ArgumentError("training_log", f"= needs {expected}, not the {trainer.kind} trainer")
