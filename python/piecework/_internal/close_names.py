"""Names similar to one that does not exist, for the messages of errors."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 3


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are probably meant, the nearest first, at most three.

    >>> close_names("wordpeice", ["bpe", "wordpiece"])
    ['wordpiece']
    >>> close_names("threads", ["num-threads", "read-rows"])
    ['num-threads']

    A name is near if one of both has all words of the other, if it starts with `name`, or if few edits
    change `name` into it: one for up to five letters, two for up to nine, and three for longer names. Names
    that need two edits more than the nearest are left out.
    """
    wanted = _plain(name)
    edits = {one: _edits(wanted, _plain(one)) for one in known if wanted}
    near = [one for one in edits if _is_near(wanted, _plain(one), edits[one])]
    near.sort(key=lambda one: edits[one])
    return [one for one in near if edits[one] <= edits[near[0]] + 1][:_MOST]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the names that are probably meant, "" if none is near.

    >>> did_you_mean("bep", ["bpe", "unigram"])
    "did you mean 'bpe'?"
    """
    close = close_names(name, known) if isinstance(name, str) else []
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


def one_of(name: object, known: Iterable[str]) -> str:
    """Return what an error expects in place of an unknown name: all known names, and which is meant.

    >>> one_of("bep", ["bpe", "unigram"])
    "one of bpe, unigram; did you mean 'bpe'?"
    """
    names = list(dict.fromkeys(known))
    question = did_you_mean(name, names)
    return f"one of {', '.join(names)}" + (f"; {question}" if question else "")


def _plain(name: str) -> str:
    return name.lower().lstrip("-").replace("_", "-")


def _is_near(wanted: str, known: str, edits: int) -> bool:
    words, others = set(wanted.split("-")), set(known.split("-"))
    if words <= others or others <= words:
        return True
    is_start = len(wanted) > 2 and known.startswith(wanted)
    return is_start or edits <= min(3, 1 + max(len(wanted) - 2, 0) // 4)


def _edits(one: str, other: str) -> int:
    """Return the number of inserted, deleted, replaced and swapped characters (Damerau 1964)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, candidate in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != candidate))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == candidate:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
