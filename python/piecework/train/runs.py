"""Training runs: files, texts or counts and a plan in, a tokenizer specification out."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from piecework._internal.memory_budget import memory_budget
from piecework._internal.renamed_arguments import reject_former_name
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.corpus.iterables import rows_of_texts, text_total
from piecework.corpus.rows import Rows
from piecework.corpus.skipped import OnError
from piecework.corpus.urls import is_url
from piecework.errors import FileError, InputTypeError
from piecework.spec import SentencePiece, TokenizerSpec
from piecework.train.corpus_count import CountOptions, CountSettings
from piecework.train.count_checkpoint import delete_count_checkpoint
from piecework.train.counting import count_files, count_rows, count_texts
from piecework.train.counts import Counts, word_counts
from piecework.train.learn import learn_spec, pipeline_of
from piecework.train.plan import Plan
from piecework.train.relearn import relearn_spec
from piecework.train.sentences import Reservoir, RowsToCount, Sentences, rows_of_corpus
from piecework.train.source_counting import count_paths

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from piecework._internal.array_types import Texts
    from piecework.train.settings import RetrainSettings

TokensOf = Callable[[TokenizerSpec, Sequence[str]], list[list[str]]]
"""Encodes texts with a specification; returns the tokens of each."""


@dataclass(frozen=True)
class TrainingRun:
    """A plan, and how to carry it out: files, texts or counts in, a specification out."""

    plan: Plan
    tokens_of: TokensOf
    num_threads: int | None
    progress: Progress
    memory: int | str | None
    checkpoint: PathLike | None

    def from_files(
        self,
        files: PathLike | Sequence[PathLike],
        field: str | None,
        encoding_errors: Literal["replace", "strict"],
        on_error: OnError,
    ) -> TokenizerSpec:
        """Count the words of files and learn from them."""
        plan = self.plan
        self._check(len(_check_paths(files)))
        if plan.tests:
            read = rows_of_corpus(files, plan.sentences, field, encoding_errors, on_error)
            with read as corpus:
                return self._with_self_tests(corpus)
        options: CountOptions = {
            "field": field,
            "encoding_errors": encoding_errors,
            "on_error": on_error,
            "num_threads": self.num_threads,
            "sentences": plan.sentences,
            "memory": self.memory,
            "checkpoint": None if plan.sentences.size else self.checkpoint,
            "keep_checkpoint": True,
        }
        count = count_paths if plan.trainer.learns_by_source else count_files
        counts = count(files, preset=plan.pipeline, progress=self.progress, **options)
        spec = self.from_counts(counts)
        if self.checkpoint is not None:
            delete_count_checkpoint(self.checkpoint)
        return spec

    def from_texts(
        self, texts: Iterable[str | Sequence[str]] | Mapping[str, int] | Texts
    ) -> TokenizerSpec:
        """Count the words of texts and learn from them; a mapping is word counts."""
        plan = self.plan
        self._check(0)
        if isinstance(texts, Mapping):
            return self.from_counts(word_counts(texts, "texts"))
        if plan.tests:
            return self._with_self_tests(RowsToCount(rows_of_texts(texts), text_total(texts)))
        counts = count_texts(
            texts,
            preset=plan.pipeline,
            num_threads=self.num_threads,
            progress=self.progress,
            sentences=plan.sentences,
            memory=self.memory,
        )
        return self.from_counts(counts)

    def _check(self, files: int) -> None:
        """Raise for settings that this number of files, or none, cannot be learned with."""
        self.plan.trainer.check_before_counting(files)
        memory_budget(self.memory)

    def _with_self_tests(self, corpus: RowsToCount) -> TokenizerSpec:
        """Count the words of rows, learn from them, and store sentences of them with their pieces."""
        plan = self.plan
        samples: Reservoir[str] = Reservoir(plan.tests, plan.sentences.seed)
        settings = CountSettings(
            memory=self.memory, num_threads=self.num_threads, sentences=plan.sentences
        )
        sampled = replace(corpus, rows=_sampled(corpus.rows, samples, plan.sentences))
        spec = self.from_counts(count_rows(sampled, plan.pipeline, settings, self.progress))
        sentences = [plan.sentences.text_of(line) for line in samples.drawn]
        return _with_self_test(spec, sentences, self.tokens_of)

    def from_counts(self, counts: Counts | Mapping[str, int]) -> TokenizerSpec:
        """Learn from word counts."""
        return learn_spec(
            counts,
            self.plan.trainer,
            self.plan.preset,
            progress=self.progress,
            num_threads=self.num_threads,
            memory=self.memory,
            checkpoint=self.checkpoint,
        )


def retrained_spec(
    spec: TokenizerSpec,
    texts: Iterable[str | Sequence[str]] | Mapping[str, int],
    vocab_size: int,
    *,
    num_threads: int | None,
    progress: Progress,
    **settings: Unpack[RetrainSettings],
) -> TokenizerSpec:
    """Learn a new vocabulary for the pipeline and model type of a specification."""
    reject_former_name(settings, "show_progress", "progress")
    if isinstance(texts, Mapping):
        counts = word_counts(texts, "texts")
    else:
        pipeline = pipeline_of(spec)
        counts = count_texts(texts, preset=pipeline, num_threads=num_threads, progress=progress)
    return relearn_spec(
        spec, counts, vocab_size, settings, progress=progress, num_threads=num_threads
    )


def counts_for(
    spec: TokenizerSpec,
    corpus: Iterable[str | Sequence[str]] | Mapping[str, int] | Counts,
    *,
    num_threads: int | None,
    progress: Progress,
) -> Counts:
    """Return word counts as they are; count texts with the pipeline of a specification."""
    corpus = word_counts(corpus, "corpus")
    if isinstance(corpus, Counts):
        return corpus
    if isinstance(corpus, str | bytes) or not isinstance(corpus, Iterable):
        raise InputTypeError("corpus", type(corpus).__name__, "texts or Counts")
    return count_texts(corpus, preset=pipeline_of(spec), num_threads=num_threads, progress=progress)


def _check_paths(files: PathLike | Sequence[PathLike]) -> set[PathLike]:
    """Return the distinct paths.

    Raises `FileError` for a text where a path belongs: it has spaces and is not the path of a file.
    """
    paths = [files] if isinstance(files, str | os.PathLike) else files
    for path in paths:
        if not isinstance(path, str) or "*" in path or is_url(path):
            continue
        if len(path.split()) > 1 and not os.path.exists(path):
            found = f"{path[:40]!r}{' ...' if len(path) > 40 else ''}"
            problem = f": {found} is not a file; for texts call train_from_iterator"
            error = FileError("files", problem, errno=errno.ENOENT)
            error.filename = path
            raise error
    return set(paths)


def _sampled(rows: Iterable[Rows], samples: Reservoir[str], sentences: Sentences) -> Iterator[Rows]:
    """Yield the rows, and add the sentences of them to the samples."""
    for each in rows:
        samples.add_all(filter(sentences.keep, each.texts))
        yield each


def _with_self_test(
    spec: TokenizerSpec, samples: Sequence[str], tokens_of: TokensOf
) -> TokenizerSpec:
    """Store samples and their pieces in a SentencePiece model; skip samples with unknown pieces."""
    model = spec.model
    assert isinstance(model, SentencePiece)
    known = tuple(
        (sample, " ".join(pieces))
        for sample, pieces in zip(samples, tokens_of(spec, samples), strict=True)
        if model.unk_token not in pieces
    )
    return replace(spec, model=replace(model, self_test=known))
