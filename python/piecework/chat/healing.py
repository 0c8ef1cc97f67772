"""Token healing: give back the last ids of a prompt that a longer token could replace.

A prompt often ends in the middle of a token: after `http:`, the token `://` can no longer follow. Healing
drops as many of the last ids as begin a longer token together, and requires their bytes from the next ones.

Source: Lundberg 2023, "The Art of Prompt Design: Prompt Boundaries and Token Healing".
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from piecework._internal.validation import check_tokenizer, check_type, id_list
from piecework.errors import ArgumentError, IdRangeError, InputTypeError
from piecework.vocabulary.decoding import decoded_bytes

if TYPE_CHECKING:
    from piecework import Tokenizer
    from piecework._internal.types import Ids


@dataclass(frozen=True)
class HealedPrompt:
    """The ids of a prompt to keep, and the bytes that the next tokens must begin with.

    >>> HealedPrompt([5, 6], b" th").prefix
    b' th'
    """

    ids: list[int]
    prefix: bytes


class TokenTrie:
    """A trie over the bytes of all tokens, to find the tokens that may come next; stored as a sorted list.

    >>> import piecework as pw
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"://": 256, b"http": 257}
    >>> tok = pw.Tokenizer.from_ranks(ranks, pattern="gpt2")
    >>> trie = pw.chat.TokenTrie(tok)
    >>> trie.heal(tok.encode("http:").ids)
    HealedPrompt(ids=[257], prefix=b':')
    >>> trie.starting_with(b":"), trie.allowed_ids(b"ht")
    ([58, 256], [104, 257])

    `vocabulary.decoded_bytes` gives the bytes. Special tokens and the unknown token are left out.
    Building it reads the whole vocabulary: keep one for each tokenizer. Raises `ArgumentError` for a decoder
    whose output depends on the neighbours of a token.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        check_tokenizer(tokenizer)
        unknown = getattr(tokenizer.spec.model, "unk_token", None)
        self._id_to_token = tokenizer.id_to_token
        self._bytes = decoded_bytes(tokenizer)
        if unknown is not None:
            self._bytes.pop(tokenizer.token_to_id(unknown), None)  # type: ignore[arg-type]
        pairs = sorted((data, id) for id, data in self._bytes.items() if data)
        self._sorted = [data for data, _ in pairs]
        self._ids = [id for _, id in pairs]
        self._longest = max(map(len, self._sorted), default=0)

    def starting_with(self, prefix: bytes) -> list[int]:
        """Return the ids of the tokens that begin with bytes, in the order of their bytes.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 2, "a": 0, "b": 1}), decoder=pw.spec.Fuse())
        >>> pw.chat.TokenTrie(tok).starting_with(b"")
        [0, 1]
        """
        return self._ids[slice(*self._range(prefix))]

    def allowed_ids(self, prefix: bytes) -> list[int]:
        """Return the ids that may come next when certain bytes are required, in increasing order.

        >>> import piecework as pw
        >>> vocab = {"a": 0, "b": 1, "ab": 2, "abb": 3}
        >>> tok = pw.Tokenizer(pw.spec.BPE(vocab, (("a", "b"), ("ab", "b"))), decoder=pw.spec.Fuse())
        >>> pw.chat.TokenTrie(tok).allowed_ids(b"ab")
        [0, 2, 3]

        These are the tokens that begin with the bytes, and the tokens that the bytes begin with.
        """
        shorter: list[int] = []
        for size in range(1, len(prefix)):
            start = bisect_left(self._sorted, prefix[:size])
            while start < len(self._sorted) and self._sorted[start] == prefix[:size]:
                shorter.append(self._ids[start])
                start += 1
        return sorted(shorter + self.starting_with(prefix))

    def advance(self, prefix: bytes, id: int) -> bytes:
        """Return the bytes that are still required after an id.

        >>> import piecework as pw
        >>> vocab = {"a": 0, "b": 1, "ab": 2, "abb": 3}
        >>> tok = pw.Tokenizer(pw.spec.BPE(vocab, (("a", "b"), ("ab", "b"))), decoder=pw.spec.Fuse())
        >>> trie = pw.chat.TokenTrie(tok)
        >>> trie.advance(b"ab", 0), trie.advance(b"ab", 3)
        (b'b', b'')

        Raises `ArgumentError` for an id that is not one of `allowed_ids`.
        """
        if not prefix:
            return b""
        data = self._bytes.get(id, b"")
        if data.startswith(prefix):
            return b""
        if data and prefix.startswith(data):
            return prefix[len(data) :]
        raise ArgumentError("id", f"{id!r} has the bytes {data!r}, which {prefix!r} does not allow")

    def heal(self, ids: Ids) -> HealedPrompt:
        """Return the ids to keep, and the bytes of the others: as many as a longer token begins with.

        >>> import piecework as pw
        >>> vocab = {"a": 0, "b": 1, "ab": 2, "abb": 3}
        >>> tok = pw.Tokenizer(pw.spec.BPE(vocab, (("a", "b"), ("ab", "b"))), decoder=pw.spec.Fuse())
        >>> pw.chat.TokenTrie(tok).heal([1, 2])
        HealedPrompt(ids=[1], prefix=b'ab')

        Special tokens and unknown tokens are always kept, with all before them. Raises `IdRangeError` for an
        id that is not in the vocabulary.
        """
        given = id_list(ids, "ids")
        for position, id in enumerate(given):
            if self._id_to_token(id) is None:
                raise IdRangeError(f"ids[{position}]", f"is {id}, which is not in the vocabulary")
        keep, prefix = len(given), b""
        data = b""
        for at in range(len(given) - 1, -1, -1):
            if given[at] not in self._bytes or len(data) >= self._longest:
                break
            data = self._bytes[given[at]] + data
            if data and self._begins_longer_token(data):
                keep, prefix = at, data
        return HealedPrompt(given[:keep], prefix)

    def _begins_longer_token(self, data: bytes) -> bool:
        start, end = self._range(data)
        return start < end and self._sorted[end - 1] != data

    def _range(self, prefix: bytes) -> tuple[int, int]:
        """Return the first token that begins with bytes, and the one after the last."""
        start = bisect_left(self._sorted, prefix)
        stem = prefix.rstrip(b"\xff")
        if not stem:
            return start, len(self._sorted)
        return start, bisect_left(self._sorted, stem[:-1] + bytes([stem[-1] + 1]), start)


