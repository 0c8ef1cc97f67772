"""What callers of the SentencePiece-shaped classes give: texts as str or bytes, settings, extras."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from piecework._internal.types import Drawn
from piecework.errors import ArgumentError, InputTypeError
from piecework.sampling import check_alpha

T = TypeVar("T")

OutType: TypeAlias = (
    type[int]
    | type[str]
    | type[bytes]
    | Literal["serialized_proto", "proto", "immutable_proto", "numpy", "offset_mapping"]
)
OUT_TYPES = (
    int,
    str,
    bytes,
    "serialized_proto",
    "proto",
    "immutable_proto",
    "numpy",
    "offset_mapping",
)
EXTRAS = {"bos": "bos", "eos": "eos", "reverse": "reverse", "unk": "unk", "unk_piece": "unk"}


class Options(TypedDict, total=False):
    """What one call may say otherwise than the processor; None is as not given."""

    return_type: OutType | None
    add_bos: bool | None
    add_eos: bool | None
    reverse: bool | None
    emit_unk_piece: bool | None
    num_threads: int | None


class DrawOptions(Options, total=False):
    """The same, with whether and how segmentations are drawn."""

    enable_sampling: bool | None
    nbest_size: int | None
    alpha: float | None


@dataclass(frozen=True)
class Settings:
    """How a processor encodes unless a call says otherwise."""

    out_type: OutType = int
    add_bos: bool = False
    add_eos: bool = False
    reverse: bool = False
    emit_unk_piece: bool = False
    enable_sampling: bool = False
    nbest_size: int = -1
    alpha: float = 0.1
    num_threads: int = -1

    def given(self, out_type: OutType | None, options: Mapping[str, Any]) -> Settings:
        """Return the settings of one call."""
        changes: dict[str, Any] = {
            name: value
            for name, value in options.items()
            if value is not None and name != "return_type"
        }
        for name in changes:
            if name not in self.__dataclass_fields__:
                raise InputTypeError(name, "a keyword argument", "one that this call has")
        chosen = chosen_type(out_type, options.get("return_type"), self.out_type)
        settings = replace(self, out_type=chosen, **changes)
        if not isinstance(settings.num_threads, int):
            raise InputTypeError("num_threads", type(settings.num_threads).__name__, "int")
        return settings

    @property
    def thread_limit(self) -> int | None:
        """The number of threads; None for one for each CPU."""
        return None if self.num_threads < 0 else max(1, min(self.num_threads, 1024))

    def drawn(self, kind: str) -> Drawn | None:
        """Say what to draw segmentations with, None for the best one."""
        if self.nbest_size in (0, 1):
            expected = "more than 1, or -1 for all segmentations"
            raise ArgumentError("nbest_size", f"{self.nbest_size} with sampling", expected)
        check_alpha(self.alpha)
        if kind == "bpe":
            return (min(self.alpha, 1.0), None, next_seed(), 0) if self.alpha else None
        return self.alpha, None if self.nbest_size < 0 else self.nbest_size, next_seed(), 0

    def refuse_extras(self) -> None:
        """Refuse what would put pieces where no text is into a proto."""
        for name in ("add_bos", "add_eos", "reverse", "emit_unk_piece"):
            if getattr(self, name):
                found = f"{name} for {self.out_type!r}"
                raise ArgumentError(name, found, "an out_type of int, str, bytes or 'numpy'")


class Source:
    r"""A text as it was given: `text` is what is segmented, `escaped` has its bytes.

    >>> source = Source(b"a\xff", "input")
    >>> source.text, source.is_bytes
    ('a�', True)
    """

    def __init__(self, given: object, place: str) -> None:
        self.is_bytes = isinstance(given, bytes)
        if isinstance(given, bytes):
            self.escaped = given.decode("utf-8", "surrogateescape")
            self.text = _without_escapes(self.escaped)
        elif isinstance(given, str):
            self.escaped = self.text = given
        else:
            raise InputTypeError(place, type(given).__name__, "str or bytes")


def sources_of(given: object) -> list[Source]:
    """Return the texts of a batch, which is a list."""
    if isinstance(given, list):
        return [Source(item, f"input[{at}]") for at, item in enumerate(given)]
    return [Source(given, "input")]


def chosen_type(out_type: object, return_type: object, default: OutType) -> OutType:
    """Return which form of result is wanted; `return_type` is another name of `out_type`."""
    if out_type is not None and return_type is not None:
        raise ArgumentError("return_type", "given with out_type", "one of the two")
    for value in (out_type, return_type, default):
        if value is not None:
            if value not in OUT_TYPES:
                names = ", ".join(getattr(known, "__name__", repr(known)) for known in OUT_TYPES)
                raise ArgumentError("out_type", repr(value), f"one of {names}")
            return value  # type: ignore[return-value]
    return default


def extra_options(text: str) -> tuple[str, ...]:
    """Read names between colons."""
    if not isinstance(text, str):
        raise InputTypeError("extra_option", type(text).__name__, "str")
    names = [name for name in text.split(":") if name]
    for name in names:
        if name not in EXTRAS:
            raise ArgumentError("extra_option", repr(name), f"one of {', '.join(EXTRAS)}")
    return tuple(EXTRAS[name] for name in names)


def with_extras(
    row: Sequence[T], extras: Sequence[str], ends: tuple[T, T], without_surface: Callable[[T], T]
) -> list[T]:
    """Apply extras in their order: `ends` are what begins and what ends a row."""
    row = list(row)
    for extra in extras:
        if extra == "reverse":
            row.reverse()
        elif extra == "bos":
            row.insert(0, ends[0])
        elif extra == "eos":
            row.append(ends[1])
        else:
            row = [without_surface(item) for item in row]
    return row


_random: random.Random | None = None


def set_random_generator_seed(seed: int) -> None:
    """Make what is drawn from here on the same each time; each drawing takes the next of the seeds.

    >>> set_random_generator_seed(7)
    """
    global _random
    _random = random.Random(seed)


def next_seed() -> int:
    """Return a seed of its own for one drawing."""
    return secrets.randbits(64) if _random is None else _random.getrandbits(64)


def _without_escapes(text: str) -> str:
    if text.isascii():
        return text
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)
