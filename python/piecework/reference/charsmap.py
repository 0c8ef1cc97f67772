"""SentencePiece's compiled normalization rules (charsmap), as `tokenizers` applies them.

A charsmap is a little-endian 32-bit length, a double-array trie of that many bytes (Aoe 1989, in the
layout of darts-clone), then the replacements, each ending with NUL. A grapheme cluster of fewer than six
bytes is looked up whole if a rule matches it, any other cluster character by character. The shortest
rule that is a prefix of the lookup applies, and its replacement replaces the whole lookup.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from piecework.reference.aligned import Aligned, Change, as_text, rewrite
from piecework.reference.graphemes import clusters

LONG_CLUSTER = 6


class Charsmap(NamedTuple):
    """The units of the trie, and all replacements."""

    units: tuple[int, ...]
    replacements: bytes


def apply_charsmap(text: Aligned, blob: bytes) -> Aligned:
    """Apply the rules of a charsmap.

    >>> no_rules = (1024).to_bytes(4, "little") + bytes(1024)
    >>> apply_charsmap([("a", (0, 1))], no_rules)
    [('a', (0, 1))]
    """
    rules = parse(blob)
    changes: list[Change] = []
    for cluster in clusters(as_text(text)):
        for part in parts_to_look_up(cluster, rules):
            new = shortest_match(rules, part.encode())
            add_change(changes, part, part if new is None else new)
    return rewrite(text, changes)


def parse(blob: bytes) -> Charsmap:
    """Split a charsmap into its trie and its replacements.

    >>> parse((4).to_bytes(4, "little") + bytes(4) + b"x\\0")
    Charsmap(units=(0,), replacements=b'x\\x00')
    """
    size = int.from_bytes(blob[:4], "little")
    return Charsmap(struct.unpack(f"<{size // 4}I", blob[4 : 4 + size]), blob[4 + size :])


def parts_to_look_up(cluster: str, rules: Charsmap) -> list[str]:
    """Return the cluster as one part if it is short and has a rule, else its characters.

    >>> parts_to_look_up("e\\u0301", Charsmap((0,) * 256, b""))
    ['e', '\u0301']
    """
    encoded = cluster.encode()
    if len(encoded) < LONG_CLUSTER and shortest_match(rules, encoded) is not None:
        return [cluster]
    return list(cluster)


def add_change(changes: list[Change], old: str, new: str) -> None:
    """Add the changes that replace `old` by `new`, character by character.

    >>> changes = []
    >>> add_change(changes, "abc", "x")
    >>> changes
    [('x', 3)]

    Extra characters of `new` are inserted. Extra characters of `old` count as replaced by the last one.
    """
    changes += [(c, 1) for c in new[: len(old)]] + [(c, 0) for c in new[len(old) :]]
    missing = len(old) - len(new)
    if missing > 0:
        last, count = changes.pop() if changes else ("", 0)
        changes.append((last, count + missing))


# ---- the trie


def shortest_match(rules: Charsmap, key: bytes) -> str | None:
    """Return the replacement of the shortest prefix of `key` that has a rule.

    >>> shortest_match(Charsmap((0,) * 256, b""), b"a")

    The child of a node by a byte is at the base of the node XOR the byte, if its label is that byte. The
    value of a node is at its base. NUL ends a key.
    """
    base = child_base(rules.units[0])
    for byte in key.split(b"\0")[0]:
        at = base ^ byte
        unit = rules.units[at]
        if unit & 0x8000_00FF != byte:
            return None
        base = at ^ child_base(unit)
        if unit >> 8 & 1:
            return replacement(rules, rules.units[base] & 0x7FFF_FFFF)
    return None


def child_base(unit: int) -> int:
    """Return the base of the children of a unit: 22 bits, in steps of 256 if bit 9 is set.

    >>> child_base(3 << 10), child_base(3 << 10 | 1 << 9)
    (3, 768)
    """
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def replacement(rules: Charsmap, start: int) -> str:
    """Return the replacement that begins at byte `start`.

    >>> replacement(Charsmap((), b"x\\0yz\\0"), 2)
    'yz'
    """
    return rules.replacements[start : rules.replacements.index(0, start)].decode()
