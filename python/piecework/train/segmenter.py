"""Segment pre-tokens with the model of a specification alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from piecework._internal._core import Core, RawBatch
from piecework._internal.threads import thread_count
from piecework.spec import TokenizerSpec


def compiled_model(spec: TokenizerSpec) -> Core:
    """Return the compiled model, without the other stages and without added tokens."""
    model = TokenizerSpec(spec.model)
    text, functions = model.to_core()
    return Core.from_json(text.encode(), "", functions)


def segment(core: Core, words: Sequence[str]) -> list[list[int]]:
    """Return the ids of each word.

    >>> from piecework.spec import BPE
    >>> segment(compiled_model(TokenizerSpec(BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))), ["aba"])
    [[2, 0]]
    """
    batch = _encoded(core, words, None)
    ids, ends = batch.ids.tolist(), batch.row_offsets.tolist()
    return [ids[start:end] for start, end in pairwise(ends)]


def lengths(core: Core, words: Sequence[str], num_threads: int | None = None) -> list[int]:
    """Return the number of ids of each word.

    >>> from piecework.spec import BPE
    >>> lengths(compiled_model(TokenizerSpec(BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))), ["aba", "b"])
    [2, 1]
    """
    ends: Any = _encoded(core, words, num_threads).row_offsets
    found: list[int] = (ends[1:] - ends[:-1]).tolist()
    return found


def _encoded(core: Core, words: Sequence[str], num_threads: int | None) -> RawBatch:
    return core.encode_batch(
        words,
        None,
        add_special_tokens=False,
        is_pretokenized=False,
        parse_special=None,
        sampling=None,
        offsets=False,
        overflow=False,
        num_threads=thread_count(num_threads),
    )
