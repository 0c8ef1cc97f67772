"""The lattice of a Unigram model: the pieces that occur in a word, their scores, and the best path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from piecework.reference.lattice import UNKNOWN_PENALTY, Lattice, unknown_score
from piecework.reference.sentencepiece_unigram import best_pieces, lowest_score, piece_scores
from piecework.spec import SentencePiece, Unigram

MAX_CHARS = 500
_MAX_CHARS_RANKED = 100
_RANKED = 3


@dataclass(frozen=True)
class LatticeEdge:
    """A piece between two positions of a word, in characters, with its log probability.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("<unk>", 0.0), ("hug", -2.5), ("s", -1.25)), 0))
    >>> pw.analysis.explain(tok, "hugs").words[0].lattice.edges[0]
    LatticeEdge(piece='hug', start=0, end=3, score=-2.5, is_known=True, is_best=True)

    `is_best` tells whether the best path has the edge. A character that is no piece has `is_known=False`
    and the score of unknown characters.
    """

    piece: str
    start: int
    end: int
    score: float
    is_known: bool
    is_best: bool


@dataclass(frozen=True)
class WordLattice:
    """The pieces that occur in a word, and its best segmentations with the sums of their scores.

    >>> import piecework as pw
    >>> pieces = (("<unk>", 0.0), ("hug", -2.5), ("hu", -2.0), ("gs", -1.0), ("s", -1.25))
    >>> lattice = pw.analysis.explain(pw.Tokenizer(pw.spec.Unigram(pieces, 0)), "hugs").words[0].lattice
    >>> lattice.best, lattice.segmentations[1]
    (('hu', 'gs'), (('hug', 's'), -3.75))

    `edges` are in order of their start, the longest first. `segmentations` are the three best ones; only the
    best for words of more than 100 characters.
    """

    edges: tuple[LatticeEdge, ...]
    best: tuple[str, ...]
    segmentations: tuple[tuple[tuple[str, ...], float], ...]


class ScoredPieces:
    """The scores of a model, or of pieces that are being learned, collected once for all words of a text.

    >>> ScoredPieces(Unigram((("<unk>", 0.0), ("a", -1.5)))).lattice("a").best
    ('a',)
    """

    def __init__(self, model: Unigram | SentencePiece | Mapping[str, float]) -> None:
        self._model = model
        self._scores: Mapping[str, float]
        if isinstance(model, SentencePiece):
            self._scores = piece_scores(model)
            self._unknown = lowest_score(model) - UNKNOWN_PENALTY
        else:
            self._scores = dict(model.pieces) if isinstance(model, Unigram) else model
            self._unknown = unknown_score(self._scores)
        self._longest = max(map(len, self._scores), default=1)

    def lattice(self, word: str) -> WordLattice | None:
        """Return the lattice of a word, None for one of more than 500 characters."""
        if not word or len(word) > MAX_CHARS:
            return None
        spans = self._best_spans(word)
        edges = tuple(self._edges(word, set(spans)))
        best = tuple(word[start:end] for start, end in spans)
        score = sum(edge.score for edge in edges if edge.is_best)
        return WordLattice(edges, best, self._ranked(word, best, score))

    def _best_spans(self, word: str) -> list[tuple[int, int]]:
        if isinstance(self._model, SentencePiece):
            return [(piece.start, piece.end) for piece in best_pieces(word, self._model)]
        spans, start = [], 0
        for piece in Lattice(word, self._scores).best().pieces:
            spans.append((start, start + len(piece)))
            start += len(piece)
        return spans

    def _edges(self, word: str, best: set[tuple[int, int]]) -> list[LatticeEdge]:
        edges = []
        for start in range(len(word)):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece, is_best = word[start:end], (start, end) in best
                if piece in self._scores:
                    edges.append(LatticeEdge(piece, start, end, self._scores[piece], True, is_best))
                elif end == start + 1:
                    edges.append(LatticeEdge(piece, start, end, self._unknown, False, is_best))
        return edges

    def _ranked(
        self, word: str, best: tuple[str, ...], score: float
    ) -> tuple[tuple[tuple[str, ...], float], ...]:
        """Return the best segmentation, and the next ones of a short word."""
        if len(word) > _MAX_CHARS_RANKED:
            return ((best, score),)
        found = Lattice(word, self._scores).n_best(_RANKED + 1)
        others = [(tuple(one.pieces), one.score) for one in found if tuple(one.pieces) != best]
        return ((best, score), *others[: _RANKED - 1])
