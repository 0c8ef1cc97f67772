"""Prompts: segments of unequal trust, chat templates, the origin of each character, chunks by budget.

`Tokenizer.encode_segments` and `apply_chat_template` return classes of this module. The functions take the
tokenizer first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from piecework.chat.append import AppendedIds as AppendedIds
    from piecework.chat.append import append_ids as append_ids
    from piecework.chat.assistant_spans import MASK_PARTS as MASK_PARTS
    from piecework.chat.chat_format import ChatFormat as ChatFormat
    from piecework.chat.chunks import chunk_text as chunk_text
    from piecework.chat.drift import Drift as Drift
    from piecework.chat.drift import DriftSpan as DriftSpan
    from piecework.chat.drift import find_drift as find_drift
    from piecework.chat.drift import find_drift_batch as find_drift_batch
    from piecework.chat.drift import find_drift_files as find_drift_files
    from piecework.chat.growing_text import GrowingText as GrowingText
    from piecework.chat.healing import HealedPrompt as HealedPrompt
    from piecework.chat.healing import TokenTrie as TokenTrie
    from piecework.chat.healing import heal as heal
    from piecework.chat.message_counts import count_messages as count_messages
    from piecework.chat.recent_turns import fit_messages as fit_messages
    from piecework.chat.results import ChatEncoding as ChatEncoding
    from piecework.chat.results import SegmentedEncoding as SegmentedEncoding
    from piecework.chat.results import TextChunk as TextChunk
    from piecework.chat.special_tokens import find_special_token as find_special_token

# Each is imported when it is first read: every encoding uses `special_tokens`, and few use these.
_HOMES = {
    "AppendedIds": "append",
    "MASK_PARTS": "assistant_spans",
    "ChatEncoding": "results",
    "ChatFormat": "chat_format",
    "Drift": "drift",
    "DriftSpan": "drift",
    "GrowingText": "growing_text",
    "HealedPrompt": "healing",
    "SegmentedEncoding": "results",
    "TextChunk": "results",
    "TokenTrie": "healing",
    "append_ids": "append",
    "chunk_text": "chunks",
    "count_messages": "message_counts",
    "find_drift": "drift",
    "find_drift_batch": "drift",
    "find_drift_files": "drift",
    "find_special_token": "special_tokens",
    "fit_messages": "recent_turns",
    "heal": "healing",
}
__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
