"""From the text of a prompt with its origins to ids and masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from piecework._core import Core
from piecework.chat.results import ChatEncoding
from piecework.chat.segments import GuardedTokens, encode_spans
from piecework.chat.tracked_text import GENERATED, TEMPLATE, TrackedText, plain
from piecework.encoding import Encoding


def encode_chat(
    core: Core,
    prompt: TrackedText,
    guarded: GuardedTokens,
    unk_id: Callable[[], int | None],
) -> ChatEncoding:
    """Encode a prompt; special tokens match in the text of the template only."""
    text = plain(prompt)
    spans = tuple(_spans(prompt.origins, TEMPLATE))
    encoding = encode_spans(core, text, spans, guarded, unk_id, add_special_tokens=False)
    mask = _mask(encoding, tuple(_spans(prompt.origins, GENERATED)))
    return ChatEncoding(text, encoding, spans, mask)


def _spans(origins: bytes, bit: int) -> Iterator[tuple[int, int]]:
    """Yield the longest spans of characters that have a bit."""
    start = 0
    for has_bit, run in groupby(origins, lambda origin: origin & bit):
        end = start + sum(1 for _ in run)
        if has_bit:
            yield start, end
        start = end


def _mask(encoding: Encoding, spans: tuple[tuple[int, int], ...]) -> list[int]:
    """Return 1 for the tokens from the first to the last one with a character of each span."""
    offsets = encoding.offsets
    mask = [0] * len(offsets)
    at = 0
    for start, end in spans:
        while at < len(offsets) and offsets[at][1] <= start:
            at += 1
        last = at
        while last < len(offsets) and offsets[last][0] < end:
            last += 1
        mask[at:last] = [1] * (last - at)
    return mask
