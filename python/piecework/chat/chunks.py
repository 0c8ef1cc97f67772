"""Chunks of a text by token budget, at the bounds of paragraphs, sentences, words or characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from piecework import Sampling
from piecework._internal.validation import check_choice, check_size, check_type
from piecework.errors import ArgumentError

if TYPE_CHECKING:
    from piecework import Tokenizer


Span: TypeAlias = tuple[int, int]
Count: TypeAlias = Callable[[list[str]], list[int]]

LEVELS = ("paragraph", "sentence", "word", "character")

# Each match is the end of a unit, with the whitespace after it. The look-behind tries each run of
# punctuation once, at its start: the time is linear in runs that no whitespace follows. A span never starts
# inside a run, because the units of every level before end with whitespace.
_ENDS = {
    "paragraph": re.compile(r"\n[^\S\n]*\n\s*"),
    "sentence": re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*|\n\s*"),
    "word": re.compile(r"\s+"),
}


@dataclass(frozen=True)
class TextChunk:
    """A part of a text that fits a token budget.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, " ": 2}))
    >>> pw.chat.chunk_text(tok, "aa aaa", 4)[1]
    TextChunk(text='aaa', start=3, end=6, num_tokens=3)

    `start` and `end` are characters of the whole text; `num_tokens` counts the tokens of `text` alone.
    """

    text: str
    start: int
    end: int
    num_tokens: int


def chunk_text(
    tokenizer: Tokenizer,
    text: str,
    max_tokens: int,
    *,
    overlap: int = 0,
    at: Literal["paragraph", "sentence", "word", "character"] = "sentence",
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
) -> list[TextChunk]:
    """Divide a text into chunks that each encode to at most `max_tokens` tokens.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, ".": 2, " ": 3}))
    >>> [chunk.text for chunk in pw.chat.chunk_text(tok, "aa. aaa. a. a.", 8)]
    ['aa. ', 'aaa. a. ', 'a.']
    >>> [(c.text, c.start) for c in pw.chat.chunk_text(tok, "aa. aaa. a. a.", 9, overlap=3)]
    [('aa. aaa. ', 0), ('a. a.', 9)]

    The length of a chunk is the length of its text encoded alone, with its special tokens unless
    `add_special_tokens=False`. Chunks end where a paragraph, a sentence or a word ends; `at` selects which. A
    paragraph that is too long is divided at sentences, a sentence at words, and a word at characters.
    Whitespace belongs to the unit before it: without overlap, the chunks concatenate to the text.

    `overlap` repeats whole units at the end of a chunk, of together at most that many tokens, at the
    beginning of the next one; fewer where the next unit would not fit.

    Sentences end at `.`, `!`, `?` and their East Asian forms, before whitespace, and at line breaks. The
    whole text is encoded once and each chunk counted, so the time is linear. Raises `ArgumentError` if
    one character takes more than `max_tokens`, or unless `overlap` is less than `max_tokens`.
    """
    check_type("text", text, str, "str")
    check_size("max_tokens", max_tokens)
    check_size("overlap", overlap)
    if max_tokens == 0:
        raise ArgumentError("max_tokens", "must be a number of at least 1, not 0")
    check_choice("at", at, LEVELS)
    if overlap >= max_tokens:
        problem = f"must be less than max_tokens, which is {max_tokens}, not {overlap}"
        raise ArgumentError("overlap", problem)
    if not text:
        return []
    whole = tokenizer.without_truncation().without_padding()
    options: dict[str, Any] = {"parse_special": parse_special, "sampling": Sampling(nbest_size=1)}

    def count(texts: list[str]) -> list[int]:
        return whole.count_batch(
            texts, add_special_tokens=add_special_tokens, num_threads=1, **options
        )

    units = list(_fitting(text, (0, len(text)), LEVELS.index(at), max_tokens, count))
    bounds = [start for start, _ in units] + [len(text)]
    offsets = whole.encode(text, add_special_tokens=False, **options).offsets
    starts = [start for start, _ in offsets]
    before = [bisect_left(starts, bound) for bound in bounds]
    return list(_packed(text, bounds, before, max_tokens, overlap, count))


def _fitting(text: str, span: Span, level: int, max_tokens: int, count: Count) -> Iterator[Span]:
    """Yield the units of a span; those that are too long are divided by the next level."""
    units = list(_units(text, span, level))
    counts = count([text[start:end] for start, end in units])
    for (start, end), tokens in zip(units, counts, strict=True):
        if tokens <= max_tokens:
            yield start, end
        elif level + 1 < len(LEVELS):
            yield from _fitting(text, (start, end), level + 1, max_tokens, count)
        else:
            problem = f"{max_tokens} is too small: {text[start:end]!r} alone takes {tokens} tokens"
            raise ArgumentError("max_tokens", problem)


def _units(text: str, span: Span, level: int) -> Iterator[Span]:
    start, end = span
    if LEVELS[level] == "character":
        yield from ((at, at + 1) for at in range(start, end))
        return
    for match in _ENDS[LEVELS[level]].finditer(text, start, end):
        if match.end() > start:
            yield start, match.end()
            start = match.end()
    if start < end:
        yield start, end


def _packed(
    text: str,
    bounds: Sequence[int],
    before: Sequence[int],
    max_tokens: int,
    overlap: int,
    count: Count,
) -> Iterator[TextChunk]:
    """Yield chunks of whole units; `before` has the tokens of the whole text before each bound."""

    def longest(first: int) -> tuple[int, int]:
        """Return the end of the longest run of units from `first` on that fits, and its tokens."""
        budget = max_tokens
        while True:
            last = bisect_right(before, before[first] + budget, first + 1) - 1
            last = max(last, first + 1)
            tokens = count([text[bounds[first] : bounds[last]]])[0]
            if tokens <= max_tokens or last == first + 1:
                return last, tokens
            budget = min(budget, before[last] - before[first]) - (tokens - max_tokens)

    first, done = 0, 0
    while done < len(bounds) - 1:
        last, tokens = longest(first)
        if last <= done:
            # The overlap leaves no room for the next unit.
            first += 1
            continue
        start, end = bounds[first], bounds[last]
        yield TextChunk(text[start:end], start, end, tokens)
        done = last
        repeated = bisect_left(before, before[last] - overlap, 0, last) if overlap else last
        first = max(first + 1, repeated)
