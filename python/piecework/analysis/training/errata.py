"""Published worked examples that print another result than their own formula gives."""

from __future__ import annotations

from collections.abc import Sequence

_HUGS = {("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)}
_NOTES = {
    3: "the published text merges hu ##g here, as a tie at 1/15. By its formula hu ##g scores "
    "10 / (15 x 15) = 2/45 at this step and hu ##gs 5 / (15 x 5) = 1/15, so hu ##gs comes first.",
    4: "the published text has hu ##g as its third merge; by its formula it is the fourth.",
}


def erratum_of(words: Sequence[tuple[str, int]], number: int) -> str | None:
    """Return the correction for a merge of a published corpus by score "pmi", None if there is none.

    >>> erratum_of([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)], 2) is None
    True
    """
    return _NOTES.get(number) if set(words) == _HUGS else None
