"""Code that several trainers use: checkpoints and checks of settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from piecework._core import LearnedPieces as CorePieces
from piecework._internal import validation as checks
from piecework._internal.progress import progress_bar
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, CorpusError, TrainingError, TrainingWarning
from piecework.train.checkpoints import LearningCheckpoint
from piecework.train.counts import Counts, word_counts
from piecework.train.setting_fields import Characters, Integer, Number, Switch, Text, Tokens
from piecework.train.trainer import Trainer

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
    trainer: Trainer,
    counts: Counts,
    progress: Progress,
    checkpoint: PathLike | None,
    sizes: Sequence[int] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the core for a run that continues the one in a checkpoint folder."""
    if checkpoint is not None and trainer.resumption is None:
        warn_without_checkpoints(trainer)
        checkpoint = None
    with progress_bar("learning", progress) as update:
        if checkpoint is None:
            yield {"progress": update}
            return
        run = LearningCheckpoint(checkpoint, counts, trainer, sizes)
        with run.kept_on_failure():
            yield {"progress": run.progress(update), **run.arguments}


def warn_without_checkpoints(trainer: Trainer) -> None:
    """Warn with `TrainingWarning` that a run starts again after an interruption."""
    message = f"no checkpoint: a {trainer.kind} run with these settings starts again"
    warn(message, TrainingWarning)


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
        warn(message, TrainingWarning)


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


def checked_counts(counts: Counts | Mapping[str, int]) -> Counts:
    """Return counts, those of a mapping from words to counts included.

    Raises `ArgumentError` for another type, `CorpusError` for counts without words.
    """
    counts = word_counts(counts, "counts")
    if not isinstance(counts, Counts):
        raise ArgumentError(
            "counts", type(counts).__name__, "Counts, from count_files or count_texts"
        )
    if not counts:
        raise CorpusError("corpus", "has no words; it needs text to learn from")
    return counts


# ---- vocabularies


def vocabulary_of(entries: Iterable[str]) -> dict[str, int]:
    """Return a vocabulary whose ids are the positions of the entries."""
    return {entry: id for id, entry in enumerate(entries)}
