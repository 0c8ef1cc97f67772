"""Inspect one vocabulary: which kinds of entries it has, and how many of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from piecework import Tokenizer
from piecework._internal.validation import check_tokenizer
from piecework.analysis.blocks import PlainData
from piecework.analysis.corpus_texts import SCRIPT_TEXTS
from piecework.analysis.entry_bytes import PLAIN_TEXT, Entry, family, vocabulary_entries
from piecework.analysis.round_trip import RoundTrip, measure_round_trip
from piecework.spec import BPE

_LETTERS, _OTHERS = 40, 24
_BYTE_TRIALS = 128
# All characters of two bytes, and every 61st of the longer ones: 61 is prime, so every byte value occurs.
_TEST_CHARACTERS = (*range(0x80, 0x800), *range(0x800, 0xD800, 61), *range(0xE000, 0x110000, 61))


def unreachable(tokenizer: Tokenizer, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that no tested text produces, in order; added tokens count as reachable."""
    own = [entry for entry in entries if not entry.is_added]
    partial = [entry for entry in own if entry.text is None and not entry.is_byte]
    missing_bytes = _missing_bytes(tokenizer, [entry for entry in own if entry.is_byte])
    missing = _not_merged(tokenizer, partial)
    missing |= {entry.id for entry in missing_bytes if entry.text is None}
    texts = [entry for entry in own if entry.text is not None and not entry.is_byte]
    texts += [entry for entry in missing_bytes if entry.text is not None]
    for before, after in _contexts(texts):
        if before or not all(entry.is_inside for entry in texts):
            texts = _not_produced(tokenizer, texts, before, after)
    missing |= {entry.id for entry in texts}
    return [entry for entry in own if entry.id in missing]


def _contexts(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield contexts (before, after): first none, then short tokens of the vocabulary."""
    yield "", ""
    shortest = sorted((entry for entry in entries if not entry.is_inside), key=lambda e: e.chars)
    texts = [entry.text or "" for entry in shortest]
    carriers = [text for text in texts if text.strip().isalpha()][:_LETTERS]
    carriers += [text for text in texts if not text.strip().isalpha()][:_OTHERS]
    yield from ((carrier, "") for carrier in carriers)
    yield from (("", carrier) for carrier in carriers)


def _not_produced(
    tokenizer: Tokenizer, entries: Sequence[Entry], before: str, after: str
) -> list[Entry]:
    """Return the entries that are missing from the encoding of their text in this context."""
    texts = [f"{before}{entry.text}{after}" for entry in entries]
    produced = _contains(tokenizer, texts, [entry.id for entry in entries])
    return [entry for entry, found in zip(entries, produced, strict=True) if not found]


def _missing_bytes(tokenizer: Tokenizer, entries: Sequence[Entry]) -> list[Entry]:
    """Return the byte tokens that no encoding of a tested character contains."""
    holders: dict[int, list[str]] = {byte: [chr(byte)] for byte in range(0x80)}
    for code in _TEST_CHARACTERS:
        for byte in set(chr(code).encode()):
            holders.setdefault(byte, []).append(chr(code))
    trials = []
    for entry in entries:
        characters = holders.get(entry.data[0], [])
        every = max(1, len(characters) // _BYTE_TRIALS)
        trials += [(entry.id, character) for character in characters[::every]]
    ids = [id for id, _ in trials]
    produced = _contains(tokenizer, [text for _, text in trials], ids)
    found = {id for id, ok in zip(ids, produced, strict=True) if ok}
    return [entry for entry in entries if entry.id not in found]


def _not_merged(tokenizer: Tokenizer, entries: Sequence[Entry]) -> set[int]:
    """Return the ids of entries that the merges do not produce from their own symbols.

    The merges inside a token are the same in every text that produces it, so this condition is necessary.
    """
    missing = {entry.id for entry in entries}
    model = tokenizer.spec.model
    if not entries or not isinstance(model, BPE):
        return missing
    # With ignore_merges, a whole word in the vocabulary skips the merges; a partial character is not a word.
    at_ends = replace(model, ignore_merges=False)
    suffix = model.end_of_word_suffix or ""
    for bare, is_end in ((at_ends, True), (replace(at_ends, end_of_word_suffix=None), False)):
        chosen = [
            entry for entry in entries if (bool(suffix) and entry.token.endswith(suffix)) == is_end
        ]
        texts = [entry.token.removesuffix(suffix) for entry in chosen]
        ids = [entry.id for entry in chosen]
        produced = _contains(Tokenizer(bare), texts, ids)
        missing -= {id for id, ok in zip(ids, produced, strict=True) if ok}
    return missing


def _contains(tokenizer: Tokenizer, texts: Sequence[str], ids: Sequence[int]) -> list[bool]:
    """Return for each text whether its encoding contains the id at the same position of `ids`."""
    if not texts:
        return []
    batch = tokenizer.encode_batch(texts, **PLAIN_TEXT)
    rows = np.repeat(np.arange(len(texts)), batch.lengths)
    hits = rows[batch.ids == np.asarray(ids, np.int64)[rows]]
    return [count > 0 for count in np.bincount(hits, minlength=len(texts)).tolist()]


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
