"""Check arguments: each function raises a typed error that names the argument.

`check_...` functions return None; the others return the argument in a canonical form.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from piecework._internal.close_names import did_you_mean
from piecework._internal.surrogates import first_surrogate
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    from piecework._internal.types import T


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "line"), counted(12345, "line"), counted(0, "entry"), counted(2, "distinct word")
    ('1 line', '12,345 lines', '0 entries', '2 distinct words')
    """
    if number == 1:
        return f"1 {noun}"
    ending = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {ending}"


PathLike = str | os.PathLike[str]

_MAX_U32 = 2**32 - 1


# ---- types, paths and sequences


def check_type(name: str, value: object, kinds: Any, expected: str) -> None:
    """Raise `InputTypeError` unless `value` has one of the types.

    >>> check_type("text", 3, str, "str")
    Traceback (most recent call last):
    piecework.errors.InputTypeError: text: must be str, not int
    """
    if not isinstance(value, kinds):
        raise InputTypeError(name, f"must be {expected}, not {type(value).__name__}")


def check_tokenizer(tokenizer: object, name: str = "tokenizer") -> None:
    """Raise `InputTypeError` unless the argument is a `Tokenizer`."""
    from piecework._internal._core import Core  # `piecework.reference` runs without it

    if not isinstance(getattr(tokenizer, "_core", None), Core):
        raise InputTypeError(name, f"must be a Tokenizer, not {type(tokenizer).__name__}")


def path_text(path: PathLike, name: str = "path") -> str:
    """Return a path as a string."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(name, f"must be str or a path, not {type(path).__name__}")
    return encodable_path(os.fspath(path), name)


def file_path(path: object, name: str, error: type[ArgumentError] = InputTypeError) -> str:
    """Return the path of one of several files as a string; raises `error` for another type."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise error(name, f"must be paths as str or os.PathLike, not {type(path).__name__}")
    return encodable_path(text, name)


def encodable_path(text: str, name: str = "path") -> str:
    """Return a path; raises `ArgumentError` for one that no file can have."""
    if "\0" in text:
        raise ArgumentError(name, f"must be a path without null characters, not {text!r}")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        problem = f"has a lone surrogate at character {error.start}, which no file name can contain"
        raise ArgumentError(name, problem) from error
    return text


def listed(items: Iterable[T], name: str = "texts", of: str = "str") -> list[T]:
    """Return the items as a new list, which later changes of the argument do not affect."""
    if not _is_iterable(items):
        problem = f"must be a sequence of {of}, such as a list, not {type(items).__name__}"
        raise InputTypeError(name, problem)
    return list(items)


def id_list(ids: Any, place: str) -> list[int]:
    """Return ids as a list; raises unless each is an integer of 32 bits without sign."""
    if not _is_iterable(ids):
        raise InputTypeError(place, f"must be a sequence of ids, not {type(ids).__name__}")
    numpy = sys.modules.get("numpy")  # without it, there are no arrays
    is_array = numpy is not None and isinstance(ids, numpy.ndarray)
    listed = ids.tolist() if is_array else list(ids)
    for position, id in enumerate(listed):
        is_integer = isinstance(id, int) or (numpy is not None and isinstance(id, numpy.integer))
        if not is_integer:
            raise InputTypeError(f"{place}[{position}]", f"must be an id, not {type(id).__name__}")
        if not 0 <= id <= _MAX_U32:
            problem = f"must be an id from 0 to {_MAX_U32}, not {id}"
            raise ArgumentError(f"{place}[{position}]", problem)
    return listed


# ---- numbers


def check_number(name: str, value: object, kinds: tuple[type, ...], expected: str) -> None:
    """Raise `InputTypeError` unless `value` has one of the types; bool is not a number."""
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise InputTypeError(name, f"must be {expected}, not {type(value).__name__}")


def check_positive(name: str, value: object) -> None:
    """Raise unless `value` is an int or a float above 0."""
    check_number(name, value, (int, float), "a number")
    if not value > 0:  # type: ignore[operator]
        raise ArgumentError(name, f"must be a number greater than 0, not {value}")


