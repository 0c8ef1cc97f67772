"""Texts of a corpus that are long enough to measure or to compare encoding on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from piecework.corpus import Rows

DOCUMENT_CHARS = 2_000
"""Lines of plain text are joined to documents of about this many characters."""


def documents_of(rows: Rows) -> Iterable[str]:
    """Return the texts of rows; the lines of plain text are joined, with their line ends.

    >>> list(documents_of(Rows(["hug", "pug"], [1, 2], are_lines=True)))
    ['hug\\npug\\n']
    """
    return _join_lines(rows.texts) if rows.are_lines else rows.texts


def _join_lines(lines: Iterable[str]) -> Iterator[str]:
    """Join lines to documents of at least `DOCUMENT_CHARS` characters."""
    document: list[str] = []
    chars = 0
    for line in lines:
        document.append(line + "\n")
        chars += len(line) + 1
        if chars >= DOCUMENT_CHARS:
            yield "".join(document)
            document, chars = [], 0
    if document:
        yield "".join(document)
