"""Declare a setting once: a dataclass field with its check, its help and its option.

The checks of trainers, learners, counting and encoding, the options of the command line, the types of
keyword arguments, the tables of docs/reference/training-settings.md and the tests of bad values come from
these fields.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from piecework._internal import validation as checks
from piecework._internal.memory_budget import memory_budget
from piecework._internal.names_of_other_libraries import unknown_setting
from piecework.errors import ArgumentError

Instance = TypeVar("Instance")
Function = TypeVar("Function", bound=Callable[..., Any])

_MAX_U32 = 2**32 - 1
_MAX_SHOWN = 2**31  # a larger limit is a limit of the machine


@dataclass(frozen=True)
class Setting:
    """What a field declares about its values, in addition to the default.

    `none` is the meaning of None, "" if None is not a value. `option` is the flag of the command line, by
    default made of the name; None if there is none. `metavar` stands for the value in the help. Each kind
    has the `annotation` of its values for type checkers; `words` say which they are.
    """

    annotation: ClassVar[str]
    words: ClassVar[str]

    help: str
    _: KW_ONLY
    none: str = ""
    option: str | None = ""
    metavar: str | None = None

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        return self.words

    def checked(self, name: str, value: Any) -> Any:
        """Return the value to store; raise `ArgumentError` if it is invalid."""
        raise NotImplementedError


@dataclass(frozen=True)
class Switch(Setting):
    """True or False."""

    annotation, words = "bool", "true or false"

    def checked(self, name: str, value: Any) -> bool:
        """Return the value."""
        if not isinstance(value, bool):
            raise ArgumentError(name, f"must be True or False, not {value!r}")
        return value


@dataclass(frozen=True, kw_only=True)
class Integer(Setting):
    """An integer from `least` to `most`; integers of numpy are accepted."""

    annotation = "int"

    least: int
    most: int = _MAX_U32

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        if self.most > _MAX_SHOWN:
            return f"at least {self.least}"
        return f"{self.least} to {self.most:,}"

    def checked(self, name: str, value: Any) -> int:
        """Return the number as an int."""
        number = checks.whole_number(name, value, self.least)
        if number > self.most:
            problem = f"must be an integer from {self.least} to {self.most}, not {number}"
            raise ArgumentError(name, problem)
        return number


@dataclass(frozen=True, kw_only=True)
class IntegerOrShare(Integer):
    """An integer of at least `least`, or a share: a float above 0 and below 1."""

    annotation = "float"

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        return f"{super().values}, or a share above 0 and below 1"

    def checked(self, name: str, value: Any) -> Any:
        """Return the number, as an int unless it is a share."""
        if not isinstance(value, float):
            return super().checked(name, value)
        if not 0 < value < 1:
            raise ArgumentError(
                name,
                f"must be an integer of at least {self.least}, or a share above 0 and below "
                f"1, not {value!r}",
            )
        return float(value)


@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number of at least `least`, or above `above`, and at most `most`, or below `below`."""

    annotation = "float"

    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    below: float = math.inf

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        return self.expected.removeprefix("a number ")

    def checked(self, name: str, value: Any) -> float:
        """Return the number; NaN is in no range."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not (
            self.least <= value <= self.most and self.above < value < self.below
        ):
            raise ArgumentError(name, f"must be {self.expected}, not {value!r}")
        return float(value)

    @property
    def expected(self) -> str:
        """The range in words."""
        if self.most == self.below == math.inf:
            low = (
                f"of at least {self.least:g}"
                if self.above == -math.inf
                else f"above {self.above:g}"
            )
            return f"a number {low}"
        if self.above == -math.inf:
            return f"a number from {self.least:g} to {self.most:g}"
        end = f"below {self.below:g}" if self.most == math.inf else f"at most {self.most:g}"
        return f"a number above {self.above:g} and {end}"


@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of several names."""

    names: Collection[str]

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        return ", ".join(f"`{name}`" for name in self.names)

    def checked(self, name: str, value: Any) -> str:
        """Return the name."""
        checks.check_choice(name, value, self.names)
        return str(value)


@dataclass(frozen=True)
class Text(Setting):
    """A string, of at least one character unless `can_be_empty`."""

    annotation, words = "str", "a string"

    can_be_empty: bool = True

    def checked(self, name: str, value: Any) -> str:
        """Return the string."""
        checks.check_text(name, value)
        if not value and not self.can_be_empty:
            raise ArgumentError(name, "must not be empty")
        return str(value)


@dataclass(frozen=True)
class Tokens(Setting):
    """Distinct strings of at least one character."""

    annotation, words = "Sequence[str]", "strings"

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the strings as a tuple."""
        return checks.distinct_tokens(name, value)


@dataclass(frozen=True)
class Characters(Setting):
    """Distinct characters, as one string or as several."""

    annotation, words = "Sequence[str]", "characters"

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the characters as a tuple."""
        return checks.distinct_characters(name, value)


