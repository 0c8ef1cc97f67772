"""What trainers of entries learn: the vocabulary, and the merges or removals that led to it."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._core import LearnedEntries
from piecework._internal.validation import PathLike
from piecework.train.learned_files import read_learned, write_learned


@dataclass(frozen=True)
class Merge:
    """One merge of a trainer that merges pairs: the pair `left`, `right` becomes `token`.

    `pair_count` is the number of occurrences of the pair in the corpus, `score` its score.
    """

    left: str
    right: str
    token: str
    pair_count: int
    score: float


@dataclass(frozen=True)
class Removal:
    """One step of pruning: the removal of `token` adds `loss` to the cost of the corpus, in tokens.

    `put_back` is the token that returns to the vocabulary in exchange, None without one.
    """

    token: str
    loss: float
    put_back: str | None = None


@dataclass(frozen=True)
class LearnedVocabulary:
    """What a BPE or WordPiece trainer learned: entries in id order, and any merges in order.

    >>> from piecework.train import BPETrainer, count_texts
    >>> trainer = BPETrainer(vocab_size=4, special_tokens=("<unk>",), min_frequency=1)
    >>> learned = trainer.learn_vocabulary(count_texts(["ab"], preset="whitespace"))
    >>> learned.entries, learned.merges[0].pair_count
    (('<unk>', 'a', 'b', 'ab'), 1)

    `stopped_early` is the reason why learning ended before `vocab_size`, None if it did not. `removals` are
    the steps of `WordPieceTrainer.learn_removals`, else empty.
    """

    entries: tuple[str, ...]
    merges: tuple[Merge, ...]
    stopped_early: str | None
    removals: tuple[Removal, ...] = ()

    @classmethod
    def _of(cls, learned: LearnedEntries) -> LearnedVocabulary:
        merges = tuple(Merge(*merge) for merge in learned.merges)
        removals = tuple(Removal(*removal) for removal in learned.removals)
        return cls(tuple(learned.vocab), merges, learned.stopped_early, removals)

    def save(self, path: PathLike) -> None:
        """Write the entries and merges as JSON, atomically; by custom `tokenizer.training.json`.

        >>> import tempfile
        >>> from piecework.train import BPETrainer, count_texts
        >>> trainer = BPETrainer(vocab_size=4, special_tokens=("<unk>",), min_frequency=1)
        >>> learned = trainer.learn_vocabulary(count_texts(["ab"], preset="whitespace"))
        >>> path = tempfile.mkdtemp() + "/tokenizer.training.json"
        >>> learned.save(path)
        >>> LearnedVocabulary.load(path) == learned
        True

        A tokenizer file has the result of training only, this one the count and score of each merge too.
        Raises `FileError` if the path is not writable.
        """
        rows = [(m.left, m.right, m.token, m.pair_count, m.score) for m in self.merges]
        write_learned(path, self.entries, rows, self.stopped_early)

    @classmethod
    def load(cls, path: PathLike) -> LearnedVocabulary:
        """Read a file of `save`; raises `FileError`, and `FormatError` with the field."""
        entries, rows, stopped_early = read_learned(path)
        return cls(entries, tuple(Merge(*row) for row in rows), stopped_early)

    def prefix(self, size: int) -> LearnedVocabulary:
        """Return what the same trainer learns with a smaller `vocab_size`, at least its alphabet.

        Merging adds one entry after the other, so a smaller vocabulary is the beginning of a larger one.
        """
        if size > len(self.entries):
            reason = self.stopped_early
            if reason is not None:
                learned = f"{len(self.entries)} of "
                reason = f"{reason[: reason.rindex(learned)]}{learned}{size} entries learned"
            return LearnedVocabulary(self.entries, self.merges, reason)
        length, made = self._first_size(), 0
        while length < size:
            length += self.merges[made].token == self.entries[length]
            made += 1
        return LearnedVocabulary(self.entries[:size], self.merges[:made], None)

    def _first_size(self) -> int:
        """Return the number of entries before the first merge."""
        index = {entry: position for position, entry in enumerate(self.entries)}
        indices = list(dict.fromkeys(index[merge.token] for merge in self.merges))
        later = len(indices)
        # New entries come one after the other; a merge can also yield a special token again.
        while later:
            first = len(self.entries) - later
            if [position for position in indices if position >= first] == list(
                range(first, len(self.entries))
            ):
                return first
            later -= 1
        return len(self.entries)
