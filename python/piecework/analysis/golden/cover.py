"""Choose few texts that show every single change of a specification, every character class and boundary."""

from __future__ import annotations

import heapq
import unicodedata
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from piecework import Tokenizer
from piecework.analysis.golden.fixed_texts import SPACES, Candidate
from piecework.analysis.golden.small import small_spec
from piecework.analysis.golden.variants import variants
from piecework.errors import PieceworkError

Feature: TypeAlias = Hashable

_SHOWN_BY = 3
"""The number of texts that show each change of the specification."""
_WEIGHT_OF_CHANGE = 12.0


def chosen(
    tokenizer: Tokenizer,
    candidates: Sequence[Candidate],
    costs: Sequence[int],
    most: int,
    size: int,
) -> list[int]:
    """Return the indices of the candidates that cover most features for their costs, in their order.

    At most `most` are returned, whose costs are at most `size` together. A feature is a change of the
    specification that changes the ids of the text, a kind of character, or a boundary between words.
    """
    plain = tokenizer.without_truncation().without_padding()
    features = [set(_seen(plain, one)) for one in candidates]
    for number, found in enumerate(_shown_changes(plain, candidates)):
        features[number] |= found
    return sorted(_greedy(features, costs, most, size))


def _greedy(
    features: Sequence[set[Feature]], costs: Sequence[int], most: int, size: int
) -> list[int]:
    """Return the sets that gain most for their cost, chosen one after the other.

    The gain of a set can only fall, so a set whose gain is still the highest is the best one.
    """
    covered: Counter[Feature] = Counter()

    def gain(at: int) -> float:
        return sum(_value(one, covered[one]) for one in features[at]) / costs[at]

    heap = [(-gain(at), at) for at in range(len(features))]
    heapq.heapify(heap)
    picked: list[int] = []
    while heap and len(picked) < most and size > 0:
        _, at = heapq.heappop(heap)
        now = gain(at)
        if heap and now < -heap[0][0]:
            heapq.heappush(heap, (-now, at))
            continue
        if not now:
            break
        if costs[at] > size:
            continue
        picked.append(at)
        covered.update(features[at])
        size -= costs[at]
    return picked


def _value(feature: Feature, times: int) -> float:
    if isinstance(feature, tuple) and feature[0] == "change":
        return _WEIGHT_OF_CHANGE / 2**times if times < _SHOWN_BY else 0.0
    return 0.0 if times else 1.0


# ---- changes of the specification


def _shown_changes(tokenizer: Tokenizer, candidates: Sequence[Candidate]) -> list[set[Feature]]:
    """Return for each candidate the changes of the tokenizer that change its ids."""
    texts = [one.text for one in candidates]
    shown: list[set[Feature]] = [set() for _ in candidates]
    small = Tokenizer.from_spec(small_spec(tokenizer, texts))
    expected = _rows(small, texts)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of settings that are mistakes, which is what the changes are
        for number, (name, make) in enumerate(variants(small)):
            try:
                rows = _rows(make(), texts)
            except PieceworkError:  # a pattern that is not valid, or two tokens of one form
                continue
            for at, row in enumerate(rows):
                if row != expected[at] and candidates[at].parse_special:
                    shown[at].add(("change", name, number))
    return shown


def _rows(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    batch = tokenizer.encode_batch(
        texts, add_special_tokens=False, parse_special=True, num_threads=1
    )
    return batch.to_lists()


# ---- characters and boundaries


def _seen(tokenizer: Tokenizer, candidate: Candidate) -> Iterator[Feature]:
    """Yield the classes of characters in a text, and what stands on both sides of each boundary."""
    text = candidate.text
    yield ("flag", candidate.flag, candidate.comment if candidate.flag == "added-token" else "")
    if not candidate.parse_special:
        yield ("parse special", text)
    for c in text:
        if ord(c) > 127 or c in SPACES or not c.isprintable():
            yield ("character", c)
    changed = tokenizer.normalize(text)
    for before, after in pairwise(text):
        yield ("neighbours", _class(before), _class(after))
    yield ("length", min(len(changed) - len(text), 3))
    for word, (start, end) in tokenizer.pre_tokenize(text):
        if start:
            yield ("boundary", _class(text[start - 1]), _class(text[start]))
        yield (
            "word",
            _class(text[start : start + 1]),
            _class(text[end - 1 : end]),
            min(len(word), 5),
        )


def _class(c: str) -> str:
    if not c or c in " \n\r\t'_▁":
        return c
    return "space" if c in SPACES else unicodedata.category(c)
