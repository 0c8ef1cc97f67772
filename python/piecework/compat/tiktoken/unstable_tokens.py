"""Which tokens a text may continue with: `tiktoken.Encoding.encode_with_unstable`.

Appended text can change the tokens of the last pre-token. These tokens are unstable. Every token that
could start inside their bytes and extend beyond the end of the text is a candidate. Each candidate is
encoded again, so the time is linear in the number of candidates.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Protocol

from piecework import Tokenizer

_SPACES = b" \n\t"


class ByteEncoding(Protocol):
    """What this module needs of an `Encoding`."""

    @property
    def _sorted_bytes(self) -> list[bytes]: ...
    @property
    def tokenizer(self) -> Tokenizer: ...  # noqa: D102
    def is_special_token(self, token: int) -> bool: ...  # noqa: D102
    def encode_ordinary(self, text: str) -> list[int]: ...  # noqa: D102
    def encode_ordinary_batch(self, text: list[str]) -> list[list[int]]: ...  # noqa: D102
    def encode_single_token(self, text_or_bytes: bytes) -> int: ...  # noqa: D102
    def _encode_single_piece(self, text_or_bytes: bytes) -> list[int]: ...
    def decode_bytes(self, tokens: list[int]) -> bytes: ...  # noqa: D102
    def decode_single_token_bytes(self, token: int) -> bytes: ...  # noqa: D102


def encode_with_unstable(
    enc: ByteEncoding, text: str, special: AbstractSet[str]
) -> tuple[list[int], list[list[int]]]:
    """Return the stable tokens, and every sequence of tokens that may follow them."""
    tokens, last_length = _encode_with_last_length(enc, text, special)
    stable_count = len(tokens) - _extend_over_spaces(enc, tokens, last_length)
    unstable = enc.decode_bytes(tokens[stable_count:])
    if not unstable:
        return tokens, []
    completions: set[tuple[int, ...]] = {
        (enc.encode_single_token(token),) for token in _tokens_with_prefix(enc, unstable)
    }
    completions.update(_straddling_completions(enc, unstable))
    split = _split_before_last_space(enc, unstable)
    if split is not None:
        completions.add(split)
    return tokens[:stable_count], [list(completion) for completion in completions]


def encode_cut_bytes(enc: ByteEncoding, data: bytes) -> list[int]:
    """Encode bytes as text; from the first invalid byte on, they are one pre-token.

    The last pre-token of the valid text belongs to it, with whitespace tokens before.
    """
    try:
        return enc.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        valid_length = error.start
    tokens, last_length = _encode_with_last_length(enc, data[:valid_length].decode(), frozenset())
    stable_count = len(tokens) - _extend_over_spaces(enc, tokens, last_length)
    rest = enc.decode_bytes(tokens[stable_count:]) + data[valid_length:]
    return tokens[:stable_count] + enc._encode_single_piece(rest)


def _encode_with_last_length(
    enc: ByteEncoding, text: str, special: AbstractSet[str]
) -> tuple[list[int], int]:
    """Return the tokens and the number of tokens of the last pre-token; 0 for a special token."""
    encoding = enc.tokenizer.encode(text, add_special_tokens=False, parse_special=special)
    if not encoding.ids or enc.is_special_token(encoding.ids[-1]):
        return encoding.ids, 0
    words = encoding.word_ids
    return encoding.ids, sum(word == words[-1] for word in words)


def _extend_over_spaces(enc: ByteEncoding, tokens: list[int], length: int) -> int:
    """Return `length`, plus the whitespace tokens before if the last `length` start with one."""

    def is_space(token: int) -> bool:
        return all(byte in _SPACES for byte in enc.decode_single_token_bytes(token))

    if length and is_space(tokens[-length]):
        while length < len(tokens) and is_space(tokens[-length - 1]):
            length += 1
    return length


def _tokens_with_prefix(enc: ByteEncoding, prefix: bytes) -> Iterator[bytes]:
    tokens = enc._sorted_bytes
    at = bisect_left(tokens, prefix)
    while at < len(tokens) and tokens[at].startswith(prefix):
        yield tokens[at]
        at += 1


def _straddling_completions(enc: ByteEncoding, unstable: bytes) -> Iterator[tuple[int, ...]]:
    """Yield completions with a token that starts inside the unstable bytes and ends beyond them."""
    candidates = (
        unstable[:at] + token
        for at in range(1, len(unstable))
        for token in _tokens_with_prefix(enc, unstable[at:])
    )
    for tokens in _encode_candidates(enc, candidates):
        yield _cover(enc, tokens, len(unstable))


def _encode_candidates(enc: ByteEncoding, candidates: Iterable[bytes]) -> Iterator[list[int]]:
    """Encode valid UTF-8 as text, in one batch; encode other bytes as one pre-token each."""
    texts = []
    for candidate in candidates:
        try:
            texts.append(candidate.decode())
        except UnicodeDecodeError:
            yield enc._encode_single_piece(candidate)
    yield from enc.encode_ordinary_batch(texts)


def _cover(enc: ByteEncoding, tokens: list[int], length: int) -> tuple[int, ...]:
    """Return the shortest prefix of `tokens` that covers `length` bytes."""
    covered = 0
    for count, token in enumerate(tokens, 1):
        covered += len(enc.decode_single_token_bytes(token))
        if covered >= length:
            return tuple(tokens[:count])
    return tuple(tokens)


def _split_before_last_space(enc: ByteEncoding, unstable: bytes) -> tuple[int, ...] | None:
    r"""Return the tokens if a split falls before a final space, as `\s+(?!\S)` does when text follows."""
    last = _last_char(unstable)
    if not last.isspace() or len(last.encode()) == len(unstable):
        return None
    cut = len(unstable) - len(last.encode())
    return (*enc._encode_single_piece(unstable[:cut]), *enc._encode_single_piece(unstable[cut:]))


def _last_char(text: bytes) -> str:
    """Return the last character of UTF-8 bytes, or "" if they end inside a character."""
    for length in range(1, 5):
        try:
            return text[-length:].decode()
        except UnicodeDecodeError:
            continue
    return ""
