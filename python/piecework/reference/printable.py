"""Bytes as printable characters, the alphabet of byte-level vocabularies.

Printable bytes of Latin-1 stand for themselves; the 68 others have the characters from U+0100 on, in
order. Source: Radford et al. 2019 (GPT-2), reference code.
"""

from __future__ import annotations

from itertools import count

SELVES = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_others = count(0x100)

PRINTABLE = [chr(byte if byte in SELVES else next(_others)) for byte in range(256)]
BYTES = {character: byte for byte, character in enumerate(PRINTABLE)}
