"""The learners of WordPiece entries: values that say how a `WordPieceTrainer` learns.

To add a learner, write its file here and import it in `kinds.py`; CONTRIBUTING.md lists the edits in Rust and
in the reference. The command line takes its fields as options.
"""

from __future__ import annotations

from collections.abc import Iterable

from piecework.errors import InputTypeError
from piecework.train.learners.kinds import LEARNERS, Learner, Merges, Pruning

__all__ = ["DEFAULT_LEARNER", "LEARNERS", "Learner", "check_learner", "one_of"]

DEFAULT_LEARNER: Learner = Pruning()


def check_learner(
    learner: object, kinds: tuple[type[Learner], ...] = tuple(LEARNERS.values())
) -> None:
    """Raise `InputTypeError` unless `learner` is one of these kinds; the message lists them.

    >>> check_learner("pmi")
    Traceback (most recent call last):
    piecework.errors.InputTypeError: learner: must be Pruning(), ... of piecework.train, not 'pmi'; use ...
    """
    if isinstance(learner, kinds):
        return
    meant = _meant_by(learner)
    hint = f"use {meant}" if meant is not None and isinstance(meant, kinds) else ""
    expected = one_of(f"{kind.__name__}()" for kind in kinds)
    problem = f"must be {expected} of piecework.train, not {learner!r}"
    raise InputTypeError("learner", problem, hint=hint)


def one_of(texts: Iterable[str]) -> str:
    """Return texts as alternatives of a sentence.

    >>> one_of(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def _meant_by(name: object) -> Learner | None:
    """Return the learner that a name stands for, None if it stands for none."""
    if not isinstance(name, str):
        return None
    if name in Merges.SCORES:
        return Merges(name)  # type: ignore[arg-type]
    return LEARNERS[name]() if name in LEARNERS else None
