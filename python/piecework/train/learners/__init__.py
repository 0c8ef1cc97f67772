"""The learners of WordPiece entries: values that say how a `WordPieceTrainer` learns.

To add a learner, write its file here and import it in `kinds.py`; CONTRIBUTING.md lists the edits in Rust and
in the reference. The command line takes its fields as options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from piecework.errors import ArgumentError, InputTypeError
from piecework.train.learners.kinds import LEARNERS, Learner, Merges, Pruning, TopDown

__all__ = ["DEFAULT_LEARNER", "LEARNERS", "Learner", "check_learner", "former_settings", "one_of"]

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


# ---- settings of WordPieceTrainer that are learners now

_FORMER_NAMES = {"use_cap": "max_use_cost", "seed_size": "seed_vocab_size"}
FORMER_SETTINGS = ("algorithm", "score", "ties", "segmentation", "balance", "use_cap", "seed_size")


def former_settings(given: Mapping[str, Any]) -> ArgumentError | None:
    """Return the error for settings that a learner has now, None without one; it names the learner.

    >>> print(former_settings({"score": "pmi"}))
    score: 'pmi' is written learner=Merges(score='pmi')
    """
    found = {name: given[name] for name in FORMER_SETTINGS if name in given}
    if not found:
        return None
    first = next(iter(found))
    return ArgumentError(first, f"{found[first]!r} is written learner={_call_for(found)}")


def _call_for(found: dict[str, Any]) -> str:
    """Return the call of the learner that former settings selected."""
    settings = {_FORMER_NAMES.get(name, name): value for name, value in found.items()}
    selected = settings.pop("algorithm", None)
    if settings.get("score") == TopDown.name:
        del settings["score"]
        selected = selected or TopDown.name
    if selected not in LEARNERS:
        selected = Merges.name if settings.keys() & {"score", "ties"} else Pruning.name
    kind = LEARNERS[selected]
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    arguments = (f"{name}={value!r}" for name, value in settings.items() if name in known)
    return f"{kind.__name__}({', '.join(arguments)})"
