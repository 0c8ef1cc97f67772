"""SentencePiece's Unigram search with its 32-bit sums.

The search is the Viterbi search of `unigram`, but scores are 32-bit floats that are summed from the
beginning of the text. Rounding decides between segmentations whose sums differ less than a float can
show, so an exact comparison has to round in the same order. Source: `sentencepiece` 0.2.3.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from piecework.reference.encoding import Piece
from piecework.spec import SentencePiece

UNKNOWN_PENALTY = 10.0
# A larger sum is reset to 0, and sums already reached beyond that position decrease by as much.
MAX_SCORE = 100_000.0
MAX_FLOAT32 = 3.4028234663852886e38


class Reached(NamedTuple):
    """The best path to a position: its score and its last piece."""

    score: float
    piece: Piece


def best_pieces(text: str, model: SentencePiece) -> list[Piece]:
    """Return the segmentation of a normalized text with the highest 32-bit sum.

    >>> from piecework.spec import ScoredPiece
    >>> scored = (ScoredPiece("▁", -4.0), ScoredPiece("hug", -2.5), ScoredPiece("▁hug", -3.5))
    >>> model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), *scored))
    >>> [piece.token for piece in best_pieces("▁hug", model)]
    ['▁hug']

    Among equal sums, the one whose last piece is longer wins. Unknown characters are single pieces here.
    """
    scores, unknown_score = piece_scores(model), lowest_score(model) - UNKNOWN_PENALTY
    best: list[Reached | None] = [Reached(0.0, Piece("", 0, 0)), *[None] * len(text)]
    for start, character in enumerate(text):
        path = best[start]
        before = path.score if path else 0.0
        if abs(before) > MAX_SCORE:
            best = [
                reset(reached, before) if at >= start else reached
                for at, reached in enumerate(best)
            ]
            before = 0.0
        ends = range(start + 1, len(text) + 1)
        edges = [(text[start:end], end) for end in ends if text[start:end] in scores]
        found = [(scores[token], Piece(token, start, end)) for token, end in edges]
        if character not in scores:
            unknown = Piece(model.unk_token or "", start, start + 1)
            found.append((single(unknown_score), unknown))
        for score, piece in found:
            total, reached = single(before + score), best[piece.end]
            if reached is None or total > reached.score:
                best[piece.end] = Reached(total, piece)
    return backtrace(best)


def piece_scores(model: SentencePiece) -> dict[str, float]:
    """Return the scores of the pieces that a text can contain: normal and user-defined ones.

    >>> from piecework.spec import ScoredPiece
    >>> pieces = (ScoredPiece("a", -1.5), ScoredPiece("<s>", 0.0, "control"))
    >>> piece_scores(SentencePiece((*pieces, ScoredPiece("ab", -9.0, "user_defined"))))
    {'a': -1.5, 'ab': 0.10000000149011612}
    """
    return {
        piece.text: user_defined_score(piece.text) if piece.type == "user_defined" else piece.score
        for piece in model.pieces
        if piece.type in ("normal", "user_defined")
    }


def user_defined_score(text: str) -> float:
    """Return the score of a user-defined piece: 0.1 for every byte after the first.

    >>> user_defined_score("a")
    0.0
    """
    return single(0.1 * (len(text.encode()) - 1))


def lowest_score(model: SentencePiece) -> float:
    """Return the lowest score of the normal pieces; unknown characters score 10 less.

    >>> from piecework.spec import ScoredPiece
    >>> lowest_score(SentencePiece((ScoredPiece("a", -1.5), ScoredPiece("b", -2.5))))
    -2.5

    `model.lowest_score` overrides it: a restricted vocabulary keeps the score of the whole one.
    """
    if model.lowest_score is not None:
        return model.lowest_score
    return min((p.score for p in model.pieces if p.type == "normal"), default=MAX_FLOAT32)


def single(value: float) -> float:
    """Round to a 32-bit float.

    >>> single(0.1)
    0.10000000149011612
    """
    return float(struct.unpack("f", struct.pack("f", value))[0])


def reset(reached: Reached | None, sum_so_far: float) -> Reached | None:
    """Subtract a sum that has grown too large.

    >>> reset(Reached(-100_003.0, Piece("a", 0, 1)), -100_001.0).score
    -2.0
    """
    return reached and reached._replace(score=single(reached.score - sum_so_far))


def backtrace(best: Sequence[Reached | None]) -> list[Piece]:
    """Return the pieces of the best path, found from the end of the text to its beginning.

    >>> a, b = Piece("a", 0, 1), Piece("b", 1, 2)
    >>> [piece.token for piece in backtrace([None, Reached(-1.0, a), Reached(-2.0, b)])]
    ['a', 'b']
    """
    pieces: list[Piece] = []
    end = len(best) - 1
    while end > 0 and (reached := best[end]):
        pieces.append(reached.piece)
        end = reached.piece.start
    return pieces[::-1]
