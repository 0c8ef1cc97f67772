"""Numbers with their nouns, for messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "line"), counted(12345, "line"), counted(0, "entry"), counted(2, "distinct word")
    ('1 line', '12,345 lines', '0 entries', '2 distinct words')
    """
    if number == 1:
        return f"1 {noun}"
    ending = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {ending}"
