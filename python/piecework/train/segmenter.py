"""Segment pre-tokens with the model of a specification alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from piecework._internal._core import Core
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
    batch = core.encode_batch(
        words,
        None,
        add_special_tokens=False,
        is_pretokenized=False,
        parse_special=None,
        sampling=None,
        offsets=False,
        overflow=False,
        num_threads=thread_count(None),
    )
    ids, ends = batch.ids.tolist(), batch.row_offsets.tolist()
    return [ids[start:end] for start, end in pairwise(ends)]
