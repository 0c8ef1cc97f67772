"""Token counts of one tokenizer on a corpus, accumulated batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from piecework import Tokenizer
from piecework.analysis.entry_bytes import PLAIN_TEXT, vocabulary_entries
from piecework.analysis.round_trip import without_truncation_and_padding


class CorpusCounts:
    """The count of each id, and the histogram of tokens per text.

    With n tokens in total, the histogram has at most sqrt(2n) lengths.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = without_truncation_and_padding(tokenizer)
        self.entries = vocabulary_entries(self.tokenizer)
        self.id_counts = np.zeros(
            max((entry.id for entry in self.entries), default=-1) + 1, np.int64
        )
        self.texts_by_length: Counter[int] = Counter()
        unknown = getattr(self.tokenizer.spec.model, "unk_token", None)
        self._unknown_id = None if unknown is None else self.tokenizer.token_to_id(unknown)

    def add(self, texts: Sequence[str], num_threads: int | None) -> None:
        """Encode texts and add their counts."""
        batch = self.tokenizer.encode_batch(texts, num_threads=num_threads, **PLAIN_TEXT)
        self.id_counts += np.bincount(batch.ids, minlength=len(self.id_counts))
        lengths, counts = np.unique(batch.lengths, return_counts=True)
        self.texts_by_length.update(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))

    @property
    def tokens(self) -> int:
        """The number of tokens so far."""
        return int(self.id_counts.sum())

    @property
    def unknown_tokens(self) -> int:
        """The number of unknown tokens so far."""
        return 0 if self._unknown_id is None else int(self.id_counts[self._unknown_id])

    def token_lengths(self) -> tuple[tuple[int, int], ...]:
        """Return pairs of a length in characters and the number of tokens; unknown tokens are excluded."""
        lengths: Counter[int] = Counter()
        for entry in self.entries:
            if entry.id != self._unknown_id:
                lengths[entry.chars] += int(self.id_counts[entry.id])
        return tuple((length, count) for length, count in sorted(lengths.items()) if count)