def heal(
    tokenizer: Tokenizer,
    prompt: str | Ids,
    *,
    add_special_tokens: bool = False,
    trie: TokenTrie | None = None,
) -> HealedPrompt:
    """Return the ids of a prompt to keep, and the bytes that the next tokens must begin with.

    >>> import piecework as pw
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"://": 256, b"http": 257}
    >>> tok = pw.Tokenizer.from_ranks(ranks, pattern="gpt2")
    >>> heal(tok, "http:")
    HealedPrompt(ids=[257], prefix=b':')
    >>> heal(tok, "http"), heal(tok, "")
    (HealedPrompt(ids=[257], prefix=b''), HealedPrompt(ids=[], prefix=b''))

    `prompt` is a text or ids. As few ids as possible are kept such that the bytes of the others are the
    beginning of a longer token. `trie` is the `TokenTrie` of the tokenizer; without it, each call builds one.

    Raises the errors of `TokenTrie`, and `IdRangeError` for an id that is not in the vocabulary.
    """
    check_tokenizer(tokenizer)
    ids: Ids
    if isinstance(prompt, str):
        whole = tokenizer.without_truncation().without_padding()
        ids = whole.encode(prompt, add_special_tokens=add_special_tokens).ids
    elif isinstance(prompt, bytes):
        raise InputTypeError("prompt", "must be a text or ids, not bytes")
    else:
        ids = prompt
    trie = TokenTrie(tokenizer) if trie is None else trie
    check_type("trie", trie, TokenTrie, "a TokenTrie")
    return trie.heal(ids)
