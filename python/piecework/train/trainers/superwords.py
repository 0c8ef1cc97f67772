"""The settings of superwords: entries that cross spaces, learned after the entries of single words.

In SentencePiece, only the two characters beside a space decide whether a sequence of words ends there. A
piece that crosses a space has both, so a text has the tokens of its sequences, whatever surrounds them.
"""

from __future__ import annotations

from typing import Any, Final

from piecework.errors import ArgumentError
from piecework.train.setting_fields import Integer, IntegerOrShare, Switch
from piecework.train.word_sizes import WordSizes

DEFAULT_TRANSITION: Final = 0.75
"""The share of the learned entries that are of single words, unless the caller gives one."""

CROSS_PUNCTUATION = Switch("Let entries that cross spaces contain punctuation.")
MAX_WORDS = Integer("Most words that an entry spans.", least=1, none="no limit")


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
    characters beside a space decide, so a piece that crosses a space crosses no end of a sequence anywhere.
    """
    ends = _ENDS if punctuation else _ENDS_OF_LETTERS
    return f"▁▁+|{ends}" if runs else ends


def transition(counts: str) -> IntegerOrShare:
    """Return the setting of the transition, which needs these counts."""
    return IntegerOrShare(
        "Number of entries of single words, or their share of the learned ones; the following ones may cross "
        f"spaces. Needs counts of {counts}.",
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


def core_settings(transition: int | float, vocab_size: int, fixed: int) -> dict[str, Any]:
    """Return the transition as the core takes it; `fixed` entries are not learned.

    >>> core_settings(0.75, 32_000, 256), core_settings(300, 32_000, 256)
    ({'transition': 24064, 'is_exact': False}, {'transition': 300, 'is_exact': True})

    A number of entries is exact: too few words are an error. With a share, entries that cross spaces follow
    those that the words yield.
    """
    if isinstance(transition, int):
        return {"transition": transition, "is_exact": True}
    later = round((1 - transition) * max(0, vocab_size - fixed))
    return {"transition": vocab_size - later, "is_exact": False}
