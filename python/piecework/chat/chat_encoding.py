"""From the text of a prompt with its origins to ids and masks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from piecework.chat.results import ChatEncoding
from piecework.chat.segments import GuardedTokens, encode_spans, tokens_between
from piecework.chat.tracked_text import GENERATED, TEMPLATE, TrackedText, plain
from piecework.encoding import Encoding

_RUN = re.compile(b"\x01+")


def encode_chat(
    prompt: TrackedText,
    guarded: GuardedTokens,
    unk_id: Callable[[], int | None],
) -> ChatEncoding:
    """Encode a prompt; special tokens match in the text of the template only."""
    text = plain(prompt)
    spans = tuple(_spans(prompt.origins, TEMPLATE))
    encoding = encode_spans(text, spans, guarded, unk_id, add_special_tokens=False)
    mask = _mask(encoding, tuple(_spans(prompt.origins, GENERATED)))
    return ChatEncoding(text, encoding, spans, mask)


def _spans(origins: bytes, bit: int) -> Iterator[tuple[int, int]]:
    """Yield the longest spans of characters that have a bit."""
    has_bit = bytes(bool(origin & bit) for origin in range(256))
    for run in _RUN.finditer(origins.translate(has_bit)):
        yield run.span()


def _mask(encoding: Encoding, spans: tuple[tuple[int, int], ...]) -> list[int]:
    """Return 1 for the tokens from the first to the last one with a character of each span."""
    mask = [0] * len(encoding.ids)
    if spans:
        offsets = encoding.offsets
        for span in spans:
            first, last = tokens_between(offsets, span, range(len(offsets)))
            mask[first:last] = [1] * (last - first)
    return mask
