"""Chunks of a text fit the token budget, cover the text, and end where units end."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from tests.data import need

PIECES = [
    "One two. ",
    "Three!",
    " ",
    "\n\n",
    "\n",
    "four",
    "北京。",
    "🤗",
    "é\u0301",
    "a" * 30,
    "? ",
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@cache
def tokenizer(model: str) -> pw.Tokenizer:
    options: dict[str, dict[str, Any]] = {
        "byte-level": {"model": "byte-bpe", "vocab_size": 280},
        "WordPiece": {"vocab_size": 60},
        "SentencePiece": {"preset": "llama", "vocab_size": 300},
        "Unigram": {"model": "unigram", "vocab_size": 60},
    }
    if model == "characters":
        return CHARACTERS
    return pw.Tokenizer.train_from_iterator(PIECES * 3, **options[model])


@given(
    st.sampled_from(["byte-level", "WordPiece", "SentencePiece"]),
    TEXT,
    st.integers(6, 30),
    st.integers(0, 5),
    st.sampled_from(["paragraph", "sentence", "word", "character"]),
    st.booleans(),
)
@settings(max_examples=400)
def test_chunks_fit_the_budget_and_cover_the_text(
    model: str, text: str, max_tokens: int, overlap: int, at: Any, framed: bool
) -> None:
    tok = tokenizer(model)
    chunks = pw.chat.chunk_text(
        tok, text, max_tokens, overlap=overlap, at=at, add_special_tokens=framed
    )
    done = 0
    for number, chunk in enumerate(chunks):
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.num_tokens == tok.count(chunk.text, add_special_tokens=framed) <= max_tokens
        assert chunk.start <= done < chunk.end
        if not overlap:
            assert chunk.start == done
        assert number == 0 or chunk.start > chunks[number - 1].start
        done = chunk.end
    assert done == len(text)


def test_chunks_end_at_the_given_units() -> None:
    tok = tokenizer("byte-level")
    text = "One two. Three four! Five.\n\nSix seven? Eight.\n\nNine."
    ends = {
        "paragraph": [text.index("Six"), text.index("Nine")],
        "sentence": [text.index(word) for word in ("Three", "Five", "Six", "Eight", "Nine")],
        "word": [at + 1 for at, character in enumerate(text) if character.isspace()],
    }
    for at, allowed in ends.items():
        budget = max(tok.count(part) for part in text.split("\n\n")) + 2
        for chunk in pw.chat.chunk_text(tok, text, budget, at=at)[:-1]:  # type: ignore[arg-type]
            assert chunk.end in allowed


def test_an_overlap_repeats_the_last_units() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, " ": 2}))
    chunks = pw.chat.chunk_text(tok, "a aa a aa a aa", 7, overlap=3, at="word")
    assert [chunk.text for chunk in chunks] == ["a aa a ", "a aa a ", "a aa"]
    assert [chunk.start for chunk in chunks] == [0, 5, 10]


def test_budgets_that_nothing_fits_are_named() -> None:
    tok = tokenizer("byte-level")
    with pytest.raises(
        pw.errors.ArgumentError,
        match='max_tokens: must be at least 3, the tokens of "☃" alone, not 1',
    ):
        pw.chat.chunk_text(tok, "a ☃", 1)
    with pytest.raises(
        pw.errors.ArgumentError, match="overlap: must be less than max_tokens.*, not 4"
    ):
        pw.chat.chunk_text(tok, "a", 4, overlap=4)
    with pytest.raises(pw.errors.ArgumentError, match="max_tokens: must be .*, not 0"):
        pw.chat.chunk_text(tok, "a", 0)
    with pytest.raises(pw.errors.ArgumentError, match="at: must be .*, not 'line'"):
        pw.chat.chunk_text(tok, "a", 4, at="line")  # type: ignore[arg-type]
    with pytest.raises(pw.errors.InputTypeError, match="text: must be .*, not bytes"):
        pw.chat.chunk_text(tok, b"a", 4)  # type: ignore[arg-type]
    assert pw.chat.chunk_text(tok, "", 4) == []


def test_truncation_and_padding_of_the_tokenizer_do_not_apply() -> None:
    tok = tokenizer("WordPiece").with_truncation(3).with_padding(8)
    text = "One two. Three! four"
    assert "".join(chunk.text for chunk in pw.chat.chunk_text(tok, text, 9)) == text


@pytest.mark.slow
def test_chunks_of_a_book_are_almost_full() -> None:
    tok = pw.Tokenizer.load(need("vocab/qwen2.5/tokenizer.json.gz"))
    text = " ".join(f"Sentence number {n} has a few words." for n in range(5000))
    chunks = pw.chat.chunk_text(tok, text, 256)
    assert "".join(chunk.text for chunk in chunks) == text
    assert sum(chunk.num_tokens for chunk in chunks) / len(chunks) > 240


# ---- the definition

Span = tuple[int, int]
Count = Callable[[str], int]
LEVELS = ("paragraph", "sentence", "word", "character")
ENDS = {
    "paragraph": re.compile(r"\n[^\S\n]*\n\s*"),
    "sentence": re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*|\n\s*"),
    "word": re.compile(r"\s+"),
    "character": re.compile(r".", re.DOTALL),
}
"""Each match is the end of a unit, with the whitespace after it."""


def units(text: str, span: Span, level: int, max_tokens: int, count: Count) -> Iterator[Span]:
    """Yield the units of a span; those that are too long are divided by the next level."""
    ends = [match.end() for match in ENDS[LEVELS[level]].finditer(text, *span)]
    starts = [span[0], *ends]
    for start, end in zip(starts, [*ends, span[1]], strict=True):
        if start == end:
            continue
        if count(text[start:end]) <= max_tokens:
            yield start, end
        else:
            yield from units(text, (start, end), level + 1, max_tokens, count)


def packed(
    text: str,
    bounds: Sequence[int],
    before: Sequence[int],
    max_tokens: int,
    overlap: int,
    count: Count,
) -> Iterator[Span]:
    """Yield chunks of whole units; `before` has the tokens of the whole text before each bound."""

    def longest(first: int) -> int:
        budget = max_tokens
        while True:
            last = bisect_right(before, before[first] + budget, first + 1) - 1
            last = max(last, first + 1)
            tokens = count(text[bounds[first] : bounds[last]])
            if tokens <= max_tokens or last == first + 1:
                return last
            budget = min(budget, before[last] - before[first]) - (tokens - max_tokens)

    first, done = 0, 0
    while done < len(bounds) - 1:
        last = longest(first)
        if last <= done:  # the overlap leaves no room for the next unit
            first += 1
            continue
        yield bounds[first], bounds[last]
        done = last
        repeated = bisect_left(before, before[last] - overlap, 0, last) if overlap else last
        first = max(first + 1, repeated)


def defined_chunks(
    tok: pw.Tokenizer, text: str, max_tokens: int, overlap: int, at: str, framed: bool
) -> list[Span]:
    def count(part: str) -> int:
        return tok.count(part, add_special_tokens=framed)

    found = units(text, (0, len(text)), LEVELS.index(at), max_tokens, count)
    bounds = [0, *(end for _, end in found)]
    starts = [start for start, _ in tok.encode(text, add_special_tokens=False).offsets]
    before = [bisect_left(starts, bound) for bound in bounds]
    return list(packed(text, bounds, before, max_tokens, overlap, count))


CHARACTERS = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
MODELS = ["byte-level", "WordPiece", "SentencePiece", "Unigram", "characters"]
MARKS = st.text(".!?…\"')] \n\t。！”」a\x1c\x1f\x85\u3000", max_size=40)


@given(
    st.sampled_from(MODELS),
    st.one_of(TEXT, MARKS, st.tuples(MARKS, TEXT).map("".join)),
    st.integers(1, 30),
    st.integers(0, 9),
    st.sampled_from(LEVELS),
    st.booleans(),
)
@settings(max_examples=1500)
def test_chunks_are_those_of_the_definition(
    model: str, text: str, max_tokens: int, overlap: int, at: Any, framed: bool
) -> None:
    tok = tokenizer(model)
    least = max((tok.count(c, add_special_tokens=framed) for c in text), default=1)
    max_tokens, overlap = max(max_tokens, least, 1), min(overlap, max(max_tokens, least, 1) - 1)
    chunks = pw.chat.chunk_text(
        tok, text, max_tokens, overlap=overlap, at=at, add_special_tokens=framed
    )
    expected = defined_chunks(tok, text, max_tokens, overlap, at, framed)
    assert [(chunk.start, chunk.end) for chunk in chunks] == expected


@pytest.mark.parametrize("tail", ["", '"' * 1_000_000, "a"])
def test_a_long_run_of_punctuation_is_one_unit(tail: str) -> None:
    text = "." * 3_000_000 + tail
    assert len(pw.chat.chunk_text(CHARACTERS, text, 2**32 - 1)) == 1


def test_a_text_of_dots_has_chunks() -> None:
    text = "." * 200_000
    chunks = pw.chat.chunk_text(tokenizer("byte-level"), text, 1000)
    assert "".join(chunk.text for chunk in chunks) == text
