"""What every task does: take a time, and keep a fingerprint of the answer that the time was spent on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")
Phase = dict[str, Any]
FINGERPRINT_DIGITS = 16


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what the work gives and the seconds it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def text_phase(texts: list[str], seconds: float, kind: str, tokens: int, answer: str) -> Phase:
    """Return the record of work on texts; `kind` says what the answer is a fingerprint of."""
    data = "\0".join(texts).encode()
    return {
        "s": seconds,
        "bytes": len(data) - len(texts) + 1,
        "tokens": tokens,
        "kind": kind,
        "input": fingerprint(data),
        "answer": answer,
    }


def ids_phase(texts: list[str], seconds: float, ids: Any) -> Phase:
    """Return the record of work that gave ids: a buffer of 32-bit integers."""
    data = memoryview(ids).cast("B")
    return text_phase(texts, seconds, "ids", len(data) // 4, fingerprint(data))


def fingerprint(data: Any) -> str:
    """Return the first digits of the SHA-256 of a buffer."""
    return hashlib.sha256(data).hexdigest()[:FINGERPRINT_DIGITS]


def fingerprint_of_parts(parts: Iterable[str]) -> str:
    """Return the fingerprint of many strings in order."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode())
        total.update(b"\0")
    return total.hexdigest()[:FINGERPRINT_DIGITS]
