"""How a model segments a word: merges of BPE, the lattice of Unigram, the prefixes that WordPiece tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from piecework.reference.bpe_model import first_symbols
from piecework.reference.encoding import Piece
from piecework.reference.lattice import UNKNOWN_PENALTY, Lattice, unknown_score
from piecework.reference.sentencepiece_model import Merger
from piecework.reference.sentencepiece_unigram import best_pieces, lowest_score, piece_scores
from piecework.reference.wordpiece_model import encode_word, greedy, shortest
from piecework.spec import BPE, SentencePiece, Unigram, WordPiece

MAX_CHARS = 500
"""Longer words are not explained: each merge step examines every pair, O(n²) in total."""


@dataclass(frozen=True)
class MergeStep:
    """One merge: its rank (0 was learned first), the index of the pair, the pair, and the new token.

    >>> MergeStep(rank=0, at=1, left="u", right="g", token="ug").token
    'ug'
    """

    rank: int
    at: int
    left: str
    right: str
    token: str

    def apply_to(self, symbols: Sequence[str]) -> list[str]:
        """Return the symbols after this merge.

        >>> MergeStep(rank=0, at=1, left="u", right="g", token="ug").apply_to(["h", "u", "g"])
        ['h', 'ug']
        """
        return [*symbols[: self.at], self.token, *symbols[self.at + 2 :]]


class MergeTable:
    """The merges of a model, looked up by pair.

    >>> model = BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    >>> [step.token for step in MergeTable(model).steps("hug")]
    ['ug', 'hug']
    """

    def __init__(self, model: BPE) -> None:
        self._model = model
        self._ranks = {pair: rank for rank, pair in reversed(list(enumerate(model.merges)))}
        self._prefix = model.continuing_subword_prefix or ""

    def symbols(self, word: str) -> list[str]:
        """Return the initial symbols of a word: characters, byte tokens and unknown tokens."""
        return [piece.token for piece in first_symbols(word, self._model)]

    def steps(self, word: str) -> tuple[MergeStep, ...] | None:
        """Return the merges in order, None for more than 500 symbols."""
        symbols = self.symbols(word)
        if len(symbols) > MAX_CHARS:
            return None
        steps: list[MergeStep] = []
        while step := self._next_step(symbols):
            steps.append(step)
            symbols = step.apply_to(symbols)
        return tuple(steps)

    def note(self, word: str) -> str | None:
        """Return a note on a word that is an entry, so that encoding does not merge its symbols.

        >>> model = BPE({"u": 0, "g": 1, "ug": 2}, (("u", "g"),), ignore_merges=True)
        >>> MergeTable(model).note("ug")
        'an entry: the encoder takes it whole (ignore_merges), without these merges'
        """
        model = self._model
        if not model.ignore_merges or word not in model.vocab or len(word) > MAX_CHARS:
            return None
        symbols = self.symbols(word)
        if symbols == [word]:
            return None
        for step in self.steps(word) or ():
            symbols = step.apply_to(symbols)
        whole = "an entry: the encoder takes it whole (ignore_merges)"
        if symbols == [word]:
            return f"{whole}, without these merges"
        return f"{whole}; merges would give {' '.join(symbols)}"

    def _next_step(self, symbols: Sequence[str]) -> MergeStep | None:
        pairs = enumerate(pairwise(symbols))
        ranked = [(self._ranks[pair], at) for at, pair in pairs if pair in self._ranks]
        if not ranked:
            return None
        rank, at = min(ranked)
        left, right = symbols[at], symbols[at + 1]
        return MergeStep(rank, at, left, right, left + right[len(self._prefix) :])


class ScoredMerges:
    """The merges of a SentencePiece BPE model: the joined piece with the highest score, then the leftmost.

    >>> from piecework.spec import ScoredPiece
    >>> scored = (ScoredPiece("ab", -2.0), ScoredPiece("bc", -1.0), ScoredPiece("a", -3.0))
    >>> table = ScoredMerges(SentencePiece(scored, "bpe"))
    >>> [(step.rank, step.token) for step in table.steps("abc")]
    [(0, 'bc')]

    The rank of a piece is the number of pieces with a higher score.
    """

    def __init__(self, model: SentencePiece) -> None:
        self._model = model
        types = ("normal", "user_defined", "unused")
        scored = [piece for piece in model.pieces if piece.type in types]
        scored.sort(key=lambda piece: -piece.score)
        self._ranks = {piece.text: rank for rank, piece in enumerate(scored)}

    def symbols(self, text: str) -> list[str]:
        """Return the characters of a text; a user-defined piece counts as one."""
        return [text[start:end] for start, end, _ in Merger(text, self._model).spans]

    def steps(self, text: str) -> tuple[MergeStep, ...] | None:
        """Return the merges in order, None for more than 500 characters."""
        if len(text) > MAX_CHARS:
            return None
        merger = Merger(text, self._model)
        steps: list[MergeStep] = []
        before = [text[start:end] for start, end, _ in merger.spans]
        while merger.merge_best():
            after = [text[start:end] for start, end, _ in merger.spans]
            pairs = zip(before, after, strict=False)
            at = next(at for at, (old, new) in enumerate(pairs) if old != new)
            steps.append(
                MergeStep(self._ranks[after[at]], at, before[at], before[at + 1], after[at])
            )
            before = after
        return tuple(steps)


_MAX_CHARS_RANKED = 100
_RANKED = 3


@dataclass(frozen=True)
class LatticeEdge:
    """A piece between two positions of a word, in characters, with its log probability.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("<unk>", 0.0), ("hug", -2.5), ("s", -1.25)), 0))
    >>> pw.analysis.explain(tok, "hugs").words[0].lattice.edges[0]
    LatticeEdge(piece='hug', start=0, end=3, score=-2.5, is_known=True, is_best=True)

    `is_best` says whether the edge is on the best path. A character that is not a piece has `is_known=False`
    and the score of unknown characters.
    """

    piece: str
    start: int
    end: int
    score: float
    is_known: bool
    is_best: bool


@dataclass(frozen=True)
class WordLattice:
    """The pieces that occur in a word, and its best segmentations with the sums of their scores.

    >>> import piecework as pw
    >>> pieces = (("<unk>", 0.0), ("hug", -2.5), ("hu", -2.0), ("gs", -1.0), ("s", -1.25))
    >>> lattice = pw.analysis.explain(pw.Tokenizer(pw.spec.Unigram(pieces, 0)), "hugs").words[0].lattice
    >>> lattice.best, lattice.segmentations[1]
    (('hu', 'gs'), (('hug', 's'), -3.75))

    `edges` are in order of their start, the longest first. `segmentations` are the three best ones; only the
    best for words of more than 100 characters.
    """

    edges: tuple[LatticeEdge, ...]
    best: tuple[str, ...]
    segmentations: tuple[tuple[tuple[str, ...], float], ...]


class ScoredPieces:
    """The scores of a model, or of pieces that are being learned, collected once for all words of a text.

    >>> ScoredPieces(Unigram((("<unk>", 0.0), ("a", -1.5)))).lattice("a").best
    ('a',)
    """

    def __init__(self, model: Unigram | SentencePiece | Mapping[str, float]) -> None:
        self._model = model
        self._scores: Mapping[str, float]
        if isinstance(model, SentencePiece):
            self._scores = piece_scores(model)
            self._unknown = lowest_score(model) - UNKNOWN_PENALTY
        else:
            self._scores = dict(model.pieces) if isinstance(model, Unigram) else model
            self._unknown = unknown_score(self._scores)
        self._longest = max(map(len, self._scores), default=1)

    def lattice(self, word: str) -> WordLattice | None:
        """Return the lattice of a word, None for one of more than 500 characters."""
        if not word or len(word) > MAX_CHARS:
            return None
        spans = self._best_spans(word)
        edges = tuple(self._edges(word, set(spans)))
        best = tuple(word[start:end] for start, end in spans)
        score = sum(edge.score for edge in edges if edge.is_best)
        return WordLattice(edges, best, self._ranked(word, best, score))

    def _best_spans(self, word: str) -> list[tuple[int, int]]:
        if isinstance(self._model, SentencePiece):
            return [(piece.start, piece.end) for piece in best_pieces(word, self._model)]
        spans, start = [], 0
        for piece in Lattice(word, self._scores).best().pieces:
            spans.append((start, start + len(piece)))
            start += len(piece)
        return spans

    def _edges(self, word: str, best: set[tuple[int, int]]) -> list[LatticeEdge]:
        edges = []
        for start in range(len(word)):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece, is_best = word[start:end], (start, end) in best
                if piece in self._scores:
                    edges.append(LatticeEdge(piece, start, end, self._scores[piece], True, is_best))
                elif end == start + 1:
                    edges.append(LatticeEdge(piece, start, end, self._unknown, False, is_best))
        return edges

    def _ranked(
        self, word: str, best: tuple[str, ...], score: float
    ) -> tuple[tuple[tuple[str, ...], float], ...]:
        """Return the best segmentation, and the next ones of a short word."""
        if len(word) > _MAX_CHARS_RANKED:
            return ((best, score),)
        found = Lattice(word, self._scores).n_best(_RANKED + 1)
        others = [(tuple(one.pieces), one.score) for one in found if tuple(one.pieces) != best]
        return ((best, score), *others[: _RANKED - 1])


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
