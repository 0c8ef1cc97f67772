"""The formats of a corpus: the table `FORMATS` has an entry for each.

To add a format, write its reader in a file of this folder, import it here and add an entry to `FORMATS`. All
commands and lists of formats follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from piecework.corpus.columns import ColumnFile
from piecework.corpus.compression import COMPRESSION_SUFFIXES
from piecework.corpus.csv_rows import read_csv
from piecework.corpus.json_lines import read_json_lines
from piecework.corpus.plain_text import read_plain_text
from piecework.corpus.rows import ReadOptions, Rows, TextBlock
from piecework.corpus.text_stream import TextStream
from piecework.errors import ArgumentError, CorpusError


class Input(Protocol):
    """One opened input; `bytes_read` counts its stored bytes, `is_idle` says that reading would block."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def bytes_read(self) -> int: ...  # noqa: D102
    @property
    def is_idle(self) -> bool: ...  # noqa: D102


def _open_stream(path: str, stack: ExitStack, options: ReadOptions) -> TextStream:
    """Open an input whose bytes are text, compressed or not."""
    return TextStream(path, stack, at_once=options.whole_lines)


@dataclass(frozen=True)
class Format:
    """A corpus format: what counts as one text in it, and how it is read.

    >>> FORMATS[1].name, FORMATS[1].suffixes, FORMATS[1].a_text
    ('JSON lines', ('.jsonl', '.ndjson'), 'the string under a field of each object')

    `open(path, stack, options)` opens an input, and `read(input, options)` yields its rows, or blocks of
    plain text. `has_fields` is set for formats of records: `ReadOptions.field` names the field with the text,
    and `read` puts the fields of `ReadOptions.kept` into `Rows.records`. `can_be_compressed` is set for
    formats that are read as a stream of text. `can_be_lines` is set for tables that are plain text with
    `ReadOptions.tables_as_lines`, and `has_conversations` for those whose records can have messages. `extra`
    is the extra to install.
    """

    name: str
    suffixes: tuple[str, ...]
    a_text: str
    read: Callable[[Any, ReadOptions], Iterator[Rows] | Iterator[TextBlock]]
    open: Callable[[str, ExitStack, ReadOptions], Input] = _open_stream
    has_fields: bool = False
    can_be_compressed: bool = True
    can_be_lines: bool = False
    has_conversations: bool = False
    extra: str | None = None


PLAIN_TEXT = Format(
    "plain text",
    (".txt", ".text", ".md", ".rst"),
    "a line, or what `document` says",
    read_plain_text,
)
JSON_LINES = Format(
    "JSON lines",
    (".jsonl", ".ndjson"),
    "the string under a field of each object",
    read_json_lines,
    has_fields=True,
    has_conversations=True,
)
_delimited = partial(
    Format,
    a_text="the cell of a column in each row, named in the first row",
    has_fields=True,
    can_be_lines=True,
)
_columns = partial(
    Format,
    a_text="the value of a column of strings in each row",
    read=ColumnFile.rows,
    has_fields=True,
    can_be_compressed=False,
    has_conversations=True,
    extra="parquet",
)
FORMATS: tuple[Format, ...] = (
    PLAIN_TEXT,
    JSON_LINES,
    _delimited("CSV", (".csv",), read=partial(read_csv, delimiter=",")),
    _delimited("TSV", (".tsv",), read=partial(read_csv, delimiter="\t")),
    _columns("Parquet", (".parquet",), open=partial(ColumnFile, format="parquet")),
    _columns("Arrow IPC", (".arrow",), open=partial(ColumnFile, format="arrow")),
)
"""The formats of a corpus. The suffix of a file chooses one; other suffixes are plain text."""

KNOWN_SUFFIXES = tuple(suffix for format in FORMATS for suffix in format.suffixes)


def format_of(path: str, options: ReadOptions | None = None) -> Format:
    """Return the format of a file, a URL or stdin (`-`).

    >>> format_of("a.jsonl.gz").name, format_of("a.log").name, format_of("-").name
    ('JSON lines', 'plain text', 'plain text')

    A file with an unknown suffix is plain text. So are stdin and `.json` files, unless the options name a
    field or read conversations: then they have JSON lines. Raises `CorpusError` for a format without
    conversations.
    """
    suffix = _suffix(path)
    if path == "-" or suffix == ".json":
        has_json = options is not None and (options.field_is_given or options.as_conversations)
        return JSON_LINES if has_json else PLAIN_TEXT
    format = next((format for format in FORMATS if suffix in format.suffixes), PLAIN_TEXT)
    if options is not None and options.as_conversations and not format.has_conversations:
        names = ", ".join(format.name for format in FORMATS if format.has_conversations)
        raise CorpusError(path, f"is {format.name}, which has no conversations; use {names}")
    are_lines = options is not None and options.tables_as_lines and format.can_be_lines
    return PLAIN_TEXT if are_lines else format


def check_documents(files: Sequence[str], options: ReadOptions) -> None:
    """Raise `ArgumentError` if the options divide plain text, and a file has another format."""
    if options.document == "line":
        return
    for path in files:
        format = format_of(path, options)
        if format is not PLAIN_TEXT:
            name = "<stdin>" if path == "-" else path
            problem = f"{options.document!r} does not support {name}, which is {format.name}"
            hint = "leave it out: each record is a document"
            raise ArgumentError("document", problem, hint=hint)


def has_known_suffix(name: str) -> bool:
    """Return whether a directory of a corpus includes files with this name.

    >>> has_known_suffix("a.txt.zst"), has_known_suffix("a.bin")
    (True, False)
    """
    return _suffix(name) in KNOWN_SUFFIXES


def formats_text() -> str:
    """Return a sentence that lists the formats with their suffixes, for help texts.

    Plain text has none there, because files with unknown suffixes are plain text too.

    >>> formats_text().partition(",")[0]
    'plain text'
    """
    *names, last = (
        format.name + ("" if format is PLAIN_TEXT else f" ({' '.join(format.suffixes)})")
        for format in FORMATS
    )
    uncompressed = " and ".join(format.name for format in FORMATS if not format.can_be_compressed)
    return (
        f"{', '.join(names)} or {last}, all but {uncompressed} "
        f"optionally compressed ({' '.join(COMPRESSION_SUFFIXES)})"
    )


def without_suffixes(name: str) -> str:
    """Return the name of a file without the suffixes of its compression and its format.

    >>> without_suffixes("a.b.jsonl.gz")
    'a.b'
    """
    path = Path(name)
    is_compressed = path.suffix.lower() in COMPRESSION_SUFFIXES
    return (path.with_suffix("") if is_compressed else path).stem


def _suffix(name: str) -> str:
    """Return the suffix without the suffix of the compression: `.jsonl` for `a.jsonl.gz`.

    The query of a web address does not belong to its name.
    """
    lower = name.lower().partition("::")[0]
    if lower.startswith(("http://", "https://")):
        lower = lower.partition("?")[0].partition("#")[0]
    path = Path(lower)
    return (path.with_suffix("") if path.suffix in COMPRESSION_SUFFIXES else path).suffix
