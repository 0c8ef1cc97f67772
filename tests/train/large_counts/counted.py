"""Corpora of many words."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from piecework.train import Counts, count_files


def numbered_words(count: int, seed: int) -> str:
    """Return lines with many distinct words, short and long."""
    draw = random.Random(seed)
    line = lambda: " ".join(f"w{draw.randrange(count):x}" for _ in range(12))  # noqa: E731
    lines = (f"{line()} internationalization{draw.randrange(count)}" for _ in range(count // 6))
    return "\n".join(lines) + "\n"


def rows(counts: Counts) -> list[tuple[str, int, int]]:
    assert counts.first is not None
    return list(zip(counts.words, counts.counts.tolist(), counts.first.tolist(), strict=True))


class StoppedError(Exception):
    """Raised by a test in place of a crash."""


def stop_after(blocks: int, error: type[BaseException]) -> object:
    """Return a progress function that raises after some blocks."""
    seen = 0

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == blocks:
            raise error

    return progress


def interrupted(corpus: list[Path], state: Path, **arguments: object) -> Path:
    """Leave a checkpoint after four blocks, and return its file."""
    with pytest.raises(StoppedError):
        count_files(
            corpus,
            preset="whitespace",
            checkpoint=state,
            checkpoint_seconds=0,
            progress=stop_after(4, StoppedError),  # type: ignore[arg-type]
            **arguments,  # type: ignore[arg-type]
        )
    return state / "counting.json"


COUNT = [sys.executable, "-m", "piecework", "count", "--preset", "whitespace", "--quiet"]
