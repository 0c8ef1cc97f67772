"""Text from files on its way to a terminal."""

from __future__ import annotations


def escape_controls(text: str) -> str:
    r"""Return the text with what a terminal would obey, or not show, by its code.

    >>> escape_controls("hug\x1b[31m")
    'hug\\x1b[31m'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
