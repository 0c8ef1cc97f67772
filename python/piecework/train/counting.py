"""From text to word counts: files or an iterator in, `Counts` out, by all threads of the core."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from piecework._core import WordCounter
from piecework._internal import validation as checks
from piecework._internal.threads import thread_count
from piecework.corpus.batches import batches_of_texts
from piecework.corpus.files import (
    PathLike,
    TextBlock,
    Utf8Errors,
    corpus_bytes,
    corpus_files,
    read_corpus,
)
from piecework.errors import ArgumentError, TrainingWarning
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import preset_for
from piecework.train.sentences import Sentences, sentences_of

Progress: TypeAlias = Callable[[int, int], None]

_SOURCES = 1 << 24
"""First positions have 24 bits for the number of the source."""


def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    pipeline: Pipeline | str = "bert-uncased",
    field: str | None = None,
    errors: Utf8Errors = "replace",
    num_threads: int | None = None,
    progress: Progress | None = None,
    first_source: int = 0,
    sentences: Sentences | None = None,
) -> Counts:
    """Count the words of files, directories and `-` (stdin; JSON lines if `field` is given).

    `pipeline` is a `Pipeline` or the name of a preset; `sentences` says which lines or texts count.
    Lines of plain text are counted one by one, by a byte-level pipeline with their line ends, so counts of
    shards add up to those of the whole. The files are the sources `first_source`, `first_source + 1` and
    so on; `ties="first-seen"` needs shards whose sources have different numbers. `progress(done, total)`
    receives bytes of the files as stored, total 0 when unknown.

    Raises `FileError`, `CorpusError`, and `InvalidUtf8Error` with the byte position under
    `errors="strict"`; otherwise invalid UTF-8 becomes U+FFFD, counted and warned of.
    """
    resolved = _resolve(pipeline)
    files = corpus_files(paths)
    _check_sources("first_source", first_source, len(files))
    if sentences is not None and sentences.size:
        corpus = read_corpus(files, field=field, errors=errors, first_source=first_source)
        texts = sentences_of(corpus, errors)
        return count_texts(texts, pipeline=resolved, num_threads=num_threads, sentences=sentences)
    counter = _counter(resolved, num_threads, sentences, keep_line_ends=resolved.is_byte_level)
    total_bytes = corpus_bytes(files)
    replacements = 0
    for piece in read_corpus(files, field=field, errors=errors, first_source=first_source):
        if isinstance(piece, TextBlock):
            replacements += counter.add_block(
                piece.data, piece.source, piece.byte_offset, errors == "strict", piece.name
            )
        else:
            counter.add_texts(piece.texts, piece.source)
            replacements += piece.replacements
        if progress is not None:
            progress(piece.file_bytes_read, total_bytes)
    _warn_of(replacements)
    _warn_of_long(counter.too_long(), sentences)
    return Counts._of(counter.finish(), resolved, replacements)


def count_texts(
    texts: Iterable[str],
    *,
    pipeline: Pipeline | str = "bert-uncased",
    num_threads: int | None = None,
    progress: Progress | None = None,
    source: int = 0,
    sentences: Sentences | None = None,
) -> Counts:
    """Count the words of texts that an iterator gives.

    >>> count_texts(["hug pug", "Hug"]).most_common()
    [('hug', 2), ('pug', 1)]

    The texts are one source with the number `source`, of which `sentences` says what is taken; see
    `count_files`. `progress(done, total)` receives texts, total 0 when unknown. Raises `InputTypeError`
    naming the index of an item that is not a string.
    """
    resolved = _resolve(pipeline)
    _check_sources("source", source, 1)
    counter = _counter(resolved, num_threads, sentences, keep_line_ends=False)
    if sentences is not None and sentences.size:
        texts = sentences.drawn(text for batch in batches_of_texts(texts) for text in batch.texts)
    total = len(texts) if isinstance(texts, Sequence) else 0
    done = replacements = 0
    for batch in batches_of_texts(texts):
        counter.add_texts(batch.texts, source)
        done += len(batch.texts)
        replacements += batch.replacements
        if progress is not None:
            progress(done, total)
    _warn_of(replacements)
    _warn_of_long(counter.too_long(), sentences)
    return Counts._of(counter.finish(), resolved, replacements)


def _counter(
    pipeline: Pipeline,
    num_threads: int | None,
    sentences: Sentences | None,
    *,
    keep_line_ends: bool,
) -> WordCounter:
    text, functions = pipeline.to_core()
    kept = sentences or Sentences()
    return WordCounter(
        text,
        thread_count(num_threads),
        functions,
        keep_line_ends=keep_line_ends,
        max_bytes=kept.max_bytes,
        reserved=kept.reserved,
        with_counts=kept.with_counts,
    )


def _resolve(pipeline: Pipeline | str) -> Pipeline:
    if isinstance(pipeline, Pipeline):
        return pipeline
    # Trainers need what is here.
    from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS

    preset = SENTENCEPIECE_PRESETS.get(pipeline)
    return preset_for(name=pipeline).pipeline if preset is None else preset.trainer().pipeline


def _check_sources(name: str, first: int, sources: int) -> None:
    last = checks.whole_number(name, first, 0) + sources - 1
    if last >= _SOURCES:
        raise ArgumentError(name, f"{first} for {sources} files", f"numbers below {_SOURCES}")


def _warn_of(replacements: int) -> None:
    if replacements:
        were = "sequence was" if replacements == 1 else "sequences were"
        message = f"{replacements} invalid UTF-8 {were} replaced by U+FFFD"
        warnings.warn(message, TrainingWarning, stacklevel=3)


def _warn_of_long(too_long: int, sentences: Sentences | None) -> None:
    if too_long and sentences is not None:
        were = "sentence was" if too_long == 1 else "sentences were"
        message = f"{too_long} {were} left out: longer than {sentences.max_bytes} bytes"
        warnings.warn(message, TrainingWarning, stacklevel=3)
