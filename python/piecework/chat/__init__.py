"""Build prompts: chat templates, the origin of each character, chunks within a budget, generated ids.

The functions take the tokenizer first. `Tokenizer.encode_segments` encodes segments of unequal trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._internal.lazy_names import lazy_names
from piecework.tokenizer.special_tokens import find_special_token as find_special_token

if TYPE_CHECKING:
    from piecework.chat.assistant_spans import MASK_PARTS as MASK_PARTS
    from piecework.chat.chat_format import ChatFormat as ChatFormat
    from piecework.chat.chat_format import apply_chat_template as apply_chat_template
    from piecework.chat.chunks import chunk_text as chunk_text
    from piecework.chat.drift import append_ids as append_ids
    from piecework.chat.drift import find_drift as find_drift
    from piecework.chat.drift import find_drift_batch as find_drift_batch
    from piecework.chat.drift import find_drift_files as find_drift_files
    from piecework.chat.growing_text import GrowingText as GrowingText
    from piecework.chat.healing import TokenTrie as TokenTrie
    from piecework.chat.healing import heal as heal
    from piecework.chat.message_counts import count_messages as count_messages
    from piecework.chat.message_counts import fit_messages as fit_messages

# Each is imported when it is first read: few programs use all of them.
_HOMES = {
    "MASK_PARTS": "assistant_spans",
    "ChatFormat": "chat_format",
    "GrowingText": "growing_text",
    "TokenTrie": "healing",
    "append_ids": "drift",
    "apply_chat_template": "chat_format",
    "chunk_text": "chunks",
    "count_messages": "message_counts",
    "find_drift": "drift",
    "find_drift_batch": "drift",
    "find_drift_files": "drift",
    "fit_messages": "message_counts",
    "heal": "healing",
}
__all__ = ["find_special_token"]
__all__ += list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
