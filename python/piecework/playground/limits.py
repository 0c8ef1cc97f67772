"""How much one request may ask for; the page repeats these limits in its errors."""

from __future__ import annotations

from piecework.errors import ArgumentError

TEXT_BYTES = 2_000_000
"""UTF-8 bytes of a text to encode."""
PAGE_CHARS = 8_000
"""Characters of a text in the address of the page."""
PAGE_TOKENS = 1_000
"""Rows of each table of the page without JavaScript."""
WORD_CHARS = 500
"""Characters of a text whose segmentation is explained."""
SEGMENTATIONS = 64
CORPUS_CHARS = 10_000
VOCAB_SIZE = 2_000
STEPS = 300
REMOVALS = 800
"""Removals of the pruning learner, which are computed in plain Python."""
SECONDS = 20.0
"""Time for one request, reading its text included."""
THREADS = 4
"""Requests that are computed at the same time; others wait."""
CONNECTIONS = 64
"""Connections with a request, and as many that wait for the headers of one."""
HEADER_SECONDS = 10.0
"""Time until the headers of a request are complete."""


def check_length(name: str, text: str, most: int) -> None:
    """Raise `ArgumentError` for a text of more than `most` characters.

    >>> check_length("text", "hug", 3)
    """
    if len(text) > most:
        raise ArgumentError(name, f"has {len(text):,} characters; the limit is {most:,}")
