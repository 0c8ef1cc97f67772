"""Find the entries that BPE merges to build an entry.

A tokenizer can output an entry if merging its own characters results in this entry. These merges do not
depend on the context, so the entry stays reachable as long as the merges stay in the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

from piecework.spec import BPE, Model, SentencePiece

_MAX_CHARACTERS = 256  # longer entries keep every merge that makes them

Merge: TypeAlias = tuple[str, str]


class ListedMerges:
    """The merges of a BPE model, which lists them."""

    def __init__(self, model: BPE) -> None:
        self._prefix = model.continuing_subword_prefix or ""
        self._suffix = model.end_of_word_suffix or ""
        self.ranks = {merge: float(rank) for rank, merge in enumerate(model.merges)}
        self._makers: dict[str, list[Merge]] = defaultdict(list)
        for left, right in self.ranks:
            self._makers[self.merged(left, right)].append((left, right))

    def merged(self, left: str, right: str) -> str:
        """Return the token of a merge."""
        return left + right[len(self._prefix) :]

    def rank(self, left: str, right: str) -> float | None:
        """Return the position of a merge in the list."""
        return self.ranks.get((left, right))

    def makers(self, entry: str) -> list[Merge]:
        """Return the merges that make an entry."""
        return [merge for merge in self._makers.get(entry, ()) if merge in self.ranks]

    def splits(self, entry: str) -> Iterator[list[str]]:
        """Yield the symbols of an entry at the start or not, and at the end or not, of a word."""
        for prefix in {"", self._prefix}:
            for suffix in {"", self._suffix}:
                if entry.startswith(prefix) and entry.endswith(suffix):
                    body = entry[len(prefix) : len(entry) - len(suffix)]
                    if 0 < len(body) <= _MAX_CHARACTERS:
                        yield self.symbols(body, prefix, suffix)

    def symbols(self, body: str, prefix: str = "", suffix: str | None = None) -> list[str]:
        """Return the symbols of a word without prefix and suffix."""
        symbols = [prefix + body[0], *(self._prefix + char for char in body[1:])]
        symbols[-1] += self._suffix if suffix is None else suffix
        return symbols

    def add(self, left: str, right: str, rank: float | None = None) -> None:
        """Add a merge with this rank, or after all others."""
        self.ranks[left, right] = float(len(self.ranks)) if rank is None else rank
        self._makers[self.merged(left, right)].append((left, right))


class ScoredMerges:
    """The merges of a SentencePiece BPE model: each pair whose text is a piece, by decreasing score."""

    def __init__(self, model: SentencePiece) -> None:
        self._scores = {
            piece.text: piece.score
            for piece in model.pieces
            if piece.type in ("normal", "unused", "user_defined")
        }
        self._lowest = min((piece.score for piece in model.pieces), default=0.0)

    def merged(self, left: str, right: str) -> str:
        """Return the text of a pair."""
        return left + right

    def rank(self, left: str, right: str) -> float | None:
        """Return the negative score of the piece of a pair."""
        score = self._scores.get(left + right)
        return None if score is None else -score

    def makers(self, entry: str) -> list[Merge]:
        """Return the splits of an entry into two pieces."""
        splits = ((entry[:cut], entry[cut:]) for cut in range(1, len(entry)))
        return [(one, two) for one, two in splits if {one, two} <= self._scores.keys()]

    def splits(self, entry: str) -> Iterator[list[str]]:
        """Yield the characters of an entry."""
        if len(entry) <= _MAX_CHARACTERS:
            yield list(entry)

    def add(self, left: str, right: str) -> None:
        """Add the piece of a pair, with a score below all others."""
        self._lowest -= 1.0
        self._scores[left + right] = self._lowest

    def remove(self, entry: str) -> float:
        """Remove a piece and return its score."""
        return self._scores.pop(entry)

    def restore(self, entry: str, score: float) -> None:
        """Add a piece that was removed."""
        self._scores[entry] = score


MergeRules: TypeAlias = ListedMerges | ScoredMerges


def merge_rules(model: Model) -> MergeRules | None:
    """Return the merges of a model, None for a model without merges."""
    if isinstance(model, BPE):
        return ListedMerges(model)
    if isinstance(model, SentencePiece) and model.kind == "bpe":
        return ScoredMerges(model)
    return None


class Derivations:
    """The derivations of the entries of one model, empty for a model without merges."""

    def __init__(self, model: Model) -> None:
        self._vocab = model.vocab.keys()
        self._rules = merge_rules(model)

    def closure(self, entries: Iterable[str]) -> set[str]:
        """Return the entries and all entries that their derivations use.

        For an entry that merging its characters does not produce, all merges that make it are used.
        """
        waiting, closed = list(entries), set[str]()
        while waiting and self._rules is not None:
            entry = waiting.pop()
            if entry not in closed:
                closed.add(entry)
                derived = self.symbols_of(entry)
                if derived is None:
                    waiting.extend(token for merge in self._rules.makers(entry) for token in merge)
                else:
                    closed.update(derived)
        return closed.union(waiting)

    def uses(self, entry: str) -> set[str]:
        """Return the other entries that the merges of an entry need."""
        if self._rules is None:
            return set()
        derived = self.symbols_of(entry)
        if derived is None:
            derived = {token for merge in self._rules.makers(entry) for token in merge}
        return derived - {entry}

    def symbols_of(self, entry: str) -> set[str] | None:
        """Return all symbols that merging the characters of an entry uses, None if it fails."""
        rules = self._rules
        if rules is None:
            return {entry}
        derivations = [self._symbols_used(rules, split, entry) for split in rules.splits(entry)]
        found = [symbols for symbols in derivations if symbols is not None]
        return set().union(*found) if found else None

    def _symbols_used(self, rules: MergeRules, symbols: list[str], entry: str) -> set[str] | None:
        """Merge symbols; return all intermediate symbols, None unless the result is the entry."""
        seen = set(symbols)
        if isinstance(rules, ListedMerges) and not seen <= self._vocab:
            return None
        seen.update(merge_steps(rules, symbols))
        return seen & self._vocab if symbols == [entry] else None


def merge_steps(rules: MergeRules, symbols: list[str]) -> Iterator[str]:
    """Merge symbols in place, lowest rank first, then leftmost; yield the token of each merge."""
    while len(symbols) > 1:
        ranked = ((rules.rank(*pair), index) for index, pair in enumerate(pairwise(symbols)))
        best = min(((rank, index) for rank, index in ranked if rank is not None), default=None)
        if best is None:
            return
        index = best[1]
        symbols[index : index + 2] = [rules.merged(symbols[index], symbols[index + 1])]
        yield symbols[index]


def merge_all(rules: MergeRules, start: Iterable[str]) -> list[str]:
    """Return the symbols that remain after all merges."""
    symbols = list(start)
    for _ in merge_steps(rules, symbols):
        pass
    return symbols
