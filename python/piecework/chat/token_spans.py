"""Which tokens have the characters of a span."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from piecework.encoding import Encoding


Span: TypeAlias = tuple[int, int]


def text_tokens(encoding: Encoding) -> range:
    """Return the tokens of the text; those of the post-processor and padding are before and after it."""
    sequences = encoding.sequence_ids
    if None not in sequences:
        return range(len(sequences))
    places = [at for at, sequence in enumerate(sequences) if sequence is not None]
    return range(places[0], places[-1] + 1) if places else range(0)


def tokens_between(offsets: Sequence[Span], span: Span, tokens: range) -> Span:
    """Return the tokens that have a character of a span, in logarithmic time.

    >>> tokens_between([(0, 2), (2, 5), (5, 6)], (1, 3), range(3))
    (0, 2)
    """
    first = bisect_right(offsets, span[0], tokens.start, tokens.stop, key=itemgetter(1))
    last = bisect_left(offsets, span[1], first, tokens.stop, key=itemgetter(0))
    return first, last


def mask_of_spans(encoding: Encoding, spans: Sequence[Span]) -> list[int]:
    """Return 1 for the tokens from the first to the last one with a character of each span."""
    mask = [0] * len(encoding.ids)
    if spans:
        offsets, tokens = encoding.offsets, text_tokens(encoding)
        for span in spans:
            first, last = tokens_between(offsets, span, tokens)
            mask[first:last] = [1] * (last - first)
    return mask
