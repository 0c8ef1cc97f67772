"""Models: one word in, tokens and the characters they cover out, for every model of `piecework.spec`."""

from __future__ import annotations

import random
from itertools import groupby

from piecework.errors import VocabularyError
from piecework.reference import bpe_model, sentencepiece_model, wordpiece_model
from piecework.reference.encoding import Piece
from piecework.reference.lattice import Lattice
from piecework.spec import BPE, Char, Model, SentencePiece, Unigram, WordLevel, WordPiece


def encode_word(word: str, model: Model, rng: random.Random | None = None) -> list[Piece]:
    """Split a word that is not empty; `rng` draws the merges that a BPE model with dropout ignores.

    >>> encode_word("abc", Char({"[UNK]": 0, "a": 1, "b": 2}))[-1]
    Piece(token='[UNK]', start=2, end=3)
    """
    if isinstance(model, WordPiece):
        return wordpiece_model.encode_word(word, model)
    if isinstance(model, BPE):
        return bpe_model.encode_word(word, model, rng)
    if isinstance(model, Unigram):
        return unigram(word, model)
    if isinstance(model, SentencePiece):
        return sentencepiece_model.encode_text(word, model)
    return look_up(word, model)


def look_up(word: str, model: WordLevel | Char) -> list[Piece]:
    """Look up a word, or each of its characters; the unknown token replaces what is missing.

    >>> look_up("to", WordLevel({"[UNK]": 0, "to": 1}))
    [Piece(token='to', start=0, end=2)]
    """
    size = 1 if isinstance(model, Char) else len(word)
    units = ((word[start : start + size], start) for start in range(0, len(word), size))
    return [
        Piece(unit if unit in model.vocab else model.unk_token, start, start + size)
        for unit, start in units
    ]


# ---- Unigram


def unigram(word: str, model: Unigram) -> list[Piece]:
    """Return the segmentation with the highest score; adjacent unknown characters are one token.

    >>> unigram("hugs", Unigram((("<unk>", 0.0), ("hug", -2.0), ("s", -3.0)), unk_id=0))
    [Piece(token='hug', start=0, end=3), Piece(token='s', start=3, end=4)]

    Raises `VocabularyError` for an unknown character when the model has no unknown token.
    """
    if model.unk_id is None:
        check_known(word, model)
    pieces: list[Piece] = []
    for text in Lattice(word, dict(model.pieces)).best().pieces:
        start = pieces[-1].end if pieces else 0
        pieces.append(Piece(text, start, start + len(text)))
    known = set(model.vocab) - {model.unk_token}
    tokens: list[Piece] = []
    for is_known, group in groupby(pieces, key=lambda piece: piece.token in known):
        run = list(group)
        tokens += run if is_known else unknown_run(word, run, model)
    return tokens


def check_known(word: str, model: Unigram) -> None:
    """Raise `VocabularyError` if the search meets an unknown character.

    >>> check_known("ab", Unigram((("a", -1.0), ("ab", -2.0))))

    The search goes from left to right, so the best segmentation of every prefix has to be known, as in
    `tokenizers`.
    """
    scores = dict(model.pieces)
    for end in range(1, len(word) + 1):
        last = Lattice(word[:end], scores).best().pieces[-1]
        if last not in scores:
            problem = f"found None, expected an entry for the unknown character {last!r}"
            raise VocabularyError("model.unk_id", problem)


def unknown_run(word: str, run: list[Piece], model: Unigram) -> list[Piece]:
    """Return the tokens of a run of unknown characters: an entry, byte entries or the unknown token.

    >>> model = Unigram((("<unk>", 0.0), ("<0x0A>", -1.0)), unk_id=0, byte_fallback=True)
    >>> unknown_run("\\n", [Piece("\\n", 0, 1)], model)
    [Piece(token='<0x0A>', start=0, end=1)]
    """
    start, end = run[0].start, run[-1].end
    text, vocab = word[start:end], model.vocab
    entries = [f"<0x{byte:02X}>" for byte in text.encode()]
    if text in vocab:
        return [Piece(text, start, end)]
    if model.byte_fallback and all(entry in vocab for entry in entries):
        return [Piece(entry, start, end) for entry in entries]
    return [Piece(model.unk_token or "", start, end)]
