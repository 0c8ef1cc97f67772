"""The WordPiece encoders of the reference against brute force and `tokenizers`."""

from __future__ import annotations

from collections.abc import Iterator

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from piecework.reference.encoding import Piece
from piecework.reference.wordpiece_model import encode_word, matches_at, shortest
from piecework.spec import WordPiece

words = st.text("ab#", min_size=1, max_size=7)
entries = st.tuples(st.sampled_from(["", "##"]), st.text("ab#", min_size=1, max_size=4)).map(
    "".join
)


@st.composite
def vocabs(draw: st.DrawFn) -> dict[str, int]:
    tokens = dict.fromkeys(["[UNK]", *draw(st.lists(entries, max_size=8))])
    return {token: number for number, token in enumerate(tokens)}


def all_segmentations(word: str, start: int, model: WordPiece) -> Iterator[tuple[Piece, ...]]:
    """Enumerate every segmentation of `word[start:]`, unknown characters included."""
    if start == len(word):
        yield ()
        return
    unknown = [Piece(model.unk_token, start, start + 1)] if model.unk == "char" else []
    for piece in matches_at(word, start, model) + unknown:
        for rest in all_segmentations(word, piece.end, model):
            yield (piece, *rest)


def cost(pieces: tuple[Piece, ...]) -> tuple[int, int, list[int]]:
    """Compare by unknown characters, then number of pieces, then longest pieces from the left."""
    unknown = sum(piece.token == "[UNK]" for piece in pieces)
    return unknown, len(pieces), [-piece.end for piece in pieces]


@given(words, vocabs(), st.sampled_from(["word", "char"]))
def test_shortest_is_the_best_of_all_segmentations(
    word: str, vocab: dict[str, int], unk: str
) -> None:
    model = WordPiece(vocab, unk=unk, segmentation="shortest")
    best = min(all_segmentations(word, 0, model), key=cost, default=None)
    assert shortest(word, model) == (None if best is None else list(best))


@given(words, vocabs(), st.integers(1, 8))
def test_greedy_pieces_equal_tokenizers(word: str, vocab: dict[str, int], max_chars: int) -> None:
    published = tokenizers.models.WordPiece(
        vocab, unk_token="[UNK]", max_input_chars_per_word=max_chars
    )
    expected = [Piece(token.value, *token.offsets) for token in published.tokenize(word)]
    assert encode_word(word, WordPiece(vocab, max_input_chars_per_word=max_chars)) == expected


@given(words, vocabs())
def test_unknown_by_character_differs_only_where_the_word_is_unknown(
    word: str, vocab: dict[str, int]
) -> None:
    by_word = encode_word(word, WordPiece(vocab))
    by_char = encode_word(word, WordPiece(vocab, unk="char"))
    assert by_word == by_char or by_word == [Piece("[UNK]", 0, len(word))]
    assert "".join(word[piece.start : piece.end] for piece in by_char) == word
