"""Checks of what callers give: each refuses with a typed error that names the argument."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from piecework._internal.lazy import hints, np, typing
from piecework.errors import ArgumentError, InputTypeError

PathLike = str | os.PathLike[str]


def path_text(path: PathLike, name: str = "path") -> str:
    """Return a path as text."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(name, type(path).__name__, "str or a path")
    return os.fspath(path)


def listed(items: Sequence[hints.T], name: str = "texts", of: str = "str") -> list[hints.T]:
    """Return what a sequence holds now, so that texts, say, can be encoded again later."""
    if not _is_iterable(items):
        raise InputTypeError(name, type(items).__name__, f"a sequence of {of}, such as a list")
    return list(items)


def id_list(ids: typing.Any, place: str) -> list[int]:
    """Return ids as a list of int, each checked to fit 32 bits."""
    if not _is_iterable(ids):
        raise InputTypeError(place, type(ids).__name__, "a sequence of ids")
    # Lists of int are told without numpy, which may never be needed.
    is_array = not isinstance(ids, (list, tuple)) and isinstance(ids, np.ndarray)
    listed = ids.tolist() if is_array else list(ids)
    for at, id in enumerate(listed):
        if not isinstance(id, int) and not isinstance(id, np.integer):
            raise InputTypeError(f"{place}[{at}]", type(id).__name__, "an id")
        if not 0 <= id < 2**32:
            raise ArgumentError(f"{place}[{at}]", str(id), "an id from 0 to 4294967295")
    return listed


def check_size(name: str, value: object) -> None:
    """Refuse what is no number of tokens."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputTypeError(name, type(value).__name__, "int")
    if not 0 <= value < 2**32:
        raise ArgumentError(name, str(value), "a number of tokens from 0 to 4294967295")


def check_type_id(name: str, value: object) -> None:
    """Raise unless `value` is a type id from 0 to 255."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputTypeError(name, type(value).__name__, "int")
    if not 0 <= value < 256:
        raise ArgumentError(name, str(value), "a type id from 0 to 255")


def check_bytes(name: str, value: object, least: int) -> None:
    """Refuse what is no amount of memory."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputTypeError(name, type(value).__name__, "int")
    if not least <= value < 2**48:
        raise ArgumentError(name, str(value), f"a number of bytes from {least} to {2**48 - 1}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise ArgumentError(name, repr(value), f"one of {', '.join(choices)}")


def check_stage(name: str, stage: object, kinds: typing.Any) -> None:
    """Refuse what is no component of a stage; `kinds` is the union of those that are."""
    if stage is not None and not isinstance(stage, kinds):
        expected = f"None or a {name.replace('_', '-')} of piecework.spec"
        raise InputTypeError(name, type(stage).__name__, expected)


def _is_iterable(items: object) -> bool:
    if isinstance(items, (list, tuple)):
        return True
    return isinstance(items, Iterable) and not isinstance(items, (str, bytes))
