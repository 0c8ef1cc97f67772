"""Which special tokens are recognized in a text, and the refusal of texts that contain one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from piecework._internal._core import Core, TextColumn, find_special
from piecework._internal.text_columns import text_rows
from piecework._internal.validation import check_tokenizer
from piecework.errors import ArgumentError, InputTypeError, SpecialTokenError

if TYPE_CHECKING:
    from piecework._internal.types import Texts
    from piecework.spec import ParseSpecial
    from piecework.tokenizer import Tokenizer

Rows = Iterable[Any] | TextColumn
"""Texts, or texts as lists of words."""


def checked_parse_special(value: object) -> ParseSpecial:
    """Return `value`, the setting of a tokenizer; raise unless it is True, False or "refuse"."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value == "refuse":
        return "refuse"
    raise ArgumentError("parse_special", f'must be True, False or "refuse", not {value!r}')


def special_ids(core: Core, tokens: Collection[str], argument: str, expected: str) -> list[int]:
    """Return the ids of special tokens.

    Raises `ArgumentError` for a token that is not special. `expected` says what `argument` takes.
    """
    if isinstance(tokens, str) or not isinstance(tokens, Collection):
        raise InputTypeError(argument, f"must be {expected}, not {type(tokens).__name__}")
    special = core.special_tokens()
    try:
        return [special[token] for token in tokens]
    except KeyError as error:
        found = repr(error.args[0])
        problem = f"{found} is not a special token of the tokenizer"
        raise ArgumentError(argument, problem) from None


def refuse_special(core: Core, rows: Rows) -> None:
    """Raise `SpecialTokenError` if a text, or a word of a text, contains a special token."""
    if not isinstance(rows, TextColumn):
        rows = [
            word for row in rows for word in (row if isinstance(row, (list, tuple)) else (row,))
        ]
    found = find_special(core, rows, None)
    if found is not None:
        token = core.id_to_token(found[1])
        message = (
            f"the text contains the special token {token!r}; pass True to encode it as that token, "
            "False to encode it as text, or a set of tokens"
        )
        raise SpecialTokenError("parse_special", message)


# ---- search texts for special tokens, for instance to refuse them


def find_special_token(
    tokenizer: Tokenizer, texts: Texts, tokens: Collection[str] | None = None
) -> tuple[int, str] | None:
    """Return the first special token that a text contains, with the index of the text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
    >>> pw.chat.find_special_token(tok, ["to be", "or [SEP] not"])
    (1, '[SEP]')
    >>> pw.chat.find_special_token(tok, ["or [SEP] not"], ["[CLS]"]) is None
    True

    `texts` are anything that `encode_batch` takes. `tokens` restricts the search; None searches for all
    special tokens. Returns None if no text contains one. Raises `ArgumentError` for a token that is not
    special.
    """
    check_tokenizer(tokenizer)
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
