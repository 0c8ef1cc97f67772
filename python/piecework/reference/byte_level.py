"""Byte-level text: every byte is written as one printable character, so that no text is unknown.

A byte-level vocabulary starts from 256 symbols. Printable bytes of Latin-1 stand for themselves; the
68 others have the characters from U+0100 on, in order, so that a space is `Ġ`. BPE then works on these
characters as on any others. Source: Radford et al. 2019 (GPT-2), reference code.
"""

from __future__ import annotations

from collections.abc import Sequence

from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE

PRINTABLE = CHARACTER_OF_BYTE
BYTES = BYTE_OF_CHARACTER


def to_printable(text: str) -> str:
    """Write the UTF-8 bytes of a text as printable characters.

    >>> to_printable("é the")
    'Ã©Ġthe'
    """
    return "".join(PRINTABLE[byte] for byte in text.encode())


def token_bytes(token: str) -> bytes:
    """Return the bytes of a byte-level token; a token with any other character is UTF-8 text.

    >>> token_bytes("Ã©").decode(), token_bytes("Ã©☃").decode()
    ('é', 'Ã©☃')
    """
    if all(character in BYTES for character in token):
        return bytes(BYTES[character] for character in token)
    return token.encode()


def decode(tokens: Sequence[str], errors: str = "replace") -> str:
    """Turn byte-level tokens into text; `errors` says what invalid UTF-8 becomes.

    >>> decode(["Ã", "©", "Ġthe"]), decode(["Ã"])
    ('é the', '�')
    """
    return b"".join(map(token_bytes, tokens)).decode(errors=errors)
