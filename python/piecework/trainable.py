"""What a tokenizer learns: a vocabulary from files, texts or counts, new or for the same pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from piecework._internal.lazy import hints, pw, typing
from piecework._internal.progress import progress_bar
from piecework._internal.validation import PathLike
from piecework.encoding import Encoding

TYPE_CHECKING = False


class Trainable:
    """The half of `Tokenizer` that learns; the other half gives `spec` and `from_spec`."""

    if TYPE_CHECKING:

        @property
        def spec(self) -> pw.TokenizerSpec:  # noqa: D102
            ...

        def encode(self, text: str) -> Encoding:  # noqa: D102
            ...

        @classmethod
        def from_spec(cls, spec: pw.TokenizerSpec) -> hints.Self:  # noqa: D102
            ...

        def _derived(self, spec: pw.TokenizerSpec) -> hints.Self: ...

    @classmethod
    def train(
        cls,
        files: PathLike | Sequence[PathLike],
        trainer: pw.train.Trainer | None = None,
        *,
        model: str | None = None,
        preset: str | pw.train.Preset | pw.train.SentencePiecePreset | None = None,
        field: str | None = None,
        errors: typing.Literal["replace", "strict"] = "replace",
        num_threads: int | None = None,
        show_progress: bool = False,
        **settings: hints.Unpack[pw.train.TrainSettings],
    ) -> hints.Self:
        """Learn a tokenizer from files: plain text or JSONL, plain, gzip or zstd; directories; `-`.

        `model` is "wordpiece" (if nothing is said), "bpe", "byte-bpe", "unigram", "sentencepiece", "word"
        or "char", the settings are those of its trainer: `vocab_size`, `min_frequency`, ...; or give the
        trainer itself. `preset` names the pipeline around the model (`piecework.train.PRESETS`:
        "bert-uncased", "gpt2", ...) or is a `Preset` of your own; of SentencePiece's ("t5", "llama",
        "albert", "xlnet" of `SENTENCEPIECE_PRESETS`) it names the settings of `SentencePieceTrainer`, of
        which `model` can then be another type. `field` is the text field of JSON lines (None: "text");
        stdin is read as JSON lines if it is given. The result does not depend on `num_threads`.
        `show_progress` draws bars on a terminal, and prints a line every 30 seconds elsewhere.

        Raises `FileError`, `CorpusError`, `TrainingError`, `ArgumentError`.
        """
        from piecework.train import Plan, count_files, read_corpus, sentences_of

        plan = Plan.of(trainer, model, preset, settings)
        if plan.tests:
            texts = sentences_of(read_corpus(files, field=field, errors=errors), errors)
            return cls._trained(texts, plan, num_threads, show_progress)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_files(
                files,
                pipeline=plan.pipeline,
                field=field,
                errors=errors,
                num_threads=num_threads,
                progress=progress,
                sentences=plan.sentences,
            )
        return cls._learned(counts, plan, num_threads, show_progress)

    @classmethod
    def train_from_iterator(
        cls,
        texts: Iterable[str],
        trainer: pw.train.Trainer | None = None,
        *,
        model: str | None = None,
        preset: str | pw.train.Preset | pw.train.SentencePiecePreset | None = None,
        num_threads: int | None = None,
        show_progress: bool = False,
        **settings: hints.Unpack[pw.train.TrainSettings],
    ) -> hints.Self:
        """Learn a tokenizer from texts, each a string.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.get_vocab_size()
        5
        """
        from piecework.train import Plan

        plan = Plan.of(trainer, model, preset, settings)
        return cls._trained(texts, plan, num_threads, show_progress)

    @classmethod
    def train_from_counts(
        cls,
        counts: pw.Counts,
        trainer: pw.train.Trainer | None = None,
        *,
        model: str | None = None,
        preset: str | pw.train.Preset | pw.train.SentencePiecePreset | None = None,
        num_threads: int | None = None,
        show_progress: bool = False,
        **settings: hints.Unpack[pw.train.TrainSettings],
    ) -> hints.Self:
        """Learn a tokenizer from word counts, wherever they were made."""
        from piecework.train import Plan

        return cls._learned(
            counts, Plan.of(trainer, model, preset, settings), num_threads, show_progress
        )

    def train_new_from_iterator(
        self,
        texts: Iterable[str],
        vocab_size: int,
        *,
        num_threads: int | None = None,
        show_progress: bool = False,
        **settings: hints.Unpack[pw.train.RetrainSettings],
    ) -> hints.Self:
        """Learn a new vocabulary for the same pipeline, model kind and special tokens."""
        from piecework.train import count_texts, pipeline_of, relearn_spec

        pipeline = pipeline_of(self.spec)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_texts(
                texts, pipeline=pipeline, num_threads=num_threads, progress=progress
            )
        with progress_bar("learning", shown=show_progress) as progress:
            spec = relearn_spec(
                self.spec, counts, vocab_size, settings, progress=progress, num_threads=num_threads
            )
        return self._derived(spec)

    @classmethod
    def _trained(
        cls, texts: Iterable[str], plan: pw.train.Plan, num_threads: int | None, show_progress: bool
    ) -> hints.Self:
        from piecework.train import Reservoir, count_texts

        samples: Reservoir[str] = Reservoir(plan.tests, plan.sentences.seed)
        if plan.tests:
            texts = samples.watching(texts, plan.sentences.keep)
        with progress_bar("counting", shown=show_progress) as progress:
            counts = count_texts(
                texts,
                pipeline=plan.pipeline,
                num_threads=num_threads,
                progress=progress,
                sentences=plan.sentences,
            )
        learned = cls._learned(counts, plan, num_threads, show_progress)
        if not plan.tests:
            return learned
        return learned._with_self_test([plan.sentences.text_of(line) for line in samples.drawn])

    @classmethod
    def _learned(
        cls, counts: pw.Counts, plan: pw.train.Plan, num_threads: int | None, show_progress: bool
    ) -> hints.Self:
        from piecework.train import learn_spec

        with progress_bar("learning", shown=show_progress) as progress:
            spec = learn_spec(
                counts, plan.trainer, plan.preset, progress=progress, num_threads=num_threads
            )
        return cls.from_spec(spec)

    def _with_self_test(self, samples: Sequence[str]) -> hints.Self:
        """Put samples with their pieces into a model of SentencePiece, but for those with unknown ones."""
        from dataclasses import replace

        from piecework.spec import SentencePiece

        model = self.spec.model
        assert isinstance(model, SentencePiece)
        pieces = [(sample, self.encode(sample).tokens) for sample in samples]
        known = [(sample, " ".join(of)) for sample, of in pieces if model.unk_token not in of]
        return self._derived(replace(self.spec, model=replace(model, self_test=tuple(known))))
