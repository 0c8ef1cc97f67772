"""Compiled charsmaps from rules: the double-array trie that SentencePiece models carry."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

BLOCK = 256
HAS_VALUE, IS_VALUE = 1 << 8, 1 << 31


def charsmap(rules: Mapping[str, str]) -> bytes:
    """Write the blob: the size of the trie, the trie, and the replacements, each ending with NUL.

    Every node has a block of its own, so that its child by a byte stands at the block XOR the byte and
    its value at the first unit of the block.
    """
    replacements = b""
    root: dict[Any, Any] = {}
    for old, new in rules.items():
        node = root
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node["value"] = len(replacements)
        replacements += new.encode() + b"\0"
    units = [0] * BLOCK
    units[0] = _written(root, units) << 10
    trie = struct.pack(f"<{len(units)}I", *units)
    return len(trie).to_bytes(4, "little") + trie + (replacements or b"\0")


def _written(node: dict[Any, Any], units: list[int]) -> int:
    """Append the block of a node, and those below it; return where it stands."""
    base = len(units)
    units += [0] * BLOCK
    if "value" in node:
        units[base] = IS_VALUE | node["value"]
    for byte, child in node.items():
        if byte != "value":
            at = base ^ byte
            below = _written(child, units)
            value = HAS_VALUE if "value" in child else 0
            units[at] = (at ^ below) << 10 | value | byte
    return base
