"""Count what `on_error="skip"` skips, by reason."""

from __future__ import annotations

from typing import Literal, TypeAlias

from piecework._internal.validation import check_choice
from piecework._internal.warn import warn
from piecework.errors import (
    CorpusError,
    CorpusWarning,
    FileError,
    InvalidUtf8Error,
    MemoryLimitError,
)

OnError: TypeAlias = Literal["fail", "skip"]
ON_ERROR = ("fail", "skip")

# The beginning of what an error found, and the reason to skip it.
_REASONS = (
    ("broken JSON", "broken JSON"),
    ("broken CSV", "broken CSV"),
    ("a JSON ", "JSON that is no object"),
    ("is missing", "a missing field"),
    ("is longer than", "a line that is too long"),
    ("has over", "a line that is too long"),
    ("has ", "a row with too few columns"),
    ("truncated", "truncated data"),
    ("damaged", "damaged data"),
    ("binary data", "binary data"),
    ("cannot be rendered", "a conversation that the template rejects"),
    ("values of type", "a column without strings"),
)
_REASON_OF_EXPECTED = {
    "a string": "a field that is no string",
    "a list of messages": "messages that are no list",
    "a known role": "an unknown role",
}


class Skipped:
    """The inputs that were skipped: how many for each reason, and where the first one is.

    >>> skipped = Skipped()
    >>> skipped.add(CorpusError("a.jsonl line 2", "broken JSON (Expecting value: column 1)"))
    >>> skipped.add(CorpusError("a.jsonl line 5", "broken JSON (Expecting value: column 1)"))
    >>> str(skipped)
    'skipped: broken JSON: 2 (first in a.jsonl line 2)'
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first_places: dict[str, str] = {}

    def add(self, error: CorpusError | FileError | MemoryLimitError) -> None:
        """Count the line, row or file that raised this error."""
        reason = _reason(error)
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


def _reason(error: CorpusError | FileError | MemoryLimitError) -> str:
    if isinstance(error, FileError):
        return "an unreadable file"
    if isinstance(error, InvalidUtf8Error):
        return "invalid UTF-8"
    for beginning, reason in _REASONS:
        if error.found.startswith(beginning):
            return reason
    beginnings = (text for text in _REASON_OF_EXPECTED if error.expected.startswith(text))
    return _REASON_OF_EXPECTED.get(next(beginnings, ""), error.found)
