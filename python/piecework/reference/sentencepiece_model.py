"""SentencePiece's four models: a whole normalized text in, pieces and their spans out.

`unigram` takes the segmentation with the highest score, `bpe` merges neighbours whose joined text is a
piece, highest score first, `word` splits before each ▁, `char` takes single characters. Source: Kudo
and Richardson 2018, "SentencePiece"; `sentencepiece` 0.2.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from piecework.reference.encoding import Piece
from piecework.reference.sentencepiece_stages import METASPACE
from piecework.reference.sentencepiece_unigram import best_pieces
from piecework.spec import SentencePiece


def encode_text(text: str, model: SentencePiece) -> list[Piece]:
    """Segment a normalized text.

    >>> from piecework.spec import ScoredPiece
    >>> pieces = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁h", -1.0), ScoredPiece("▁", -2.0))
    >>> encode_text("▁hat", SentencePiece(pieces, kind="bpe"))
    [Piece(token='▁h', start=0, end=2), Piece(token='<unk>', start=2, end=4)]

    Adjacent unknown pieces are one token. With `byte_fallback` they are byte pieces instead; the last
    byte covers the text, the others cover nothing.
    """
    segment = {"unigram": best_pieces, "bpe": bpe, "word": words, "char": characters}[model.kind]
    return list(resolved(text, list(segment(text, model)), model))


def resolved(text: str, pieces: list[Piece], model: SentencePiece) -> Iterator[Piece]:
    """Fuse adjacent unknown pieces, or spell each by its bytes.

    >>> from piecework.spec import ScoredPiece
    >>> model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"),))
    >>> list(resolved("ab", [Piece("<unk>", 0, 1), Piece("<unk>", 1, 2)], model))
    [Piece(token='<unk>', start=0, end=2)]
    """
    unk = model.unk_token or ""
    for is_unknown, group in groupby(pieces, key=lambda piece: piece.token == unk):
        run = list(group)
        if not is_unknown:
            yield from run
        elif model.byte_fallback:
            for piece in run:
                yield from byte_pieces(text, piece)
        else:
            yield Piece(unk, run[0].start, run[-1].end)


def byte_pieces(text: str, piece: Piece) -> list[Piece]:
    """Spell an unknown piece by its bytes.

    >>> byte_pieces("é", Piece("<unk>", 0, 1))
    [Piece(token='<0xC3>', start=0, end=0), Piece(token='<0xA9>', start=0, end=1)]
    """
    entries = [f"<0x{byte:02X}>" for byte in text[piece.start : piece.end].encode()]
    return [
        *(Piece(entry, piece.start, piece.start) for entry in entries[:-1]),
        Piece(entries[-1], piece.start, piece.end),
    ]


def token_of(text: str, model: SentencePiece) -> str:
    """Return the piece of a text; a control piece is never found in text, so it is unknown.

    >>> from piecework.spec import ScoredPiece
    >>> model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("<s>", 0.0, "control")))
    >>> token_of("<s>", model)
    '<unk>'
    """
    types = {piece.text: piece.type for piece in model.pieces}
    return text if types.get(text, "control") != "control" else model.unk_token or ""


# ---- words and characters


def words(text: str, model: SentencePiece) -> Iterator[Piece]:
    """Split before each ▁ but the first character, and look each word up.

    >>> from piecework.spec import ScoredPiece
    >>> model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁a", -1.0)), "word")
    >>> [piece.token for piece in words("▁a▁b", model)]
    ['▁a', '<unk>']
    """
    starts = [0, *(at for at, c in enumerate(text) if c == METASPACE and at > 0), len(text)]
    for start, end in pairwise(starts):
        yield Piece(token_of(text[start:end], model), start, end)


def characters(text: str, model: SentencePiece) -> Iterator[Piece]:
    """Look each character up; a user-defined piece counts as one character.

    >>> from piecework.spec import ScoredPiece
    >>> model = SentencePiece((ScoredPiece("<x>", 0.0, "user_defined"), ScoredPiece("a", -1.0)), "char")
    >>> [piece.token for piece in characters("a<x>", model)]
    ['a', '<x>']
    """
    for start, end, _ in symbols(text, model):
        yield Piece(token_of(text[start:end], model), start, end)


def symbols(text: str, model: SentencePiece) -> Iterator[tuple[int, int, bool]]:
    """Return the spans of user-defined pieces and of the characters between them.

    >>> from piecework.spec import ScoredPiece
    >>> list(symbols("a<x>", SentencePiece((ScoredPiece("<x>", 0.0, "user_defined"),))))
    [(0, 1, False), (1, 4, True)]
    """
    defined = [piece.text for piece in model.pieces if piece.type == "user_defined"]
    at = 0
    while at < len(text):
        found = max((piece for piece in defined if text.startswith(piece, at)), key=len, default="")
        end = at + (len(found) or 1)
        yield at, end, bool(found)
        at = end


# ---- BPE


def bpe(text: str, model: SentencePiece) -> Iterator[Piece]:
    """Merge neighbours whose joined text is a piece: the highest score first, then the leftmost.

    >>> from piecework.spec import ScoredPiece
    >>> scored = (ScoredPiece("ab", -2.0), ScoredPiece("bc", -1.0), ScoredPiece("a", -3.0))
    >>> [piece.token for piece in bpe("abc", SentencePiece(scored, "bpe"))]
    ['a', 'bc']

    User-defined pieces do not merge. An unused piece takes part in merges; at the end it is split into
    the two parts that the search last saw it made of.
    """
    merger = Merger(text, model)
    while merger.merge_best():
        pass
    for start, end, _ in merger.spans:
        yield from merger.usable(start, end)


class Merger:
    """The spans of a text, and how each unused piece was last made of two parts."""

    def __init__(self, text: str, model: SentencePiece) -> None:
        found = ("normal", "user_defined", "unused")
        self.text, self.model = text, model
        self.scores = {piece.text: piece.score for piece in model.pieces if piece.type in found}
        self.unused = {piece.text for piece in model.pieces if piece.type == "unused"}
        self.left_lengths: dict[str, int] = {}
        self.spans = list(symbols(text, model))
        for at in range(len(self.spans) - 1):
            self.note_parts(at)

    def joined(self, at: int) -> str | None:
        """Return the text of two neighbours if they may merge."""
        if not 0 <= at < len(self.spans) - 1:
            return None
        (start, _, is_fixed), (_, end, next_is_fixed) = self.spans[at : at + 2]
        joined = self.text[start:end]
        return joined if joined in self.scores and not (is_fixed or next_is_fixed) else None

    def note_parts(self, at: int) -> None:
        """Record the parts of an unused piece that two neighbours would make."""
        joined = self.joined(at)
        if joined in self.unused:
            self.left_lengths[joined] = self.spans[at][1] - self.spans[at][0]

    def merge_best(self) -> bool:
        """Merge the pair with the highest score; return whether there was one."""
        pairs = [(at, self.joined(at)) for at in range(len(self.spans) - 1)]
        ranked = [(-self.scores[joined], at) for at, joined in pairs if joined is not None]
        if not ranked:
            return False
        _, at = min(ranked)
        self.spans[at : at + 2] = [(self.spans[at][0], self.spans[at + 1][1], False)]
        self.note_parts(at - 1)
        self.note_parts(at)
        return True

    def usable(self, start: int, end: int) -> list[Piece]:
        """Split a span until none of its parts is an unused piece with known parts."""
        text = self.text[start:end]
        if text in self.unused and text in self.left_lengths:
            middle = start + self.left_lengths[text]
            return self.usable(start, middle) + self.usable(middle, end)
        return [Piece(token_of(text, self.model), start, end)]
