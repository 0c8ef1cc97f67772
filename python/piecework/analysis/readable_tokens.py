"""Decode byte-level tokens to readable text."""

from __future__ import annotations

from piecework.spec import ByteLevelDecoder, SequenceDecoder, TokenizerSpec
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER


def is_byte_level(spec: TokenizerSpec) -> bool:
    """Return whether tokens are written in the byte-level alphabet of GPT-2."""
    decoder = spec.decoder
    parts = decoder.decoders if isinstance(decoder, SequenceDecoder) else (decoder,)
    return any(isinstance(part, ByteLevelDecoder) for part in parts)


def text_of_bytes(token: str) -> str:
    """Return the text of a byte-level token, with invalid UTF-8 written as `\\xe6`.

    >>> text_of_bytes("Ġcaf")
    ' caf'
    >>> text_of_bytes("æĹ")
    '\\\\xe6\\\\x97'

    A token with a character outside the byte-level alphabet is returned unchanged.

    Source: Radford et al. 2019 (GPT-2), reference code.
    """
    data = bytes_of(token)
    return token if data is None else data.decode(errors="backslashreplace")


def bytes_of(token: str) -> bytes | None:
    """Return the bytes of a byte-level token, None if a character is outside the byte-level alphabet.

    >>> bytes_of("Ġcaf")
    b' caf'
    """
    if not all(character in BYTE_OF_CHARACTER for character in token):
        return None
    return bytes(BYTE_OF_CHARACTER[character] for character in token)


_WHITESPACE_SYMBOLS = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})


def show_whitespace(text: str) -> str:
    """Replace whitespace by symbols, and escape control characters.

    >>> show_whitespace("a b\\n")
    'a␣b⏎'
    """
    return escape_controls(text.translate(_WHITESPACE_SYMBOLS))


def escape_controls(text: str) -> str:
    r"""Return the text with control and other unprintable characters as escape sequences.

    >>> escape_controls("hug\x1b[31m")
    'hug\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
