"""SentencePiece's trainer: how it splits sentences, which texts may be pieces, how BPE merges them.

Source: Kudo and Richardson 2018; `SplitIntoWords` and `IsValidSentencePiece` of `sentencepiece` 0.2.3.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from piecework.reference.bpe import merge
from piecework.reference.patterns import script_of
from piecework.reference.sentencepiece_stages import METASPACE
from piecework.reference.unigram_training import heaviest, substring_counts
from piecework.reference.words import count_parts

NUMBERS = frozenset("0123456789０１２３４５６７８９")
NEVER = frozenset("\0\t ▅")


@dataclass(frozen=True)
class Shape:
    """The settings that restrict the text of a piece, with the names of `SentencePieceTrainer`."""

    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    treat_whitespace_as_suffix: bool = False


def words(sentence: str, shape: Shape) -> list[str]:
    """Split a normalized sentence before each ▁, or after it with `treat_whitespace_as_suffix`.

    >>> words("▁in▁▁the", Shape()), words("in▁▁the▁", Shape(treat_whitespace_as_suffix=True))
    (['▁in', '▁', '▁the'], ['in▁', '▁', 'the▁'])

    With `allow_whitespace_only_pieces` a run of ▁ is not split.
    """
    if not shape.split_by_whitespace:
        return [sentence] if sentence else []
    spaces = f"{METASPACE}+" if shape.allow_whitespace_only_pieces else METASPACE
    if shape.treat_whitespace_as_suffix:
        return re.findall(f"[^{METASPACE}]*{spaces}|[^{METASPACE}]+", sentence)
    return re.findall(f"{spaces}[^{METASPACE}]*|[^{METASPACE}]+", sentence)


def allows(piece: str, shape: Shape) -> bool:
    """Return whether a text may be a piece.

    >>> [allows(text, Shape()) for text in ("▁in", "in▁", "F1", "日本の")]
    [True, False, False, True]
    """
    return allows_characters(piece, shape) and allows_spaces(piece, shape)


def allows_characters(piece: str, shape: Shape, *, joins_punctuation: bool = False) -> bool:
    """Return whether a piece may have its length, and its characters other than ▁.

    >>> [allows_characters(text, Shape()) for text in ("in▁", "F1")]
    [True, False]
    """
    return (
        0 < len(piece) <= shape.max_sentencepiece_length
        and NEVER.isdisjoint(piece)
        and not (shape.split_digits and len(piece) > 1 and NUMBERS.intersection(piece))
        and (
            not shape.split_by_unicode_script
            or is_of_one_script(piece, shape, joins_punctuation=joins_punctuation)
        )
    )


def allows_spaces(piece: str, shape: Shape) -> bool:
    """Return whether ▁ occurs only at its end of the piece, or between words that are not split.

    >>> allows_spaces("▁a", Shape()), allows_spaces("a▁b", Shape(split_by_whitespace=False))
    (True, True)
    """
    if shape.allow_whitespace_only_pieces and set(piece) == {METASPACE}:
        return True
    from_its_end = piece[::-1] if shape.treat_whitespace_as_suffix else piece
    if shape.split_by_whitespace:
        return METASPACE not in from_its_end[1:]
    return len(piece) == 1 or not from_its_end.endswith(METASPACE)


def is_of_one_script(piece: str, shape: Shape, *, joins_punctuation: bool = False) -> bool:
    """Return whether all characters of a piece have one script; a script of None fits any.

    >>> is_of_one_script("abc", Shape()), is_of_one_script("abж", Shape())
    (True, False)

    With `joins_punctuation`, characters of the script Common that are not numbers do not count.
    """
    before = None
    for c in piece.replace(METASPACE, ""):
        any_script = c in NUMBERS and not shape.split_by_number
        script = None if any_script else script_of(c) or "COMMON"
        if joins_punctuation and script == "COMMON" and not unicodedata.category(c).startswith("N"):
            continue
        if script == "INHERITED":
            script = before
        if script is not None and before is not None and script != before:
            return False
        before = script
    return True


def unigram_seeds(
    segments: Sequence[tuple[str, int]], reserved: Sequence[str], shape: Shape, size: int
) -> dict[str, float]:
    """Return all characters and the allowed substrings that cover most text, with their initial scores.

    >>> list(unigram_seeds([("▁hug", 2)], [], Shape(), 10))
    ['g', 'h', 'hug', 'u', 'ug', '▁', '▁hug']

    As `unigram_training.seeds`, but of the substrings that always occur together, the longest one that is
    allowed is the seed; none if a longer one than any piece occurs with them.
    """
    longest = shape.max_sentencepiece_length + 1
    counts = substring_counts(segments, longest)
    extended = {
        longer[:-1]: longer for longer in counts if counts[longer] == counts.get(longer[:-1])
    }

    def is_seed(piece: str) -> bool:
        if counts[piece] < 2 or not allows(piece, shape):
            return False
        longer = extended.get(piece)
        while longer is not None:
            if len(longer) == longest or allows(longer, shape):
                return False
            longer = extended.get(longer)
        return True

    weights = {
        piece: counts[piece] * len(piece)
        for piece in counts
        if piece not in reserved and (len(piece) == 1 or is_seed(piece))
    }
    return heaviest(weights, size)


def bpe(counts: Mapping[str, int], size: int, shape: Shape) -> list[str]:
    """Merge the most frequent pair that makes a new piece; among equal counts, the shortest piece.

    >>> bpe({"▁hug": 10, "▁pug": 5, "▁hugs": 5}, 3, Shape())
    ['ug', '▁h', '▁hug']

    Among equal lengths, the piece first in code point order wins. Single characters are not included.
    Overlapping pairs count.
    """
    pieces: list[str] = []
    segmented = [(list(word), count) for word, count in counts.items()]
    append_merged(pieces, segmented, size, lambda piece: allows(piece, shape))
    return pieces


def append_merged(
    pieces: list[str],
    segmented: list[tuple[list[str], int]],
    size: int,
    is_allowed: Callable[[str], bool],
) -> None:
    """Append merged pieces until there are `size`, or no pair makes a new one that is allowed.

    >>> pieces = ["ab"]
    >>> append_merged(pieces, [(["ab", "c"], 2)], 9, lambda piece: True)
    >>> pieces
    ['ab', 'abc']
    """
    while len(pieces) < size:
        pairs = count_parts(segmented, pairwise)
        new = [pair for pair in pairs if is_allowed("".join(pair)) and "".join(pair) not in pieces]
        if not new:
            break
        # If two pairs make the same piece, the one with the shorter left symbol wins.
        best = min(new, key=lambda pair: (-pairs[pair], len("".join(pair)), "".join(pair), pair))
        pieces.append("".join(best))
        segmented = [(merge(parts, best), count) for parts, count in segmented]
