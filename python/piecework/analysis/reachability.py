"""Which tokens can come out of encoding: each is sought in the encodings of texts that hold it.

A token is tried alone, then behind and before the shortest tokens of the vocabulary, until one of the
encodings has it. A few encodings a token, in batches. A byte is tried in characters that it is part
of. Bytes that are no text alone cannot be tried so: they are reachable when the merges make them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from piecework.analysis.entry_bytes import PLAINLY, Entry
from piecework.spec import BPE
from piecework.tokenizer import Tokenizer

_LETTERS, _OTHERS = 40, 24
_BYTE_TRIALS = 128
# All characters of two bytes, and every 61st (a prime: all bytes come by) of the longer ones.
_SAMPLED = (*range(0x80, 0x800), *range(0x800, 0xD800, 61), *range(0xE000, 0x110000, 61))


def unreachable(tokenizer: Tokenizer, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries for which no text was found, in order; added tokens count as reachable."""
    own = [entry for entry in entries if not entry.is_added]
    parts = [entry for entry in own if entry.text is None and not entry.is_byte]
    unspelled = _not_spelled(tokenizer, [entry for entry in own if entry.is_byte])
    missing = _not_merged(tokenizer, parts)
    missing |= {entry.id for entry in unspelled if entry.text is None}
    texts = [entry for entry in own if entry.text is not None and not entry.is_byte]
    texts += [entry for entry in unspelled if entry.text is not None]
    for before, after in _contexts(texts):
        if before or not all(entry.is_inside for entry in texts):
            texts = _not_given(tokenizer, texts, before, after)
    missing |= {entry.id for entry in texts}
    return [entry for entry in own if entry.id in missing]


def _contexts(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Give what to put before and after the texts: first nothing, then a short token of each kind."""
    yield "", ""
    shortest = sorted((entry for entry in entries if not entry.is_inside), key=lambda e: e.chars)
    texts = [entry.text or "" for entry in shortest]
    carriers = [text for text in texts if text.strip().isalpha()][:_LETTERS]
    carriers += [text for text in texts if not text.strip().isalpha()][:_OTHERS]
    yield from ((carrier, "") for carrier in carriers)
    yield from (("", carrier) for carrier in carriers)


def _not_given(
    tokenizer: Tokenizer, entries: Sequence[Entry], before: str, after: str
) -> list[Entry]:
    """Return the entries that are not among the tokens of their own text in this context."""
    texts = [f"{before}{entry.text}{after}" for entry in entries]
    given = _contains(tokenizer, texts, [entry.id for entry in entries])
    return [entry for entry, found in zip(entries, given, strict=True) if not found]


def _not_spelled(tokenizer: Tokenizer, entries: Sequence[Entry]) -> list[Entry]:
    """Return the bytes that are in the encoding of no character that has them."""
    holders: dict[int, list[str]] = {byte: [chr(byte)] for byte in range(0x80)}
    for code in _SAMPLED:
        for byte in set(chr(code).encode()):
            holders.setdefault(byte, []).append(chr(code))
    trials = [
        (entry.id, character)
        for entry in entries
        for character in _spread(holders.get(entry.data[0], []))
    ]
    ids = [id for id, _ in trials]
    given = _contains(tokenizer, [text for _, text in trials], ids)
    spelled = {id for id, ok in zip(ids, given, strict=True) if ok}
    return [entry for entry in entries if entry.id not in spelled]


def _spread(characters: Sequence[str]) -> Sequence[str]:
    """Return some of the characters, from all planes."""
    return characters[:: max(1, len(characters) // _BYTE_TRIALS)]


def _not_merged(tokenizer: Tokenizer, entries: Sequence[Entry]) -> set[int]:
    """Return the ids of those that the merges do not make of their own symbols.

    Merges inside a token run alike in every context in which it comes out, so this is necessary.
    """
    missing = {entry.id for entry in entries}
    model = tokenizer.spec.model
    if not entries or not isinstance(model, BPE):
        return missing
    # A word that is an entry is taken as it is; a part of a character is never a word.
    at_ends = replace(model, ignore_merges=False)
    suffix = model.end_of_word_suffix or ""
    for bare, is_end in ((at_ends, True), (replace(at_ends, end_of_word_suffix=None), False)):
        chosen = [
            entry for entry in entries if (bool(suffix) and entry.token.endswith(suffix)) == is_end
        ]
        texts = [entry.token.removesuffix(suffix) for entry in chosen]
        ids = [entry.id for entry in chosen]
        given = _contains(Tokenizer(bare), texts, ids)
        missing -= {id for id, ok in zip(ids, given, strict=True) if ok}
    return missing


def _contains(tokenizer: Tokenizer, texts: Sequence[str], ids: Sequence[int]) -> list[bool]:
    """Tell for each text whether its encoding has the id that stands beside it."""
    if not texts:
        return []
    batch = tokenizer.encode_batch(texts, **PLAINLY)
    rows = np.repeat(np.arange(len(texts)), batch.lengths)
    hits = rows[batch.ids == np.asarray(ids, np.int64)[rows]]
    return [many > 0 for many in np.bincount(hits, minlength=len(texts)).tolist()]
