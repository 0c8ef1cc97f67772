"""What a comparison says in sentences: who needs the fewest tokens, and what else differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from piecework._internal.counted import counted
from piecework.analysis.measures import ComparedFigures, Measures
from piecework.analysis.metrics import FEWEST_TEXTS, TokenRank, ratio
from piecework.analysis.readable import escape_controls, joined, percent, with_margin

_NAMED = 3
"""Of more tokenizers than these and the first, the sentence names the second and the last."""


def verdict(comparison: ComparedFigures) -> Iterator[str]:
    """Yield who needs the fewest tokens, what the texts leave open, and what unknown words and texts lose.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}), normalizer=pw.spec.Lowercase())
    >>> for sentence in verdict(pw.analysis.compare({"characters": tok}, ["abbA", "é"])):
    ...     print(sentence)
    characters needs 6 tokens: 3.000 per word.
    Unknown words count one token for each byte: with characters, 1 unknown token of 2 bytes.
    What the texts lose: with characters, case in 50.0 % of the words and 1 of 5 characters.
    """
    yield _fewest(comparison)
    yield from _open(comparison)
    unknown = [one for one in comparison.measures if one.unknown_bytes]
    if unknown:
        yield f"Unknown words count one token for each byte: {_by_phrase(unknown, _unknown)}."
    yield _losses(comparison)


def _fewest(comparison: ComparedFigures) -> str:
    first, *others = comparison.ranks
    tokens = f"{first.charged_tokens:,}"
    per_word = f"{ratio(first.charged_tokens, comparison.words):.3f} per word"
    if not others:
        return f"{_name(first)} needs {tokens} tokens: {per_word}."
    if others[-1].charged_tokens == first.charged_tokens:
        return f"All tokenizers need the same number of tokens: {tokens}."
    if not first.charged_tokens:
        return f"{_name(first)} needs no tokens."
    named = others if len(others) <= _NAMED else (others[0], others[-1])
    more = "; ".join(f"{_name(one)} needs {more_tokens(one)}" for one in named)
    return f"{_name(first)} needs the fewest tokens: {tokens}, or {per_word}; {more}."


def more_tokens(rank: TokenRank) -> str:
    """Return how many more tokens a tokenizer needs than the first, with the margin.

    >>> more_tokens(TokenRank("a", 110, best=2, worst=2, more=0.1, interval=(0.09, 0.11)))
    '10.0 ±1.0 % more'
    """
    if not rank.more:
        return "the same"
    return f"{with_margin(rank.more, rank.interval)} % more"


def rank_text(rank: TokenRank) -> str:
    """Return a rank, or the ranks that the texts leave open.

    >>> rank_text(TokenRank("a", 110, best=2, worst=3, more=0.1, interval=(0.09, 0.11)))
    '2-3'
    """
    return f"{rank.best}-{rank.worst}" if rank.best < rank.worst else f"{rank.best}"


def _open(comparison: ComparedFigures) -> Iterator[str]:
    """Yield which tokenizers the texts do not tell from the first one."""
    first, *others = comparison.ranks
    if comparison.texts < FEWEST_TEXTS and others:
        yield f"Fewer than {FEWEST_TEXTS} texts give no interval: other texts can change the order."
    tied = [_name(one) for one in others if one.interval and one.more and one.interval[0] <= 0]
    if tied:
        texts = counted(comparison.texts, "text")
        yield (
            f"{texts} do not tell {joined(tied)} from {_name(first)}: the 95 % interval of the "
            "difference includes 0."
        )


def _losses(comparison: ComparedFigures) -> str:
    measured = comparison.measures[0].round_trip.texts
    texts = "the texts" if measured == comparison.texts else f"the first {measured:,} texts"
    if not any(_loss(one) for one in comparison.measures):
        return f"No case, accents or characters are lost in {texts}."
    return f"What {texts} lose: {_by_phrase(comparison.measures, _loss)}."


def _loss(one: Measures) -> str:
    found = one.round_trip
    parts = [
        f"{kind} in {percent(ratio(words, found.words))}{'' if at else ' of the words'}"
        for at, (kind, words) in enumerate(found.changes.items())
    ]
    if found.lost_chars:
        parts.append(f"{found.lost_chars:,} of {counted(found.chars, 'character')}")
    return joined(parts) if parts else ""


def _unknown(one: Measures) -> str:
    size = counted(one.unknown_bytes, "byte")
    tokens = counted(one.unknown_tokens, "unknown token")
    return f"{tokens} of {size}" if one.unknown_tokens else f"{size} without a token"


def _by_phrase(measures: Iterable[Measures], phrase: Callable[[Measures], str]) -> str:
    """Return the names of tokenizers with their phrases; those with the same phrase together."""
    names: dict[str, list[str]] = {}
    for one in measures:
        names.setdefault(phrase(one) or "nothing", []).append(_name(one))
    return "; ".join(f"with {joined(some)}, {text}" for text, some in names.items())


def _name(one: Measures | TokenRank) -> str:
    return escape_controls(one.name)
