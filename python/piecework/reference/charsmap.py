"""SentencePiece's compiled normalization rules (charsmap), as `tokenizers` applies them to grapheme clusters.

A charsmap is a little-endian 32-bit length, a double-array trie of that many bytes (Aoe 1989, in the
layout of darts-clone), then the replacements, each ending with NUL. A grapheme cluster of fewer than six
bytes is looked up whole if a rule matches it, any other cluster character by character. The shortest
rule that is a prefix of the lookup applies, and its replacement replaces the whole lookup.

Clusters (Unicode Annex 29) are as far here as charsmaps depend on them. Three rules join longer clusters
only, so they are missing: flags of two regional indicators, Indic conjuncts and joined emoji. (Where one
of these precedes a mark of two bytes, only the compiled core is right.) Python has no grapheme
properties, so they come from general categories with lists of exceptions.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from piecework.reference.aligned import Aligned, Change, as_text, rewrite

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
    """
    return next((new for _, new in matches(rules, key)), None)


def matches(rules: Charsmap, key: bytes) -> Iterator[tuple[int, str]]:
    """Yield the length of each prefix of `key` that has a rule, and its replacement; the shortest first.

    >>> list(matches(Charsmap((0,) * 256, b""), b"a"))
    []

    The child of a node by a byte is at the base of the node XOR the byte, if its label is that byte. The
    value of a node is at its base. NUL ends a key.
    """
    base = child_base(rules.units[0])
    for length, byte in enumerate(key.split(b"\0")[0], start=1):
        at = base ^ byte
        unit = rules.units[at]
        if unit & 0x8000_00FF != byte:
            return
        base = at ^ child_base(unit)
        if unit >> 8 & 1:
            yield length, replacement(rules, rules.units[base] & 0x7FFF_FFFF)


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


# ---- grapheme clusters

PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e")
# Spacing marks that do not extend (Myanmar, Tai Tham, Tai Viet); letters and formats that extend.
ALONE = frozenset(
    "\u102b\u102c\u1038\u1062\u1063\u1064\u1067\u1068\u1069\u106a\u106b\u106c\u106d\u1083\u1087\u1088"
    "\u1089\u108a\u108b\u108c\u108f\u109a\u109b\u109c\u1a61\u1a63\u1a64\uaa7b\uaa7d\U00011720\U00011721"
)
EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f\u0e33\u0eb3")
LEADING, VOWELS, TRAILING = (
    ((0x1100, 0x115F), (0xA960, 0xA97C)),
    ((0x1160, 0x11A7), (0xD7B0, 0xD7C6)),
    ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB)),
)


def clusters(text: str) -> Iterator[str]:
    r"""Split a text into clusters.

    >>> [len(cluster) for cluster in clusters("e\u0301x\r\n")]
    [2, 1, 2]
    """
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not joins(text[at - 1], text[at]):
            yield text[start:at]
            start = at


def joins(before: str, after: str) -> bool:
    r"""Return whether two adjacent characters belong to one cluster.

    >>> joins("e", "\u0301"), joins("e", "x")
    (True, False)
    """
    if before + after == "\r\n":
        return True
    if is_control(before) or is_control(after):
        return False
    return extends(after) or before in PREPENDED or joins_syllable(before, after)


def is_control(c: str) -> bool:
    r"""Return whether a character is always a cluster of its own.

    >>> is_control("\n"), is_control("a")
    (True, False)
    """
    if c in EXTENDING or c in PREPENDED or extends(c):
        return False
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")


def extends(c: str) -> bool:
    r"""Return whether a character extends the one before it: marks, joiners, skin tones, tags.

    >>> extends("\u0301"), extends("a")
    (True, False)
    """
    if c in EXTENDING or "\U0001f3fb" <= c <= "\U0001f3ff" or "\U000e0020" <= c <= "\U000e007f":
        return True
    return unicodedata.category(c).startswith("M") and c not in ALONE


def joins_syllable(before: str, after: str) -> bool:
    r"""Return whether two characters belong to one Hangul syllable.

    >>> joins_syllable("가", "\u11a8"), joins_syllable("각", "가")
    (True, False)
    """
    first, second = jamo(before), jamo(after)
    return (first[-1:], second[:1]) in {("L", "L"), ("L", "V"), ("V", "V"), ("V", "T"), ("T", "T")}


def jamo(c: str) -> str:
    """Return the parts of a Hangul syllable that a character contains; empty for other characters.

    >>> jamo("가"), jamo("각"), jamo("a")
    ('LV', 'LVT', '')
    """
    if "\uac00" <= c <= "\ud7a3":
        return "LV" if (ord(c) - 0xAC00) % 28 == 0 else "LVT"
    for kind, blocks in (("L", LEADING), ("V", VOWELS), ("T", TRAILING)):
        if any(low <= ord(c) <= high for low, high in blocks):
            return kind
    return ""
