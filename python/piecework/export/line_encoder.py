"""Encode lines and conversations to rows, as all formats of files take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from piecework.corpus.conversations import Conversation
from piecework.corpus.rows import Texts, longest
from piecework.errors import ArgumentError, CorpusError
from piecework.export.chats import ChatEncoder
from piecework.export.encoded_lines import EncodedLines, RowLayout, with_rows
from piecework.export.input_lines import LabelledLine
from piecework.export.settings import EncodeSettings
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.batch import Batch

_MAX_BATCH_TOKENS = 2**31 - 1  # the limit of Arrow list offsets and Megatron lengths
_SPECIAL_SHOWN = 8


class LineEncoder:
    """Encode lines, or conversations, and append the end-of-document token to each row.

    With `offsets`, rows have the labels of their lines too. Otherwise long texts are cut where that does not
    change ids, so that all threads encode them.
    """

    long_chars = 1 << 20
    piece_bytes = 256 << 10

    def __init__(
        self,
        tokenizer: Tokenizer,
        settings: EncodeSettings,
        layout: RowLayout,
        *,
        offsets: bool = False,
    ) -> None:
        chat, add_special_tokens = settings.chat, settings.add_special_tokens
        self.eod = _eod_id(tokenizer, settings.append_eod, add_special_tokens and chat is None)
        padding = tokenizer._stages().padding
        if padding is not None and padding.length is None:  # to the longest row of a batch
            tokenizer = tokenizer.without_padding()
        self._tokenizer = tokenizer
        self._settings = settings
        self._kept = layout.kept
        self._offsets = offsets
        self._chats: ChatEncoder | None = None
        if chat is not None:
            self._chats = ChatEncoder(tokenizer, chat, with_mask=layout.has_mask, offsets=offsets)
        self._frame = None if offsets else _frame(tokenizer, add_special_tokens)
        self._parsed = ParsedSpecialCounter(tokenizer, settings)

    def encode(self, texts: Texts) -> EncodedLines:
        """Encode lines, or conversations; the result has an error for each that cannot be encoded."""
        parsed, faults = 0, list[CorpusError]()
        if self._chats is None:
            batch = self._encode_lines(texts)
            parsed = self._parsed.count(batch)
        else:
            encoded = self._chats.encode(cast("Sequence[Conversation]", texts))
            batch, texts, faults = (
                encoded.batch,
                cast("Texts", encoded.conversations),
                encoded.faults,
            )
        lines = cast("Sequence[LabelledLine]", texts)
        labels = [line.label for line in lines] if self._offsets else []
        columns = {name: [line.label["kept"][name] for line in lines] for name in self._kept}
        batch = _with_eod(batch, self.eod)
        return EncodedLines(batch, labels, columns, parsed_special=parsed, faults=faults)

    def _encode_lines(self, texts: Texts) -> Batch:
        if self._frame is None or longest(texts) < self.long_chars:
            return self._encode_texts(texts, self._settings.add_special_tokens)
        divide = self._tokenizer._core.text_parts
        pieces = [divide(text, self.piece_bytes) or [] for text in texts]
        batch = self._encode_texts([piece for parts in pieces for piece in parts], False)
        ends = np.cumsum([0, *map(len, pieces)])
        return _framed(with_rows(batch, batch.ids, batch.row_offsets[ends]), *self._frame)

    def _encode_texts(self, texts: Texts, add_special_tokens: bool) -> Batch:
        return self._tokenizer.encode_batch(
            cast("Sequence[str]", texts),
            add_special_tokens=add_special_tokens,
            parse_special=self._settings.parse_special,
            offsets=self._offsets,
            num_threads=self._settings.num_threads,
        )


# ---- the end-of-document token


def _eod_id(tokenizer: Tokenizer, token: str | None, add_special_tokens: bool) -> int | None:
    """Return the id of the end-of-document token; raises if the post-processor adds it already."""
    if token is None:
        return None
    id = tokenizer.token_to_id(token)
    if id is None:
        raise ArgumentError(
            "append_eod",
            f"must be a token of the vocabulary, not {token!r}; {_special_tokens(tokenizer)}",
        )
    if add_special_tokens and tokenizer.encode("").ids[-1:] == [id]:
        problem = (
            f"the post-processor already appends {token!r} to each row; pass leave out one of them"
        )
        raise ArgumentError("append_eod", problem)
    return id


def _special_tokens(tokenizer: Tokenizer) -> str:
    """Return the special tokens, at most eight, for a message."""
    ids = sorted(tokenizer.special_token_ids)
    if not ids:
        return "it has no special tokens"
    shown = ", ".join(repr(tokenizer.id_to_token(id)) for id in ids[:_SPECIAL_SHOWN])
    more = f" and {len(ids) - _SPECIAL_SHOWN:,} more" if len(ids) > _SPECIAL_SHOWN else ""
    return f"its special tokens are {shown}{more}"


def _with_eod(batch: Batch, eod: int | None) -> Batch:
    """Return the batch with `eod` appended to each row; raises if a format cannot count its tokens."""
    if eod is not None:
        batch = _framed(batch, [], [eod])
    if len(batch.ids) > _MAX_BATCH_TOKENS:
        problem = (
            f"have a line or document of {len(batch.ids)} tokens; the limit is {_MAX_BATCH_TOKENS}"
        )
        raise CorpusError("inputs", problem)
    return batch


def _frame(tokenizer: Tokenizer, add_special_tokens: bool) -> tuple[list[int], list[int]] | None:
    """Return the special tokens before and after each text, None if texts must be encoded whole."""
    stages = tokenizer._stages()
    depends_on_length = stages.truncation is not None or stages.padding is not None
    can_be_divided = tokenizer._core.text_parts("", 1) is not None
    if not can_be_divided or tokenizer._core.dropout is not None or depends_on_length:
        return None
    if not add_special_tokens:
        return [], []
    probe = "a a"
    ids = tokenizer.encode(probe, add_special_tokens=False).ids
    framed = tokenizer.encode(probe).ids
    mask = tokenizer.encode(probe).special_tokens_mask
    start = mask.index(0) if 0 in mask else 0
    end = start + len(ids)
    if not ids or framed[start:end] != ids or not all([*mask[:start], *mask[end:]]):
        return None
    return framed[:start], framed[end:]


def _framed(batch: Batch, before: list[int], after: list[int]) -> Batch:
    """Return the batch with special tokens around each row."""
    if not before and not after:
        return batch
    rows = len(batch)
    offsets = batch.row_offsets
    places = np.stack([offsets[:-1], offsets[1:]], axis=1).reshape(-1)
    ids = np.insert(
        batch.ids,
        np.repeat(places, np.tile([len(before), len(after)], rows)),
        np.tile(np.array([*before, *after], np.uint32), rows),
    )
    return with_rows(batch, ids, offsets + np.arange(rows + 1) * (len(before) + len(after)))


# ---- special tokens in texts


class ParsedSpecialCounter:
    """Count the ids of special tokens in the text, not of the ones that the tokenizer adds to each row.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["a hug"] * 9, vocab_size=16)
    >>> parsed_special = ParsedSpecialCounter(tok, EncodeSettings())
    >>> parsed_special.count(tok.encode_batch(["a [SEP] hug", "hug"]))
    1

    Unknown tokens are not counted, nor is the padding token if rows are padded.
    """

    def __init__(self, tokenizer: Tokenizer, settings: EncodeSettings) -> None:
        ids = {token.id for token in tokenizer.added_tokens if token.special}
        roles = [*tokenizer._role_tokens().values()]
        # The unknown token stands for text, unless it has another role too, as in GPT-2.
        if tokenizer.unk_token_id is not None and roles.count(str(tokenizer.unk_token)) == 1:
            ids.discard(tokenizer.unk_token_id)
        if (padding := tokenizer._stages().padding) is not None:
            ids.discard(padding.pad_id)
        parses = settings.parse_special is None or bool(settings.parse_special)
        self._ids = np.array(sorted(ids) if parses else [], np.uint32)
        added = tokenizer.encode("").ids if settings.add_special_tokens else []
        self._added_to_row = sum(id in ids for id in added)

    def count(self, batch: Batch) -> int:
        """Return the number of special tokens that the texts of a batch have."""
        if not len(self._ids):
            return 0
        ids = batch.ids
        # Special tokens have neighbouring ids, so few others are looked up.
        near = ids[(ids >= self._ids[0]) & (ids <= self._ids[-1])]
        return int(np.isin(near, self._ids).sum()) - self._added_to_row * len(batch)
