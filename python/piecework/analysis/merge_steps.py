"""Byte-pair encoding of one word, step by step: the initial symbols and each merge in order.

Each step merges the adjacent pair of lowest rank, the leftmost first (Sennrich et al. 2016, section 3.2).
A step examines every pair, so a word of n symbols takes O(n²) time. Words of more than 500 symbols are
skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from piecework.reference.bpe_model import first_symbols
from piecework.reference.sentencepiece_model import Merger
from piecework.spec import BPE, SentencePiece

MAX_SYMBOLS = 500


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
    >>> [step.token for step in MergeTable(model).steps(["h", "u", "g"])]
    ['ug', 'hug']
    """

    def __init__(self, model: BPE) -> None:
        self._model = model
        self._ranks = {pair: rank for rank, pair in reversed(list(enumerate(model.merges)))}
        self._prefix = model.continuing_subword_prefix or ""

    def symbols(self, word: str) -> list[str]:
        """Return the initial symbols of a word: characters, byte tokens and unknown tokens."""
        return [piece.token for piece in first_symbols(word, self._model)]

    def steps(self, symbols: Sequence[str]) -> list[MergeStep] | None:
        """Return the merges in order, None for more than 500 symbols."""
        if len(symbols) > MAX_SYMBOLS:
            return None
        steps: list[MergeStep] = []
        while step := self._next_step(symbols):
            steps.append(step)
            symbols = step.apply_to(symbols)
        return steps

    def note(self, word: str) -> str | None:
        """Return a note on a word that is an entry, so that encoding does not merge its symbols.

        >>> model = BPE({"u": 0, "g": 1, "ug": 2}, (("u", "g"),), ignore_merges=True)
        >>> MergeTable(model).note("ug")
        'an entry: the encoder takes it whole (ignore_merges), without these merges'
        """
        model = self._model
        if not model.ignore_merges or word not in model.vocab or len(word) > MAX_SYMBOLS:
            return None
        symbols = self.symbols(word)
        if symbols == [word]:
            return None
        for step in self.steps(symbols) or []:
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

    def steps(self, text: str) -> list[MergeStep] | None:
        """Return the merges in order, None for more than 500 characters."""
        if len(text) > MAX_SYMBOLS:
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
        return steps
