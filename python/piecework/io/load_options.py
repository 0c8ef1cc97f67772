"""The optional arguments of `Tokenizer.load`, and the check that the format uses them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from piecework.errors import ArgumentError

if TYPE_CHECKING:
    from piecework._internal.validation import PathLike


class LoadOptions:
    """The arguments of `Tokenizer.load` about the file; None for arguments that are not set.

    Not a dataclass, because importing `dataclasses` takes longer than loading most files.
    """

    def __init__(
        self,
        lowercase: bool | None = None,
        merges: PathLike | None = None,
        encoding_name: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.merges = merges
        self.encoding_name = encoding_name
        self.pattern = pattern
        self.special_tokens = special_tokens

    def with_merges(self, merges: str) -> LoadOptions:
        """Return the same options with another merges file."""
        return LoadOptions(
            self.lowercase, merges, self.encoding_name, self.pattern, self.special_tokens
        )

    def with_lowercase(self, lowercase: bool | None) -> LoadOptions:
        """Return the same options with another letter case."""
        return LoadOptions(
            lowercase, self.merges, self.encoding_name, self.pattern, self.special_tokens
        )

    def with_encoding_name(self, encoding_name: str) -> LoadOptions:
        """Return the same options with another encoding."""
        return LoadOptions(
            self.lowercase, self.merges, encoding_name, self.pattern, self.special_tokens
        )

    def with_special_tokens(self, special_tokens: Collection[str]) -> LoadOptions:
        """Return the same options with other special tokens."""
        return LoadOptions(
            self.lowercase, self.merges, self.encoding_name, self.pattern, special_tokens
        )

    def reject_unused(self, used: tuple[str, ...], format: str) -> None:
        """Raise `ArgumentError` for an option that is set and that the format does not use."""
        for name, value in vars(self).items():
            if value is not None and name not in used:
                raise ArgumentError(name, f"={shortened(value)} does not apply to {format}")


def shortened(value: object) -> str:
    """Return the `repr` of an argument for an error message, cut after 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
