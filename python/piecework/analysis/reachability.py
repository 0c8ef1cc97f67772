"""Find the tokens that encoding never produces.

The text of each token is encoded alone, then after and before the shortest tokens of the vocabulary,
until an encoding contains the token. This takes a few encodings per token, in batches. A byte token is
tested with characters whose UTF-8 contains the byte. A token that is not valid UTF-8 has no text; it is
reachable if the merges produce it from its own symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from piecework import Tokenizer
from piecework.analysis.entry_bytes import PLAIN_TEXT, Entry
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
    trials = [
        (entry.id, character)
        for entry in entries
        for character in _evenly_spaced(holders.get(entry.data[0], []))
    ]
    ids = [id for id, _ in trials]
    produced = _contains(tokenizer, [text for _, text in trials], ids)
    found = {id for id, ok in zip(ids, produced, strict=True) if ok}
    return [entry for entry in entries if entry.id not in found]


def _evenly_spaced(characters: Sequence[str]) -> Sequence[str]:
    """Return at most about `_BYTE_TRIALS` characters, evenly spaced."""
    return characters[:: max(1, len(characters) // _BYTE_TRIALS)]


def _not_merged(tokenizer: Tokenizer, entries: Sequence[Entry]) -> set[int]:
    """Return the ids of entries that the merges do not produce from their own symbols.

    The merges inside a token are the same in every text that produces it, so this condition is necessary.
    """
    missing = {entry.id for entry in entries}
    model = tokenizer.spec.model
    if not entries or not isinstance(model, BPE):
        return missing
    # With ignore_merges, a whole word in the vocabulary skips the merges; a partial character is no word.
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
