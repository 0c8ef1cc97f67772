"""Count the words of files or of an iterator, on several threads: text in, `Counts` out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from piecework._core import WordCounter
from piecework._internal.progress import show_source
from piecework._internal.threads import thread_count
from piecework._internal.validation import PathLike, whole_number
from piecework.corpus.batches import batches_of_texts
from piecework.corpus.files import TextBlock, read_corpus
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.rows import Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.errors import ArgumentError, TrainingWarning
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import preset_for
from piecework.train.sentences import Sentences, texts_of_corpus

Progress: TypeAlias = Callable[[int, int], None]

_MAX_SOURCES = 1 << 24  # a first position has 24 bits for the number of the source


def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    pipeline: Pipeline | str = "bert-uncased",
    field: str | None = None,
    errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
    progress: Progress | None = None,
    first_source: int = 0,
    sentences: Sentences | None = None,
) -> Counts:
    """Count the words of files, directories, patterns, URLs and `-` (stdin; JSON lines if `field` is set).

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhug\\n")
    >>> count_files(path).most_common()
    [('hug', 2), ('pug', 1)]

    `pipeline` is a `Pipeline` or the name of a preset. `sentences` selects lines or texts. Each line of
    plain text is counted on its own (a byte-level pipeline includes its line end), so the counts of shards
    add up to the counts of the whole corpus. The files are the sources `first_source`,
    `first_source + 1`, ...; `ties="first-seen"` needs shards with different source numbers.
    `progress(done, total)` receives bytes as stored; total 0 means unknown. `read_corpus` describes the
    formats, `field` and `on_error`.

    Invalid UTF-8 becomes U+FFFD, with a `TrainingWarning`. Raises `FileError`, `CorpusError`, and
    `InvalidUtf8Error` with the byte position if `errors="strict"`.
    """
    resolved = _resolve(pipeline)
    files = corpus_files(paths)
    _check_sources("first_source", first_source, len(files))
    corpus = read_corpus(
        files,
        field=field,
        errors=errors,
        on_error=on_error,
        first_source=first_source,
        plain_tables=sentences is not None and sentences.with_counts,
    )
    if sentences is not None and sentences.size:
        texts = texts_of_corpus(corpus, errors)
        return count_texts(texts, pipeline=resolved, num_threads=num_threads, sentences=sentences)
    counter = _counter(resolved, num_threads, sentences, keep_line_ends=resolved.is_byte_level)
    total_bytes = corpus_bytes(files)
    replacements = 0
    for block in corpus:
        if isinstance(block, TextBlock):
            replacements += counter.add_block(
                block.data, block.source, block.byte_offset, errors == "strict", block.name
            )
        else:
            counter.add_texts(block.texts, block.source)
            replacements += block.replacements
        if progress is not None:
            show_source(progress, block.name)
            progress(block.file_bytes_read, total_bytes)
    _warn_of_replacements(replacements)
    _warn_of_skipped(counter.too_long(), sentences)
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
    """Count the words of texts from an iterator.

    >>> count_texts(["hug pug", "Hug"]).most_common()
    [('hug', 2), ('pug', 1)]

    All texts are one source with the number `source`. `pipeline` and `sentences` are those of
    `count_files`. `progress(done, total)` receives numbers of texts; total 0 means unknown. Raises
    `InputTypeError` with the index of an item that is not a string.
    """
    resolved = _resolve(pipeline)
    _check_sources("source", source, 1)
    counter = _counter(resolved, num_threads, sentences, keep_line_ends=False)
    if sentences is not None and sentences.size:
        texts = sentences.select(text for batch in batches_of_texts(texts) for text in batch.texts)
    total = len(texts) if isinstance(texts, Sequence) else 0
    done = replacements = 0
    for batch in batches_of_texts(texts):
        counter.add_texts(batch.texts, source)
        done += len(batch.texts)
        replacements += batch.replacements
        if progress is not None:
            progress(done, total)
    _warn_of_replacements(replacements)
    _warn_of_skipped(counter.too_long(), sentences)
    return Counts._of(counter.finish(), resolved, replacements)


def _counter(
    pipeline: Pipeline,
    num_threads: int | None,
    sentences: Sentences | None,
    *,
    keep_line_ends: bool,
) -> WordCounter:
    text, functions = pipeline.to_core()
    selected = sentences or Sentences()
    return WordCounter(
        text,
        thread_count(num_threads),
        functions,
        keep_line_ends=keep_line_ends,
        max_bytes=selected.max_bytes,
        reserved=selected.reserved,
        with_counts=selected.with_counts,
    )


def _resolve(pipeline: Pipeline | str) -> Pipeline:
    if isinstance(pipeline, Pipeline):
        return pipeline
    # Imported here because the trainers import this module.
    from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS

    preset = SENTENCEPIECE_PRESETS.get(pipeline)
    return preset_for(name=pipeline).pipeline if preset is None else preset.trainer().pipeline


def _check_sources(name: str, first: int, sources: int) -> None:
    last = whole_number(name, first, 0) + sources - 1
    if last >= _MAX_SOURCES:
        raise ArgumentError(name, f"{first} for {sources} files", f"numbers below {_MAX_SOURCES}")


def _warn_of_replacements(replacements: int) -> None:
    if replacements:
        were = "sequence was" if replacements == 1 else "sequences were"
        message = f"{replacements} invalid UTF-8 {were} replaced by U+FFFD"
        warnings.warn(message, TrainingWarning, stacklevel=3)


def _warn_of_skipped(too_long: int, sentences: Sentences | None) -> None:
    if too_long and sentences is not None:
        were = "sentence was" if too_long == 1 else "sentences were"
        message = f"{too_long} {were} skipped: longer than {sentences.max_bytes} bytes"
        warnings.warn(message, TrainingWarning, stacklevel=3)
