"""Token healing: the last ids of a prompt that a longer token could replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def heal(ids: Sequence[int], token_bytes: Mapping[int, bytes]) -> tuple[list[int], bytes]:
    """Return the ids to keep, and the bytes that the next tokens must begin with.

    >>> heal([2, 1], {1: b":", 2: b"http", 3: b"://"})
    ([2], b':')

    As few ids as possible are kept such that the bytes of the others begin a longer token. Ids without bytes,
    those of special tokens, are kept, with all before them.

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
