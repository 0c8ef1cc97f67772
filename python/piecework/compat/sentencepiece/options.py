"""Options of a processor and of its calls, extra options, and the seed of sampling, one for the process."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from piecework import Sampling
from piecework.errors import ArgumentError, InputTypeError
from piecework.tokenizer.sampling import check_alpha

T = TypeVar("T")

_Form: TypeAlias = Literal[
    "serialized_proto", "proto", "immutable_proto", "numpy", "offset_mapping"
]
OutType: TypeAlias = type[int] | type[str] | type[bytes] | _Form
OUT_TYPES = (int, str, bytes, *get_args(_Form))
_random: random.Random | None = None
_EXTRA_OPTIONS = ("bos", "eos", "reverse", "unk", "unk_piece")


@dataclass(frozen=True)
class Settings:
    """How a processor encodes by default."""

    out_type: OutType = int
    add_bos: bool = False
    add_eos: bool = False
    reverse: bool = False
    emit_unk_piece: bool = False
    enable_sampling: bool = False
    nbest_size: int = -1
    alpha: float = 0.1
    num_threads: int = -1

    def with_options(self, out_type: OutType | None, options: Mapping[str, Any]) -> Settings:
        """Return the settings of one call; raises `InputTypeError` for an unknown option."""
        changes: dict[str, Any] = {
            name: value
            for name, value in options.items()
            if value is not None and name != "return_type"
        }
        for name in changes:
            if name not in self.__dataclass_fields__:
                message = f"unknown argument {name}; expected one of {', '.join(self.__dataclass_fields__)}"
                raise InputTypeError(name, message)
        chosen = chosen_out_type(out_type, options.get("return_type"), self.out_type)
        settings = replace(self, out_type=chosen, **changes)
        if not isinstance(settings.num_threads, int):
            raise InputTypeError("num_threads", f"must be int, not {settings.num_threads!r}")
        return settings

    @property
    def thread_limit(self) -> int | None:
        """The number of threads; None means one for each CPU."""
        return None if self.num_threads < 0 else max(1, min(self.num_threads, 1024))

    def sampling(self, model_kind: str) -> Sampling | None:
        """Return how to sample, with a new seed; None to take the best segmentation."""
        if not self.enable_sampling:
            return None
        if self.nbest_size in (0, 1):
            expected = "more than 1, or -1 to sample from all segmentations"
            problem = f"must be {expected} with sampling, not {self.nbest_size}"
            raise ArgumentError("nbest_size", problem)
        check_alpha(self.alpha)
        if model_kind not in ("unigram", "bpe"):
            problem = f"True needs a unigram or bpe model, not a {model_kind} model"
            raise ArgumentError("enable_sampling", problem)
        if model_kind == "bpe":
            return Sampling(dropout=min(self.alpha, 1.0), seed=next_seed()) if self.alpha else None
        nbest_size = None if self.nbest_size < 0 else self.nbest_size
        return Sampling(alpha=self.alpha, seed=next_seed(), nbest_size=nbest_size)

    def check_proto_options(self) -> None:
        """Raise for options that a proto cannot represent: pieces without text, or reversed order."""
        for name in ("add_bos", "add_eos", "reverse", "emit_unk_piece"):
            if getattr(self, name):
                problem = (
                    f"True needs an out_type of int, str, bytes or 'numpy', not {self.out_type!r}"
                )
                raise ArgumentError(name, problem)


def chosen_out_type(out_type: object, return_type: object, default: OutType) -> OutType:
    """Return the output type of a call; `return_type` is another name for `out_type`."""
    if out_type is not None and return_type is not None:
        raise ArgumentError("return_type", "and out_type cannot be combined; pass one of them")
    for value in (out_type, return_type, default):
        if value is not None:
            if value not in OUT_TYPES:
                names = ", ".join(getattr(known, "__name__", repr(known)) for known in OUT_TYPES)
                raise ArgumentError("out_type", f"must be one of {names}, not {value!r}")
            return value  # type: ignore[return-value]
    return default


def parse_extra_options(text: str) -> tuple[str, ...]:
    """Parse extra options, separated by colons.

    >>> parse_extra_options("bos:eos:unk_piece")
    ('bos', 'eos', 'unk')
    """
    if not isinstance(text, str):
        raise InputTypeError("extra_option", f"must be str, not {type(text).__name__}")
    names = [name for name in text.split(":") if name]
    for name in names:
        if name not in _EXTRA_OPTIONS:
            problem = f"must be one of {', '.join(_EXTRA_OPTIONS)}, not {name!r}"
            raise ArgumentError("extra_option", problem)
    return tuple(name.removesuffix("_piece") for name in names)


def apply_extra_options(
    row: Sequence[T], extras: Sequence[str], ends: tuple[T, T], as_unknown: Callable[[T], T]
) -> list[T]:
    """Apply extra options to a row, in their order.

    `ends` are the BOS and EOS items. `as_unknown` renames an item for the option "unk".

    >>> apply_extra_options([7, 8], ["reverse", "bos"], (1, 2), lambda id: id)
    [1, 8, 7]
    """
    row = list(row)
    for extra in extras:
        if extra == "reverse":
            row.reverse()
        elif extra == "bos":
            row.insert(0, ends[0])
        elif extra == "eos":
            row.append(ends[1])
        else:
            row = [as_unknown(item) for item in row]
    return row


def set_random_generator_seed(seed: int) -> None:
    """Make sampling reproducible from here on; each sampling call takes the next seed of a sequence.

    >>> set_random_generator_seed(7)
    """
    global _random
    _random = random.Random(seed)


def next_seed() -> int:
    """Return the seed of one sampling call, 64 bits."""
    return secrets.randbits(64) if _random is None else _random.getrandbits(64)


SetRandomGeneratorSeed = set_random_generator_seed
