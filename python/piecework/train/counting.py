"""Count the words of files or of an iterator, on several threads: text in, `Counts` out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from piecework._core import TextColumn, WordCounter
from piecework._internal.progress import progress_bar, show_source
from piecework._internal.renamed_arguments import renamed_arguments
from piecework._internal.types import Progress, Unpack, Update
from piecework._internal.validation import PathLike
from piecework.corpus.iterables import rows_of_texts, text_total
from piecework.corpus.rows import LIST_TEXTS, Rows, Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.errors import ArgumentError
from piecework.rows.text_columns import text_column
from piecework.train import corpus_count
from piecework.train.counts import Counts
from piecework.train.counts_files import CountsSummary, write_ordered_words
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset, named_preset
from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS
from piecework.train.sentences import RowsToCount, Sentences, TextsOfRows, rows_of_corpus
from piecework.train.source_weights import Weight

if TYPE_CHECKING:
    from piecework._internal.array_types import Texts


@renamed_arguments(pipeline="preset", errors="encoding_errors")
def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    field: str | None = None,
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
    progress: Progress = None,
    first_source: int = 0,
    sentences: Sentences | None = None,
    memory: int | str | None = None,
    sample: float | None = None,
    seed: int = 0,
    max_word_length: int | None = None,
    source_weights: Sequence[Weight] | None = None,
    temperature: float | None = None,
    checkpoint: PathLike | None = None,
    checkpoint_seconds: float = 60.0,
    keep_checkpoint: bool = False,
) -> Counts:
    """Count the words of files, directories, patterns, URLs and `-` (stdin; JSON lines if `field` is set).

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhug\\n")
    >>> count_files(path).most_common()
    [('hug', 2), ('pug', 1)]

    `preset` is the name of a preset, a `Preset` or a `Pipeline`. `sentences` selects lines or texts; a
    limited number of them is one source, `first_source`. Each line of plain text is counted on its own (a
    byte-level pipeline includes its line end), so the counts of shards add up to the counts of the whole
    corpus. The files are the sources `first_source`, `first_source + 1`, ...; `ties="first-seen"` needs
    shards with different source numbers. `progress=True` shows a bar on a terminal or in a notebook, and
    prints a line every 30 seconds elsewhere; a function receives bytes as stored, done and in all (0:
    unknown). `corpus.read_corpus` describes the formats, `field` and `on_error`.

    - `memory` (bytes, or text such as "512MB"; None: a quarter of the memory) bounds the word counts: over
      it they are written to sorted files in the temporary folder, and merged at the end. The result does not
      change. `Counts` are in memory; `count_files_to` writes them to a file instead.
    - `sample` counts a random share of the lines or texts, which depends on `seed` and their positions only.
    - `max_word_length` skips words of more characters, with a `TrainingWarning` that says how many.
    - `source_weights` multiplies the counts of each path, in order, by a number above 0; the exact sums are
      rounded once. `temperature` computes weights that flatten the shares of the paths: share ** (1 /
      temperature).
    - `checkpoint` is a folder for the state of the count, saved every `checkpoint_seconds` and on Ctrl-C. The
      same call continues from it; it is deleted at the end unless `keep_checkpoint`.

    Invalid UTF-8 becomes U+FFFD, with a `TrainingWarning`. Raises `FileError`, `CorpusError`, and
    `InvalidUtf8Error` with the byte position if `encoding_errors="strict"`.
    """
    resolved = _pipeline_of(preset)
    sentences = sentences or Sentences()
    settings = corpus_count.CountSettings(
        sample, seed, max_word_length, memory, num_threads, sentences
    )
    count = corpus_count.CorpusCount(
        paths,
        resolved,
        settings,
        field,
        encoding_errors,
        on_error,
        first_source,
        source_weights,
        temperature,
        checkpoint,
        checkpoint_seconds,
        keep_checkpoint,
    )
    if sentences.size:
        with rows_of_corpus(paths, sentences, field, encoding_errors, on_error) as corpus:
            return count_rows(corpus, resolved, settings, progress, first_source)
    with count.run(progress) as (words, replacements):
        return Counts._of(words.into_counts(), resolved, replacements)


@renamed_arguments(pipeline="preset")
def count_files_to(
    output: PathLike,
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **options: Unpack[corpus_count.CountOptions],
) -> CountsSummary:
    """Count the words of files and write them to `*.parquet` or `*.tsv`, within the memory budget.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("hug pug\\nhug\\n")
    >>> count_files_to(folder / "counts.tsv", folder / "corpus.txt")
    CountsSummary(words=3, distinct=2)

    The file has the content of `count_files(...).save(output)`, and `options` are arguments of `count_files`.
    Use it for corpora with more distinct words than fit in memory. Raises `CorpusError` for a corpus without
    words, and `ArgumentError` for `sentences` with a size.
    """
    resolved = _pipeline_of(preset)
    sentences = options.get("sentences")
    if sentences is not None and sentences.size:
        raise ArgumentError("sentences", "= with a size needs count_files, which samples in memory")
    count = corpus_count.CorpusCount.of(paths, resolved, **options)
    with count.run(progress) as (words, _):
        return write_ordered_words(words, resolved, output, ", ".join(count.files))


@renamed_arguments(pipeline="preset")
def count_texts(
    texts: Iterable[str | Sequence[str]] | Texts,
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    num_threads: int | None = None,
    progress: Progress = None,
    source: int = 0,
    sentences: Sentences | None = None,
    memory: int | str | None = None,
    sample: float | None = None,
    seed: int = 0,
    max_word_length: int | None = None,
) -> Counts:
    """Count the words of texts from an iterator or a column.

    >>> count_texts(["hug pug", "Hug"]).most_common()
    [('hug', 2), ('pug', 1)]

    `texts` is an iterable of strings or of lists of strings, or a column of strings that is read without a
    copy, as for `Tokenizer.encode_batch`. All texts are one source with the number `source`. The other
    arguments are those of `count_files`. A function as `progress` receives numbers of texts. Raises
    `InputTypeError` with the index of an item that is not a string.
    """
    resolved = _pipeline_of(preset)
    corpus_count.check_sources("source", source, 1)
    settings = corpus_count.CountSettings(
        sample, seed, max_word_length, memory, num_threads, sentences or Sentences()
    )
    column = None if settings.sentences.size else text_column(texts)
    if column is None:
        corpus = RowsToCount(rows_of_texts(texts), text_total(texts))
        return count_rows(corpus, resolved, settings, progress, source)
    with corpus_count.scratch_folder() as folder:
        counter = settings.counter(resolved, folder, keep_line_ends=False)
        with progress_bar("counting", progress) as update:
            _add_column(counter, column, source, update)
        return _counts_of(counter, resolved, settings, counter.replacements())


def count_rows(
    corpus: RowsToCount,
    pipeline: Pipeline,
    settings: corpus_count.CountSettings,
    progress: Progress = None,
    source: int = 0,
) -> Counts:
    """Count the words of rows, or of the sentences that the settings select from them, as one source."""
    with corpus_count.scratch_folder() as folder:
        counter = settings.counter(pipeline, folder, keep_line_ends=False)
        with progress_bar("counting", progress, in_bytes=corpus.in_bytes) as update:
            replacements = _add_rows(counter, _reported(corpus, update), settings.sentences, source)
        return _counts_of(counter, pipeline, settings, replacements)


def _add_rows(counter: WordCounter, rows: Iterable[Rows], sentences: Sentences, source: int) -> int:
    """Count the rows, or the sentences selected from them; return the number of invalid sequences."""
    texts = TextsOfRows(rows)
    for each in rows_of_texts(sentences.select(texts)) if sentences.size else rows:
        counter.add_texts(each.texts, source, each.replacements)
    return texts.replacements + counter.replacements()


def _reported(corpus: RowsToCount, update: Update) -> Iterator[Rows]:
    """Yield the rows; report each after it is counted."""
    done = 0
    for rows in corpus.rows:
        show_source(update, rows.name)
        yield rows
        done += len(rows)
        update(rows.file_bytes_read if corpus.in_bytes else done, corpus.total)


def _add_column(counter: WordCounter, column: TextColumn, source: int, update: Update) -> None:
    for start in range(0, len(column), LIST_TEXTS):
        end = min(start + LIST_TEXTS, len(column))
        counter.add_column(column, source, start, end)
        update(end, len(column))


def _counts_of(
    counter: WordCounter,
    pipeline: Pipeline,
    settings: corpus_count.CountSettings,
    replacements: int,
) -> Counts:
    corpus_count.warn_of_replacements(replacements)
    settings.warn_of_left_out(counter)
    return Counts._of(counter.finish().into_counts(), pipeline, replacements)


def _pipeline_of(preset: str | Preset | Pipeline) -> Pipeline:
    if isinstance(preset, Pipeline):
        return preset
    if isinstance(preset, str) and preset in SENTENCEPIECE_PRESETS:
        return SENTENCEPIECE_PRESETS[preset].trainer().pipeline
    return named_preset(preset).pipeline
