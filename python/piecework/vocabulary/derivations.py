"""Find the entries that BPE merges to build an entry.

A tokenizer can output an entry if merging its own characters results in this entry. These merges do not
depend on the context, so the entry stays reachable as long as the merges stay in the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from piecework.spec import BPE

_MAX_CHARACTERS = 256  # longer entries keep every merge that makes them


class Derivations:
    """The derivations of the entries of one model."""

    def __init__(self, model: BPE) -> None:
        self._vocab = model.vocab
        self._prefix = model.continuing_subword_prefix or ""
        self._suffix = model.end_of_word_suffix or ""
        self._ranks = {merge: rank for rank, merge in enumerate(model.merges)}
        self._makers: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for left, right in self._ranks:
            self._makers[self._merged(left, right)].append((left, right))

    def _merged(self, left: str, right: str) -> str:
        """Return the token of a merge."""
        return left + right[len(self._prefix) :]

    def closure(self, entries: Iterable[str]) -> set[str]:
        """Return the entries and all entries that their derivations use.

        For an entry that merging its characters does not produce, all merges that make it are used.
        """
        waiting, closed = list(entries), set[str]()
        while waiting:
            entry = waiting.pop()
            if entry not in closed:
                closed.add(entry)
                derived = self._derivation(entry)
                if derived is None:
                    waiting.extend(token for merge in self._makers[entry] for token in merge)
                else:
                    closed.update(derived)
        return closed

    def _derivation(self, entry: str) -> set[str] | None:
        """Return all symbols that merging the characters of an entry uses, None if it fails."""
        derivations = [self._symbols_used(symbols, entry) for symbols in self._splits(entry)]
        found = [symbols for symbols in derivations if symbols is not None]
        return set().union(*found) if found else None

    def _splits(self, entry: str) -> Iterator[list[str]]:
        """Yield the symbols of an entry at the start or not, and at the end or not, of a word."""
        for prefix in {"", self._prefix}:
            for suffix in {"", self._suffix}:
                if entry.startswith(prefix) and entry.endswith(suffix):
                    body = entry[len(prefix) : len(entry) - len(suffix)]
                    if 0 < len(body) <= _MAX_CHARACTERS:
                        symbols = [prefix + body[0], *(self._prefix + char for char in body[1:])]
                        symbols[-1] += suffix
                        yield symbols

    def _symbols_used(self, symbols: list[str], entry: str) -> set[str] | None:
        """Merge symbols; return all symbols on the way, None unless the result is the entry."""
        seen = set(symbols)
        if not seen <= self._vocab.keys():
            return None
        while len(symbols) > 1:
            ranks = [
                (self._ranks[pair], index)
                for index, pair in enumerate(pairwise(symbols))
                if pair in self._ranks
            ]
            if not ranks:
                return None
            _, index = min(ranks)
            symbols[index : index + 2] = [self._merged(symbols[index], symbols[index + 1])]
            seen.add(symbols[index])
        return seen if symbols == [entry] else None
