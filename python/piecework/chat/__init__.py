"""Prompts from text of unequal trust: segments, chat templates, and the origin of each character.

`Tokenizer.encode_segments` and `Tokenizer.apply_chat_template` return the classes of this module.
"""

from __future__ import annotations

from piecework.chat.results import ChatEncoding, SegmentedEncoding

__all__ = ["ChatEncoding", "SegmentedEncoding"]
