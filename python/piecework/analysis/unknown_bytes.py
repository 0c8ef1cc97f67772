"""What unknown words cost: one token for each of their bytes, as byte fallback would give.

An unknown word is the span of an unknown token in the text before normalization. Some models have no unknown
token and leave out what they do not know; they are measured as if they had one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from piecework import Batch, Tokenizer
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.analysis.readable_tokens import is_byte_level
from piecework.analysis.round_trip import unknown_id_of
from piecework.spec import BPE
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE

Numbers = npt.NDArray[np.int64]

_UNKNOWN = "\ufffe unknown"


class UnknownBytes:
    """Counts the bytes of texts that unknown tokens of one tokenizer cover.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> texts = ["aé日", "a"]
    >>> UnknownBytes(tok).of(texts, tok.encode_batch(texts)).tolist()
    [5, 0]
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer, self._unknown_id = tokenizer, unknown_id_of(tokenizer)
        self._drops = self._unknown_id is None and _can_drop(tokenizer)
        if self._drops:
            self._tokenizer = _with_unknown_token(tokenizer)
            self._unknown_id = unknown_id_of(self._tokenizer)

    def tokens(self, batch: Batch) -> Numbers:
        """Return the number of unknown tokens of each row of a batch of the tokenizer."""
        if self._unknown_id is None or self._drops:
            return np.zeros(len(batch), np.int64)
        unknown = np.concatenate(([0], np.cumsum(batch.ids == self._unknown_id)))
        return np.diff(unknown[batch.row_offsets])

    def of(
        self, texts: Sequence[str], batch: Batch, num_threads: int | None = None, *, start: int = 0
    ) -> Numbers:
        """Return the bytes of UTF-8 of each text, from byte `start`, that unknown tokens cover.

        `batch` has the texts as the tokenizer encodes them. A byte that several tokens cover counts once.
        """
        found = np.zeros(len(texts), np.int64)
        if self._unknown_id is None:
            return found
        rows = np.arange(len(texts)) if self._drops else np.flatnonzero(self.tokens(batch))
        if len(rows):
            found[rows] = self._of_rows([texts[row] for row in rows.tolist()], num_threads, start)
        return found

    def _of_rows(self, texts: Sequence[str], num_threads: int | None, start: int) -> Numbers:
        batch = self._tokenizer.encode_batch(
            texts, offsets="bytes", num_threads=num_threads, **PLAIN_TEXT
        )
        at = np.flatnonzero(batch.ids == self._unknown_id)
        rows = np.searchsorted(batch.row_offsets, at, side="right") - 1
        # Rows one after the other, so that positions rise and a running maximum is the end so far.
        first = rows * (int(batch.offsets.max(initial=0)) + start + 1)
        starts, ends = batch.offsets[at].astype(np.int64).T
        ends_before = np.maximum.accumulate(np.concatenate(([0], first + ends)))[:-1]
        covered = first + ends - np.maximum(first + np.maximum(starts, start), ends_before)
        found = np.zeros(len(texts), np.int64)
        np.add.at(found, rows, np.maximum(covered, 0))
        return found


def _can_drop(tokenizer: Tokenizer) -> bool:
    """Return whether the model leaves out characters that it does not know; others raise an error."""
    model = tokenizer.spec.model
    if not isinstance(model, BPE):
        return False
    alphabet = CHARACTER_OF_BYTE if is_byte_level(tokenizer.spec) else ()
    return not alphabet or any(character not in model.vocab for character in alphabet)


def _with_unknown_token(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer with an unknown token in its model."""
    spec = tokenizer.spec
    assert isinstance(spec.model, BPE)
    id = max([*spec.model.vocab.values(), *(token.id for token in spec.added_tokens)], default=-1)
    model = replace(spec.model, vocab={**spec.model.vocab, _UNKNOWN: id + 1}, unk_token=_UNKNOWN)
    return Tokenizer.from_spec(replace(spec, model=model))
