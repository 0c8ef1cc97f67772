"""Chunks of a text by token budget, at the bounds of paragraphs, sentences, words or characters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from piecework._internal.validation import check_choice, check_size, check_tokenizer, check_type

if TYPE_CHECKING:
    from piecework import Tokenizer


LEVELS = ("paragraph", "sentence", "word", "character")


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
    check_tokenizer(tokenizer)
    check_type("text", text, str, "str")
    check_size("max_tokens", max_tokens)
    check_size("overlap", overlap)
    check_choice("at", at, LEVELS)
    whole = tokenizer.without_truncation().without_padding()
    spans = whole._core.chunk_text(
        text,
        max_tokens,
        overlap=overlap,
        at=at,
        add_special_tokens=add_special_tokens,
        parse_special=whole._recognized(parse_special, [text]),
    )
    return [TextChunk(text[start:end], start, end, tokens) for start, end, tokens in spans]
