"""Encode conversations into rows of ids with masks of the assistant's tokens.

While rows are put together, cut, packed and shuffled, the mask of an id is its highest bit, so that these
steps keep both together. Writers separate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from piecework._internal._core import RawBatch
from piecework._internal.validation import listed
from piecework.corpus.conversations import Conversation
from piecework.errors import (
    ArgumentError,
    CorpusError,
    InputTypeError,
    SpecialTokenError,
    TemplateError,
)
from piecework.export.encoded_lines import with_rows
from piecework.export.settings import Chat, EncodedChat, check_chat
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.batch import Batch

MASK_NAME = "assistant_masks"
"""The column of masks, as in transformers and TRL."""

_MASK_BIT = np.uint32(1 << 31)
_FAULTS = (TemplateError, SpecialTokenError, ArgumentError, InputTypeError)


@dataclass(frozen=True)
class EncodedChats:
    """Encoded conversations.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, ">": 2}))
    >>> tok = tok.with_chat_template("{% for m in messages %}>{{ m.content }}{% endfor %}")
    >>> records = [{"prompt": "a", "completion": "aa"}]
    >>> pw.export.encode_chats(tok, records, chat=pw.chat.ChatFormat()).assistant_masks
    array([0, 0, 0, 1, 1], dtype=uint8)

    `batch` has the ids, and `assistant_masks` a 1 for each of `batch.ids` that the assistant wrote, otherwise
    0 (uint8).
    """

    batch: Batch
    assistant_masks: np.ndarray[Any, np.dtype[np.uint8]]


def encode_chats(
    tokenizer: Tokenizer,
    records: Iterable[Mapping[str, Any]],
    *,
    chat: Chat,
    field: str | None = None,
) -> EncodedChats:
    """Encode conversations that are in memory; `chat` is a `ChatFormat` of `piecework.chat`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2, ">": 3}))
    >>> tok = tok.with_chat_template("{% for m in messages %}>{{ m.content }}{% endfor %}")
    >>> records = [{"prompt": "ab", "completion": "b"}]
    >>> chats = pw.export.encode_chats(tok, records, chat=pw.chat.ChatFormat())
    >>> chats.batch.to_lists(), chats.assistant_masks.tolist()
    ([[3, 1, 2, 3, 2]], [0, 0, 0, 0, 1])

    A record has `messages` (with `role` and `content`), `conversations` (ShareGPT, with `from` and `value`),
    or `prompt` and `completion`, which are texts or messages; and `tools`, if it has some. `field` names
    another field with messages. Raises `CorpusError` with the index of the record for one that is no
    conversation, or that the template rejects.
    """
    conversations = [
        Conversation.of(_checked(record, index), f"records[{index}]", field)
        for index, record in enumerate(listed(records, "records", "dict"))
    ]
    check_chat(chat)
    encoded = ChatEncoder(tokenizer, chat, with_mask=chat.has_mask).encode(conversations)
    for fault in encoded.faults:
        raise fault
    ids, mask = ids_and_mask(encoded.batch)
    return EncodedChats(with_rows(encoded.batch, ids, encoded.batch.row_offsets), mask)


def _checked(record: object, index: int) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise InputTypeError(f"records[{index}]", f"must be a mapping, not {type(record).__name__}")
    return record


class EncodedConversations(NamedTuple):
    """The batch of the conversations that the template accepts, and an error for each of the others."""

    batch: Batch
    conversations: list[Conversation]
    faults: list[CorpusError]


class ChatEncoder:
    """Encode conversations; `with_mask`, the highest bits of ids are the mask.

    With `offsets`, the batch has offsets into the prompt of each conversation, and labels have that text and
    the mask.
    """

    def __init__(
        self, tokenizer: Tokenizer, chat: Chat, *, with_mask: bool, offsets: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._chat = chat
        self._with_mask = with_mask
        self._has_offsets = offsets
        self._empty = tokenizer.encode_batch([])

    def encode(self, conversations: Sequence[Conversation]) -> EncodedConversations:
        """Encode conversations; leave out the ones that the template rejects."""
        rows: list[np.ndarray[Any, Any]] = []
        offsets: list[np.ndarray[Any, Any]] = []
        accepted: list[Conversation] = []
        faults: list[CorpusError] = []
        for conversation in conversations:
            try:
                encoded = self._chat.encode(
                    self._tokenizer, conversation.messages, conversation.tools
                )
                rows.append(self._row(encoded))
            except _FAULTS as error:
                problem = f"cannot be rendered: {error}"
                reason = "a conversation that the template rejects"
                fault = CorpusError(conversation.place, problem, kind=reason)
                fault.__cause__ = error
                faults.append(fault)
                continue
            accepted.append(conversation)
            if self._has_offsets:
                offsets.append(np.array(encoded.encoding.offsets, np.uint32).reshape(-1))
                conversation.label["text"] = encoded.text
                if self._chat.has_mask:
                    conversation.label[MASK_NAME] = encoded.assistant_mask
        return EncodedConversations(self._batch(rows, offsets), accepted, faults)

    def _row(self, encoded: EncodedChat) -> np.ndarray[Any, Any]:
        ids = np.array(encoded.ids, np.uint32)
        if self._with_mask:
            ids |= np.array(encoded.assistant_mask, np.uint32) << 31
        return ids

    def _batch(self, rows: Sequence[Any], offsets: Sequence[Any]) -> Batch:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        raw = RawBatch.of_arrays(
            np.concatenate([np.empty(0, np.uint32), *rows]),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            **(_columns_of_offsets(offsets) if self._has_offsets else {}),
        )
        return Batch(raw, self._empty._token_of, self._empty._filling)


def _columns_of_offsets(offsets: Sequence[Any]) -> dict[str, Any]:
    """Return offsets and the columns that a batch has with them; a prompt has no words."""
    flat = np.concatenate([np.empty(0, np.uint32), *offsets])
    size = len(flat) // 2
    return {
        "offsets": flat,
        "word_ids": np.full(size, -1, np.int32),
        "sequence_ids": np.zeros(size, np.int8),
    }


def ids_and_mask(batch: Batch) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the ids of a batch whose highest bits are a mask, and the mask (uint8)."""
    return batch.ids & ~_MASK_BIT, (batch.ids >> 31).astype(np.uint8)
