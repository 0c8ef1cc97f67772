"""Names similar to one that does not exist, for the messages of errors."""

from __future__ import annotations

from collections.abc import Iterable


def close_names(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.65) -> list[str]:
    """Return the known names that are probably meant, the nearest first.

    >>> close_names("threads", ["num-threads", "read-rows"])
    ['num-threads']

    Case, leading dashes and `_` for `-` make no difference. `difflib.get_close_matches` defines `cutoff`.
    """
    from difflib import get_close_matches

    names = {_plain(one): one for one in known}
    return [names[near] for near in get_close_matches(_plain(name), names, most, cutoff)]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the name that is probably meant, "" if none is near.

    >>> did_you_mean("bep", ["bpe", "unigram"])
    "did you mean 'bpe'?"
    """
    close = close_names(name, known, most=1) if isinstance(name, str) else []
    return f"did you mean {close[0]!r}?" if close else ""


def _plain(name: str) -> str:
    return name.lower().lstrip("-").replace("_", "-")
