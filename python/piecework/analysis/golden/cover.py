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
from piecework.analysis.golden.file import GoldenRow, json_line
from piecework.analysis.golden.fixed_texts import BORDERS, SPACES, SPECIAL, Candidate
from piecework.analysis.golden.segmenters import MAX_CHARS, segmenters
from piecework.analysis.golden.small import small_spec
from piecework.analysis.golden.variants import decoder_variants, variants
from piecework.errors import PieceworkError

Feature: TypeAlias = tuple[Hashable, ...]

# The gain of a feature the first time, the second time, and so on.
_GAINS: dict[Hashable, tuple[float, ...]] = {
    "always": (1e6,),
    "change": (60.0, 15.0, 4.0),
    "group": (9.0,),
    "border": (16.0, 2.0),
    "inside": (2.0,),
}
_GAIN = (1.0,)


def chosen(
    tokenizer: Tokenizer,
    candidates: Sequence[Candidate],
    rows: Sequence[GoldenRow],
    most: int,
    size: int,
) -> list[int]:
    """Return the indices of the candidates that cover most features for their bytes, in their order.

    `rows` are the candidates with answers. At most `most` are chosen, of at most `size` bytes together. A
    feature is a change of the tokenizer that changes the ids or the decoded text, a kind of character or
    token, or a boundary between words.
    """
    plain = tokenizer.without_truncation().without_padding()
    features = [set(_seen(plain, *pair)) for pair in zip(candidates, rows, strict=True)]
    # Where a tokenizer drops spaces, many texts that differ in spaces have the same ids, and count once.
    answers = {row.text: row.ids for row in rows if row.flags[0] in ("spaces", "line-ends")}
    for found, one in zip(features, candidates, strict=True):
        found.update(("group", one.flag, answers.get(group, group)) for group in one.groups)
        found.update({("always", one.always)} if one.always else ())
    for shown in (_changed_ids, _changed_decoding, _changed_segmentation):
        for number, name in shown(plain, rows):
            features[number].add(("change", name))
    return sorted(_greedy(features, list(map(row_size, rows)), most, size))


def row_size(row: GoldenRow) -> int:
    """Return the bytes of a row in the file, with a number of three digits and its line end."""
    return len(json_line(row.to_dict()).encode()) + 3


def _greedy(
    features: Sequence[set[Feature]], costs: Sequence[int], most: int, size: int
) -> list[int]:
    """Return the sets that gain most for their cost, chosen one after the other.

    The gain of a set can only fall, so a set whose gain is still the highest is the best one.
    """
    covered: Counter[Feature] = Counter()

    def gain(at: int) -> float:
        return sum(_gain(one, covered[one]) for one in features[at]) / costs[at]

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


def _gain(feature: Feature, times: int) -> float:
    gains = _GAINS.get(feature[0], _GAIN)
    return gains[times] if times < len(gains) else 0.0


# ---- changes: the index of a row that shows one, and the name of the change


def _changed_ids(tokenizer: Tokenizer, rows: Sequence[GoldenRow]) -> Iterator[tuple[int, str]]:
    answered = [at for at, row in enumerate(rows) if not row.error]
    texts = [rows[at].text for at in answered]
    small = Tokenizer.from_spec(small_spec(tokenizer, texts))
    expected = _ids(small, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about mistakes in settings, which the changes are
        for number, (name, make) in enumerate(variants(small)):
            try:
                found = _ids(make(), texts)
            except PieceworkError:  # a pattern that is not valid, or two tokens of one form
                continue
            for at, ids, right in zip(answered, found, expected, strict=True):
                if ids != right:
                    yield at, f"{number} {name}"


def _ids(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    batch = tokenizer.encode_batch(
        texts, add_special_tokens=False, parse_special=True, num_threads=1
    )
    return batch.to_lists()


def _changed_decoding(tokenizer: Tokenizer, rows: Sequence[GoldenRow]) -> Iterator[tuple[int, str]]:
    ids = [list(row.ids) for row in rows]
    for number, (name, make) in enumerate(decoder_variants(tokenizer)):
        try:
            texts = make().decode_batch(ids, skip_special_tokens=False)
        except PieceworkError:
            continue
        for at, text in enumerate(texts):
            if text != rows[at].decoded:
                yield at, f"{number} {name}"


def _changed_segmentation(
    tokenizer: Tokenizer, rows: Sequence[GoldenRow]
) -> Iterator[tuple[int, str]]:
    words = [
        [word for word, _ in tokenizer.pre_tokenize(row.text) if len(word) <= MAX_CHARS]
        for row in rows
    ]
    distinct = sorted({word for of_row in words for word in of_row})
    for name, wrong, right in segmenters(small_spec(tokenizer, distinct).model):
        shown = {word for word in distinct if wrong(word) != right(word)}
        for at, of_row in enumerate(words):
            if not shown.isdisjoint(of_row):
                yield at, name


# ---- characters, tokens and boundaries


def _seen(tokenizer: Tokenizer, candidate: Candidate, row: GoldenRow) -> Iterator[Feature]:
    """Yield the classes of characters and tokens of a text, and what stands beside each boundary."""
    text = candidate.text
    for before, c, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        yield ("character", c) if c in SPECIAL else ("block", ord(c) >> 8)
        if c in SPECIAL and after.isalnum() and (before.isalnum() or before == " "):
            yield ("border" if c in BORDERS else "inside", c, before == " ")
    yield from (("byte", byte) for byte in text.encode())
    for before, after in pairwise(text):
        yield ("neighbours", _class(before), _class(after))
    yield ("length", min(len(tokenizer.normalize(text)) - len(text), 3))
    for word, (start, end) in tokenizer.pre_tokenize(text):
        if start:
            yield ("boundary", _class(text[start - 1]), _class(text[start]))
        first, last = text[start : start + 1], text[end - 1 : end]
        yield ("word", _class(first), _class(last), min(len(word), 5))
    for id, token in zip(row.ids, row.tokens, strict=True):
        yield ("token", id.bit_length(), min(len(token), 12))


def _class(c: str) -> str:
    if not c or c in " \n\r\t'_▁":
        return c
    return "space" if c in SPACES else unicodedata.category(c)
