"""Truncation and padding: windows of at most `max_length` tokens, rows of equal length.

Truncation happens before the post-processor and leaves room for its special tokens. Padding happens
last. Both follow `tokenizers` 0.23.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from piecework.errors import ArgumentError
from piecework.reference.encoding import Token, Windows
from piecework.spec import Padding, Truncation


def truncate(
    sequences: Sequence[list[Token]], spec: Truncation | None, inserted: int = 0
) -> list[Windows]:
    """Cut one sequence or two into windows; `inserted` is the number of special tokens to come.

    >>> tokens = [Token(letter) for letter in "abcde"]
    >>> [windows] = truncate([tokens], Truncation(max_length=3, stride=1))
    >>> ["".join(token.token for token in window) for window in windows]
    ['abc', 'cde']

    Raises `ArgumentError` when the strategy would leave a sequence without tokens, and when there are
    more special tokens than `max_length`.
    """
    if spec is None:
        return [[sequence] for sequence in sequences]
    room = spec.max_length - inserted
    if room < 0:
        problem = f"must be at least {inserted}, the special tokens alone, not {spec.max_length}"
        raise ArgumentError("truncation.max_length", problem)
    kept = kept_lengths([len(sequence) for sequence in sequences], room, spec.strategy)
    return [
        [sequence[start:end] for start, end in windows(len(sequence), length, spec)]
        for sequence, length in zip(sequences, kept, strict=True)
    ]


def kept_lengths(lengths: list[int], room: int, strategy: str) -> list[int]:
    """Return how many tokens each sequence keeps, `room` tokens in all.

    >>> kept_lengths([3, 9], 8, "longest_first"), kept_lengths([9, 3], 8, "only_first")
    ([3, 5], [5, 3])
    """
    excess = sum(lengths) - room
    if excess <= 0:
        return lengths
    if room == 0:
        return [0 for _ in lengths]
    if strategy == "longest_first":
        return [room] if len(lengths) == 1 else balanced(lengths, room)
    cut = 0 if strategy == "only_first" else 1
    if cut >= len(lengths) or lengths[cut] <= excess:
        problem = f"{strategy} cannot truncate a sequence so short; use longest_first"
        raise ArgumentError("truncation.strategy", problem)
    return [length - excess if at == cut else length for at, length in enumerate(lengths)]


def balanced(lengths: list[int], room: int) -> list[int]:
    """Shorten the longer of two sequences first, then both equally.

    The sequence that was longer keeps the odd token; the second does if both were equal.

    >>> balanced([9, 8], 7), balanced([8, 8], 7)
    ([4, 3], [3, 4])
    """
    short = min(*lengths, room // 2)
    long = room - short
    return [long, short] if lengths[0] > lengths[1] else [short, long]


def windows(length: int, size: int, spec: Truncation) -> list[tuple[int, int]]:
    """Return the spans of the windows over `length` tokens; neighbours share `stride` tokens.

    >>> windows(7, 3, Truncation(stride=1))
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(7, 3, Truncation(stride=1, side="left"))
    [(4, 7), (2, 5), (0, 3)]
    """
    if length <= size:
        return [(0, length)]
    if size == 0:
        return [(0, 0), (0, length)]
    spans = []
    for start in count(0, size - min(spec.stride, size - 1)):
        end = min(start + size, length)
        spans.append((start, end) if spec.side == "right" else (length - end, length - start))
        if end == length:
            break
    return spans


# ---- padding


def padded_length(longest: int, spec: Padding) -> int:
    """Return the length to pad to, given the longest row of the batch.

    >>> padded_length(5, Padding(pad_to_multiple_of=8)), padded_length(5, Padding(length=3))
    (8, 3)
    """
    length = longest if spec.length is None else spec.length
    multiple = spec.pad_to_multiple_of or 1
    return -(-length // multiple) * multiple


def pad(windows: Windows, spec: Padding, length: int) -> Windows:
    """Pad every window to `length` tokens; longer windows stay as they are.

    >>> [[token.token for token in row] for row in pad([[Token("a")]], Padding(), 3)]
    [['a', '[PAD]', '[PAD]']]
    """
    filling = Token(spec.pad_token, type_id=spec.pad_type_id, is_padding=True)
    padded = []
    for window in windows:
        fill = [filling] * (length - len(window))
        padded.append(window + fill if spec.side == "right" else fill + window)
    return padded
