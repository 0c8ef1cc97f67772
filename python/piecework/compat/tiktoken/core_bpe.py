"""`CoreBPE`: the methods of tiktoken's compiled core, which `Encoding._core_bpe` holds."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from piecework.compat.tiktoken.encoding import Encoding


class CoreBPE:
    """An encoding with the methods of tiktoken's compiled core; none refuses special tokens in text."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Encode a text and the special tokens in it that are allowed."""
        return self._encoding.encode(text, allowed_special=allowed_special, disallowed_special=())

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text; special tokens in it are plain text."""
        return self._encoding.encode_ordinary(text)

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> bytes:
        """Encode a text to the bytes of a uint32 array; see `encode`."""
        return np.array(self.encode(text, allowed_special), np.uint32).tobytes()

    def encode_with_unstable(
        self, text: str, allowed_special: AbstractSet[str]
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text to its stable tokens and the completions that may follow them."""
        return self._encoding.encode_with_unstable(
            text, allowed_special=allowed_special, disallowed_special=()
        )

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of one token; raises `UnknownNameError`, a `KeyError`, if it is not a token."""
        return self._encoding.encode_single_token(piece)

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Encode bytes as one pre-token."""
        return self._encoding._encode_single_piece(piece)

    def _encode_bytes(self, bytes: bytes) -> list[int]:
        """Encode bytes that may end inside a character."""
        return self._encoding._encode_bytes(bytes)

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """Decode tokens to bytes."""
        return self._encoding.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one token."""
        return self._encoding.decode_single_token_bytes(token)

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of every token that is not special, sorted by bytes."""
        return self._encoding.token_byte_values()
