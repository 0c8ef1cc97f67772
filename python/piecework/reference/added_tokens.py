"""Added tokens: tokens such as `[MASK]` that are found whole in the text, before the model sees it.

The leftmost match wins, then the longest. Tokens with `normalized=False` are sought in the raw text;
the others are sought in the normalized text, in their own normalized form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from piecework.reference.aligned import Aligned, as_text, span_between
from piecework.reference.patterns import is_whitespace, is_word
from piecework.spec import AddedToken

# The tokens of each text to search, by id: several tokens can have one normalized form.
Forms: TypeAlias = Mapping[str, Sequence[AddedToken]]
# A part of the text, and the added token that it is; None for ordinary text.
TextPart: TypeAlias = tuple[Aligned, AddedToken | None]
# Whether a token may match the characters from a start to an end.
Permission: TypeAlias = Callable[[AddedToken, int, int], bool]


def everywhere(token: AddedToken, start: int, end: int) -> bool:
    """Permit every match."""
    return True


def split_added_tokens(
    text: Aligned, forms: Forms, permits: Permission = everywhere
) -> Iterator[TextPart]:
    """Split a text into added tokens and ordinary text; `forms` maps each text to search to its tokens.

    `permits` decides about each match by its characters in the original text.

    >>> from piecework.reference.aligned import align
    >>> mask = AddedToken("<mask>", id=0, lstrip=True)
    >>> parts = split_added_tokens(align("a <mask>."), {"<mask>": [mask]})
    >>> [(as_text(part), found is mask) for part, found in parts]
    [('a', False), (' <mask>', True), ('.', False)]
    """
    plain = as_text(text)
    done = 0

    def is_permitted(token: AddedToken, start: int, end: int) -> bool:
        return permits(token, *span_between(text, start, end))

    for start, end, token in matches(plain, forms, is_permitted):
        if token.single_word and touches_word(plain, start, end):
            continue
        start, end = with_stripped_space(plain, done, start, end, token)
        if start >= end:
            continue
        if done < start:
            yield text[done:start], None
        yield text[start:end], token
        done = end
    if done < len(text):
        yield text[done:], None


def matches(
    text: str, forms: Forms, permits: Permission = everywhere
) -> Iterator[tuple[int, int, AddedToken]]:
    """Find the permitted added tokens of a text from left to right, the longest at each position.

    Of tokens with one form, the first that is permitted is found.

    >>> a, ab = AddedToken("a", 0), AddedToken("ab", 1)
    >>> [(start, end) for start, end, _ in matches("xab a", {"a": [a], "ab": [ab]})]
    [(1, 3), (4, 5)]
    """
    at = 0
    while at < len(text):
        permitted = (
            (at + len(form), token)
            for form, tokens in forms.items()
            if text.startswith(form, at)
            for token in tokens
            if permits(token, at, at + len(form))
        )
        end, token = max(permitted, key=itemgetter(0), default=(at + 1, None))
        if token is not None:
            yield at, end, token
        at = end


def touches_word(text: str, start: int, end: int) -> bool:
    """Return whether a word character precedes or follows a span.

    >>> touches_word("a b", 0, 1), touches_word("ab", 0, 1)
    (False, True)
    """
    return is_word(text[start - 1 : start] or " ") or is_word(text[end : end + 1] or " ")


def with_stripped_space(
    text: str, done: int, start: int, end: int, token: AddedToken
) -> tuple[int, int]:
    """Extend a match over the whitespace that its token strips, on the left at most to `done`.

    >>> with_stripped_space("a  <m> b", 0, 3, 6, AddedToken("<m>", 0, lstrip=True, rstrip=True))
    (1, 7)
    """
    if token.lstrip:
        start = max(start, done)
        while start > done and is_whitespace(text[start - 1]):
            start -= 1
    if token.rstrip:
        while end < len(text) and is_whitespace(text[end]):
            end += 1
    return start, end
