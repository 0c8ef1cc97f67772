"""What tokens may come where a text stops, as `tiktoken.Encoding.encode_with_unstable` answers it.

More text could change the last word of a text. Its tokens are taken back, and every token that could
straddle the end of the text is tried at every place of what was taken back. Linear in the number of tokens
tried, each encoded anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piecework.compat.tiktoken import Encoding

_SPACES = b" \n\t"


def with_unstable(
    enc: Encoding, text: str, special: list[int]
) -> tuple[list[int], list[list[int]]]:
    """Return the tokens that stay, and all sequences that may follow them."""
    tokens, last_length = _encoded(enc, text, special)
    stable = len(tokens) - _with_spaces_before(enc, tokens, last_length)
    unstable = enc.decode_bytes(tokens[stable:])
    if not unstable:
        return tokens, []
    ways: set[tuple[int, ...]] = {
        (enc.encode_single_token(token),) for token in _starting_with(enc, unstable)
    }
    ways.update(_straddling(enc, unstable))
    split = _split_before_last_space(enc, unstable)
    if split is not None:
        ways.add(split)
    return tokens[:stable], [list(way) for way in ways]


def _encoded(enc: Encoding, text: str, special: list[int]) -> tuple[list[int], int]:
    """Return the tokens and how many of them are of the last word, none if that is a special token."""
    names = {token for token, id in enc._special_tokens.items() if id in special}
    encoding = enc.tokenizer.encode(text, add_special_tokens=False, parse_special=names)
    if not encoding.ids or encoding.ids[-1] in special:
        return encoding.ids, 0
    words = encoding.word_ids
    return encoding.ids, sum(word == words[-1] for word in words)


def _with_spaces_before(enc: Encoding, tokens: list[int], length: int) -> int:
    """Add the tokens before that are spaces alone, when the first of the last `length` is."""

    def is_space(token: int) -> bool:
        return all(byte in _SPACES for byte in enc.decode_single_token_bytes(token))

    if length and is_space(tokens[-length]):
        while length < len(tokens) and is_space(tokens[-length - 1]):
            length += 1
    return length


def _starting_with(enc: Encoding, start: bytes) -> Iterator[bytes]:
    known = enc._sorted_bytes
    at = bisect_left(known, start)
    while at < len(known) and known[at].startswith(start):
        yield known[at]
        at += 1


def _straddling(enc: Encoding, unstable: bytes) -> Iterator[tuple[int, ...]]:
    """Give what is encoded when a token begins inside the unstable bytes and ends beyond them."""
    tried = (
        unstable[:at] + token
        for at in range(1, len(unstable))
        for token in _starting_with(enc, unstable[at:])
    )
    for tokens in _each_encoded(enc, tried):
        yield _covering(enc, tokens, len(unstable))


def _each_encoded(enc: Encoding, tried: Iterable[bytes]) -> Iterator[list[int]]:
    """Encode as text what is UTF-8, in one batch; the rest as one word."""
    texts = []
    for whole in tried:
        try:
            texts.append(whole.decode())
        except UnicodeDecodeError:
            yield enc._encode_single_piece(whole)
    yield from enc.encode_ordinary_batch(texts)


def _covering(enc: Encoding, tokens: list[int], length: int) -> tuple[int, ...]:
    """Return the first tokens that cover so many bytes."""
    covered = 0
    for count, token in enumerate(tokens, 1):
        covered += len(enc.decode_single_token_bytes(token))
        if covered >= length:
            return tuple(tokens[:count])
    return tuple(tokens)


def _split_before_last_space(enc: Encoding, unstable: bytes) -> tuple[int, ...] | None:
    r"""Return the encoding with a cut before a space at the end, which `\s+(?!\S)` makes if text follows."""
    last = _last_char(unstable)
    if not last.isspace() or len(last.encode()) == len(unstable):
        return None
    cut = len(unstable) - len(last.encode())
    return (*enc._encode_single_piece(unstable[:cut]), *enc._encode_single_piece(unstable[cut:]))


def _last_char(text: bytes) -> str:
    """Return the character that bytes end with, empty if they end with none."""
    for length in range(1, 5):
        try:
            return text[-length:].decode()
        except UnicodeDecodeError:
            continue
    return ""
