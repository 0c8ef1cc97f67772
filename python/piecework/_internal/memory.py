"""What a tokenizer takes in memory."""

from __future__ import annotations

from typing import NamedTuple


class Memory(NamedTuple):
    """Bytes: `tables` once, `caches` for each thread that encodes, which are never more than `budget`."""

    tables: int
    caches: int
    budget: int
