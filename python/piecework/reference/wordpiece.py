"""WordPiece encoding: one word in, vocabulary entries with their places in the word out.

`greedy` is longest match first from the left, as BERT does it, by trying every end for every start:
quadratic, and the meaning of the linear-time automaton of the compiled core (LinMaxMatch, Song et
al. 2021, "Fast WordPiece Tokenization"). `shortest` takes the fewest pieces by dynamic programming.
"""

from __future__ import annotations

from typing import NamedTuple

from piecework.spec import WordPiece


class Piece(NamedTuple):
    """A token and the characters `start:end` of the word that it covers."""

    token: str
    start: int
    end: int


def encode_word(word: str, model: WordPiece) -> list[Piece]:
    """Cut a non-empty word into the pieces that `model` asks for.

    >>> model = WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    >>> encode_word("hugs", model)
    [Piece(token='hug', start=0, end=3), Piece(token='##s', start=3, end=4)]
    >>> encode_word("hugz", model)
    [Piece(token='[UNK]', start=0, end=4)]

    A word longer than `max_input_chars_per_word` is one unknown token, whatever `unk` says.
    """
    whole_word = [Piece(model.unk_token, 0, len(word))]
    if len(word) > model.max_input_chars_per_word:
        return whole_word
    cut = {"greedy": greedy, "shortest": shortest}[model.segmentation]
    pieces = cut(word, model)
    return whole_word if pieces is None else pieces


def greedy(word: str, model: WordPiece) -> list[Piece] | None:
    """Take the longest entry that matches, again and again; None when `unk="word"` gets stuck."""
    pieces: list[Piece] = []
    start = 0
    while start < len(word):
        matches = matches_at(word, start, model)
        if not matches and model.unk == "word":
            return None
        pieces.append(matches[0] if matches else Piece(model.unk_token, start, start + 1))
        start = pieces[-1].end
    return pieces


def shortest(word: str, model: WordPiece) -> list[Piece] | None:
    """Take the fewest pieces, longest first among equals; None when `unk="word"` finds no way.

    >>> model = WordPiece({"[UNK]": 0, "ab": 1, "a": 2, "##c": 3, "##d": 4, "##bcd": 5})
    >>> [piece.token for piece in greedy("abcd", model)]
    ['ab', '##c', '##d']
    >>> [piece.token for piece in shortest("abcd", model)]
    ['a', '##bcd']

    With `unk="char"` the fewest unknown characters come first, then the fewest pieces. Equal ways
    are told apart from the left: the one whose first piece is longer wins.
    """
    best: list[tuple[int, int, list[Piece]] | None] = [None] * len(word) + [(0, 0, [])]
    for start in reversed(range(len(word))):
        for piece, unknown in choices_at(word, start, model):
            rest = best[piece.end]
            if rest is None:
                continue
            cost = (rest[0] + unknown, rest[1] + 1)
            so_far = best[start]
            if so_far is None or cost < so_far[:2]:  # longest first, so only a gain replaces
                best[start] = (*cost, [piece, *rest[2]])
    return None if best[0] is None else best[0][2]


def choices_at(word: str, start: int, model: WordPiece) -> list[tuple[Piece, int]]:
    """Return each way to go on and its unknown characters: matches, then an unknown if allowed."""
    choices = [(piece, 0) for piece in matches_at(word, start, model)]
    if model.unk == "char":
        choices.append((Piece(model.unk_token, start, start + 1), 1))
    return choices


def matches_at(word: str, start: int, model: WordPiece) -> list[Piece]:
    """Return every entry that matches at `start`, longest first."""
    prefix = model.continuing_subword_prefix if start > 0 else ""
    ends = range(len(word), start, -1)
    pieces = (Piece(prefix + word[start:end], start, end) for end in ends)
    return [piece for piece in pieces if piece.token in model.vocab]