def check_size(name: str, value: object) -> None:
    """Raise unless `value` is a number of tokens, from 0 to 2**32 - 1."""
    _check_range(name, value, "a number of tokens", 0, _MAX_U32)


def check_type_id(name: str, value: object) -> None:
    """Raise unless `value` is a type id from 0 to 255."""
    _check_range(name, value, "a type id", 0, 255)


def check_bytes(name: str, value: object, least: int) -> None:
    """Raise unless `value` is a number of bytes, from `least` to 2**48 - 1."""
    _check_range(name, value, "a number of bytes", least, 2**48 - 1)


def _check_range(name: str, value: object, kind: str, least: int, most: int) -> None:
    check_number(name, value, (int,), "int")
    if not least <= value <= most:  # type: ignore[operator]
        raise ArgumentError(name, f"must be {kind} from {least} to {most}, not {value}")


def whole_number(name: str, value: object, least: int) -> int:
    """Return a setting as an int from `least` to 2**32 - 1; numpy integers are accepted."""
    expected = f"an integer of at least {least}"
    if isinstance(value, bool):
        raise ArgumentError(name, f"must be {expected}, not {value!r}")
    try:
        number: int = value.__index__()  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise ArgumentError(name, f"must be {expected}, not {value!r}") from None
    if not least <= number <= _MAX_U32:
        raise ArgumentError(name, f"must be {expected} and at most {_MAX_U32}, not {number}")
    return number


def optional_number(name: str, value: object, least: int) -> int | None:
    """Return None unchanged, and any other value as `whole_number` does."""
    return None if value is None else whole_number(name, value, least)


def check_fraction(name: str, value: object) -> None:
    """Raise unless `value` is a number above 0 and at most 1."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:  # type: ignore[operator]
        raise ArgumentError(name, f"must be a number above 0 and at most 1, not {value!r}")


# ---- choices and components


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise unless `value` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise unknown_choice(name, value, choices)


def unknown_choice(name: str, value: object, choices: Collection[str]) -> ArgumentError:
    """Return the error for a value that is not one of the choices; it suggests the likely one."""
    names = ", ".join(dict.fromkeys(choices))
    problem = f"must be one of {names}, not {value!r}"
    return ArgumentError(name, problem, hint=did_you_mean(value, choices))


def check_stage(name: str, stage: object, kinds: Any) -> None:
    """Raise unless `stage` is None or an instance of `kinds`, the union of its components."""
    if stage is not None and not isinstance(stage, kinds):
        expected = f"None or a {name.replace('_', '-')} of piecework.spec"
        raise InputTypeError(name, f"must be {expected}, not {type(stage).__name__}")


# ---- strings


def check_text(name: str, value: object) -> None:
    """Raise unless `value` is a string that UTF-8 can encode."""
    if not isinstance(value, str):
        raise ArgumentError(name, f"must be a string, not {value!r}")
    if first_surrogate(value) is not None:
        raise ArgumentError(name, f"must be a string without lone surrogates, not {value!r}")


def distinct_tokens(name: str, values: object) -> tuple[str, ...]:
    """Return distinct, non-empty strings."""
    tokens = _strings(name, values)
    for token in tokens:
        if not token:
            raise ArgumentError(name, "must not contain an empty string")
    if len(set(tokens)) != len(tokens):
        duplicate = next(token for token in tokens if tokens.count(token) > 1)
        raise ArgumentError(name, f"contains {duplicate!r} twice")
    return tokens


def distinct_characters(name: str, values: object) -> tuple[str, ...]:
    """Return distinct characters from a string or a list of single characters."""
    characters = tuple(values) if isinstance(values, str) else _strings(name, values)
    for character in characters:
        check_text(name, character)
        if len(character) != 1:
            raise ArgumentError(name, f"must be single characters, not {character!r}")
    return tuple(dict.fromkeys(characters))


def _strings(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(name, f"must be a list of strings, not {values!r}")
    strings = tuple(values)
    for string in strings:
        check_text(name, string)
    return strings


def _is_iterable(items: object) -> bool:
    if isinstance(items, (list, tuple)):
        return True
    return isinstance(items, Iterable) and not isinstance(items, (str, bytes))
