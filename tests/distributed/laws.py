"""What the tests of Ray and of Spark share: counts as columns, and a stage that kills its process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import piecework as pw


def columns(counts: pw.Counts) -> tuple[list[str], list[int], list[int] | None, int]:
    """Return all that counts contain, in order."""
    first = counts.first
    positions = None if first is None else first.tolist()
    return counts.words, counts.counts.tolist(), positions, counts.replacements


class KillsOnce:
    """A function that kills its process at the first text with a word, once for a marker file.

    Custom stages pickle by reference, so that workers must be able to import this module.
    """

    def __init__(self, marker: Path, word: str) -> None:
        self.marker = marker
        self.word = word

    def __call__(self, text: str) -> str:
        if self.word in text:
            try:
                os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return text
            os.kill(os.getpid(), signal.SIGKILL)
        return text


def unchanged(text: str) -> str:
    """Return the text."""
    return text


def pipeline_of(function: Callable[[str], str]) -> pw.train.Pipeline:
    """Return a pipeline with a custom normalizer, which the pipelines of other functions equal by name."""
    return pw.train.Pipeline(
        pw.spec.CustomNormalizer(function, name="normalize"), pw.spec.WhitespaceSplit()
    )
