"""What is kept of one tokenizer's encodings while a corpus goes by: sums, whatever its length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from piecework.analysis.entry_bytes import PLAINLY, vocabulary_entries
from piecework.tokenizer import Tokenizer


class Tally:
    """How often each id came out, and how many texts have how many tokens.

    There are never more different lengths than the square root of twice the tokens.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = _uncut(tokenizer)
        self.entries = vocabulary_entries(self.tokenizer)
        self.counts = np.zeros(max((entry.id for entry in self.entries), default=-1) + 1, np.int64)
        self.texts_by_length: Counter[int] = Counter()
        unknown = getattr(self.tokenizer.spec.model, "unk_token", None)
        self._unknown_id = None if unknown is None else self.tokenizer.token_to_id(unknown)

    def add(self, texts: Sequence[str], num_threads: int | None) -> None:
        """Encode some more texts."""
        batch = self.tokenizer.encode_batch(texts, num_threads=num_threads, **PLAINLY)
        self.counts += np.bincount(batch.ids, minlength=len(self.counts))
        lengths, many = np.unique(batch.lengths, return_counts=True)
        self.texts_by_length.update(dict(zip(lengths.tolist(), many.tolist(), strict=True)))

    @property
    def tokens(self) -> int:
        """All tokens so far."""
        return int(self.counts.sum())

    @property
    def unknown_tokens(self) -> int:
        """Tokens so far that stand for what the vocabulary cannot spell."""
        return 0 if self._unknown_id is None else int(self.counts[self._unknown_id])

    def token_lengths(self) -> tuple[tuple[int, int], ...]:
        """Return how many tokens so far had each length in characters; unknown ones have none."""
        lengths: Counter[int] = Counter()
        for entry in self.entries:
            if entry.id != self._unknown_id:
                lengths[entry.chars] += int(self.counts[entry.id])
        return tuple((length, many) for length, many in sorted(lengths.items()) if many)


def _uncut(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer without truncation and padding."""
    spec = tokenizer.spec
    if spec.truncation is not None:
        tokenizer = tokenizer.with_truncation(None)
    return tokenizer if spec.padding is None else tokenizer.with_padding(None)
