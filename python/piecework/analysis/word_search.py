"""How a WordPiece model segments a word: the prefixes tried at each position, and why a word is unknown."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.reference.encoding import Piece
from piecework.reference.wordpiece_model import encode_word, greedy, shortest
from piecework.spec import WordPiece

MAX_CHARS = 500


@dataclass(frozen=True)
class PrefixSearch:
    """The search for the longest match at one position of a word, in characters of the word.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> [word] = pw.analysis.explain(tok, "hugs").words
    >>> word.search.positions[0]
    PrefixSearch(start=0, tried=('hugs', 'hug'), match='hug')

    `tried` are the prefixes of the rest of the word, the longest first; the last one is the match. `match`
    is None if the vocabulary has none of them.
    """

    start: int
    tried: tuple[str, ...]
    match: str | None


@dataclass(frozen=True)
class WordSearch:
    """The segmentation of a word by WordPiece: each search, the tokens, and the reason for `[UNK]`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> [word] = pw.analysis.explain(tok, "hugz").words
    >>> word.search.tokens, word.search.unknown_because
    (('[UNK]',), "no prefix of 'z' at position 3 is an entry")

    - `positions` has the longest-match search of each position; empty for a word that is too long.
    - `tokens` is the segmentation of the model, longest match or fewest tokens.
    - `greedy` is longest match, `shortest` the fewest tokens; None if there is no such segmentation.
    - `unknown_because` is None for a word without unknown parts.
    """

    positions: tuple[PrefixSearch, ...]
    tokens: tuple[str, ...]
    greedy: tuple[str, ...] | None
    shortest: tuple[str, ...] | None
    unknown_because: str | None


def search_word(word: str, model: WordPiece) -> WordSearch | None:
    """Return the search for a word, None for a word of more than 500 characters that the model accepts.

    >>> search_word("hugs", WordPiece({"[UNK]": 0, "hug": 1})).unknown_because
    "no prefix of 's' at position 3 is an entry"
    """
    limit = model.max_input_chars_per_word
    if len(word) > limit:
        reason = f"{len(word):,} characters are more than the limit of {limit:,}"
        return WordSearch((), (model.unk_token,), None, None, reason)
    if len(word) > MAX_CHARS or not word:
        return None
    positions = _positions(word, model)
    missing = [found.start for found in positions if found.match is None]
    return WordSearch(
        positions=positions,
        tokens=_tokens(encode_word(word, model)) or (),
        greedy=_tokens(greedy(word, model)),
        shortest=_tokens(shortest(word, model)),
        unknown_because=_reason(word, missing, model),
    )


def _positions(word: str, model: WordPiece) -> tuple[PrefixSearch, ...]:
    """Search at each position that longest match reaches."""
    found = []
    start = 0
    while start < len(word):
        prefix = model.continuing_subword_prefix if start else ""
        tried: list[str] = []
        for end in range(len(word), start, -1):
            tried.append(prefix + word[start:end])
            if tried[-1] in model.vocab:
                break
        match = tried[-1] if tried[-1] in model.vocab else None
        found.append(PrefixSearch(start, tuple(tried), match))
        if match is None and model.unk == "word":
            break
        start += 1 if match is None else len(match) - len(prefix)
    return tuple(found)


def _tokens(pieces: list[Piece] | None) -> tuple[str, ...] | None:
    return None if pieces is None else tuple(piece.token for piece in pieces)


def _reason(word: str, missing: list[int], model: WordPiece) -> str | None:
    if not missing:
        return None
    start = missing[0]
    reason = f"no prefix of {word[start:]!r} at position {start} is an entry"
    if model.segmentation == "greedy":
        return reason
    tokens = _tokens(shortest(word, model))
    if tokens is None:
        return "no segmentation covers the word"
    return reason if model.unk == "char" and model.unk_token in tokens else None
