"""What the readers of records share: the field to read, what to do with faults, and rows of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from piecework.corpus.field_path import FieldPath
from piecework.corpus.line_blocks import MEMORY_SHARE
from piecework.corpus.skipped import Skipped
from piecework.corpus.texts import Texts
from piecework.errors import CorpusError, InvalidUtf8Error

Utf8Errors: TypeAlias = Literal["replace", "strict"]

# A list of texts has at most about this many characters, or one longer text, and at most this many texts.
LIST_CHARS = 2 << 20
LIST_TEXTS = 50_000


@dataclass(frozen=True)
class RowOptions:
    """How to read records: the field, invalid UTF-8, and faults, which are counted if `skipped` is set.

    `kept` names further columns of tables to read. `memory_share` limits a line, as for `line_blocks`.
    """

    field: FieldPath
    errors: str = "replace"
    skipped: Skipped | None = None
    kept: tuple[str, ...] = ()
    memory_share: int = MEMORY_SHARE

    def fault(self, error: CorpusError) -> None:
        """Count the fault of a row, or raise it."""
        if self.skipped is None:
            raise error
        self.skipped.add(error)


@dataclass(frozen=True)
class Rows:
    """The texts of consecutive records, their line or row numbers, and replaced sequences of bytes.

    `kept` has the values of the kept columns of each record, none if no column is kept.
    """

    texts: Texts
    numbers: Sequence[int]
    replacements: int = 0
    kept: Sequence[Sequence[Any]] = ()


def decode_utf8(data: bytes, errors: str, place: str) -> tuple[str, int]:
    """Return text and the number of invalid sequences that became U+FFFD.

    >>> decode_utf8(b"a\\xffb", "replace", "a.csv line 1")
    ('a\\ufffdb', 1)

    With `errors="strict"`, raises `InvalidUtf8Error` that names `place` and the byte instead.
    """
    try:
        return data.decode(), 0
    except UnicodeDecodeError as error:
        if errors == "strict":
            found = f"invalid UTF-8 at byte {error.start}"
            raise InvalidUtf8Error(place, found, "UTF-8 text") from error
    text = data.decode(errors="replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())
