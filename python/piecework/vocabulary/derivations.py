"""What the entries of a BPE model are made of.

An entry comes out of a text when the merges of its own characters end in it alone. The merges that lead
there do not depend on what stands around it, so an entry stays reachable as long as they stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from piecework.spec import BPE

_LONGEST_DERIVED = 256


class Derivations:
    """The entries that entries are made of."""

    def __init__(self, model: BPE) -> None:
        self._vocab = model.vocab
        self._prefix = model.continuing_subword_prefix or ""
        self._suffix = model.end_of_word_suffix or ""
        self._ranks = {merge: rank for rank, merge in enumerate(model.merges)}
        self._makers: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for left, right in self._ranks:
            self._makers[self.joined(left, right)].append((left, right))

    def joined(self, left: str, right: str) -> str:
        """Return the entry that a merge makes."""
        return left + right[len(self._prefix) :]

    def closure(self, entries: Iterable[str]) -> set[str]:
        """Return the entries with all those that lead to them.

        Of an entry that its characters do not end in, every merge that makes it counts.
        """
        waiting, closed = list(entries), set[str]()
        while waiting:
            entry = waiting.pop()
            if entry not in closed:
                closed.add(entry)
                derived = self._derivation(entry)
                if derived is None:
                    waiting.extend(part for merge in self._makers[entry] for part in merge)
                else:
                    closed.update(derived)
        return closed

    def _derivation(self, entry: str) -> set[str] | None:
        """Return all entries on the way from characters to an entry, None when it is not reached."""
        ways = [self._steps(symbols, entry) for symbols in self._spellings(entry)]
        found = [way for way in ways if way is not None]
        return set().union(*found) if found else None

    def _spellings(self, entry: str) -> Iterator[list[str]]:
        """Spell an entry as it would stand in a word: at its beginning or not, at its end or not."""
        for prefix in {"", self._prefix}:
            for suffix in {"", self._suffix}:
                if entry.startswith(prefix) and entry.endswith(suffix):
                    body = entry[len(prefix) : len(entry) - len(suffix)]
                    if 0 < len(body) <= _LONGEST_DERIVED:
                        symbols = [prefix + body[0], *(self._prefix + char for char in body[1:])]
                        symbols[-1] += suffix
                        yield symbols

    def _steps(self, symbols: list[str], entry: str) -> set[str] | None:
        """Merge symbols and return all that there ever were, None unless they end in the entry."""
        seen = set(symbols)
        if not seen <= self._vocab.keys():
            return None
        while len(symbols) > 1:
            ranks = [
                (self._ranks[pair], at)
                for at, pair in enumerate(pairwise(symbols))
                if pair in self._ranks
            ]
            if not ranks:
                return None
            _, at = min(ranks)
            symbols[at : at + 2] = [self.joined(symbols[at], symbols[at + 1])]
            seen.add(symbols[at])
        return seen if symbols == [entry] else None
