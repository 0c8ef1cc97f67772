"""Results that print as text, and as HTML in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from piecework.analysis.block_html import as_html
from piecework.analysis.block_text import as_text
from piecework.analysis.blocks import Block
from piecework.analysis.plain_data import PlainData


class Displayed(PlainData):
    """A result that prints its blocks."""

    def __init_subclass__(cls) -> None:
        # IPython prefers the `__repr__` of a dataclass to the method of a base class.
        cls._repr_pretty_ = Displayed._repr_pretty_  # type: ignore[method-assign]

    def blocks(self) -> Iterator[Block]:
        """Yield the headings, paragraphs and tables of the result."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self.blocks())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text in IPython instead of all fields."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return as_html(self.blocks())
