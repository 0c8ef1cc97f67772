"""Text from files, made safe to print on a terminal."""

from __future__ import annotations


def escape_controls(text: str) -> str:
    r"""Return the text with control and other unprintable characters as escape sequences.

    >>> escape_controls("hug\x1b[31m")
    'hug\\x1b[31m'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
