"""Add tokens to a vocabulary, and remove added tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from piecework._internal.validation import check_type, listed
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, FormatWarning, InputTypeError
from piecework.spec import AddedToken

Token = TypeVar("Token")


def with_added(
    present: Sequence[AddedToken],
    vocab: Mapping[str, int],
    tokens: Sequence[str | AddedToken],
    special: bool,
) -> tuple[AddedToken, ...]:
    """Return the added tokens, old and new; a token of the vocabulary keeps its id, others get the next.

    `vocab` is the whole vocabulary, with added tokens.
    """
    added = {token.content: token for token in present}
    next_id = max([*vocab.values(), -1]) + 1
    for token in _listed(tokens, "tokens", "str or AddedToken"):
        if isinstance(token, str):
            token = AddedToken(token, special=special, normalized=not special)
        check_type("tokens", token, AddedToken, "str or AddedToken")
        id = added[token.content].id if token.content in added else None
        if id is None:
            id = vocab.get(token.content)
        if id is None:
            id, next_id = next_id, next_id + 1
        added[token.content] = replace(token, id=id)
    return tuple(added.values())


def warn_of_dropped(
    before: Sequence[AddedToken], added: Sequence[AddedToken], normalize: Callable[[str], str]
) -> None:
    """Warn with `FormatWarning` of each new token of normalized text that the normalizer drops."""
    normalized = [token.content for token in added if token.normalized and token not in before]
    for content in filter(None, normalized):
        if not normalize(content):
            message = (
                f"the added token {content!r} never matches: the normalizer drops it; "
                "pass special=True, or an AddedToken with normalized=False"
            )
            warn(message, FormatWarning)


def without_added(
    present: Sequence[AddedToken], contents: Collection[str]
) -> tuple[AddedToken, ...]:
    """Return the remaining added tokens; raise `ArgumentError` for a token that was not added."""
    names = [token.content for token in present]
    removed = _listed(contents, "contents", "str")
    for content in removed:
        if content not in names:
            raise ArgumentError("contents", f"{content!r} is not an added token")
    return tuple(token for token in present if token.content not in removed)


def _listed(tokens: Iterable[Token], place: str, of: str) -> list[Token]:
    """Return the tokens; raise `InputTypeError` for one str, whose characters would be taken for tokens."""
    if isinstance(tokens, str):
        problem = f"must be a sequence, such as [{tokens!r}], not the str {tokens!r}"
        raise InputTypeError(place, problem)
    return listed(tokens, place, of)
