"""The result of `Tokenizer.memory`."""

from __future__ import annotations

from typing import NamedTuple


class Memory(NamedTuple):
    """Memory use of a tokenizer in bytes.

    `tables` exist once. `caches` is the size of the word caches now, for each thread that encodes; it
    never exceeds `budget`.
    """

    tables: int
    caches: int
    budget: int
