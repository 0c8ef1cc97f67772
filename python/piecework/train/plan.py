"""The plan of training: choose trainer and preset from arguments, then learn from files, texts or counts.

The preset is resolved once, in `Plan.of`. Later functions take a pipeline.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from piecework._internal import validation as checks
from piecework._internal.names_of_other_libraries import unknown_setting
from piecework._internal.setting_fields import settings_of
from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike
from piecework.corpus.urls import is_url
from piecework.errors import ArgumentError, FileError, InputTypeError
from piecework.spec import TokenizerSpec
from piecework.train.boundaries import Boundaries, check_marker, read_boundaries
from piecework.train.count_checkpoint import delete_count_checkpoint
from piecework.train.counting import (
    CorpusCount,
    CountSettings,
    FileCountSettings,
    counts_of_texts,
)
from piecework.train.counts import Counts, word_counts
from piecework.train.learn import check_words, learn
from piecework.train.learners import LEARNERS
from piecework.train.presets import (
    PRESETS,
    AnyPreset,
    Pipeline,
    Preset,
    has_sequences,
    named_preset,
    preset_of_pipeline,
)
from piecework.train.sentencepiece_presets import (
    SENTENCEPIECE_PRESETS,
    SentencePiecePreset,
    any_preset,
    sentencepiece_preset_of,
)
from piecework.train.sentences import Sentences
from piecework.train.settings import TrainOptions
from piecework.train.source_balance import count_paths
from piecework.train.trainer import Trainer
from piecework.train.trainers import TRAINERS
from piecework.train.trainers.common import DEFAULT_TRANSITION, checked_counts
from piecework.train.trainers.sentencepiece_settings import SENTENCEPIECE_TYPES

if TYPE_CHECKING:
    from piecework._internal.array_types import Texts


@dataclass(frozen=True)
class Plan:
    """The trainer, the preset around its model, and how to train.

    >>> Plan.of(model="word", vocab_size=9).trainer.vocab_size
    9

    `preset` is None if the trainer has its own pipeline and no preset is named. A further option of
    `Tokenizer.train` and its variants is a field here.
    """

    trainer: Trainer
    preset: AnyPreset | None
    num_threads: int | None = None
    progress: Progress = None
    memory: int | str | None = None
    checkpoint: PathLike | None = None
    boundaries: Boundaries | None = None
    boundary_marker: str | None = None

    def __post_init__(self) -> None:
        if self.boundaries is None and self.boundary_marker is None:
            return
        if self.boundaries is not None and self.boundary_marker is not None:
            raise ArgumentError("boundaries", "cannot be combined", also=["boundary_marker"])
        name = "boundaries"
        if self.boundary_marker is not None:
            name = "boundary_marker"
            check_marker(self.boundary_marker)
        for setting in ("parity", "transition"):
            if getattr(self.trainer, setting, None):
                raise ArgumentError(name, "cannot be combined", also=[setting])
        if isinstance(self.boundaries, str | os.PathLike):
            # A lexicon with an error is refused before the corpus is read.
            object.__setattr__(self, "boundaries", read_boundaries(self.boundaries))

    @classmethod
    def of(
        cls,
        trainer: Trainer | None = None,
        *,
        counted: Pipeline | None = None,
        **options: Unpack[TrainOptions],
    ) -> Plan:
        """Return the plan for a trainer, or for a kind of model and the settings of its trainer.

        Without `model`, the preset decides it: "gpt2" means byte-level BPE, most others WordPiece. With a
        SentencePiece preset, `model` is one of the SentencePiece types, and "sentencepiece" means the type of
        the preset. `counted` is the pipeline of counts, which replaces the default preset and, as the preset
        would, the default model. Raises `ArgumentError` for arguments in conflict, and for counts that the
        model does not support.
        """
        settings: dict[str, Any] = {**options}
        model, preset = settings.pop("model", None), settings.pop("preset", None)
        names = {field.name for field in fields(cls)} & settings.keys()
        how = {name: settings.pop(name) for name in names}
        model = model.lower() if isinstance(model, str) else model
        if trainer is not None:
            _check_trainer(trainer, model, preset, settings)
        chosen: AnyPreset | None = None if preset is None else any_preset(preset)
        named = chosen
        if named is None and counted is not None and trainer is None:
            model, named = _model_and_preset_of(counted, model, settings)
            chosen = named if isinstance(named, SentencePiecePreset) else None
        if trainer is None:
            trainer = _trainer(model, named, settings)
        chosen = trainer._preset_for(chosen, counted)
        if counted is not None:
            check_words(counted, trainer, chosen)
        return cls(trainer, chosen, **how)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The stages that split texts into words."""
        return self.trainer._pipeline_with(self.preset)

    @property
    def sentences(self) -> Sentences:
        """The rules that select the sentences to count."""
        return self.trainer._traits().sentences

    def smallest_spec(self) -> TokenizerSpec:
        """Return a specification as the trainer learns it, with the smallest vocabulary.

        >>> list(Plan.of(model="word").smallest_spec().model.vocab)
        ['[UNK]', 'a']

        A format that cannot store it cannot store the trained tokenizer.
        """
        return self.trainer._specification(self.trainer._smallest_model(), self.preset)

    def roles_in(self, vocab: Mapping[str, int]) -> dict[str, str]:
        """Return the preset's roles whose token is in a vocabulary.

        >>> Plan.of(model="byte-bpe", preset="qwen2").roles_in({"<|endoftext|>": 0})
        {'eos_token': '<|endoftext|>', 'pad_token': '<|endoftext|>'}
        """
        roles = {} if self.preset is None else self.preset.roles
        return {role: token for role, token in roles.items() if token in vocab}

    # ---- run it

    def learn_from_files(
        self, files: PathLike | Sequence[PathLike], **reading: Any
    ) -> TokenizerSpec:
        """Count the words of files and learn from them."""
        self.trainer._check_before_counting(len(_checked_paths(files)))
        settings = FileCountSettings(
            num_threads=self.num_threads,
            sentences=self.sentences,
            memory=self.memory,
            checkpoint=None if self.sentences.size else self.checkpoint,
            keep_checkpoint=True,
            **reading,
        )
        if self.trainer._traits().learns_by_source:
            counts: Counts = count_paths(files, self.pipeline, settings, self.progress)
        else:
            counts = CorpusCount(files, self.pipeline, settings).counts(self.progress)
        spec = self.learn_from_counts(counts)
        if self.checkpoint is not None:
            delete_count_checkpoint(self.checkpoint)
        return spec

    def learn_from_texts(
        self, texts: Iterable[str | Sequence[str]] | Mapping[str, int] | Texts
    ) -> TokenizerSpec:
        """Count the words of texts and learn from them; a mapping is word counts."""
        self.trainer._check_before_counting(0)
        if isinstance(texts, Mapping):
            return self.learn_from_counts(word_counts(texts, "texts"))
        counting = CountSettings(self.num_threads, self.sentences, self.memory)
        return self.learn_from_counts(
            counts_of_texts(texts, self.pipeline, counting, self.progress)
        )

    def bounded(self, counts: Counts | Mapping[str, int]) -> Counts:
        """Return counts with the boundaries of the plan, if it has any.

        >>> plan = Plan.of(model="wordpiece", boundaries={"undo": ["un", "do"]})
        >>> plan.bounded({"undo": 2}).boundaries
        [(2,)]
        """
        counts = checked_counts(counts)
        if self.boundary_marker is not None:
            return counts.with_boundary_marker(self.boundary_marker)
        return counts if self.boundaries is None else counts.with_boundaries(self.boundaries)

    def learn_from_counts(
        self, counts: Counts | Mapping[str, int], training_log: PathLike | None = None
    ) -> TokenizerSpec:
        """Learn from word counts, whose pipeline `of` has checked."""
        counts = self.bounded(counts)
        how = {
            "progress": self.progress,
            "num_threads": self.num_threads,
            "checkpoint": self.checkpoint,
        }
        return learn(counts, self.trainer, self.preset, training_log, self.memory, **how)


