"""Token counts of one tokenizer on a corpus, accumulated batch by batch, and what unknown words cost.

An unknown word costs one token for each of its bytes, as with byte fallback. It is the span of an
unknown token in the text before normalization. Models that have no unknown token and leave out unknown
characters are measured as if they had one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from piecework import Batch, Tokenizer
from piecework._internal.types import Progress
from piecework._internal.validation import check_tokenizer
from piecework.analysis.corpus_texts import Texts, reading
from piecework.analysis.entry_bytes import PLAIN_TEXT, vocabulary_entries
from piecework.analysis.readable import is_byte_level
from piecework.analysis.round_trip import unknown_id_of, without_truncation_and_padding
from piecework.spec import BPE
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.train import Counts

Numbers = npt.NDArray[np.int64]

_UNKNOWN = "\ufffe unknown"


class UnknownBytes:
    """Count the bytes of texts that unknown tokens of one tokenizer cover.

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
    """Return whether the model leaves out unknown characters; others raise an error."""
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
        self.unknown_bytes = 0
        self._unknown_id = unknown_id_of(self.tokenizer)
        self._unknown_bytes = UnknownBytes(self.tokenizer)

    def add(self, texts: Sequence[str], num_threads: int | None) -> Batch:
        """Encode texts, add their counts and return the batch."""
        batch = self.tokenizer.encode_batch(texts, num_threads=num_threads, **PLAIN_TEXT)
        self.id_counts += np.bincount(batch.ids, minlength=len(self.id_counts))
        lengths, counts = np.unique(batch.lengths, return_counts=True)
        self.texts_by_length.update(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))
        return batch

    def add_charged(self, texts: Sequence[str], num_threads: int | None) -> npt.NDArray[np.int64]:
        """Do the same and add the bytes of unknown words; return the charged tokens of each text."""
        batch = self.add(texts, num_threads)
        unknown_bytes = self._unknown_bytes.of(texts, batch, num_threads)
        self.unknown_bytes += int(unknown_bytes.sum())
        return batch.lengths - self._unknown_bytes.tokens(batch) + unknown_bytes

    @property
    def charged_tokens(self) -> int:
        """The number of charged tokens so far."""
        return self.tokens - self.unknown_tokens + self.unknown_bytes

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


def token_counts(
    tokenizer: Tokenizer,
    texts: Texts,
    *,
    num_threads: int | None = None,
    progress: Progress = None,
) -> npt.NDArray[np.int64]:
    """Encode texts and count each id; returns int64 of shape (highest id + 1,).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> token_counts(tok, ["abba", "abc"])
    array([1, 3, 3])

    `compare` describes texts and progress; `corpus.read_corpus` reads files.
    """
    check_tokenizer(tokenizer)
    counts = CorpusCounts(tokenizer)
    with reading("counting", [texts], progress) as rows_of:
        for rows in rows_of(texts):
            counts.add(rows.to_list(), num_threads)
    return counts.id_counts


# ---- count the words of a corpus of any size in bounded memory: if there are too many, rare ones are dropped


MOST_WORDS = 100_000
"""The number of distinct words that are kept when there are twice as many."""
LONGEST_WORD = 32
"""Words of more characters are left out."""


class FrequentWords:
    """The most frequent words of a corpus with their counts.

    >>> words = FrequentWords()
    >>> words.add(Counts(["hug", "pug"], [10, 5]))
    >>> words.add(Counts(["pug"], [6]))
    >>> words.most_common()
    [('pug', 11), ('hug', 10)]

    Up to twice `MOST_WORDS` distinct words, counts are exact. Above that, the rarest words are dropped from
    time to time; a dropped word that occurs again starts at zero.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, counts: Counts) -> None:
        """Add the counts of some texts."""
        total = self._counts
        for word, count in zip(counts.words, counts.counts.tolist(), strict=True):
            if len(word) <= LONGEST_WORD:
                total[word] = total.get(word, 0) + count
        if len(total) > 2 * MOST_WORDS:
            by_count = sorted(total.items(), key=itemgetter(1), reverse=True)
            self._counts = dict(by_count[:MOST_WORDS])

    def most_common(self) -> list[tuple[str, int]]:
        """Return the words by decreasing count, then by code points."""
        return sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
