"""Drift: the spans of ids that change when their text is encoded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product


def differing_spans(
    ids: Sequence[int], new_ids: Sequence[int], token_bytes: Mapping[int, bytes]
) -> list[tuple[int, int, int, int]]:
    """Return the spans whose ids differ: start and end in `ids`, then in `new_ids`.

    >>> differing_spans([3, 4, 2], [1, 2], {1: b"hug", 2: b"s", 3: b"h", 4: b"ug"})
    [(0, 2, 0, 1)]

    Both sequences are cut after as few ids as possible, again and again: where the bytes before are equal,
    and behind the last such place where the bytes after are equal.
    """
    spans = []
    start = new_start = 0
    while start < len(ids) or new_start < len(new_ids):
        end, new_end = next_cut(ids, new_ids, start, new_start, token_bytes)
        if list(ids[start:end]) != list(new_ids[new_start:new_end]):
            spans.append((start, end, new_start, new_end))
        start, new_start = end, new_end
    return spans


def next_cut(
    ids: Sequence[int],
    new_ids: Sequence[int],
    start: int,
    new_start: int,
    token_bytes: Mapping[int, bytes],
) -> tuple[int, int]:
    """Return the first cut behind a cut on both sides, or the ends.

    >>> next_cut([3, 4, 2], [1, 2], 0, 0, {1: b"hug", 2: b"s", 3: b"h", 4: b"ug"})
    (2, 1)
    """
    places = list(product(range(start + 1, len(ids)), range(new_start + 1, len(new_ids))))
    for end, new_end in places:
        if text_of(ids[:end], token_bytes) == text_of(new_ids[:new_end], token_bytes):
            return end, new_end
    for end, new_end in places:
        if text_of(ids[end:], token_bytes) == text_of(new_ids[new_end:], token_bytes):
            return end, new_end
    return len(ids), len(new_ids)


def text_of(ids: Sequence[int], token_bytes: Mapping[int, bytes]) -> bytes:
    """Return the bytes of ids.

    >>> text_of([3, 4], {3: b"h", 4: b"ug"})
    b'hug'
    """
    return b"".join(token_bytes[id] for id in ids)
