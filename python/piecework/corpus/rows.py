"""What all readers share: how to read, and the blocks of text or rows that they yield."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import not_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from piecework._internal._core import TextColumn
from piecework._internal.validation import check_choice
from piecework._internal.warn import warn
from piecework.corpus.field_path import FieldPath
from piecework.corpus.text_stream import MEMORY_SHARE
from piecework.errors import (
    CorpusError,
    CorpusWarning,
    FileError,
    InvalidUtf8Error,
    MemoryLimitError,
)

if TYPE_CHECKING:
    import numpy as np


Texts: TypeAlias = list[str] | TextColumn


def sliced(texts: Texts, start: int, end: int) -> Texts:
    """Return consecutive texts.

    >>> sliced(["a", "b", "c"], 1, 3)
    ['b', 'c']
    """
    return texts.slice(start, end) if isinstance(texts, TextColumn) else texts[start:end]


def joined(parts: Sequence[Texts]) -> Texts:
    """Return the texts of all parts: a column if all parts are columns.

    >>> joined([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if len(parts) == 1:
        return parts[0]
    columns = [part for part in parts if isinstance(part, TextColumn)]
    if columns and len(columns) == len(parts):
        return TextColumn.joined(columns)
    return list(chain.from_iterable(parts))


def sizes(texts: Texts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the size of each text, in bytes for a column and in characters for strings.

    >>> sizes(["a", "bc"]).tolist()
    [1, 2]
    """
    import numpy as np

    if isinstance(texts, TextColumn):
        return texts.sizes()
    return np.fromiter(map(len, texts), np.int64, len(texts))


def longest(texts: Texts) -> int:
    """Return the size of the longest text, in the units of `sizes`; 0 without texts.

    >>> longest(["a", "bc"])
    2
    """
    return int(sizes(texts).max(initial=0))


def without_blank(texts: Texts) -> Texts:
    """Return the texts that are neither empty nor whitespace only.

    >>> without_blank(["a", "", " ", "b"])
    ['a', 'b']
    """
    if isinstance(texts, TextColumn):
        return texts.without_blank()
    # Loops in C: a loop in Python takes longer than encoding.
    not_space = map(not_, map(str.isspace, texts))
    return list(filter(None, compress(texts, not_space)))


Utf8Errors: TypeAlias = Literal["replace", "strict"]
Document: TypeAlias = Literal["line", "blank-line", "file"]
"""What a text of plain text is."""

DOCUMENTS: Mapping[str, str] = MappingProxyType(
    {"line": "a line each", "blank-line": "separated by blank lines", "file": "a file each"}
)
"""How a summary describes the texts of plain text."""

READ_BYTES = 1 << 20
READ_BYTES_OF_LINES = 1 << 19
"""Buffers of this size are allocated again; larger ones are new memory, which takes longer to fill."""

# A list of texts has at most about this many characters, or one longer text, and at most this many texts.
LIST_CHARS = 2 << 20
LIST_TEXTS = 50_000


class TextPosition(NamedTuple):
    """The end of a block, and the number of bytes of the text that were read by then.

    Both determine the next blocks. They count bytes of the decompressed text, without a byte order mark.
    """

    byte_offset: int
    bytes_read: int


@dataclass(frozen=True)
class ReadOptions:
    """How to read: the field, invalid UTF-8, and faults, which are counted if `skipped` is set.

    With `whole_lines` a long line is not split but limited to a `memory_share`th of the memory, and the lines
    of a pipe are read as they arrive. `kept` names further columns of tables to read, and `with_records` adds
    the objects of JSON lines. Stdin and `.json` files have JSON lines if
    `field_is_given`. With `tables_as_lines`, files with
    delimiters are plain text: SentencePiece's sentences with counts, and gold segmentations, are lines of
    a text, a tab and a value, without a header. With `as_conversations` a text is the conversation of a
    whole record. `document` says what a text of plain text is (`DOCUMENTS`). `start` is the position in
    plain text at which to continue. `block_bytes` and `max_line_bytes` replace the usual size of a block and
    the size at which lines are split.
    """

    field: FieldPath
    encoding_errors: str = "replace"
    skipped: Skipped | None = None
    whole_lines: bool = False
    kept: tuple[str, ...] = ()
    with_records: bool = False
    memory_share: int = MEMORY_SHARE
    field_is_given: bool = False
    tables_as_lines: bool = False
    as_conversations: bool = False
    document: str = "line"
    start: TextPosition | None = None
    block_bytes: int | None = None
    max_line_bytes: int | None = None

    @classmethod
    def of(
        cls,
        field: str | None = None,
        encoding_errors: Utf8Errors = "replace",
        on_error: OnError = "fail",
        document: Document = "line",
        **further: Any,
    ) -> ReadOptions:
        """Check the arguments that all functions that read a corpus share."""
        check_choice("encoding_errors", encoding_errors, ("replace", "strict"))
        check_on_error(on_error)
        check_choice("document", document, tuple(DOCUMENTS))
        skipped = Skipped() if on_error == "skip" else None
        return cls(
            FieldPath.of(field),
            encoding_errors,
            skipped,
            field_is_given=field is not None,
            document=document,
            **further,
        )

    @property
    def read_bytes(self) -> int:
        """The number of bytes to read at once."""
        return self.block_bytes or (READ_BYTES_OF_LINES if self.whole_lines else READ_BYTES)

    def fault(self, error: CorpusError) -> None:
        """Count the fault of a row, or raise it."""
        if self.skipped is None:
            raise error
        self.skipped.add(error)

    def warn_of_skipped(self) -> None:
        """Warn with `CorpusWarning` if something was skipped."""
        if self.skipped is not None:
            self.skipped.warn()


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of the source with the number `source`, read when `file_bytes_read` bytes of all files were.

    These are bytes as stored, before decompression.
    """

    source: int = 0
    name: str = ""
    file_bytes_read: int = 0


@dataclass(frozen=True)
class Rows(Block):
    """Texts of one source, with the number of the line or row of each.

    >>> Rows(["hug pug", "hugs"], numbers=[1, 2]).to_list()
    ['hug pug', 'hugs']

    `replacements` counts the invalid sequences that became U+FFFD. `records` has the kept fields of each
    row, if some are kept. `are_lines` is set for the lines of plain text.
    """

    texts: Texts
    numbers: Sequence[int]
    replacements: int = 0
    records: Sequence[Mapping[str, Any]] = ()
    are_lines: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def to_list(self) -> list[str]:
        """Return the texts as strings."""
        return self.texts.to_list() if isinstance(self.texts, TextColumn) else self.texts


@dataclass(frozen=True)
class TextBlock(Block):
    """Bytes of plain text that start at `byte_offset` of the decompressed source.

    `text_bytes_read` counts the bytes of this source read so far, with the start of the next block.
    """

    data: bytes
    byte_offset: int
    text_bytes_read: int

    def __len__(self) -> int:
        return len(self.data)

    @property
    def end(self) -> TextPosition:
        """The position after the block."""
        return TextPosition(self.byte_offset + len(self.data), self.text_bytes_read)

    def rows(self, first_line: int, encoding_errors: str) -> Rows:
        """Return the lines without their ends; the first one has the number `first_line`."""
        texts: Texts | None = TextColumn.of_lines(self.data)
        replacements = 0
        if texts is None:
            text, replacements = decode_lines(self.data, encoding_errors, self.name, first_line)
            texts = _lines_of(text)
        numbers = range(first_line, first_line + len(texts))
        return Rows(
            texts,
            numbers,
            replacements,
            are_lines=True,
            source=self.source,
            name=self.name,
            file_bytes_read=self.file_bytes_read,
        )


def decode_lines(
    data: bytes, encoding_errors: str, name: str, first_line: int = 1
) -> tuple[str, int]:
    """Return the text of lines, of which the first has the number `first_line`, as `decode_utf8` does.

    >>> decode_lines(b"a\\nb\\xff", "replace", "a.txt")
    ('a\\nb\\ufffd', 1)

    With `encoding_errors="strict"`, raises `InvalidUtf8Error` that names the file, the line and the byte.
    """
    try:
        return data.decode(), 0
    except UnicodeDecodeError as error:
        if encoding_errors == "strict":
            line = first_line + data.count(b"\n", 0, error.start)
            name = f"{name} line {line}"
            data = data[data.rfind(b"\n", 0, error.start) + 1 :]
    return decode_utf8(data, encoding_errors, name, " of the line")


def decode_utf8(data: bytes, encoding_errors: str, place: str, unit: str = "") -> tuple[str, int]:
    """Return text and the number of invalid sequences that became U+FFFD.

    >>> decode_utf8(b"a\\xffb", "replace", "a.csv line 1")
    ('a\\ufffdb', 1)

    With `encoding_errors="strict"`, raises `InvalidUtf8Error` that names `place` and the byte, of the `unit`.
    """
    try:
        return data.decode(), 0
    except UnicodeDecodeError as error:
        if encoding_errors == "strict":
            problem = f"found invalid UTF-8 at byte {error.start}{unit}, expected UTF-8 text"
            raise InvalidUtf8Error(place, problem) from error
    text = data.decode(errors="replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def _lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


OnError: TypeAlias = Literal["fail", "skip"]
ON_ERROR = ("fail", "skip")


class Skipped:
    """The inputs that were skipped: how many for each reason, and where the first one is.

    >>> skipped = Skipped()
    >>> for place in ("a.csv line 2", "a.csv line 5"):
    ...     skipped.add(CorpusError(place, "has 1 column", kind="a row with too few columns"))
    >>> str(skipped)
    'skipped: a row with too few columns: 2 (first in a.csv line 2)'
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first_places: dict[str, str] = {}

    def add(self, error: CorpusError | FileError | MemoryLimitError) -> None:
        """Count the line, row or file that raised this error."""
        reason = error.kind
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first_places.setdefault(reason, error.place)

    def warn(self) -> None:
        """Warn with `CorpusWarning` if something was skipped."""
        if self.counts:
            warn(str(self), CorpusWarning)

    def __str__(self) -> str:
        parts = (
            f"{reason}: {count:,} (first in {self.first_places[reason]})"
            for reason, count in self.counts.items()
        )
        return "skipped: " + "; ".join(parts)


def check_on_error(on_error: object) -> None:
    """Raise `ArgumentError` unless `on_error` is "fail" or "skip"."""
    check_choice("on_error", on_error, ON_ERROR)
