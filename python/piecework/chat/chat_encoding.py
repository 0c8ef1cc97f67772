"""From the text of a prompt with its origins to ids, and to the spans of the assistant."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from piecework._core import RawPrompts
from piecework.chat.assistant_spans import assistant_spans, checked_parts
from piecework.chat.environment import has_generation
from piecework.chat.messages import called_names, is_reply
from piecework.chat.results import ChatEncoding
from piecework.chat.tracked_text import (
    CONTENT,
    GENERATED,
    OTHERS,
    REASONING,
    TEMPLATE,
    TOOL_CALL,
    TrackedText,
    plain,
)
from piecework.chat.turn_frames import frame_of

_RUN = re.compile(b"\x01+")
_HAS_BIT = {
    bit: bytes(bool(origin & bit) for origin in range(256)) for bit in (TEMPLATE, GENERATED, OTHERS)
}


def encode_chat(
    prompt: TrackedText,
    prompts: RawPrompts,
    find_assistant: Callable[[TrackedText], tuple[tuple[int, int], ...] | None],
) -> ChatEncoding:
    """Encode a prompt; special tokens match in the text of the template only."""
    text = plain(prompt)
    spans = tuple(_spans(prompt.origins, TEMPLATE))
    encoding = prompts.encode(text, spans, add_special_tokens=False)
    return ChatEncoding(text, encoding, spans, find_assistant(prompt))


def assistant_finder(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    special_tokens: Mapping[str, str],
    prompts: RawPrompts,
    mask: Collection[str] | None,
) -> Callable[[TrackedText], tuple[tuple[int, int], ...] | None]:
    """Return a function from a prompt to the spans of the assistant in it; None if its text is not known.

    Without `mask`, the spans are those of `{% generation %}` if the template has it.
    """
    parts = checked_parts(mask)

    def spans_of(prompt: TrackedText) -> tuple[tuple[int, int], ...] | None:
        replies = list(filter(is_reply, messages))
        if mask is None and has_generation(template):
            spans = tuple(_spans(prompt.origins, GENERATED))
            if all(row.get("weight") != 0 for row in messages):
                return spans
            return tuple(span for span in spans if _is_masked(prompt.origins, span))
        if not any(origin & _TRACKED for origin in set(prompt.origins)):
            return None if replies else ()
        return assistant_spans(
            prompt,
            parts,
            frame_of(template, special_tokens),
            names=list(map(called_names, replies)),
            special=prompts.special,
        )

    return spans_of


_TRACKED = CONTENT | REASONING | TOOL_CALL


def _is_masked(origins: bytes, span: tuple[int, int]) -> bool:
    """Return whether a span of `{% generation %}` is not of a message with `weight` 0."""
    return _RUN.search(origins.translate(_HAS_BIT[OTHERS]), *span) is None


def _spans(origins: bytes, bit: int) -> Iterator[tuple[int, int]]:
    """Yield the longest spans of characters that have a bit."""
    for run in _RUN.finditer(origins.translate(_HAS_BIT[bit])):
        yield run.span()
