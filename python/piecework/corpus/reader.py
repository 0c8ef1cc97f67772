"""Read corpora: turn paths, URLs and stdin into rows of texts with their places, or blocks of text.

Everything that reads a corpus uses `CorpusReader`. The format of each file (`formats`) says how it is opened
and read; compressed and binary data are detected by their first bytes. Memory is bounded for every input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from piecework._internal.validation import PathLike
from piecework.corpus.formats import Input, check_documents, format_of
from piecework.corpus.paths import corpus_files
from piecework.corpus.rows import (
    Document,
    OnError,
    ReadOptions,
    Rows,
    TextBlock,
    TextPosition,
    Utf8Errors,
)
from piecework.corpus.urls import identity_of
from piecework.errors import CorpusError, FileError, MemoryLimitError


def read_corpus(
    paths: PathLike | Sequence[PathLike],
    *,
    field: str | None = None,
    document: Document = "line",
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    whole_lines: bool = False,
) -> Corpus:
    """Read files, directories, patterns, URLs and `-` (stdin) in order; each file is one source.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.jsonl"
    >>> _ = path.write_text('{"text": "hug pug"}\\n\\n{"text": "hugs"}\\n')
    >>> [(rows.to_list(), list(rows.numbers)) for rows in read_corpus(path)]
    [(['hug pug', '', 'hugs'], [1, 2, 3])]

    Returns the texts as an iterable of `Rows` of bounded size: texts, the numbers of their lines or rows, and
    the name of the file. Each iteration reads the files when it reaches them; stdin can be read only once.
    `analysis.compare` and `analysis.plan_prune` take it as their texts.

    The suffix chooses a format of `piecework.corpus.FORMATS`; other files are plain text, in which a text is
    a line without its end (LF or CRLF). Text formats can be compressed with gzip, Zstandard, xz or bzip2.
    A directory means its files with a known suffix, also compressed, at any depth, sorted by path, without
    hidden ones. A folder of `Dataset.save_to_disk` means its data files. A pattern such as
    `"data/**/*.jsonl.gz"` means the files that it matches, sorted; a URL needs the extra `fsspec`.

    A byte order mark at the start of a file is dropped. A line of plain text over 16 MB is split before the
    last space or tab of its first 16 MB, or between two characters if it has none. With `whole_lines` it is
    limited by the memory instead, and the lines of a pipe are yielded as they arrive.

    `document` makes longer texts of plain text: with `"blank-line"`, the lines between blank lines, which are
    empty or have only whitespace; with `"file"`, a whole file, even an empty one. Line ends inside such a
    document stay as they are; between blank lines, the last line has none. Its number is the number of its
    first line. It is not split, but limited by the memory.

    `field` names the text in each JSON object, or the column (None: "text"). A key or column of exactly this
    name comes first; otherwise dots separate the keys of nested objects, and a backslash before a dot makes
    it part of a key. Plain text has no fields: its texts are always lines, so a corpus can mix both. Stdin
    and `.json` files contain JSON lines if `field` is set, plain text otherwise.

    Invalid UTF-8 becomes U+FFFD, or raises `InvalidUtf8Error` with `encoding_errors="strict"`.
    `on_error="skip"` skips lines, rows and files with an error, and the rest of a file after damaged data;
    at the end of the corpus, a `CorpusWarning` says how many were skipped, why, and where first.

    Raises `ArgumentError` for a `document` other than `"line"` unless the format is plain text,
    `FileError` for unreadable files, devices, and pipes in a directory, `CorpusError` for binary data,
    UTF-16, invalid JSON or CSV, null, or damaged data, `MemoryLimitError` for a line or document over a 48th
    of the memory of the process, and `MissingExtraError`.
    """
    options = partial(
        ReadOptions.of, field, encoding_errors, on_error, document, whole_lines=whole_lines
    )
    options()  # checks the arguments
    files = corpus_files(paths)
    check_documents(files, options())
    return Corpus(files, options)


class Corpus:
    """The texts of files, as `read_corpus` returns them; each iteration reads the files again.

    >>> Corpus(["-"], ReadOptions.of).files
    ['-']
    """

    def __init__(self, files: Sequence[str], options: Callable[[], ReadOptions]) -> None:
        self.files = files
        self._options = options

    @property
    def document(self) -> str:
        """What counts as one text in plain text: "line", "blank-line" or "file"."""
        return self._options().document

    @property
    def identity(self) -> dict[str, Any]:
        """The files with their sizes and times of change, and how they are read, as JSON data."""
        files = list(map(identity_of, self.files))
        return {"files": files, "options": repr(replace(self._options(), skipped=None))}

    def __iter__(self) -> Iterator[Rows]:
        """Read the files; at the end, warn if something was skipped."""
        options = self._options()
        yield from CorpusReader(self.files, options).rows()
        options.warn_of_skipped()


class CorpusReader:
    """Read files in order; the first one has the number `first_source`.

    >>> CorpusReader(["-"], ReadOptions.of()).bytes_read
    0

    If the options have `skipped`, it counts records and files with errors; the caller warns.
    """

    def __init__(
        self, files: Sequence[str], options: ReadOptions, *, first_source: int = 0
    ) -> None:
        check_documents(files, options)
        self.files = files
        self.options = options
        self._first_source = first_source
        self._bytes_of_files = 0
        self._input: Input | None = None

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes read from all files so far."""
        return self._bytes_of_files + (0 if self._input is None else self._input.bytes_read)

    @property
    def is_idle(self) -> bool:
        """Whether reading would block, because the pipe is empty."""
        return self._input is not None and self._input.is_idle

    def rows(self) -> Iterator[Rows]:
        """Yield lists of texts that are not empty."""
        source, line = -1, 1
        for block in self.blocks():
            if isinstance(block, Rows):
                yield block
                continue
            if block.source != source:
                source, line = block.source, 1
            rows = block.rows(line, self.options.encoding_errors)
            line += len(rows) - (not block.data.endswith(b"\n"))
            yield rows

    def blocks(self, start: TextPosition | None = None) -> Iterator[TextBlock | Rows]:
        """Yield plain text in blocks, and other formats in lists of texts.

        The blocks of the first file, if it is plain text, continue at `start`, the end of a block of an
        earlier run; a compressed file is read up to there. `encoding_errors` does not apply to blocks.
        """
        options = replace(self.options, start=start)
        for source, path in enumerate(self.files, start=self._first_source):
            try:
                yield from self._blocks_of_file(path, source, options)
            except (CorpusError, FileError, MemoryLimitError) as error:
                if options.skipped is None:
                    raise
                options.skipped.add(error)
            self._bytes_of_files, self._input = self.bytes_read, None
            options = self.options

    def _blocks_of_file(
        self, path: str, source: int, options: ReadOptions
    ) -> Iterator[TextBlock | Rows]:
        format = format_of(path, options)
        with ExitStack() as stack:
            self._input = input = format.open(path, stack, options)
            for block in format.read(input, options):
                if len(block):
                    yield replace(
                        block, source=source, name=input.name, file_bytes_read=self.bytes_read
                    )
