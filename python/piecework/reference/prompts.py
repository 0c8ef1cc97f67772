"""Ids that another encoding would change: drift of a generated text, and healing of the end of a prompt."""

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


# ---- healing


def heal(ids: Sequence[int], token_bytes: Mapping[int, bytes]) -> tuple[list[int], bytes]:
    """Return the ids to keep, and the bytes that the next tokens must begin with.

    >>> heal([2, 1], {1: b":", 2: b"http", 3: b"://"})
    ([2], b':')

    As few ids as possible are kept such that the bytes of the others begin a longer token. Ids without bytes
    (special tokens) are kept, with all ids before them.

    Source: Lundberg 2023, "The Art of Prompt Design: Prompt Boundaries and Token Healing".
    """
    for keep in range(len(ids)):
        if not all(id in token_bytes for id in ids[keep:]):
            continue
        data = b"".join(token_bytes[id] for id in ids[keep:])
        if data and any(begins(data, token) for token in token_bytes.values()):
            return list(ids[:keep]), data
    return list(ids), b""


def begins(data: bytes, token: bytes) -> bool:
    """Return whether a token begins with bytes and is longer.

    >>> begins(b":", b"://"), begins(b":", b":")
    (True, False)
    """
    return token.startswith(data) and token != data