def _checked_paths(files: PathLike | Sequence[PathLike]) -> set[PathLike]:
    """Return the distinct paths.

    Raises `FileError` for a text where a path belongs: it has spaces and is not the path of a file.
    """
    paths = (
        [files] if isinstance(files, str | os.PathLike) else checks.listed(files, "files", "paths")
    )
    for path in paths:
        if not isinstance(path, str) or "*" in path or is_url(path):
            continue
        if len(path.split()) > 1 and not os.path.exists(path):
            found = f"{path[:40]!r}{' ...' if len(path) > 40 else ''}"
            problem = f"{found} is not a file; for texts call train_from_iterator"
            error = FileError("files", problem, errno=errno.ENOENT)
            error.filename = path
            raise error
    return set(paths)


# ---- from arguments to a trainer and a preset


def trainer_for(model: str, settings: Mapping[str, Any], preset: Preset | None = None) -> Trainer:
    """Return the trainer of a kind of model with these settings; the preset supplies defaults.

    >>> trainer_for("word", {"vocab_size": 100}).vocab_size
    100

    Raises `ArgumentError` for an unknown model, an unknown setting (the message lists the known ones) or
    an invalid value.
    """
    checks.check_choice("model", model, tuple(TRAINERS))
    known = settings_of(TRAINERS[model])
    for name, value in settings.items():
        if name not in known:
            raise _unknown_setting(name, value, model)
    defaults = preset.tokens_for(known) if preset else {}
    if preset and has_sequences(preset) and "transition" in known:
        defaults |= {"transition": DEFAULT_TRANSITION}
    return TRAINERS[model](**{**defaults, **settings})


