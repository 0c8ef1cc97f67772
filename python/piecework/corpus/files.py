"""Paths in, blocks of text out: plain text, JSON lines, gzip, Zstandard, directories and stdin.

Plain text comes as blocks of UTF-8 of about 1 MB that end at line ends; JSON lines come as lists of texts.
Both carry the number of their source, so that the first position of a word is the same for any number of
threads. Compressed and binary data are recognized by their first bytes, JSON lines by the suffix (`.jsonl`
or `.ndjson`, before an optional `.gz` or `.zst`); stdin holds JSON lines if a field is named. Memory is
bounded whatever the input.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from piecework.corpus.json_lines import read_json_lines, warn_of_json_lines
from piecework.corpus.text_stream import TextStream
from piecework.errors import ArgumentError, FileError
from piecework.io.read_file import reason

PathLike: TypeAlias = str | os.PathLike[str]
Utf8Errors: TypeAlias = Literal["replace", "strict"]

TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst")
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
COMPRESSION_SUFFIXES = (".gz", ".zst")
TEXT_FIELD = "text"

_BLOCK_BYTES = 1 << 20
_MAX_LINE_BYTES = 16 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class TextBlock:
    """Bytes of plain text that start at `byte_offset` of the decoded stream of one source.

    `file_bytes_read` says how much of all files, as stored, had been read when the block was made.
    """

    data: bytes
    source: int
    byte_offset: int
    name: str
    file_bytes_read: int


@dataclass(frozen=True)
class TextList:
    """Texts of one source, following those that came before; `replacements` counts mended ones."""

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
    """Read files, directories and `-` (stdin) in the order given, each file a source of its own.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhugs\\n")
    >>> [block.data for block in read_corpus(path)]
    [b'hug pug\\nhugs\\n']

    A directory gives the files below it that have a known suffix (`.txt .text .md .rst .jsonl .ndjson`,
    also with `.gz` or `.zst`), sorted by path, hidden ones left out. A byte order mark at the start of a
    file is dropped. A line of plain text over 16 MB is cut before the last blank of its first 16 MB, or
    between two characters when it has none. `field` names the text in each JSON object (None: "text");
    stdin holds JSON lines if it is given and plain text otherwise. `errors` concerns JSON lines here, as
    plain text is decoded by whoever takes the blocks.

    Raises `FileError` for what cannot be read, `CorpusError` for binary data, UTF-16, broken JSON or damaged
    compressed data.
    """
    if errors not in ("replace", "strict"):
        raise ArgumentError("errors", repr(errors), "'replace' or 'strict'")
    file_bytes_before = 0
    for index, path in enumerate(corpus_files(paths)):
        with ExitStack() as stack:
            stream = TextStream(path, stack)
            source = _Source(stream, first_source + index, file_bytes_before)
            if is_json_lines(path, field):
                yield from source.lists(field or TEXT_FIELD, errors)
            else:
                yield from source.blocks()
            file_bytes_before += stream.bytes_read


def corpus_files(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Return the files that `paths` stand for, directories expanded, in reading order."""
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise ArgumentError("corpus", type(paths).__name__, "paths as str or os.PathLike")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ArgumentError("corpus", "no paths", "at least one file, directory or '-'")
    return [name for path in given for name in _expand(_path_name(path))]


def corpus_bytes(files: Sequence[str]) -> int:
    """Return the size of the files as stored, in bytes; 0 when one has no size, such as stdin."""
    if any(not Path(name).is_file() for name in files):
        return 0
    return sum(Path(name).stat().st_size for name in files)


def is_json_lines(path: str, field: str | None) -> bool:
    """Return whether an input holds JSON lines: a file by its suffix, stdin if a field is named."""
    return field is not None if path == "-" else _kind_suffix(path) in JSON_LINES_SUFFIXES


def _path_name(path: object) -> str:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ArgumentError("corpus", type(path).__name__, "paths as str or os.PathLike")
    if "\0" in os.fspath(path):
        raise ArgumentError("corpus", repr(os.fspath(path)), "a path without null characters")
    return os.fspath(path)


def _expand(name: str) -> list[str]:
    if name == "-" or not Path(name).is_dir():
        return [name]
    found = sorted(_known_files(Path(name)))
    if not found:
        known = " ".join((*TEXT_SUFFIXES, *JSON_LINES_SUFFIXES))
        raise FileError(name, "a directory without text files", f"files named {known}")
    return [str(path) for path in found]


def _known_files(directory: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise FileError(str(error.filename), reason(error), "a readable directory") from error

    for folder, folders, files in os.walk(directory, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and _is_known(name):
                yield Path(folder, name)


def _is_known(name: str) -> bool:
    return _kind_suffix(name) in (*TEXT_SUFFIXES, *JSON_LINES_SUFFIXES)


def _kind_suffix(name: str) -> str:
    """Return the suffix that tells the kind of text: `a.jsonl.gz` gives `.jsonl`."""
    path = Path(name.lower())
    return (path.with_suffix("") if path.suffix in COMPRESSION_SUFFIXES else path).suffix


class _Source:
    """One input on its way to becoming blocks or lists of texts."""

    def __init__(self, stream: TextStream, number: int, bytes_before: int) -> None:
        self._stream = stream
        self._number = number
        self._bytes_before = bytes_before

    @property
    def _file_bytes_read(self) -> int:
        return self._bytes_before + self._stream.bytes_read

    def blocks(self) -> Iterator[TextBlock]:
        name = self._stream.name
        byte_offset = 0
        for data in _cut_at_line_ends(self._stream):
            if not byte_offset:
                warn_of_json_lines(data, name)
            yield TextBlock(data, self._number, byte_offset, name, self._file_bytes_read)
            byte_offset += len(data)

    def lists(self, field: str, errors: Utf8Errors) -> Iterator[TextList]:
        name = self._stream.name
        for texts, replacements in read_json_lines(self._stream, field, errors):
            yield TextList(texts, self._number, name, self._file_bytes_read, replacements)


def _cut_at_line_ends(stream: TextStream) -> Iterator[bytes]:
    more = stream.read(_BLOCK_BYTES)
    pending = bytearray(more.removeprefix(BYTE_ORDER_MARK))
    while more:
        yield from _parts_of_long_line(pending)
        cut = pending.rfind(b"\n") + 1
        if cut:
            yield bytes(pending[:cut])
            del pending[:cut]
        more = stream.read(_BLOCK_BYTES)
        pending += more
    if pending:
        yield bytes(pending)


def _parts_of_long_line(pending: bytearray) -> Iterator[bytes]:
    """Remove and return parts of the line that `pending` starts with, while it is too long.

    Where a line is cut depends on the line alone, so shards are cut like the whole corpus.
    """
    while len(pending) > _MAX_LINE_BYTES and pending.find(b"\n", 0, _MAX_LINE_BYTES) < 0:
        cut = _cut_inside_line(pending[:_MAX_LINE_BYTES])
        yield bytes(pending[:cut])
        del pending[:cut]


def _cut_inside_line(line: bytearray) -> int:
    """Return where to cut a line that is too long: before a blank, or between characters."""
    before_blank = max(line.rfind(b" "), line.rfind(b"\t"))
    if before_blank > 0:
        return before_blank
    # Bytes 10xxxxxx continue a character; UTF-8 has at most three of them in a row.
    starts = (at for at in range(len(line) - 1, len(line) - 5, -1) if line[at] & 0xC0 != 0x80)
    return next(starts, len(line))
