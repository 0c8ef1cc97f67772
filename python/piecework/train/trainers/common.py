"""Code that several trainers use: settings, checks, checkpoints, and entries that cross spaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from piecework._internal import validation as checks
from piecework._internal._core import LearnedPieces as CorePieces
from piecework._internal._core import LearningLog
from piecework._internal.progress import progress_bar
from piecework._internal.setting_fields import (
    Characters,
    Integer,
    IntegerOrShare,
    Number,
    Switch,
    Text,
    Tokens,
    settings_of,
)
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, CorpusError, TrainingError, TrainingWarning
from piecework.train.checkpoints import LearningCheckpoint
from piecework.train.counts import Counts, word_counts
from piecework.train.trainer import Trainer, WordSizes

# ---- settings that several trainers have

ALPHABET_ORDERS = ("sorted", "first-seen", "given")

VOCAB_SIZE = Integer("Size of the vocabulary, special tokens and alphabet included.", least=1)
MIN_FREQUENCY = Integer("Do not merge pairs that occur less often.", least=0)
LIMIT_ALPHABET = Integer(
    "Number of characters in the alphabet: first the initial alphabet, then the most frequent.",
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
    "Token for unknown characters; added after the special tokens if it is not one of them.",
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
    checkpoint: PathLike | LearningLog | None,
    sizes: Sequence[int] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the core for a run that continues the one in a checkpoint folder.

    A log in place of the folder receives the steps of the run.
    """
    if isinstance(checkpoint, LearningLog):
        yield {"progress": None, "log": checkpoint}
        return
    if checkpoint is not None and trainer._traits().resumption is None:
        warn_without_checkpoints(trainer)
        checkpoint = None
    with progress_bar("learning", progress) as update:
        if checkpoint is None:
            yield {"progress": update}
            return
        run = LearningCheckpoint(checkpoint, counts, trainer, sizes)
        with run.kept_on_failure():
            yield {"progress": run.progress(update), "log": run.log}


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
        if error.limit is None or error.limit >= vocab_size:
            raise
        return learn(error.limit)


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
    """Return counts; convert a mapping from words to counts.

    Raises `ArgumentError` for another type, `CorpusError` for counts without words.
    """
    counts = word_counts(counts, "counts")
    if not isinstance(counts, Counts):
        problem = f"must be Counts, from count_files or count_texts, not {type(counts).__name__}"
        raise ArgumentError("counts", problem)
    if not counts:
        raise CorpusError("corpus", "has no words; it needs text to learn from")
    return counts


# ---- vocabularies


def core_settings(trainer: Trainer, without: Collection[str]) -> dict[str, Any]:
    """Return the settings that the core takes as they are; the initial alphabet is one string."""
    settings = {name: getattr(trainer, name) for name in settings_of(type(trainer))}
    settings = {name: value for name, value in settings.items() if name not in without}
    return {**settings, "initial_alphabet": "".join(settings["initial_alphabet"])}


def vocabulary_of(entries: Iterable[str]) -> dict[str, int]:
    """Return a vocabulary whose ids are the positions of the entries."""
    return {entry: id for id, entry in enumerate(entries)}


# ---- entries that cross spaces

DEFAULT_TRANSITION: Final = 0.75
"""The share of the learned entries that are of single words, unless the caller gives one."""

CROSS_PUNCTUATION = Switch("Let entries that cross spaces contain punctuation.")
MAX_WORDS = Integer("Maximum number of words in an entry.", least=1, none="no limit")


_ENDS: Final = r"▁(?!\p{L})|(?<![^\p{N}▁])▁"
_ENDS_OF_LETTERS: Final = r"▁(?!\p{L})|(?<![\p{L}\p{M}])▁"


def ends_of_sequences(*, runs: bool, punctuation: bool = True) -> str:
    """Return the pattern of the spaces ▁ that are not between two words of a sequence.

    >>> import re
    >>> pattern = ends_of_sequences(runs=False).replace(r"\\p{L}", "[a-z]").replace(r"\\p{N}", "0-9")
    >>> re.sub(pattern, "|▁", "▁of▁the,▁in▁12▁of▁▁a▁b")
    '|▁of▁the,▁in|▁12|▁of|▁|▁a▁b'

    A space is between two words if a letter follows it, and neither a number nor a space precedes it;
    without `punctuation`, a letter must precede it. With `runs`, spaces in a row are one. Only the two
    characters beside a space decide, so a piece that crosses a space never crosses the end of a sequence.
    """
    ends = _ENDS if punctuation else _ENDS_OF_LETTERS
    return f"▁▁+|{ends}" if runs else ends


def transition_setting(counts: str) -> IntegerOrShare:
    """Return the setting of the transition, which needs these counts."""
    return IntegerOrShare(
        "Number of entries within single words, or their share of the learned entries; later entries may "
        f"cross spaces. Needs counts of {counts}.",
        least=1,
        none="no entry crosses spaces",
    )


def check_transition(transition: int | float | None, vocab_size: int) -> None:
    """Raise `ArgumentError` for a number of entries that is not below `vocab_size`."""
    if isinstance(transition, int) and transition >= vocab_size:
        problem = f"must be less than {vocab_size}, the vocab_size, not {transition}"
        raise ArgumentError("transition", problem)


def sizes_of_sequences(words: WordSizes) -> WordSizes:
    """Return the sizes of sequences as tokens of the first stage, which have two bytes or more.

    >>> sizes_of_sequences(WordSizes(10, 800, 400)).chars
    200.0
    """
    return WordSizes(words.words, words.text, words.chars / 2)


def core_transition(transition: int | float, vocab_size: int, fixed: int) -> dict[str, Any]:
    """Return the transition as the core takes it; `fixed` entries are not learned.

    >>> core_transition(0.75, 32_000, 256), core_transition(300, 32_000, 256)
    ({'transition': 24064, 'is_exact': False}, {'transition': 300, 'is_exact': True})

    A number of entries is exact: too few words are an error. With a share, entries that cross spaces follow
    those that the words yield.
    """
    if isinstance(transition, int):
        return {"transition": transition, "is_exact": True}
    later = round((1 - transition) * max(0, vocab_size - fixed))
    return {"transition": vocab_size - later, "is_exact": False}
