"""The lattice of all segmentations of a word, with the log probabilities of its pieces.

The probability of a segmentation is the product of its pieces' probabilities (Kudo 2018, section 3.1). The
nodes of the lattice are the positions between characters; its edges are pieces. One pass finds the best
segmentation (Viterbi), the n best, the sum over all (forward-backward), or draws one at random.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

UNKNOWN_PENALTY = 10.0


class Edge(NamedTuple):
    """A piece between two positions; an unknown character has `known=False`."""

    piece: str
    start: int
    end: int
    score: float
    known: bool = True


class Segmentation(NamedTuple):
    """The pieces from left to right, and the sum of their scores."""

    pieces: list[str]
    score: float


@dataclass(frozen=True)
class Lattice:
    """All segmentations of a word that is not empty.

    >>> scores = {piece: math.log(p) for piece, p in [("hug", 0.1), ("s", 0.2), ("ug", 0.3)]}
    >>> scores |= {letter: math.log(0.1) for letter in "hug"}
    >>> for pieces, score in Lattice("hugs", scores).n_best(3):
    ...     print(*pieces, round(math.exp(score), 6))
    hug s 0.02
    h ug s 0.006
    h u g s 0.0002

    An unknown character scores 10 less than the worst piece.
    """

    word: str
    scores: Mapping[str, float]

    def edges(self, start: int) -> Iterator[Edge]:
        """Return the pieces that begin at a position, the longest first.

        >>> [edge.piece for edge in Lattice("ab", {"a": -1.0, "ab": -2.0}).edges(0)]
        ['ab', 'a']
        """
        for end in range(len(self.word), start, -1):
            piece = self.word[start:end]
            if piece in self.scores:
                yield Edge(piece, start, end, self.scores[piece])
            elif end == start + 1:
                yield Edge(piece, start, end, unknown_score(self.scores), known=False)

    # ---- the best

    def best(self) -> Segmentation:
        """Return the segmentation with the highest score; among equal ones, with the longer last piece.

        >>> Lattice("ab", {"a": -1.0, "b": -1.0, "ab": -2.0}).best().pieces
        ['ab']
        """
        return self.n_best(1)[0]

    def n_best(self, n: int) -> list[Segmentation]:
        """Return the best `n` segmentations, the best first.

        >>> [found.pieces for found in Lattice("ab", {"a": -1.0, "b": -1.5, "ab": -2.0}).n_best(2)]
        [['ab'], ['a', 'b']]
        """
        best: list[list[Segmentation]] = [[] for _ in range(len(self.word) + 1)]
        best[0] = [Segmentation([], 0.0)]
        for start in range(len(self.word)):
            for edge in self.edges(start):
                best[edge.end] += [
                    Segmentation([*pieces, edge.piece], score + edge.score)
                    for pieces, score in best[start]
                ]
            best[start + 1] = sorted(best[start + 1], key=lambda found: -found.score)[:n]
        return best[-1]

    # ---- all together

    def forward(self, alpha: float = 1.0) -> list[float]:
        """Return for each position the sum of the probabilities of all segmentations before it.

        >>> Lattice("aa", {"a": math.log(0.5), "aa": math.log(0.25)}).forward()
        [1.0, 0.5, 0.5]
        """
        sums = [1.0] + [0.0] * len(self.word)
        for start in range(len(self.word)):
            for edge in self.edges(start):
                sums[edge.end] += sums[start] * math.exp(alpha * edge.score)
        return sums

    def probability(self) -> float:
        """Return the sum of the probabilities of all segmentations.

        >>> Lattice("aa", {"a": math.log(0.5), "aa": math.log(0.25)}).probability()
        0.5
        """
        return self.forward()[-1]

    def expected(self, weight: float = 1.0) -> Iterator[tuple[str, float]]:
        """Return the expected count of each piece at each of its positions, times `weight`.

        >>> list(Lattice("a", {"a": -1.0}).expected(3.0))
        [('a', 3.0)]
        """
        forward = self.forward()
        backward = [0.0] * len(self.word) + [1.0]
        for start in reversed(range(len(self.word))):
            share = forward[start] / forward[-1] * weight
            for edge in self.edges(start):
                ahead = math.exp(edge.score) * backward[edge.end]
                backward[start] += ahead
                if edge.known:
                    yield edge.piece, share * ahead

    def entropy(self) -> float:
        """Return the entropy of the segmentation in nats.

        >>> Lattice("aa", {"a": math.log(0.5), "aa": math.log(0.25)}).entropy() == math.log(2)
        True
        """
        forward, entropies = self.forward(), [0.0] * (len(self.word) + 1)
        for end in range(1, len(self.word) + 1):
            for edge in self.edges_to(end):
                share = forward[edge.start] * math.exp(edge.score) / forward[end]
                entropies[end] += (
                    share * (entropies[edge.start] - math.log(share)) if share else 0.0
                )
        return entropies[-1]

    def sample(self, random: random.Random, alpha: float = 1.0) -> list[str]:
        """Draw a segmentation with a probability proportional to its own to the power of `alpha`.

        >>> Lattice("ab", {"a": -1.0, "b": -1.0, "ab": -2.0}).sample(random.Random(0))
        ['a', 'b']

        Forward filtering, backward sampling: the last piece is drawn first (Kudo 2018, section 3.3,
        over all segmentations).
        """
        forward, end = self.forward(alpha), len(self.word)
        pieces: list[str] = []
        while end:
            edges = self.edges_to(end)
            weights = [forward[edge.start] * math.exp(alpha * edge.score) for edge in edges]
            edge = random.choices(edges, weights)[0]
            pieces.append(edge.piece)
            end = edge.start
        return pieces[::-1]

    def edges_to(self, end: int) -> Sequence[Edge]:
        """Return the pieces that end at a position, the longest first.

        >>> [edge.piece for edge in Lattice("ab", {"b": -1.0, "ab": -2.0}).edges_to(2)]
        ['ab', 'b']
        """
        return [edge for start in range(end) for edge in self.edges(start) if edge.end == end]


def unknown_score(scores: Mapping[str, float]) -> float:
    """Return the score of an unknown character.

    >>> unknown_score({"a": -1.0, "b": -2.0})
    -12.0
    """
    return min(scores.values(), default=0.0) - UNKNOWN_PENALTY
