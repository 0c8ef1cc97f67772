"""What other algorithms make of a word: a model's entries applied in another order, or with other ties."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from piecework.spec import BPE, Model, SentencePiece, Unigram, WordPiece

Segmenter: TypeAlias = Callable[[str], list[str]]

MAX_CHARS = 48
"""Longer words are not tried: the algorithms are written to be short."""
_WORST = -1e9


def segmenters(model: Model) -> Iterator[tuple[str, Segmenter, Segmenter]]:
    """Yield a name, a segmenter with one error, and the same segmenter without it.

    >>> from piecework.spec import WordPiece
    >>> model = WordPiece({"[UNK]": 0, "a": 1, "ab": 2, "##b": 3, "##bc": 4, "##c": 5})
    >>> [(name, wrong("abc"), right("abc")) for name, wrong, right in segmenters(model)]
    [('longest match from the right', ['a', '##bc'], ['ab', '##c'])]
    """
    if isinstance(model, WordPiece):
        prefix, vocab = model.continuing_subword_prefix, model.vocab
        right = _longest(vocab, prefix)
        yield "longest match from the right", _longest_from_right(vocab, prefix), right
    elif isinstance(model, BPE):
        ranks = {pair: rank for rank, pair in enumerate(model.merges)}
        by_rank = _merging(ranks, lambda rank, at: (rank, at))
        yield "longest match for merges", _longest(model.vocab, ""), by_rank
        for name, key in _ORDERS:
            yield name, _merging(ranks, key), by_rank
    elif isinstance(model, Unigram) or (
        isinstance(model, SentencePiece) and model.kind == "unigram"
    ):
        scores = _scores(model)
        unknown = min(scores.values(), default=0.0) - 10
        best = _viterbi(scores, float, later_wins=False)
        yield "longest match for scores", _longest(scores, ""), best
        yield "ties for the later piece", _viterbi(scores, float, later_wins=True), best
        yield "sums in 32 bits", _viterbi(scores, _to_32_bits, later_wins=False), best
        in_32_bits = _viterbi(scores, _to_32_bits, later_wins=True)
        yield "sums in 32 bits, ties for the later piece", in_32_bits, best
        narrow = {text: _to_32_bits(score) for text, score in scores.items()}
        yield "scores in 32 bits", _viterbi(narrow, float, later_wins=False), best
        for name, rounded in (("", float), (", in 32 bits", _to_32_bits)):
            of_file = _viterbi(scores, rounded, later_wins=False, unknown=0.0)
            lowest = _viterbi(scores, rounded, later_wins=False, unknown=unknown)
            yield f"unknown characters of score 0{name}", of_file, lowest


def _scores(model: Unigram | SentencePiece) -> dict[str, float]:
    if isinstance(model, Unigram):
        return dict(model.pieces)
    return {one.text: one.score for one in model.pieces if one.type == "normal"}


# ---- longest match


def _longest(vocab: Mapping[str, object], prefix: str) -> Segmenter:
    def segment(word: str) -> list[str]:
        tokens: list[str] = []
        start = 0
        while start < len(word):
            lead = prefix if start else ""
            ends = range(len(word), start + 1, -1)
            end = next((end for end in ends if lead + word[start:end] in vocab), start + 1)
            tokens.append(lead + word[start:end])
            start = end
        return tokens

    return segment


def _longest_from_right(vocab: Mapping[str, object], prefix: str) -> Segmenter:
    def segment(word: str) -> list[str]:
        tokens: list[str] = []
        end = len(word)
        while end:
            starts = range(end - 1)
            found = ((prefix if start else "") + word[start:end] in vocab for start in starts)
            start = next((at for at, is_entry in enumerate(found) if is_entry), end - 1)
            tokens.append((prefix if start else "") + word[start:end])
            end = start
        return tokens[::-1]

    return segment


# ---- merges

_Key: TypeAlias = Callable[[int, int], tuple[int, int]]
_ORDERS: tuple[tuple[str, _Key], ...] = (
    ("equal merges from the right", lambda rank, at: (rank, -at)),
    ("merges from the left, whatever their rank", lambda rank, at: (at, rank)),
    ("the last merge first", lambda rank, at: (-rank, at)),
)


def _merging(ranks: Mapping[tuple[str, str], int], key: _Key) -> Segmenter:
    def segment(word: str) -> list[str]:
        tokens = list(word)
        while True:
            pairs = [
                (key(ranks[pair], at), at)
                for at, pair in enumerate(pairwise(tokens))
                if pair in ranks
            ]
            if not pairs:
                return tokens
            at = min(pairs)[1]
            tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]

    return segment


# ---- scores


def _viterbi(
    scores: Mapping[str, float],
    rounded: Callable[[float], float],
    *,
    later_wins: bool,
    unknown: float = -100.0,
) -> Segmenter:
    longest = max(map(len, scores), default=1)

    def segment(word: str) -> list[str]:
        best = [(0.0, 0)] + [(_WORST, 0)] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - longest), end):
                score = scores.get(word[start:end], unknown if end - start == 1 else _WORST)
                total = rounded(best[start][0] + score)
                if total > best[end][0] or (later_wins and total == best[end][0]):
                    best[end] = total, start
        cuts = [len(word)]
        while cuts[-1]:
            cuts.append(best[cuts[-1]][1])
        return [word[start:end] for end, start in pairwise(cuts)][::-1]

    return segment


def _to_32_bits(value: float) -> float:
    narrow: float = struct.unpack("f", struct.pack("f", value))[0]
    return narrow
