"""How SentencePiece's trainer cuts sentences into words, what it lets a piece look like, and how it joins.

Source: Kudo and Richardson 2018; `SplitIntoWords` and `IsValidSentencePiece` of sentencepiece 0.2.3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from piecework.reference.scripts import script_of
from piecework.reference.sentencepiece import MARK

NUMBERS = frozenset("0123456789０１２３４５６７８９")
NEVER = frozenset("\0\t ▅")


@dataclass(frozen=True)
class Shape:
    """The settings that say what a piece may look like, as in `SentencePieceTrainer`."""

    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    treat_whitespace_as_suffix: bool = False


def words(sentence: str, shape: Shape) -> list[str]:
    """Cut a normalized sentence before each space, or after it; runs of spaces stay together if they may.

    >>> words("▁in▁▁the", Shape()), words("in▁▁the▁", Shape(treat_whitespace_as_suffix=True))
    (['▁in', '▁', '▁the'], ['in▁', '▁', 'the▁'])
    """
    if not shape.split_by_whitespace:
        return [sentence] if sentence else []
    spaces = f"{MARK}+" if shape.allow_whitespace_only_pieces else MARK
    if shape.treat_whitespace_as_suffix:
        return re.findall(f"[^{MARK}]*{spaces}|[^{MARK}]+", sentence)
    return re.findall(f"{spaces}[^{MARK}]*|[^{MARK}]+", sentence)


def allows(piece: str, shape: Shape) -> bool:
    """Tell whether a text may be a piece.

    >>> [allows(text, Shape()) for text in ("▁in", "in▁", "F1", "日本の")]
    [True, False, False, True]
    """
    return (
        0 < len(piece) <= shape.max_sentencepiece_length
        and NEVER.isdisjoint(piece)
        and allows_spaces(piece, shape)
        and not (shape.split_digits and len(piece) > 1 and NUMBERS.intersection(piece))
        and (not shape.split_by_unicode_script or is_of_one_script(piece, shape))
    )


def allows_spaces(piece: str, shape: Shape) -> bool:
    """Tell whether spaces stand where they may: at their end of a word, or between words."""
    if shape.allow_whitespace_only_pieces and set(piece) == {MARK}:
        return True
    from_its_end = piece[::-1] if shape.treat_whitespace_as_suffix else piece
    if shape.split_by_whitespace:
        return MARK not in from_its_end[1:]
    return len(piece) == 1 or not from_its_end.endswith(MARK)


def is_of_one_script(piece: str, shape: Shape) -> bool:
    """Tell whether each character goes with the one before; None stands for any script."""
    before = None
    for c in piece.replace(MARK, ""):
        any_script = c in NUMBERS and not shape.split_by_number
        script = None if any_script else script_of(c) or "COMMON"
        if script == "INHERITED":
            script = before
        if script is not None and before is not None and script != before:
            return False
        before = script
    return True


def bpe(counts: Mapping[str, int], size: int, shape: Shape) -> list[str]:
    """Join the most frequent pair that makes a new piece, of equals the shortest, then the first in order.

    >>> bpe({"▁hug": 10, "▁pug": 5, "▁hugs": 5}, 3, Shape())
    ['ug', '▁h', '▁hug']

    Counts are of words, or of whole sentences; characters are no pieces here. Overlapping pairs count.
    """
    segmented = {word: list(word) for word in counts}
    pieces: list[str] = []
    while len(pieces) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in segmented.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        new = [
            pair for pair in pairs if allows("".join(pair), shape) and "".join(pair) not in pieces
        ]
        if not new:
            break
        # Of two pairs that make the same piece the one with the shorter left part.
        best = min(new, key=lambda pair: (-pairs[pair], len("".join(pair)), "".join(pair), pair))
        pieces.append("".join(best))
        segmented = {word: joined(parts, best) for word, parts in segmented.items()}
    return pieces


def joined(parts: list[str], pair: tuple[str, str]) -> list[str]:
    """Join a pair wherever it stands, from left to right."""
    out: list[str] = []
    for part in parts:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out
