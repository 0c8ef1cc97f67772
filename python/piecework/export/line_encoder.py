"""Encode lines and conversations to rows, as all formats of files take them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from piecework.batch import Batch
from piecework.chat.chat_format import ChatFormat
from piecework.corpus.conversations import Conversation
from piecework.corpus.texts import Texts
from piecework.errors import CorpusError
from piecework.export.chats import ChatEncoder
from piecework.export.encoded_lines import EncodedLines, with_rows
from piecework.export.input_lines import LabelledLine
from piecework.export.long_documents import encoder_of_long
from piecework.export.parsed_special import ParsedSpecialCounter
from piecework.tokenizer import Tokenizer

_MAX_BATCH_TOKENS = 2**31 - 1  # the limit of Arrow list offsets and Megatron lengths


def line_encoder(
    tokenizer: Tokenizer,
    *,
    eod: int | None,
    add_special_tokens: bool,
    parse_special: bool | Collection[str] | None,
    chat: ChatFormat | None,
    num_threads: int | None,
    offsets: bool = False,
    kept: Sequence[str] | None = None,
) -> Callable[[Texts], EncodedLines]:
    """Return a function that encodes lines, or conversations with `chat`, and appends `eod` to each row.

    With `offsets`, rows have the labels of their lines too. With `kept`, they have these columns of the
    labels, and long texts are cut where that does not change ids.
    """
    padding = tokenizer._stages().padding
    if padding is not None and padding.length is None:  # to the longest row of a batch
        tokenizer = tokenizer.without_padding()

    def rows(batch: Batch, sources: Texts, **further: Any) -> EncodedLines:
        lines = cast("Sequence[LabelledLine]", sources)
        labels = [line.label for line in lines] if offsets else []
        columns = {name: [line.label["kept"][name] for line in lines] for name in kept or ()}
        return EncodedLines(_with_eod(batch, eod), labels, columns, **further)

    if chat is not None:
        encoder = ChatEncoder(tokenizer, chat, offsets=offsets)

        def encode_chats(conversations: Texts) -> EncodedLines:
            encoded = encoder.encode(cast("Sequence[Conversation]", conversations))
            accepted = cast("Texts", encoded.conversations)
            return rows(encoded.batch, accepted, faults=encoded.faults)

        return encode_chats

    def encode_texts(texts: Texts, with_special_tokens: bool) -> Batch:
        return tokenizer.encode_batch(
            cast("Sequence[str]", texts),
            add_special_tokens=with_special_tokens,
            parse_special=parse_special,
            offsets=offsets,
            num_threads=num_threads,
        )

    encode: Callable[[Texts], Batch] = partial(encode_texts, with_special_tokens=add_special_tokens)
    if kept is not None:
        encode = encoder_of_long(tokenizer, encode_texts, add_special_tokens=add_special_tokens)
    in_text = ParsedSpecialCounter(
        tokenizer, add_special_tokens=add_special_tokens, parse_special=parse_special
    )

    def encode_lines(texts: Texts) -> EncodedLines:
        batch = encode(texts)
        return rows(batch, texts, parsed_special=in_text.count(batch))

    return encode_lines


def _with_eod(batch: Batch, eod: int | None) -> Batch:
    """Return the batch with `eod` appended to each row; raises if a format cannot count its tokens."""
    if eod is not None:
        ids = np.insert(batch.ids, batch.row_offsets[1:], np.uint32(eod))
        row_offsets = batch.row_offsets + np.arange(len(batch.row_offsets))
        batch = with_rows(batch, ids, row_offsets)
    if len(batch.ids) > _MAX_BATCH_TOKENS:
        problem = (
            f"have a line or document of {len(batch.ids)} tokens; the limit is {_MAX_BATCH_TOKENS}"
        )
        raise CorpusError("inputs", problem)
    return batch
