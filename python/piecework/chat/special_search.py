"""Search texts for special tokens, for instance to refuse them."""

from __future__ import annotations

from collections.abc import Collection

from piecework._core import find_special
from piecework._internal.lazy import hints, pw
from piecework.chat.special_tokens import special_ids
from piecework.rows.text_columns import text_rows


def find_special_token(
    tokenizer: pw.Tokenizer, texts: hints.Texts, tokens: Collection[str] | None = None
) -> tuple[int, str] | None:
    """Return the first special token that is written in a text, with the index of that text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
    >>> pw.chat.find_special_token(tok, ["to be", "or [SEP] not"])
    (1, '[SEP]')
    >>> pw.chat.find_special_token(tok, ["or [SEP] not"], ["[CLS]"]) is None
    True

    `texts` are those of `encode_batch`. `tokens` restricts the search; None searches for all special
    tokens. Returns None if no text contains one. Raises `ArgumentError` for a token that is not special.
    """
    core, ids = tokenizer._core, None
    if tokens is not None:
        ids = special_ids(core, tokens, "tokens", "a collection of special tokens or None")
    found = find_special(core, text_rows(texts), ids)
    if found is None:
        return None
    row, id = found
    token = core.id_to_token(id)
    assert token is not None
    return row, token