@dataclass(frozen=True, kw_only=True)
class Variant(Setting):
    """A value of one of several kinds with settings of their own; `check` raises for others.

    A setting of a kind that the class of the field has too is given there: `without` names it.
    """

    annotation: str  # type: ignore[misc]
    kinds: Mapping[str, type]
    check: Callable[[object], None]
    without: Collection[str] = ()

    def settings_of(self, kind: str) -> dict[str, tuple[Setting, Any]]:
        """Return the settings that a kind adds, and their defaults, by name."""
        found = settings_of(self.kinds[kind])
        return {name: how for name, how in found.items() if name not in self.without}

    @property
    def values(self) -> str:
        """Describe the accepted values in words."""
        return ", ".join(f"`{kind.__name__}`" for kind in self.kinds.values())

    def checked(self, name: str, value: Any) -> Any:
        """Return the value."""
        self.check(value)
        return value


@dataclass(frozen=True)
class File(Setting):
    """A path, or None for no file."""

    annotation, words = "PathLike", "a path"

    none: str = "no file"

    def checked(self, name: str, value: Any) -> Any:
        """Return the path."""
        if not isinstance(value, (str, os.PathLike)):
            raise ArgumentError(name, f"must be a path, not {type(value).__name__}")
        checks.encodable_path(os.fspath(value), name)
        return value


@dataclass(frozen=True)
class MemorySize(Setting):
    """A budget in bytes, or a text such as "512MB"."""

    annotation, words = "int | str", "a size such as 512MB"

    def checked(self, name: str, value: Any) -> Any:
        """Return the budget as it was given."""
        memory_budget(value)
        return value


@dataclass(frozen=True, kw_only=True)
class Value(Setting):
    """A value that `check` raises for unless it is valid; `annotation` is its type."""

    annotation: str  # type: ignore[misc]
    check: Callable[[Any], object]

    @property
    def values(self) -> str:
        """Describe the accepted values."""
        return f"`{self.annotation}`"

    def checked(self, name: str, value: Any) -> Any:
        """Return the value."""
        self.check(value)
        return value


def setting(default: Any, about: Setting) -> Any:
    """Return the field of a dataclass for a setting.

    >>> @dataclass
    ... class Sized:
    ...     size: int = setting(8, Integer("Number of entries.", least=1))
    ...     def __post_init__(self) -> None:
    ...         check_settings(self)
    >>> Sized(0)
    Traceback (most recent call last):
    piecework.errors.ArgumentError: size: must be an integer of at least 1 and at most 4294967295, not 0
    """
    return field(default=default, metadata={"setting": about})


def settings_of(cls: type) -> dict[str, tuple[Setting, Any]]:
    """Return the settings of a dataclass and their defaults, by name."""
    return {one.name: (one.metadata["setting"], one.default) for one in fields(cls)}


def check_settings(instance: Any) -> None:
    """Check each setting of a frozen dataclass, and store it as its kind does; for `__post_init__`."""
    for name, (about, _) in settings_of(type(instance)).items():
        value = getattr(instance, name)
        if value is not None or not about.none:
            object.__setattr__(instance, name, about.checked(name, value))


def documented(cls: type[Instance]) -> type[Instance]:
    """Add the settings of a dataclass to its docstring, for `help()`; a decorator."""
    cls.__doc__ = _with_settings(cls.__doc__, cls)
    return cls


def _with_settings(doc: str | None, cls: type, without: Collection[str] = ()) -> str:
    lines = ["", "Settings:", ""]
    for name, (about, default) in settings_of(cls).items():
        if name in without:
            continue
        shown = f"None, {about.none}" if default is None else repr(default)
        lines.append(f"- `{name}` ({shown}): {about.help}")
    return "\n".join([inspect.cleandoc(doc or ""), *lines])


# ---- functions that take settings as keyword arguments


def takes_settings(cls: type, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Give a function with `**settings` the signature and docstring of a dataclass; a decorator.

    >>> @dataclass
    ... class Sized:
    ...     size: int = setting(8, Integer("Number of entries.", least=1))
    >>> @takes_settings(Sized)
    ... def learn(words, **settings): return given_to(learn, Sized, settings)
    >>> inspect.signature(learn)
    <Signature (words, *, size: 'int' = 8)>
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        kind = inspect.Parameter.KEYWORD_ONLY
        settings = [
            inspect.Parameter(one.name, kind, default=one.default, annotation=one.type)
            for one in fields(cls)
            if one.name not in without
        ]
        function.__signature__ = signature.replace(parameters=[*own, *settings])  # type: ignore[attr-defined]
        function.__doc__ = _with_settings(function.__doc__, cls, without)
        return function

    return decorate


def given_to(
    function: Callable[..., Any], cls: type[Instance], settings: Mapping[str, Any]
) -> Instance:
    """Return the settings that a function was given; raise `InputTypeError` for an unknown one."""
    known = inspect.signature(function).parameters
    for name in settings:
        if name not in known:
            names = [one.name for one in known.values() if one.kind is one.KEYWORD_ONLY]
            raise unknown_setting(function.__name__, name, names)
    return cls(**settings)
