"""The optional arguments of `Tokenizer.load`, and the check that the format uses them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from piecework.errors import ArgumentError, FormatError

if TYPE_CHECKING:
    from piecework._internal.validation import PathLike


class LoadOptions(NamedTuple):
    """The arguments of `Tokenizer.load` about the file; None for arguments that are not set.

    Not a dataclass, because importing `dataclasses` takes longer than loading most files.
    """

    lowercase: bool | None = None
    merges: PathLike | None = None
    encoding_name: str | None = None
    pattern: str | tuple[str, ...] | None = None
    special_tokens: Mapping[str, int] | Collection[str] | None = None

    def reject_unused(self, used: tuple[str, ...], format: str) -> None:
        """Raise `ArgumentError` for an option that is set and that the format does not use."""
        for name, value in self._asdict().items():
            if value is not None and name not in used:
                raise ArgumentError(name, f"{shortened(value)} does not apply to {format}")


def shortened(value: object) -> str:
    """Return the `repr` of an argument for an error message, cut after 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def unexpected(place: str, value: object, expected: str) -> FormatError:
    """Return the error for a value that the format of a file does not allow there."""
    return FormatError(place, f"found {shortened(value)}, expected {expected}")