def _unknown_setting(name: str, value: object, model: str) -> InputTypeError:
    """Return the error for an unknown setting; the hint says which models or learners have it."""
    known = settings_of(TRAINERS[model])
    kinds = [repr(kind) for kind, trainer in TRAINERS.items() if name in settings_of(trainer)]
    learners = [kind.__name__ for kind in LEARNERS.values() if name in settings_of(kind)]
    if kinds:
        hint = f"model{'s' * (len(kinds) > 1)} {' and '.join(kinds)} {'have' if len(kinds) > 1 else 'has'} it"
    elif learners:
        hint = f"model 'wordpiece' has learner={learners[0]}({name}={value!r})"
    elif name in settings_of(FileCountSettings):
        hint = f"count_files has {name}; learn from its counts with train_from_counts"
    else:
        options = ("model", *(field.name for field in fields(Plan) if field.name != "trainer"))
        return unknown_setting(f"a training of model {model!r}", name, [*known, *options])
    return unknown_setting(f"model {model!r}", name, known, hint)


def _check_trainer(
    trainer: Trainer, model: object, preset: object, settings: Mapping[str, Any]
) -> None:
    """Raise for a trainer of another library, and for arguments that cannot be combined with a trainer."""
    if model is not None or settings:
        found = "model" if model is not None else next(iter(settings))
        problem = "cannot be combined; pass settings or a trainer"
        raise ArgumentError(found, problem, also=["trainer"])
    if type(trainer) not in TRAINERS.values():
        expected = "one of the trainers of this library"
        raise ArgumentError("trainer", f"must be {expected}, not {type(trainer).__name__}")
    named = None if preset is None else any_preset(preset)
    if named is not None and trainer._traits().has_own_pipeline:
        expected = "None: a SentencePieceTrainer has settings for the whole pipeline"
        raise ArgumentError("preset", f"must be {expected}, not {preset!r}")
    if isinstance(named, SentencePiecePreset):
        raise _preset_of_other_model(named, trainer.kind)


