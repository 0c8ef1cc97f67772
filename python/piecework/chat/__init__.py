"""Prompts: segments of unequal trust, chat templates, the origin of each character, chunks by budget.

`Tokenizer.encode_segments`, `apply_chat_template`, `chunk_text` and `growing_text` return the classes of
this module.
"""

from __future__ import annotations

from piecework.chat.growing_text import GrowingText
from piecework.chat.results import ChatEncoding, SegmentedEncoding, TextChunk

__all__ = ["ChatEncoding", "GrowingText", "SegmentedEncoding", "TextChunk"]
