"""Word and character tokenizers: text in, units with their offsets out.

The vocabulary contains the most frequent units; all others become the unknown token. Among equal counts,
the unit with the lower code points comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from piecework.reference.aligned import Word, align, word_at
from piecework.reference.bert import isolate_punctuation, split_whitespace

Whole = TypeVar("Whole")
Part = TypeVar("Part")


def whitespace_words(text: str) -> list[Word]:
    """Split on whitespace only.

    >>> whitespace_words("We do.")
    [('We', (0, 2)), ('do.', (3, 6))]
    """
    return [word_at(run) for run in split_whitespace([align(text)])]


def words_and_punctuation(text: str) -> list[Word]:
    """Split on whitespace, then isolate punctuation.

    >>> [word for word, _ in words_and_punctuation("Don't!")]
    ['Don', "'", 't', '!']
    """
    return [word_at(run) for run in isolate_punctuation(split_whitespace([align(text)]))]


def characters(text: str) -> list[Word]:
    """Return every character as a unit, spaces included.

    >>> characters("a b")
    [('a', (0, 1)), (' ', (1, 2)), ('b', (2, 3))]
    """
    return [(character, (index, index + 1)) for index, character in enumerate(text)]


def learn_vocabulary(
    counts: Iterable[tuple[str, int]],
    *,
    vocab_size: int | None = None,
    min_frequency: int = 1,
    special_tokens: Sequence[str] = ("[UNK]",),
) -> list[str]:
    """Return the special tokens, then the most frequent units.

    >>> learn_vocabulary([("to", 2), ("be", 2), ("or", 3)], vocab_size=3)
    ['[UNK]', 'or', 'be']
    """
    ranked = sorted(counts, key=lambda item: (-item[1], item[0]))
    frequent = (unit for unit, count in ranked if count >= min_frequency)
    return list(dict.fromkeys([*special_tokens, *frequent]))[:vocab_size]


def count_parts(
    words: Iterable[tuple[Whole, int]], parts_of: Callable[[Whole], Iterable[Part]]
) -> Counter[Part]:
    """Count the parts of words, in order of first occurrence.

    >>> count_parts([("hug", 2), ("gh", 1)], iter)
    Counter({'h': 3, 'g': 3, 'u': 2})
    """
    counts: Counter[Part] = Counter()
    for word, count in words:
        for part in parts_of(word):
            counts[part] += count
    return counts


def kept_characters(
    words: Iterable[tuple[str, int]], given: Sequence[str], limit: int | None
) -> set[str]:
    """Return the given characters and then the most frequent ones, up to the limit.

    >>> sorted(kept_characters([("aab", 2), ("c", 1)], "c", 2))
    ['a', 'c']
    """
    counts = count_parts(words, iter)
    ranked = sorted({*given, *counts}, key=lambda c: (c not in given, -counts[c], c))
    return set(ranked[:limit])


def in_alphabet_order(
    entries: Sequence[str], order: str, seen: Iterable[str], given: Sequence[str]
) -> list[str]:
    """Return entries of one character: those `seen` or `given` first, for the orders of these names.

    >>> in_alphabet_order(["a", "b", "c"], "first-seen", ["b", "a", "b"], "c")
    ['b', 'a', 'c']
    """
    first = {"first-seen": seen, "given": given}.get(order, ())
    return list(dict.fromkeys([*(entry for entry in first if entry in entries), *entries]))


def substrings(word: str, longest: int) -> Iterator[str]:
    """Yield the substrings of a word that have at most `longest` characters.

    >>> list(substrings("hug", 2))
    ['h', 'hu', 'u', 'ug', 'g']
    """
    for start in range(len(word)):
        for end in range(start + 1, min(len(word), start + longest) + 1):
            yield word[start:end]


def look_up(units: Iterable[str], vocab: Mapping[str, int], unk_token: str = "[UNK]") -> list[int]:
    """Return the id of each unit; a unit outside the vocabulary has the id of the unknown token.

    >>> look_up(["to", "see"], {"[UNK]": 0, "be": 1, "to": 2})
    [2, 0]
    """
    return [vocab.get(unit, vocab[unk_token]) for unit in units]
