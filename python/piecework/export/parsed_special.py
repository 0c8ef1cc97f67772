"""Count the special tokens that a tokenizer parses in texts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from piecework.batch import Batch
from piecework.tokenizer import Tokenizer


class ParsedSpecialCounter:
    """Counts ids of special tokens that the text has, not those that the tokenizer adds to each row.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["a hug"] * 9, vocab_size=16)
    >>> parsed_special = ParsedSpecialCounter(tok, add_special_tokens=True, parse_special=None)
    >>> parsed_special.count(tok.encode_batch(["a [SEP] hug", "hug"]))
    1

    Unknown tokens are not counted, nor is the padding token if rows are padded.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        add_special_tokens: bool,
        parse_special: bool | Collection[str] | None,
    ) -> None:
        ids = {token.id for token in tokenizer.added_tokens if token.special}
        roles = [*tokenizer._role_tokens().values()]
        # The unknown token stands for text, unless it has another role too, as in GPT-2.
        if tokenizer.unk_token_id is not None and roles.count(str(tokenizer.unk_token)) == 1:
            ids.discard(tokenizer.unk_token_id)
        if (padding := tokenizer._stages().padding) is not None:
            ids.discard(padding.pad_id)
        parses = parse_special is None or bool(parse_special)
        self._ids = np.array(sorted(ids) if parses else [], np.uint32)
        added = tokenizer.encode("").ids if add_special_tokens else []
        self._added_to_row = sum(id in ids for id in added)

    def count(self, batch: Batch) -> int:
        """Return the number of special tokens that the texts of a batch have."""
        if not len(self._ids):
            return 0
        ids = batch.ids
        # Special tokens have neighbouring ids, so few others are looked up.
        near = ids[(ids >= self._ids[0]) & (ids <= self._ids[-1])]
        return int(np.isin(near, self._ids).sum()) - self._added_to_row * len(batch)
