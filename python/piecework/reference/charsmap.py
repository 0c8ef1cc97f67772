"""SentencePiece's compiled rules, as `tokenizers` applies them.

The blob is a little-endian 32-bit length, a double-array trie of so many bytes (Aoe 1989, as
darts-clone lays it out), then the replacements, each ending with NUL. A grapheme cluster of fewer than
six bytes is looked up whole, any other one character by character. The shortest rule that is a
beginning of what is looked up applies, and replaces the whole of it.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from piecework.reference.aligned import Aligned, Change, as_text, rewrite
from piecework.reference.graphemes import clusters

LONG_CLUSTER = 6


class Charsmap(NamedTuple):
    """The units of the trie, and the replacements one after the other."""

    units: tuple[int, ...]
    replacements: bytes


def apply_charsmap(text: Aligned, blob: bytes) -> Aligned:
    """Replace by the rules of a blob."""
    rules = parse(blob)
    changes: list[Change] = []
    for cluster in clusters(as_text(text)):
        for part in parts_to_look_up(cluster, rules):
            new = shortest_match(rules, part.encode())
            add_change(changes, part, part if new is None else new)
    return rewrite(text, changes)


def parse(blob: bytes) -> Charsmap:
    """Take a blob apart."""
    size = int.from_bytes(blob[:4], "little")
    return Charsmap(struct.unpack(f"<{size // 4}I", blob[4 : 4 + size]), blob[4 + size :])


def parts_to_look_up(cluster: str, rules: Charsmap) -> list[str]:
    """Take a short cluster as a whole if there is a rule for it."""
    encoded = cluster.encode()
    if len(encoded) < LONG_CLUSTER and shortest_match(rules, encoded) is not None:
        return [cluster]
    return list(cluster)


def add_change(changes: list[Change], old: str, new: str) -> None:
    """Replace one by one; what `new` has more is inserted, what it lacks goes with the last character."""
    changes += [(c, 1) for c in new[: len(old)]] + [(c, 0) for c in new[len(old) :]]
    missing = len(old) - len(new)
    if missing > 0:
        last, count = changes.pop() if changes else ("", 0)
        changes.append((last, count + missing))


# ---- the trie


def shortest_match(rules: Charsmap, key: bytes) -> str | None:
    """Return the replacement of the shortest beginning of `key` that has one.

    The children of a node stand at its base XOR their byte, if that is their label; its value stands
    at the base itself. NUL ends a key.
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
    """Return where the children of a unit begin: 22 bits, in steps of 256 if bit 9 is set."""
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def replacement(rules: Charsmap, start: int) -> str:
    """Return the replacement that stands at byte `start`."""
    return rules.replacements[start : rules.replacements.index(0, start)].decode()