def _trainer(model: str | None, preset: AnyPreset | None, settings: Mapping[str, Any]) -> Trainer:
    """Return the trainer of a model, or of the model that suits a preset."""
    if isinstance(preset, SentencePiecePreset):
        return _sentencepiece_trainer(model, preset, settings)
    assert preset is None or isinstance(preset, Preset)
    if model == "sentencepiece" and preset is not None:
        raise checks.unknown_choice("preset", preset.name, SENTENCEPIECE_PRESETS)
    return trainer_for(model_of(preset) if model is None else model, settings, preset)


def _sentencepiece_trainer(
    model: str | None, preset: SentencePiecePreset, settings: Mapping[str, Any]
) -> Trainer:
    """Return the trainer of a preset; raise `ArgumentError` for a model that does not suit it."""
    if model in SENTENCEPIECE_TYPES:
        settings = {**settings, "model_type": model}
    elif model not in (None, "sentencepiece"):
        checks.check_choice("model", model, tuple(TRAINERS))
        raise _preset_of_other_model(preset, model)
    merged = preset.settings_with(settings)
    superwords = "transition" not in settings and merged.get("transition") is not None
    if superwords and merged.get("model_type") != "bpe":
        problem = (
            f"{preset.name!r} does not support model {merged.get('model_type')!r}: only "
            "BPE pieces cross spaces; use model 'bpe', or preset 'llama'"
        )
        raise ArgumentError("preset", problem)
    trainer = trainer_for("sentencepiece", merged)
    symbols = set(trainer._traits().fixed_tokens) & set(
        preset.settings.get("user_defined_symbols", ())
    )
    if trainer._traits().detail == "word" and symbols:
        expected = "another model, or preset 't5' or 'llama'"
        problem = (
            f"{preset.name!r} does not support model 'word': its symbols divide "
            f"words; use {expected}"
        )
        raise ArgumentError("preset", problem)
    return trainer


def model_of(preset: Preset | str | None) -> str:
    """Return the model to train with a preset, if the caller names none.

    >>> model_of(None), model_of("gpt2"), model_of("metaspace")
    ('wordpiece', 'byte-bpe', 'bpe')
    """
    if preset is None:
        return "wordpiece"
    chosen = named_preset(preset)
    if chosen.pipeline.is_byte_level:
        return "byte-bpe"
    models = {"sentencepiece": "unigram", "metaspace": "bpe", "characters": "char"}
    return models.get(chosen.name, "wordpiece")


def _preset_of_other_model(preset: SentencePiecePreset, kind: str) -> ArgumentError:
    types = ", ".join(SENTENCEPIECE_TYPES)
    expected = f"no model or one of {types}, or another preset: {', '.join(PRESETS)}"
    return ArgumentError(
        "preset", f"{preset.name!r} does not support model {kind!r}; use {expected}"
    )


def _model_and_preset_of(
    counted: Pipeline, model: str | None, settings: Mapping[str, Any]
) -> tuple[str | None, AnyPreset | None]:
    """Return the model and the preset for counts of a pipeline; None means the default."""
    if model == "sentencepiece" and _counts_with(counted, settings):
        return model, None
    of_sentencepiece = sentencepiece_preset_of(counted)
    if of_sentencepiece is not None or model == "sentencepiece":
        return model, of_sentencepiece
    named = preset_of_pipeline(counted)
    if model is None:
        model = "byte-bpe" if counted.is_byte_level else model_of(named)
    return model, named


def _counts_with(counted: Pipeline, settings: Mapping[str, Any]) -> bool:
    """Return whether a `SentencePieceTrainer` with these settings counts with this pipeline."""
    trainer = trainer_for("sentencepiece", settings)
    return trainer._pipeline_with(None).agrees_with(counted)
