"""Code that several trainers use: results and checks of settings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from piecework._core import LearnedEntries
from piecework._core import LearnedPieces as CorePieces
from piecework._internal import validation as checks
from piecework._internal.progress import progress_bar
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, CorpusError, TrainingError, TrainingWarning
from piecework.train.counts import Counts
from piecework.train.learned_files import read_learned, write_learned
from piecework.train.setting_fields import Characters, Integer, Number, Switch, Text, Tokens


@dataclass(frozen=True)
class Merge:
    """One step of a learner: the pair `left`, `right` becomes `token`.

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
    """What a BPE or WordPiece trainer learned: entries in id order, merges in the order of learning.

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


# ---- settings that several trainers have

ALPHABET_ORDERS = ("sorted", "first-seen", "given")

VOCAB_SIZE = Integer("Size of the vocabulary, special tokens and alphabet included.", least=1)
MIN_FREQUENCY = Integer("Do not merge pairs that occur less often.", least=0)
LIMIT_ALPHABET = Integer(
    "Number of characters in the alphabet: those of the initial alphabet, then the most frequent.",
    least=1,
    none="no limit",
)
INITIAL_ALPHABET = Characters(
    "Characters to include even if the corpus lacks them.", metavar="CHARS"
)
SPECIAL_TOKENS = Tokens(
    "Special tokens, which get the first ids in this order.",
    option="--special-token",
    metavar="TOKEN",
)
UNK_TOKEN = Text(
    "Token of unknown characters; follows the special tokens if it is none of them.",
    metavar="TOKEN",
)
MAX_TOKEN_LENGTH = Integer(
    "Longest entry to learn, in characters without prefix and suffix.", least=1, none="no limit"
)
USER_DEFINED_SYMBOLS = Tokens(
    "Strings that are always one token.", option="--user-defined-symbol", metavar="TOKEN"
)
BYTE_FALLBACK = Switch("Encode unknown characters as byte tokens such as <0x0A>.")
CHARACTER_COVERAGE = Number(
    "Share of the text that the alphabet covers; the rarest characters are left out.",
    above=0,
    most=1,
)
SHRINKING_FACTOR = Number("Share of the pieces that each pruning step keeps.", above=0, below=1)

# ---- checkpoints


@contextmanager
def resumable(
    trainer: Any,
    counts: Counts,
    progress: Progress,
    checkpoint: PathLike | None,
    sizes: Sequence[int] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the core for a run that continues the one in a checkpoint folder."""
    with progress_bar("learning", progress) as update:
        if checkpoint is None:
            yield {"progress": update}
            return
        # Imported here because checkpoints import the trainers.
        from piecework.train.checkpoints import LearningCheckpoint

        run = LearningCheckpoint(checkpoint, counts, trainer, sizes)
        with run.kept_on_failure():
            yield {"progress": run.progress(update), **run.arguments}


# ---- corpora with too few pieces


def learn_at_most(vocab_size: int, learn: Callable[[int], CorePieces]) -> CorePieces:
    """Return what `learn` returns for a vocabulary size, or for the largest size that the corpus can fill."""
    try:
        return learn(vocab_size)
    except TrainingError as error:
        most = re.match(r"at most (\d+):", error.expected)
        if most is None:
            raise
    return learn(int(most[1]))


def warn_of_few(entries: int, vocab_size: int, why: str) -> None:
    """Warn with `TrainingWarning` if fewer entries than `vocab_size` were learned."""
    if entries < vocab_size:
        message = f"stopped early: {why}: {entries} of {vocab_size} entries learned"
        warnings.warn(message, TrainingWarning, stacklevel=3)


# ---- checks


def set_field(trainer: Any, name: str, value: object) -> None:
    """Set a field of a frozen dataclass in its `__post_init__`."""
    object.__setattr__(trainer, name, value)


def add_unknown_token(trainer: Any, *, can_be_empty: bool = False) -> None:
    """Make the unknown token the last special token, unless it is one of them.

    With `can_be_empty`, no special tokens at all stay none.
    """
    tokens, unknown = trainer.special_tokens, trainer.unk_token
    if unknown is None or unknown in tokens or (can_be_empty and not tokens):
        return
    set_field(trainer, "special_tokens", checks.distinct_tokens("unk_token", (*tokens, unknown)))


def check_counts(counts: Counts) -> None:
    """Raise `ArgumentError` for another type than `Counts`, `CorpusError` for counts without words."""
    if not isinstance(counts, Counts):
        raise ArgumentError(
            "counts", type(counts).__name__, "Counts, from count_files or count_texts"
        )
    if len(counts) == 0:
        raise CorpusError("corpus", "no words", "text to learn from")


# ---- vocabularies


def vocabulary_of(entries: Iterable[str]) -> dict[str, int]:
    """Return a vocabulary whose ids are the positions of the entries."""
    return {entry: id for id, entry in enumerate(entries)}
