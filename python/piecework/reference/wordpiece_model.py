"""WordPiece encoding with the options of `spec.WordPiece`: one word in, tokens and their spans out.

`greedy` is the longest match first of `wordpiece.encode`. It tries every end for every start, so it is
quadratic; it defines the result of the linear-time search of Song et al. 2021 ("Fast WordPiece
Tokenization"). `shortest` finds the fewest tokens by dynamic programming.
"""

from __future__ import annotations

from piecework.reference.boundaries import begins
from piecework.reference.encoding import Piece
from piecework.spec import WordPiece


def encode_word(word: str, model: WordPiece) -> list[Piece]:
    """Split a word that is not empty by `model.segmentation`.

    >>> model = WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    >>> encode_word("hugs", model)
    [Piece(token='hug', start=0, end=3), Piece(token='##s', start=3, end=4)]
    >>> encode_word("hugz", model)
    [Piece(token='[UNK]', start=0, end=4)]

    A word longer than `max_input_chars_per_word` is one unknown token, whatever `unk` is.
    """
    whole_word = [Piece(model.unk_token, 0, len(word))]
    if len(word) > model.max_input_chars_per_word:
        return whole_word
    segment = {"greedy": greedy, "shortest": shortest}[model.segmentation]
    pieces = segment(word, model)
    return whole_word if pieces is None else pieces


def greedy(word: str, model: WordPiece) -> list[Piece] | None:
    """Repeatedly take the longest token that matches.

    >>> model = WordPiece({"[UNK]": 0, "##believ": 1, "un": 2, "##able": 3}, unk="char")
    >>> [piece.token for piece in greedy("unbelievable!", model)]
    ['un', '##believ', '##able', '[UNK]']

    With `unk="char"` an unmatched character is an unknown token; with `unk="word"` the result is None.
    """
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
    """Return the fewest tokens; None when no segmentation exists and `unk` is "word".

    >>> model = WordPiece({"[UNK]": 0, "ab": 1, "a": 2, "##c": 3, "##d": 4, "##bcd": 5})
    >>> [piece.token for piece in greedy("abcd", model)]
    ['ab', '##c', '##d']
    >>> [piece.token for piece in shortest("abcd", model)]
    ['a', '##bcd']

    With `unk="char"` the number of unknown characters is minimized first. Among equal segmentations the
    one with the longer first token wins, then the one with the longer second token, and so on.
    """
    # By start: the unknown characters, the number of tokens and the tokens of the best suffix.
    best: list[tuple[int, int, list[Piece]] | None] = [None] * len(word) + [(0, 0, [])]
    for start in reversed(range(len(word))):
        for piece, unknown in choices_at(word, start, model):
            rest = best[piece.end]
            if rest is None:
                continue
            cost = (rest[0] + unknown, rest[1] + 1)
            so_far = best[start]
            if so_far is None or cost < so_far[:2]:  # choices come longest first
                best[start] = (*cost, [piece, *rest[2]])
    return None if best[0] is None else best[0][2]


def choices_at(word: str, start: int, model: WordPiece) -> list[tuple[Piece, int]]:
    """Return the tokens that can begin at `start`, each with its number of unknown characters.

    >>> choices_at("a", 0, WordPiece({"[UNK]": 0}, unk="char"))
    [(Piece(token='[UNK]', start=0, end=1), 1)]
    """
    choices = [(piece, 0) for piece in matches_at(word, start, model)]
    if model.unk == "char":
        choices.append((Piece(model.unk_token, start, start + 1), 1))
    return choices


def matches_at(word: str, start: int, model: WordPiece) -> list[Piece]:
    """Return every token of the vocabulary that matches at `start`, the longest first.

    >>> [piece.token for piece in matches_at("hugs", 1, WordPiece({"##u": 0, "##ugs": 1}))]
    ['##ugs', '##u']
    """
    prefix = "" if start == 0 and begins(word) else model.continuing_subword_prefix
    found = ((prefix + word[start:end], end) for end in range(len(word), start, -1))
    return [Piece(token, start, end) for token, end in found if token in model.vocab]
