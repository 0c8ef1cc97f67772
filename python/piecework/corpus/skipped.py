"""Count what `on_error="skip"` skips, by reason."""

from __future__ import annotations

from typing import Literal, TypeAlias

from piecework._internal.validation import check_choice
from piecework._internal.warn import warn
from piecework.errors import CorpusError, CorpusWarning, FileError, MemoryLimitError

OnError: TypeAlias = Literal["fail", "skip"]
ON_ERROR = ("fail", "skip")


class Skipped:
    """The inputs that were skipped: how many for each reason, and where the first one is.

    >>> skipped = Skipped()
    >>> for place in ("a.csv line 2", "a.csv line 5"):
    ...     skipped.add(CorpusError(place, "has 1 column", kind="a row with too few columns"))
    >>> str(skipped)
    'skipped: a row with too few columns: 2 (first in a.csv line 2)'
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first_places: dict[str, str] = {}

    def add(self, error: CorpusError | FileError | MemoryLimitError) -> None:
        """Count the line, row or file that raised this error."""
        reason = error.kind
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first_places.setdefault(reason, error.place)

    def warn(self) -> None:
        """Warn with `CorpusWarning` if something was skipped."""
        if self.counts:
            warn(str(self), CorpusWarning)

    def __str__(self) -> str:
        parts = (
            f"{reason}: {count:,} (first in {self.first_places[reason]})"
            for reason, count in self.counts.items()
        )
        return "skipped: " + "; ".join(parts)


def check_on_error(on_error: object) -> None:
    """Raise `ArgumentError` unless `on_error` is "fail" or "skip"."""
    check_choice("on_error", on_error, ON_ERROR)
