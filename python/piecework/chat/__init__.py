"""Prompts: segments of unequal trust, chat templates, the origin of each character, chunks by budget.

`Tokenizer.encode_segments` and `apply_chat_template` return classes of this module. The functions take the
tokenizer first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piecework.chat.assistant_spans import MASK_PARTS
    from piecework.chat.chat_format import ChatFormat
    from piecework.chat.chunks import chunk_text
    from piecework.chat.growing_text import GrowingText
    from piecework.chat.message_counts import count_messages
    from piecework.chat.recent_turns import fit_messages
    from piecework.chat.results import ChatEncoding, SegmentedEncoding, TextChunk
    from piecework.chat.special_tokens import find_special_token

__all__ = [
    "MASK_PARTS",
    "ChatEncoding",
    "ChatFormat",
    "GrowingText",
    "SegmentedEncoding",
    "TextChunk",
    "chunk_text",
    "count_messages",
    "find_special_token",
    "fit_messages",
]

# `encode_segments` needs modules of this package, and none of the functions.
__getattr__ = lazy_names(
    __name__,
    {
        "assistant_spans": ("MASK_PARTS",),
        "chat_format": ("ChatFormat",),
        "chunks": ("chunk_text",),
        "growing_text": ("GrowingText",),
        "message_counts": ("count_messages",),
        "recent_turns": ("fit_messages",),
        "results": ("ChatEncoding", "SegmentedEncoding", "TextChunk"),
        "special_tokens": ("find_special_token",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
