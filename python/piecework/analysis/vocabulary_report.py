"""One tokenizer looked at from outside: what kinds of entries its vocabulary has, and how many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from piecework.analysis.entry_bytes import Entry, family, vocabulary_entries
from piecework.analysis.reachability import unreachable
from piecework.tokenizer import Tokenizer


@dataclass(frozen=True)
class Inspection:
    """What a vocabulary holds; tokens are written as the vocabulary writes them, in id order.

    `byte_tokens` stand for one byte each, as in byte-level vocabularies or `<0x0A>`. `invalid_utf8`
    are no text alone. `numeric` are nothing but Unicode decimal digits once stripped of spaces and
    marks. `unreachable`: no text was found that gives the token. `duplicates` are groups of tokens
    that stand for the same bytes in the same place. `entry_lengths` are pairs of a length in
    characters and the number of tokens of that length.
    """

    family: str
    vocab_size: int
    inside_words: int
    special: tuple[str, ...]
    added: tuple[str, ...]
    byte_tokens: tuple[str, ...]
    invalid_utf8: tuple[str, ...]
    numeric: tuple[str, ...]
    unreachable: tuple[str, ...]
    duplicates: tuple[tuple[str, ...], ...]
    entry_lengths: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as dicts, lists, strings and numbers."""
        return {name: _listed(value) for name, value in asdict(self).items()}


def inspect(tokenizer: Tokenizer) -> Inspection:
    """Look at every token of a tokenizer.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2, "12": 3, "##!": 4}))
    >>> found = inspect(tok)
    >>> found.family, found.vocab_size, found.inside_words, found.numeric
    ('WordPiece', 5, 2, ('12',))

    A few encodings for each token; some seconds for the largest vocabularies.
    """
    entries = vocabulary_entries(tokenizer)
    added = sorted(tokenizer.added_tokens, key=lambda token: token.id)
    return Inspection(
        family=family(tokenizer.spec),
        vocab_size=len(entries),
        inside_words=sum(entry.is_inside for entry in entries),
        special=tuple(token.content for token in added if token.special),
        added=tuple(token.content for token in added if not token.special),
        byte_tokens=tuple(entry.token for entry in entries if entry.is_byte),
        invalid_utf8=tuple(entry.token for entry in entries if entry.text is None),
        numeric=tuple(entry.token for entry in entries if is_numeric(entry)),
        unreachable=tuple(entry.token for entry in unreachable(tokenizer, entries)),
        duplicates=_duplicates(entries),
        entry_lengths=entry_lengths(entries),
    )


def is_numeric(entry: Entry) -> bool:
    """Tell whether an entry is nothing but Unicode decimal digits, spaces around them aside."""
    return (entry.text or "").strip().isdecimal()


def entry_lengths(entries: Sequence[Entry]) -> tuple[tuple[int, int], ...]:
    """Return how many entries there are of each length in characters, shortest first."""
    return tuple(sorted(Counter(entry.chars for entry in entries).items()))


def _duplicates(entries: Sequence[Entry]) -> tuple[tuple[str, ...], ...]:
    same: dict[tuple[bytes, bool], list[str]] = defaultdict(list)
    for entry in entries:
        same[entry.data, entry.is_inside].append(entry.token)
    return tuple(tuple(tokens) for tokens in same.values() if len(tokens) > 1)


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, (list, tuple)) else value
