"""The optional arguments of `Tokenizer.load`, and the check that a format uses those that are given."""

from __future__ import annotations

from piecework.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from piecework._internal.validation import PathLike


class LoadOptions:
    """What a caller says about a tokenizer file; None for everything that is not said.

    A plain class and not a dataclass: `dataclasses` takes longer to import than most files to load.
    """

    def __init__(
        self,
        lowercase: bool | None = None,
        merges: PathLike | None = None,
        encoding: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.merges = merges
        self.encoding = encoding
        self.pattern = pattern
        self.special_tokens = special_tokens

    def with_merges(self, merges: str) -> LoadOptions:
        """Return the same options with another merges file."""
        return LoadOptions(self.lowercase, merges, self.encoding, self.pattern, self.special_tokens)

    def reject_unused(self, used: tuple[str, ...], format: str) -> None:
        """Raise `ArgumentError` for an option that is set and that the format does not use."""
        for name, value in vars(self).items():
            if value is not None and name not in used:
                raise ArgumentError(name, shortened(value), f"None for {format}")


def shortened(value: object) -> str:
    """Return the `repr` of an argument for an error message, cut after 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
