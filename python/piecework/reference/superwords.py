"""Superwords: BPE entries that cross spaces, learned after the entries in single words; SentencePiece too.

Text is split into sequences of words, and the sequences are counted. Learning has two stages:

1. The words of the sequences give the entries up to `transition`, as BPE without superwords does.
2. These merges segment the sequences, and merging continues, now also between words.

The model merges the pairs of both stages in their order. A word begins at a space after another character
than white space; `max_words` limits how many an entry spans.

SentencePiece has no pre-tokenizer: its model merges over whole texts. No piece crosses the end of a sequence,
because only the two characters beside a space decide where one ends. So a text has the tokens of its
sequences.

Source: Liu et al. 2025, "SuperBPE: Space Travel for Language Models", section 2.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from piecework.errors import TrainingError
from piecework.reference import bpe, bpe_training, sentencepiece_model
from piecework.reference import sentencepiece_training as training
from piecework.reference.bpe_training import LearnedBPE, Settings
from piecework.reference.sentencepiece_stages import METASPACE
from piecework.reference.sentencepiece_training import Shape
from piecework.reference.words import count_parts
from piecework.spec import ScoredPiece, SentencePiece

SPACE = "Ġ"
WHITE_SPACE = "ĠĉĊČč"


def learn(
    sequences: Sequence[tuple[str, int]],
    words_of: Callable[[str], list[str]],
    settings: Settings,
    transition: int,
    max_words: int | None = None,
    *,
    is_exact: bool = True,
) -> LearnedBPE:
    """Learn from counts of sequences in the byte-level alphabet; `words_of` splits one of them.

    >>> sequences = [("ofĠthe", 3), ("ofĠa", 2), ("the", 2)]
    >>> learned = learn(sequences, lambda text: text.replace("Ġ", " Ġ").split(), Settings(11), 10)
    >>> learned.merges
    [('h', 'e'), ('o', 'f'), ('t', 'he'), ('of', 'Ġ')]

    Raises `TrainingError` when the words yield fewer entries than `transition`; if that is not exact, the
    entries that cross spaces follow the entries of the words.
    """
    before = min(transition, settings.vocab_size)
    words = list(count_parts(sequences, words_of).items())
    learned = bpe_training.learn(words, replace(settings, vocab_size=before))
    if is_exact and transition >= settings.vocab_size:
        return learned
    if is_exact and len(learned.vocab) < transition:
        raise TrainingError("transition", f"must be at most {len(learned.vocab)}, not {transition}")
    merges = list(dict.fromkeys(learned.merges))
    splits = [(bpe.encode(text, merges), count) for text, count in sequences]

    def allowed(pair: tuple[str, str]) -> bool:
        return max_words is None or number_of_words("".join(pair)) <= max_words

    bpe_training.learn_merges(learned, splits, settings, allowed)
    return learned


def number_of_words(entry: str) -> int:
    """Count the words that an entry spans.

    >>> [number_of_words(entry) for entry in ("Ġof", "ĠofĠthe", "ingĠ", "ĠĠĠ")]
    [1, 2, 2, 1]
    """
    return 1 + sum(two == SPACE and one not in WHITE_SPACE for one, two in pairwise(entry))


# ---- SentencePiece


@dataclass(frozen=True)
class Superwords:
    """When pieces begin to cross spaces, and which: the names come from `SentencePieceTrainer`.

    `transition` is the number of merged pieces of single words; if it is not exact, there may be fewer.
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
    """Return whether a sequence continues with a word, by the characters on both sides of the space.

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


def learn_pieces(
    counts: Mapping[str, int], size: int, shape: Shape, superwords: Superwords
) -> list[str]:
    """Return `size` merged pieces, learned from the counts of sequences; characters are not included.

    >>> counts = {"▁of▁the": 5, "▁of▁a": 3, "▁the": 4}
    >>> learn_pieces(counts, 6, Shape(), Superwords(5))
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
