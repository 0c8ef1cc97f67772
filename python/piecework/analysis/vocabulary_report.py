"""Inspect one vocabulary: which kinds of entries it has, and how many of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piecework import Tokenizer
from piecework._internal.validation import check_tokenizer
from piecework.analysis.blocks import PlainData
from piecework.analysis.corpus_texts import SCRIPT_TEXTS
from piecework.analysis.entry_bytes import (
    Entry,
    family,
    fused_line_ends,
    vocabulary_entries,
)
from piecework.analysis.reachability import reachability
from piecework.analysis.round_trip import RoundTrip, measure_round_trip


@dataclass(frozen=True)
class Inspection(PlainData):
    """The kinds of entries of a vocabulary; tokens are written as in the vocabulary, in order of ids.

    >>> import piecework as pw
    >>> found = pw.analysis.inspect(pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "7": 2})))
    >>> found.vocab_size, found.numeric, found.to_dict()["entry_lengths"]
    (3, ('7',), [[1, 2], [5, 1]])

    - `inside_words`: the number of tokens with a continuation prefix.
    - `byte_tokens`: tokens for a single byte, such as `<0x0A>`.
    - `invalid_utf8`: tokens whose bytes are not valid UTF-8.
    - `numeric`: tokens of Unicode decimal digits only, apart from spaces and word markers.
    - `fused_line_ends`: tokens that join a line end to symbols before it, or to anything after it.
    - `unreachable`: tokens that no tested text produces.
    - `duplicates`: groups of tokens with the same bytes at the same position of a word.
    - `entry_lengths`: pairs of a length in characters and the number of tokens of that length.
    - `round_trip`: what texts lose when they are encoded and decoded.
    """

    family: str
    vocab_size: int
    inside_words: int
    special: tuple[str, ...]
    added: tuple[str, ...]
    byte_tokens: tuple[str, ...]
    invalid_utf8: tuple[str, ...]
    numeric: tuple[str, ...]
    fused_line_ends: tuple[str, ...]
    unreachable: tuple[str, ...]
    duplicates: tuple[tuple[str, ...], ...]
    entry_lengths: tuple[tuple[int, int], ...]
    round_trip: RoundTrip


def inspect(tokenizer: Tokenizer, texts: Iterable[str] | None = None) -> Inspection:
    """Inspect every token of a tokenizer.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2, "12": 3, "##!": 4}))
    >>> found = inspect(tok)
    >>> found.family, found.vocab_size, found.inside_words, found.numeric
    ('WordPiece', 5, 2, ('12',))

    `texts` are measured for `round_trip`; None means a short text in 22 scripts.

    Encodes a few texts for each token, which takes seconds for vocabularies of 200,000 tokens.
    """
    check_tokenizer(tokenizer)
    entries = vocabulary_entries(tokenizer)
    reached = reachability(tokenizer, entries).texts
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
        fused_line_ends=tuple(entry.token for entry in fused_line_ends(tokenizer.spec, entries)),
        unreachable=tuple(
            entry.token for entry in entries if not entry.is_added and entry.id not in reached
        ),
        duplicates=_duplicates(entries),
        entry_lengths=entry_lengths(entries),
        round_trip=measure_round_trip(tokenizer, SCRIPT_TEXTS if texts is None else texts),
    )


def is_numeric(entry: Entry) -> bool:
    """Return whether an entry consists of Unicode decimal digits, apart from surrounding spaces."""
    return (entry.text or "").strip().isdecimal()


def entry_lengths(entries: Sequence[Entry]) -> tuple[tuple[int, int], ...]:
    """Return pairs of a length in characters and the number of entries, shortest first."""
    return tuple(sorted(Counter(entry.chars for entry in entries).items()))


def _duplicates(entries: Sequence[Entry]) -> tuple[tuple[str, ...], ...]:
    same: dict[tuple[bytes, bool], list[str]] = defaultdict(list)
    for entry in entries:
        same[entry.data, entry.is_inside].append(entry.token)
    return tuple(tuple(tokens) for tokens in same.values() if len(tokens) > 1)
