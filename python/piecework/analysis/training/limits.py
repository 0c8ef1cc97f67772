"""The size of a corpus whose learner the reference repeats in plain Python."""

from __future__ import annotations

from piecework.errors import ArgumentError, InternalError
from piecework.train import Counts


def check_small(counts: Counts, most: int, learner: str) -> None:
    """Raise `ArgumentError` for distinct words of more than `most` characters together.

    >>> check_small(Counts(["hug"], [1]), 3, "the pruning learner")
    """
    found = sum(map(len, counts.words))
    if found > most:
        problem = (
            f"has distinct words of {found:,} characters; a trace of {learner} "
            f"takes at most {most:,}: give a part of the corpus"
        )
        raise ArgumentError("corpus", problem)


def check_one_stage(transition: float | None, preset: str) -> None:
    """Raise `ArgumentError` for a trainer with superwords; `preset` has none.

    >>> check_one_stage(None, "o200k")
    """
    if transition is not None:
        problem = f"cannot be traced: its two stages have different words; use preset {preset}"
        raise ArgumentError("transition", problem)


def check_same(traced: object, learned: object, what: str) -> None:
    """Raise `InternalError` unless the traced result is that of the trainer.

    >>> check_same(["hug"], ["hug"], "the vocabulary")
    """
    if traced != learned:
        raise InternalError("trace", f"{what} differs from that of the trainer")
