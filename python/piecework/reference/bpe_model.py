"""BPE encoding with the options of `tokenizer.json`: one word in, tokens and their spans out.

The merges work as in `bpe`. The options decide what the first symbols of a word are: an entry for each
character, with a prefix inside the word and a suffix at its end; for an unknown character its bytes or
the unknown token.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from piecework.reference.bpe import best_pair
from piecework.reference.encoding import Piece
from piecework.spec import BPE


def encode_word(word: str, model: BPE, rng: random.Random | None = None) -> list[Piece]:
    """Split a word by the merges of a model.

    >>> vocab = {"<unk>": 0, "u": 1, "g": 2, "ug": 3}
    >>> model = BPE(vocab, (("u", "g"),), unk_token="<unk>")
    >>> encode_word("mug", model)
    [Piece(token='<unk>', start=0, end=1), Piece(token='ug', start=1, end=3)]

    With `ignore_merges` a word of the vocabulary is one token. `dropout` of the model ignores merges
    at random, drawn from `rng`; `ignore_merges` then has no effect, as in `tokenizers`.
    """
    if model.ignore_merges and not model.dropout and word in model.vocab:
        return [Piece(word, 0, len(word))]
    pieces = list(first_symbols(word, model))
    ranks = {pair: rank for rank, pair in enumerate(model.merges)}
    rng, dropout = rng or random.Random(), model.dropout or 0.0
    prefix_length = len(model.continuing_subword_prefix or "")
    while pair := best_pair([piece.token for piece in pieces], ranks, dropout, rng):
        at = pair[1]
        pieces[at : at + 2] = [merged(pieces[at], pieces[at + 1], prefix_length)]
    return pieces


def merged(left: Piece, right: Piece, prefix_length: int = 0) -> Piece:
    """Merge two pieces; the right one loses its prefix.

    >>> merged(Piece("u", 0, 1), Piece("##g", 1, 2), prefix_length=2)
    Piece(token='ug', start=0, end=2)
    """
    token = left.token + right.token[prefix_length:]
    return Piece(token, min(left.start, right.start), max(left.end, right.end))


# ---- the first symbols


def first_symbols(word: str, model: BPE) -> Iterator[Piece]:
    """Yield the symbols of a word before any merge.

    >>> model = BPE({"a": 0, "<0xC3>": 1, "<0xA9>": 2}, (), byte_fallback=True)
    >>> list(first_symbols("aé", model))[1:]
    [Piece(token='<0xC3>', start=1, end=2), Piece(token='<0xA9>', start=1, end=2)]

    An unknown token waits for its neighbours. Byte entries overtake it, as in `tokenizers`.
    """
    unknown: Piece | None = None
    for at, symbol in enumerate(spelled(word, model)):
        entries = [symbol] if symbol in model.vocab else byte_entries(symbol, model)
        if symbol in model.vocab and unknown:
            yield unknown
            unknown = None
        yield from (Piece(entry, at, at + 1) for entry in entries)
        if entries or model.unk_token is None:
            continue
        if unknown and not model.fuse_unk:
            yield unknown
        start = unknown.start if unknown and model.fuse_unk else at
        unknown = Piece(model.unk_token, start, at + 1)
    if unknown:
        yield unknown


def spelled(word: str, model: BPE) -> list[str]:
    """Return the characters of a word with the model's prefix and suffix.

    >>> spelled("hug", BPE({}, (), continuing_subword_prefix="##", end_of_word_suffix="</w>"))
    ['h', '##u', '##g</w>']
    """
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    last = len(word) - 1
    return [
        (prefix if at > 0 else "") + character + (suffix if at == last else "")
        for at, character in enumerate(word)
    ]


def byte_entries(symbol: str, model: BPE) -> list[str]:
    """Return the byte entries that spell a symbol; none unless the model has all of them.

    >>> byte_entries("\\n", BPE({"<0x0A>": 0}, (), byte_fallback=True))
    ['<0x0A>']
    """
    entries = [f"<0x{byte:02X}>" for byte in symbol.encode(errors="replace")]
    return entries if model.byte_fallback and all(e in model.vocab for e in entries) else []
