"""The byte-level alphabet of GPT-2: a printable character for each of the 256 bytes.

The 188 printable bytes of Latin-1 map to themselves. The 68 others map, in order, to the characters from
U+0100. Source: Radford et al. 2019 (GPT-2), reference code.
"""

from __future__ import annotations

from itertools import count

_PRINTABLE_BYTES = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_replacements = count(0x100)

CHARACTER_OF_BYTE = tuple(
    chr(byte if byte in _PRINTABLE_BYTES else next(_replacements)) for byte in range(256)
)
"""The character of each byte: `CHARACTER_OF_BYTE[0x20]` is "Ġ"."""

BYTE_OF_CHARACTER = {character: byte for byte, character in enumerate(CHARACTER_OF_BYTE)}
"""The byte of each of the 256 characters."""
