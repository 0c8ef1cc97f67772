"""Read a corpus from paths: plain text, JSON lines, gzip, Zstandard, directories and stdin.

Plain text is read in blocks of about 1 MB that end at line ends, JSON lines in lists of texts. Both have
the number of their source, which makes first positions independent of the number of threads.

`input_format` chooses the format. Compressed and binary data are detected by their first bytes. Memory is
bounded for every input.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from piecework._internal.validation import PathLike, check_choice, file_path
from piecework.corpus.input_format import (
    KNOWN_SUFFIXES,
    InputFormat,
    has_known_suffix,
    input_format,
)
from piecework.corpus.json_lines import read_json_lines, warn_of_json_lines
from piecework.corpus.text_stream import TextStream
from piecework.errors import ArgumentError, FileError
from piecework.io.read_file import reason

Utf8Errors: TypeAlias = Literal["replace", "strict"]

TEXT_FIELD = "text"

_BLOCK_BYTES = 1 << 20
_MAX_LINE_BYTES = 16 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextBlock:
    """Bytes of plain text that start at `byte_offset` of the decompressed source.

    `file_bytes_read` is the number of stored bytes read from all files so far.
    """

    data: bytes
    source: int
    byte_offset: int
    name: str
    file_bytes_read: int


@dataclass(frozen=True)
class TextList:
    """Consecutive texts of one source; `replacements` counts the invalid sequences that became U+FFFD."""

    texts: list[str]
    source: int
    name: str
    file_bytes_read: int
    replacements: int = 0


def read_corpus(
    paths: PathLike | Sequence[PathLike],
    *,
    field: str | None = None,
    errors: Utf8Errors = "replace",
    first_source: int = 0,
) -> Iterator[TextBlock | TextList]:
    """Read files, directories and `-` (stdin) in order; each file is one source.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhugs\\n")
    >>> [block.data for block in read_corpus(path)]
    [b'hug pug\\nhugs\\n']

    A directory means its files with a known suffix (`.txt .text .md .rst .jsonl .ndjson`, also with `.gz`
    or `.zst`), at any depth, sorted by path, without hidden ones. A byte order mark at the start of a file
    is dropped. A line of plain text over 16 MB is split before the last space or tab of its first 16 MB, or
    between two characters if it has none.

    `field` names the text in each JSON object (None: "text"); stdin contains JSON lines if it is set, plain
    text otherwise. `errors` applies to JSON lines only, because the consumer decodes the blocks of plain
    text.

    Raises `FileError` for unreadable files, `CorpusError` for binary data, UTF-16, invalid JSON or damaged
    compressed data.
    """
    check_choice("errors", errors, ("replace", "strict"))
    file_bytes_before = 0
    for index, path in enumerate(corpus_files(paths)):
        with ExitStack() as stack:
            stream = TextStream(path, stack)
            source = _Source(stream, first_source + index, file_bytes_before)
            yield from source.read(input_format(path, field), field, errors)
            file_bytes_before += stream.bytes_read


def corpus_files(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Return the files to read, in order, with directories expanded as `read_corpus` does.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.txt", "a.jsonl", "c.png"):
    ...     (folder / name).touch()
    >>> [Path(name).name for name in corpus_files(folder)]
    ['a.jsonl', 'b.txt']

    Raises `ArgumentError` without paths, and `FileError` for a directory without text files.
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise ArgumentError("corpus", type(paths).__name__, "paths as str or os.PathLike")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ArgumentError("corpus", "no paths", "at least one file, directory or '-'")
    return [name for path in given for name in _expand(file_path(path, "corpus", ArgumentError))]


def corpus_bytes(files: Sequence[str]) -> int:
    """Return the size of the stored files in bytes; 0 if one of them has no size, such as stdin."""
    if any(not Path(name).is_file() for name in files):
        return 0
    return sum(Path(name).stat().st_size for name in files)


def _expand(name: str) -> list[str]:
    if name == "-" or not Path(name).is_dir():
        return [name]
    found = sorted(_known_files(Path(name)))
    if not found:
        expected = f"files named {' '.join(KNOWN_SUFFIXES)}"
        raise FileError(name, "a directory without text files", expected)
    return [str(path) for path in found]


def _known_files(directory: Path) -> Iterator[Path]:
    def raise_file_error(error: OSError) -> None:
        raise FileError(str(error.filename), reason(error), "a readable directory") from error

    for folder, folders, files in os.walk(directory, onerror=raise_file_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and has_known_suffix(name):
                yield Path(folder, name)


class _Source:
    """One input, which yields blocks or lists of texts."""

    def __init__(self, stream: TextStream, number: int, bytes_before: int) -> None:
        self._stream = stream
        self._number = number
        self._bytes_before = bytes_before

    @property
    def _file_bytes_read(self) -> int:
        return self._bytes_before + self._stream.bytes_read

    def read(
        self, format: InputFormat, field: str | None, errors: Utf8Errors
    ) -> Iterator[TextBlock | TextList]:
        match format:
            case "text":
                return self._blocks()
            case "json-lines":
                return self._lists(field or TEXT_FIELD, errors)

    def _blocks(self) -> Iterator[TextBlock]:
        name = self._stream.name
        byte_offset = 0
        for data in _blocks_of_lines(self._stream):
            if not byte_offset:
                warn_of_json_lines(data, name)
            yield TextBlock(data, self._number, byte_offset, name, self._file_bytes_read)
            byte_offset += len(data)

    def _lists(self, field: str, errors: Utf8Errors) -> Iterator[TextList]:
        name = self._stream.name
        for texts, replacements in read_json_lines(self._stream, field, errors):
            yield TextList(texts, self._number, name, self._file_bytes_read, replacements)


def _blocks_of_lines(stream: TextStream) -> Iterator[bytes]:
    chunk = stream.read(_BLOCK_BYTES)
    pending = bytearray(chunk.removeprefix(BYTE_ORDER_MARK))
    while chunk:
        yield from _split_long_line(pending)
        end = pending.rfind(b"\n") + 1
        if end:
            yield bytes(pending[:end])
            del pending[:end]
        chunk = stream.read(_BLOCK_BYTES)
        pending += chunk
    if pending:
        yield bytes(pending)


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
