"""Superwords of SentencePiece: BPE pieces that cross spaces, learned after those of single words.

A sentence is split into sequences of words, and the sequences are counted. Learning has two stages:

1. The words of the sequences give the first pieces, as BPE without superwords does.
2. The model so far segments the sequences, and merging continues, now also between words.

SentencePiece has no pre-tokenizer: its model merges over whole texts. No piece crosses the end of a sequence,
because only the two characters beside a space decide where one ends. So a text has the tokens of its
sequences.

Source: Liu et al. 2025, "SuperBPE: Space Travel for Language Models", section 2.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piecework.errors import TrainingError
from piecework.reference import sentencepiece_model
from piecework.reference import sentencepiece_training as training
from piecework.reference.sentencepiece_normalizer import METASPACE
from piecework.reference.sentencepiece_training import Shape
from piecework.reference.words import count_parts
from piecework.spec import ScoredPiece, SentencePiece


@dataclass(frozen=True)
class Superwords:
    """When pieces begin to cross spaces, and which: the names are those of `SentencePieceTrainer`.

    `transition` is the number of merged pieces of single words; if it is not exact, fewer are no error.
    """

    transition: int
    is_exact: bool = True
    max_words: int | None = 4
    cross_punctuation: bool = True


def sequences(sentence: str, shape: Shape, *, cross_punctuation: bool = True) -> list[str]:
    """Split a normalized sentence into sequences of words.

    >>> sequences("▁of▁the,▁in▁12▁of▁a", Shape())
    ['▁of▁the,▁in', '▁12', '▁of▁a']
    >>> sequences("▁of▁the,▁in▁12▁of▁a", Shape(), cross_punctuation=False)
    ['▁of▁the,', '▁in', '▁12', '▁of▁a']
    """
    found: list[str] = []
    for word in training.words(sentence, shape):
        if found and joins(found[-1], word, shape, cross_punctuation):
            found[-1] += word
        else:
            found.append(word)
    return found


def joins(before: str, word: str, shape: Shape, cross_punctuation: bool) -> bool:
    """Return whether a sequence goes on with a word, by the two characters beside the space between them.

    >>> joins("▁of", "▁the", Shape(), True), joins("▁of", "▁12", Shape(), True)
    (True, False)
    """
    if shape.treat_whitespace_as_suffix:
        one, two = before[-2:-1], word[:1]
    else:
        one, two = before[-1:], word[1:2]
    if not one or not two or not unicodedata.category(two).startswith("L"):
        return False
    kind = unicodedata.category(one)[0]
    return one != METASPACE and (kind != "N" if cross_punctuation else kind in "LM")


def allows(piece: str, shape: Shape, superwords: Superwords) -> bool:
    """Return whether a text may be a piece of the second stage.

    >>> [allows(text, Shape(), Superwords(0, max_words=2)) for text in ("a▁the", "of▁", "a,▁b", "a▁▁b", "F1")]
    [True, False, True, False, False]
    """
    fits = training.allows_characters(piece, shape, joins_punctuation=superwords.cross_punctuation)
    return fits and allows_spaces(piece, shape, superwords.max_words)


def allows_spaces(piece: str, shape: Shape, max_words: int | None) -> bool:
    """Return whether single spaces are between the words of a piece, and one at most at its own end.

    >>> allows_spaces("▁of▁the", Shape(), 2), allows_spaces("▁of▁the", Shape(), 1)
    (True, False)
    """
    if piece == METASPACE:
        return True
    if shape.allow_whitespace_only_pieces and set(piece) == {METASPACE}:
        return True
    from_its_end = piece[::-1] if shape.treat_whitespace_as_suffix else piece
    words = from_its_end.removeprefix(METASPACE).split(METASPACE)
    return all(words) and (max_words is None or len(words) <= max_words)


def learn(counts: Mapping[str, int], size: int, shape: Shape, superwords: Superwords) -> list[str]:
    """Return `size` merged pieces, learned from the counts of sequences; characters are not included.

    >>> counts = {"▁of▁the": 5, "▁of▁a": 3, "▁the": 4}
    >>> learn(counts, 6, Shape(), Superwords(5))
    ['he', '▁t', '▁the', 'of', '▁of', '▁of▁the']

    Raises `TrainingError` when the words yield fewer pieces than the transition.
    """
    words = count_parts(counts.items(), lambda text: training.words(text, shape))
    pieces = training.bpe(words, min(superwords.transition, size), shape)
    if superwords.is_exact and superwords.transition >= size:
        return pieces
    if superwords.is_exact and len(pieces) < superwords.transition:
        problem = f"must be at most {len(pieces)}, not {superwords.transition}"
        raise TrainingError("transition", problem)
    crosses = superwords.cross_punctuation
    parts = count_parts(
        counts.items(), lambda text: sequences(text, shape, cross_punctuation=crosses)
    )
    model = model_of(pieces, sorted(set("".join(counts))))
    segmented = [
        ([piece.token for piece in sentencepiece_model.bpe(part, model)], count)
        for part, count in parts.items()
    ]
    training.append_merged(pieces, segmented, size, lambda text: allows(text, shape, superwords))
    return pieces


def model_of(pieces: Sequence[str], characters: Sequence[str]) -> SentencePiece:
    """Return the model of merged pieces, the first one best, and of characters.

    >>> model_of(["ab"], ["a", "b"]).pieces[1]
    ScoredPiece(text='ab', score=-0.0, type='normal')
    """
    unknown = ScoredPiece("<unk>", 0.0, "unknown")
    scored = (ScoredPiece(text, -float(rank)) for rank, text in enumerate((*pieces, *characters)))
    return SentencePiece((unknown, *scored), kind="bpe")
