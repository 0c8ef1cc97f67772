"""What a tokenizer learns: a vocabulary from files, texts or counts, new or for the same pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from piecework.arguments import PathLike
from piecework.bars import progress_bar

# What learns is imported when something is learned: a tokenizer that is loaded has no need of it.
if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from piecework.spec import TokenizerSpec
    from piecework.train import Counts, Preset, RetrainSettings, Trainer, TrainSettings


class Trainable:
    """The half of `Tokenizer` that learns; the other half gives `spec` and `from_spec`."""

    if TYPE_CHECKING:

        @property
        def spec(self) -> TokenizerSpec:  # noqa: D102
            ...

        @classmethod
        def from_spec(cls, spec: TokenizerSpec) -> Self:  # noqa: D102
            ...

    @classmethod
    def train(
        cls,
        files: PathLike | Sequence[PathLike],
        *,
        model: str = "wordpiece",
        preset: str | Preset | None = None,
        field: str = "text",
        errors: Literal["replace", "strict"] = "replace",
        workers: int | None = None,
        show_progress: bool = False,
        **settings: Unpack[TrainSettings],
    ) -> Self:
        """Learn a tokenizer from files: plain text or JSONL, plain, gzip or zstd; directories; `-`.

        `model` is "wordpiece", "bpe", "byte-bpe", "unigram", "word" or "char"; `preset` names the pipeline
        around it (`piecework.train.PRESETS`: "bert-uncased", "gpt2", "t5", ...) or is a `Preset` of your
        own; `field` is the text field of JSONL lines. The settings are those of the model's trainer:
        `vocab_size`, `min_frequency`, ... The result does not depend on `workers`. `show_progress`
        draws bars on a terminal.

        Raises `FileError`, `CorpusError`, `TrainingError`, `ArgumentError`.
        """
        from piecework.train import count_files, preset_for, trainer_for

        chosen = preset_for(model, preset)
        trainer = trainer_for(model, settings, chosen)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_files(
                files,
                pipeline=chosen.pipeline,
                field=field,
                errors=errors,
                workers=workers,
                progress=progress,
            )
        return cls._learned(counts, trainer, chosen, workers, show_progress)

    @classmethod
    def train_from_iterator(
        cls,
        texts: Iterable[str],
        *,
        model: str = "wordpiece",
        preset: str | Preset | None = None,
        workers: int | None = None,
        show_progress: bool = False,
        **settings: Unpack[TrainSettings],
    ) -> Self:
        """Learn a tokenizer from texts, each a string.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.get_vocab_size()
        5
        """
        from piecework.train import count_texts, preset_for, trainer_for

        chosen = preset_for(model, preset)
        trainer = trainer_for(model, settings, chosen)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_texts(
                texts, pipeline=chosen.pipeline, workers=workers, progress=progress
            )
        return cls._learned(counts, trainer, chosen, workers, show_progress)

    @classmethod
    def train_from_counts(
        cls,
        counts: Counts,
        *,
        model: str = "wordpiece",
        preset: str | Preset | None = None,
        workers: int | None = None,
        show_progress: bool = False,
        **settings: Unpack[TrainSettings],
    ) -> Self:
        """Learn a tokenizer from word counts, wherever they were made."""
        from piecework.train import preset_for, trainer_for

        chosen = preset_for(model, preset)
        trainer = trainer_for(model, settings, chosen)
        return cls._learned(counts, trainer, chosen, workers, show_progress)

    def train_new_from_iterator(
        self,
        texts: Iterable[str],
        vocab_size: int,
        *,
        workers: int | None = None,
        show_progress: bool = False,
        **settings: Unpack[RetrainSettings],
    ) -> Self:
        """Learn a new vocabulary for the same pipeline, model kind and special tokens."""
        from piecework.train import count_texts, pipeline_of, relearn_spec

        pipeline = pipeline_of(self.spec)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_texts(texts, pipeline=pipeline, workers=workers, progress=progress)
        with progress_bar("learning", shown=show_progress) as progress:
            spec = relearn_spec(
                self.spec, counts, vocab_size, settings, progress=progress, workers=workers
            )
        return type(self).from_spec(spec)

    @classmethod
    def _learned(
        cls,
        counts: Counts,
        trainer: Trainer,
        preset: Preset,
        workers: int | None,
        show_progress: bool,
    ) -> Self:
        from piecework.train import learn_spec

        with progress_bar("learning", shown=show_progress) as progress:
            spec = learn_spec(counts, trainer, preset, progress=progress, workers=workers)
        return cls.from_spec(spec)
