"""Added tokens of `tokenizers` and of this library, one turned into the other."""

from __future__ import annotations

from collections.abc import Sequence

import tokenizers

from piecework import Tokenizer
from piecework.spec import AddedToken

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def added_token(token: AddedToken) -> tokenizers.AddedToken:
    """Return the added token of `tokenizers` that equals one of a specification."""
    flags = {name: getattr(token, name) for name in _FLAGS}
    return tokenizers.AddedToken(token.content, **flags)


def with_new_tokens(
    tokenizer: Tokenizer, tokens: Sequence[str | tokenizers.AddedToken], *, is_special: bool
) -> tuple[Tokenizer, int]:
    """Return a tokenizer with further added tokens, and how many of them are new or changed.

    Empty tokens and those that are added already are skipped, as in `tokenizers`.
    """
    present = {token.content: token for token in tokenizer.added_tokens}
    changed: dict[str, AddedToken] = {}
    count = 0
    for given in tokens:
        token = _specified(given, is_special=is_special)
        known = changed.get(token.content) or present.get(token.content)
        if token.content and (known is None or _flags(known) != _flags(token)):
            # The content goes to the end, as the last one added.
            changed.pop(token.content, None)
            changed[token.content] = token
            count += 1
    return (tokenizer.with_added_tokens(list(changed.values())) if changed else tokenizer), count


def _specified(token: str | tokenizers.AddedToken, *, is_special: bool) -> AddedToken:
    if isinstance(token, str):
        return AddedToken(token, normalized=not is_special, special=is_special)
    flags = {name: getattr(token, name) for name in _FLAGS}
    return AddedToken(token.content, **{**flags, "special": is_special or flags["special"]})


def _flags(token: AddedToken) -> tuple[bool, ...]:
    return tuple(getattr(token, name) for name in _FLAGS)
