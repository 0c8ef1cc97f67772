"""Read a corpus from paths, URLs and stdin.

Plain text is read in blocks of about 1 MB that end at line ends, other formats in lists of texts. Both have
the number of their source, which makes first positions independent of the number of threads. The sequence of
the blocks or lists of a source depends on its bytes only.

`input_format` chooses the format. Compressed and binary data are detected by their first bytes. Memory is
bounded for every input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from piecework._internal.validation import PathLike, check_choice
from piecework.corpus.columns import ColumnFile
from piecework.corpus.csv_rows import read_csv
from piecework.corpus.field_path import FieldPath
from piecework.corpus.input_format import InputFormat, input_format
from piecework.corpus.json_lines import read_json_lines, warn_of_json_lines
from piecework.corpus.line_blocks import BYTE_ORDER_MARK
from piecework.corpus.paths import corpus_files
from piecework.corpus.rows import RowOptions, Rows, Utf8Errors
from piecework.corpus.skipped import OnError, Skipped, check_on_error
from piecework.corpus.text_stream import TextStream
from piecework.corpus.texts import Texts
from piecework.errors import CorpusError, FileError, MemoryLimitError

_BLOCK_BYTES = 1 << 20
_MAX_LINE_BYTES = 16 << 20
MAX_READ_AHEAD = _MAX_LINE_BYTES + _BLOCK_BYTES
"""The most bytes of text that are read after the end of a block before it is yielded."""


@dataclass(frozen=True)
class TextBlock:
    """Bytes of plain text that start at `byte_offset` of the decompressed source.

    `file_bytes_read` is the number of stored bytes read from all files so far, `text_bytes_read` that of the
    text of this source, which includes the start of the next block.
    """

    data: bytes
    source: int
    byte_offset: int
    name: str
    file_bytes_read: int
    text_bytes_read: int

    @property
    def end(self) -> TextPosition:
        """The position after the block."""
        return TextPosition(self.byte_offset + len(self.data), self.text_bytes_read)


class TextPosition(NamedTuple):
    """The end of a block, and the number of bytes of the text that were read by then.

    Both determine the next blocks. They count bytes of the decompressed text, without a byte order mark.
    """

    byte_offset: int
    bytes_read: int


@dataclass(frozen=True)
class TextList:
    """Consecutive texts of one source; `replacements` counts the invalid sequences that became U+FFFD."""

    texts: Texts
    source: int
    name: str
    file_bytes_read: int
    replacements: int = 0


def read_corpus(
    paths: PathLike | Sequence[PathLike],
    *,
    field: str | None = None,
    errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    first_source: int = 0,
    plain_tables: bool = False,
    start: TextPosition | None = None,
) -> Iterator[TextBlock | TextList]:
    """Read files, directories, patterns, URLs and `-` (stdin) in order; each file is one source.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhugs\\n")
    >>> [block.data for block in read_corpus(path)]
    [b'hug pug\\nhugs\\n']

    The suffix chooses the format: JSON lines (`.jsonl .ndjson`), tables (`.csv .tsv .parquet .arrow`),
    otherwise plain text. Text, JSON lines, CSV and TSV can be compressed with gzip, Zstandard, xz or bzip2.
    A directory means its files with a known suffix (those, `.txt .text .md .rst`, also compressed), at any
    depth, sorted by path, without hidden ones. A folder of `Dataset.save_to_disk` means its data files. A
    pattern such as `"data/**/*.jsonl.gz"` means the files that it matches, sorted; a URL needs the extra
    `fsspec`.

    A byte order mark at the start of a file is dropped. A line of plain text over 16 MB is split before the
    last space or tab of its first 16 MB, or between two characters if it has none.

    `field` names the text in each JSON object, or the column (None: "text"). A key or column of exactly this
    name comes first; otherwise dots separate the keys of nested objects, and a backslash before a dot makes
    it part of a key. Stdin contains JSON lines if `field` is set, plain text otherwise. With `plain_tables`,
    CSV and TSV files are plain text. The blocks of the first file, if it is plain text, continue at
    `start`, the end of a block of an earlier run; a compressed file is read up to there. `errors` does not
    apply to plain text, because the consumer decodes it.

    `on_error="skip"` skips lines, rows and files with an error, and the rest of a file after damaged data;
    the end of the corpus warns with `CorpusWarning` how many were skipped, why and where first.

    Raises `FileError` for unreadable files, devices, and pipes in a directory, `CorpusError` for binary data,
    UTF-16, invalid JSON or CSV, null, or damaged data, `MemoryLimitError` for a line of JSON lines or CSV
    over a 48th of the memory of the process, and `MissingExtraError`.
    """
    check_choice("errors", errors, ("replace", "strict"))
    check_on_error(on_error)
    skipped = Skipped() if on_error == "skip" else None
    options = RowOptions(FieldPath.of(field), errors, skipped)
    file_bytes_before = 0
    for index, path in enumerate(corpus_files(paths)):
        format = input_format(path, field, plain_tables=plain_tables)
        source_start = start if index == 0 else None
        source = _Source(path, first_source + index, file_bytes_before, source_start)
        try:
            yield from source.read(format, options)
        except (CorpusError, FileError, MemoryLimitError) as error:
            if skipped is None:
                raise
            skipped.add(error)
        file_bytes_before += source.bytes_read
    if skipped is not None:
        skipped.warn()


class _Source:
    """One input, which yields blocks or lists of texts; `bytes_read` counts its stored bytes."""

    def __init__(
        self, path: str, number: int, bytes_before: int, start: TextPosition | None
    ) -> None:
        self._path = path
        self._number = number
        self._bytes_before = bytes_before
        self._start = start
        self._input: TextStream | ColumnFile | None = None

    @property
    def bytes_read(self) -> int:
        return 0 if self._input is None else self._input.bytes_read

    @property
    def _file_bytes_read(self) -> int:
        return self._bytes_before + self.bytes_read

    def read(self, format: InputFormat, options: RowOptions) -> Iterator[TextBlock | TextList]:
        with ExitStack() as stack:
            if format == "parquet" or format == "arrow":
                self._input = file = ColumnFile(self._path, stack, format)
                yield from self._lists(file.rows(options), file.name)
                return
            self._input = stream = TextStream(self._path, stack)
            match format:
                case "text":
                    yield from self._blocks(stream)
                case "json-lines":
                    yield from self._lists(read_json_lines(stream, options), stream.name)
                case "csv":
                    yield from self._lists(read_csv(stream, options, ","), stream.name)
                case "tsv":
                    yield from self._lists(read_csv(stream, options, "\t"), stream.name)

    def _blocks(self, stream: TextStream) -> Iterator[TextBlock]:
        first = stream.read(_BLOCK_BYTES)
        if not first:
            return
        mark = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
        first, byte_offset = first[mark:], 0
        first_end, start = len(first), self._start
        if start is not None and stream.seek(mark + start.byte_offset):
            byte_offset, first_end = start
            first = stream.read(first_end - byte_offset)
        for data, bytes_read in _blocks_of_lines(first, first_end, stream):
            if not byte_offset:
                warn_of_json_lines(data, stream.name)
            if start is None or byte_offset >= start.byte_offset:
                stored = self._file_bytes_read
                yield TextBlock(data, self._number, byte_offset, stream.name, stored, bytes_read)
            byte_offset += len(data)

    def _lists(self, lists: Iterator[Rows], name: str) -> Iterator[TextList]:
        for rows in lists:
            if rows.texts:
                yield TextList(
                    rows.texts, self._number, name, self._file_bytes_read, rows.replacements
                )


def _blocks_of_lines(
    first: bytes, bytes_read: int, stream: TextStream
) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of `first` and of the rest of the stream in blocks, with the bytes read by then.

    `first` has been read, and ends after `bytes_read` bytes of the text.
    """
    pending = bytearray(first)
    while True:
        for start in _split_long_line(pending):
            yield start, bytes_read
        end = pending.rfind(b"\n") + 1
        if end:
            yield bytes(pending[:end]), bytes_read
            del pending[:end]
        chunk = stream.read(_BLOCK_BYTES)
        if not chunk:
            break
        bytes_read += len(chunk)
        pending += chunk
    if pending:
        yield bytes(pending), bytes_read


def _split_long_line(pending: bytearray) -> Iterator[bytes]:
    """Remove and yield the start of the first line of `pending` while the line is too long.

    The split depends on the line only, so shards are split like the whole corpus.
    """
    while len(pending) > _MAX_LINE_BYTES and pending.find(b"\n", 0, _MAX_LINE_BYTES) < 0:
        cut = _split_position(pending[:_MAX_LINE_BYTES])
        yield bytes(pending[:cut])
        del pending[:cut]


def _split_position(line: bytearray) -> int:
    """Return the position before the last space or tab, otherwise before the last character."""
    before_space = max(line.rfind(b" "), line.rfind(b"\t"))
    if before_space > 0:
        return before_space
    # Bytes 10xxxxxx continue a character; UTF-8 has at most three of them in a row.
    last = range(len(line) - 1, len(line) - 5, -1)
    starts = (index for index in last if line[index] & 0xC0 != 0x80)
    return next(starts, len(line))
