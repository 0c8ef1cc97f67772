"""The half of the tiktoken-shaped `Encoding` that knows its tokens and turns them into text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from piecework._core import decode_bytes, encode_word_of_bytes, token_bytes, vocab_bytes
from piecework.errors import ArgumentError, UnknownNameError, VocabularyError
from piecework.tokenizer import Tokenizer


class Decoding:
    """Tokens, their bytes and their text."""

    name: str
    max_token_value: int
    _tokenizer: Tokenizer
    _special_tokens: dict[str, int]

    def _set(
        self, name: str, tokenizer: Tokenizer, special: dict[str, int], n_vocab: int | None
    ) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._special_tokens = special
        self.max_token_value = max(tokenizer.get_vocab().values())
        size = tokenizer.get_vocab_size(with_added_tokens=False) + len(special)
        if n_vocab and not size == n_vocab == self.max_token_value + 1:
            found = f"{size} tokens with ids up to {self.max_token_value}"
            raise VocabularyError("explicit_n_vocab", found, f"{n_vocab} tokens, ids without gaps")

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer behind, with all that it can do."""
        return self._tokenizer

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Turn tokens into bytes; raises `UnknownNameError`, a `KeyError`, for what is no token."""
        try:
            return decode_bytes(self._tokenizer._core, tokens)
        except (ArgumentError, OverflowError):
            # Looked up one by one, the token at fault raises what is documented.
            return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Turn tokens into text; `errors` is what `bytes.decode` does with what is not UTF-8."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token; raises `UnknownNameError`, a `KeyError`, for what is none."""
        found = token_bytes(self._tokenizer._core, token) if 0 <= token < 2**32 else None
        if found is None:
            raise UnknownNameError("token", str(token), f"a token of {self.name}")
        return found

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Turn tokens into text, with the character where each token begins.

        A token that begins inside a character has the place of that character. Raises
        `UnicodeDecodeError` for tokens that are not UTF-8 together.
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets, chars = [], 0
        for part in parts:
            begins_inside = bool(part) and 0x80 <= part[0] < 0xC0
            offsets.append(max(0, chars - begins_inside))
            chars += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Turn lists of tokens into texts; `num_threads` is taken for the sake of callers."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Turn lists of tokens into bytes; `num_threads` is taken for the sake of callers."""
        return [self.decode_bytes(tokens) for tokens in batch]

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the token of a text or of bytes, special tokens included.

        Raises `UnknownNameError`, a `KeyError`, for what is no token.
        """
        whole = text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)
        if whole not in self._id_of_bytes:
            raise UnknownNameError("text_or_bytes", repr(whole), f"a token of {self.name}")
        return self._id_of_bytes[whole]

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encode without any splitting; the bytes need not be UTF-8."""
        whole = text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)
        return encode_word_of_bytes(self._tokenizer._core, whole)

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens that are not special, in their order as bytes."""
        return list(self._sorted_bytes)

    @property
    def eot_token(self) -> int:
        """The token that ends a text."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Say whether a token is special."""
        return token in self._special_tokens.values()

    @property
    def n_vocab(self) -> int:
        """The largest token and one."""
        return self.max_token_value + 1

    @cached_property
    def _id_of_bytes(self) -> dict[bytes, int]:
        special = {token.encode(): id for token, id in self._special_tokens.items()}
        return special | {whole: id for id, whole in vocab_bytes(self._tokenizer._core)}

    @cached_property
    def _sorted_bytes(self) -> list[bytes]:
        return sorted(whole for _, whole in vocab_bytes(self._tokenizer._core))
