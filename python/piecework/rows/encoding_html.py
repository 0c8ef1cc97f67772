"""An encoding as HTML, for notebooks: tokens as spans over the original text, with ids on hover.

`Encoding._repr_html_` imports this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate, takewhile
from typing import NamedTuple

from piecework._core import Encoding
from piecework.errors import ArgumentError

_MAX_TOKENS = 2000
_MAX_GAP = 200
"""The number of characters shown at each end of a long gap between tokens."""

_BACKGROUNDS = ("background:rgba(66,133,244,.28)", "background:rgba(251,188,5,.38)")
_ROUNDED = ";border-radius:2px"
_SPECIAL = (
    "border:1px solid rgba(128,128,128,.7);border-radius:3px;padding:0 2px;"
    "margin:0 1px;font-size:85%;opacity:.8"
)
_BLOCK = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace"

_Words = list[str]
"""The words of a sequence; a text that is not pre-tokenized is one word."""


class _Token(NamedTuple):
    title: str
    token: str
    is_special: bool
    """Whether the template or padding added the token."""
    word: tuple[int, int] | None
    """The sequence and the word that the token is from; None for template tokens and without the text."""
    start: int
    end: int


def encoding_html(encoding: Encoding) -> str:
    """Return the first tokens over the text; without a text, the tokens themselves."""
    shown = list(_tokens(encoding))
    writer = _Writer([[text] if isinstance(text, str) else list(text) for text in encoding.texts])
    at = 0
    while at < len(shown):
        group = _group(shown, at)
        writer.write(group)
        at += len(group)
    omitted = len(encoding) - len(shown)
    if not omitted:
        writer.end_text()
    if all(token.word is None for token in shown):
        writer.write_all_texts()
    rest = f"<span> … {omitted} more tokens</span>" if omitted else ""
    return f'<div style="{_BLOCK}">{"".join(writer.html)}{rest}</div>'


def _tokens(encoding: Encoding) -> Iterator[_Token]:
    """Yield the fields of the first tokens."""
    count = min(len(encoding), _MAX_TOKENS)
    added = _column(encoding, "special_tokens_mask", [0] * count)
    attended = _column(encoding, "attention_mask", [1] * count)
    sequences: Sequence[int | None] = encoding.sequence_ids if encoding.texts else [None] * count
    for at in range(count):
        token, sequence = encoding.tokens[at], sequences[at]
        word, (start, end) = None, (0, 0)
        if sequence is not None:
            is_text = isinstance(encoding.texts[sequence], str)
            word = (sequence, 0 if is_text else encoding.word_ids[at] or 0)
            start, end = encoding.offsets[at]
        is_special = bool(added[at] or not attended[at])
        yield _Token(f"{encoding.ids[at]} {token}", token, is_special, word, start, end)


def _column(encoding: Encoding, name: str, default: list[int]) -> list[int]:
    """Return a column, or `default` for a row of a batch without it."""
    try:
        return getattr(encoding, name)  # type: ignore[no-any-return]
    except ArgumentError:
        return default


def _group(tokens: list[_Token], at: int) -> list[_Token]:
    """Return the tokens from `at` on that share characters, such as byte-level tokens of one character."""
    first = tokens[at]
    if first.word is None:
        return [first]
    ends = accumulate((token.end for token in tokens[at:]), max)

    def shares(token_and_end: tuple[_Token, int]) -> bool:
        token, end = token_and_end
        is_of_word = token.word == first.word and not token.is_special
        return is_of_word and first.start <= token.start < min(end, token.end)

    following = takewhile(shares, zip(tokens[at + 1 :], ends, strict=False))
    return [first, *(token for token, _ in following)]


class _Writer:
    """Writes spans over the texts of up to two sequences."""

    def __init__(self, texts: list[_Words]) -> None:
        self.texts = texts
        self.html: list[str] = []
        self.word: tuple[int, int] | None = None
        """The sequence and the word that are being written."""
        self.reached = 0
        """The first character of the word that is not written yet."""
        self.shown = 0
        """The number of spans written; their colour alternates."""

    def write(self, group: list[_Token]) -> None:
        """Write tokens that share characters, and the text before them."""
        first, end = group[0], max(token.end for token in group)
        if first.is_special:
            self.end_text()
            self._span(_SPECIAL, first.title, first.token)
        elif not self.texts:
            self._coloured("", first.title, first.token)
        elif first.word is None or first.start == end:
            self._span(_SPECIAL, first.title, first.token)
        else:
            self._move_to(first.word, first.start)
            text = self._text()[self.reached : end]
            self._coloured(_ROUNDED, " + ".join(token.title for token in group), text)
            self.reached = max(self.reached, end)

    def end_text(self) -> None:
        """Write the rest of the text that is being written."""
        if self.word is None:
            return
        sequence, number = self.word
        self._gap(self._text()[self.reached :])
        for word in self.texts[sequence][number + 1 :]:
            self.html.append(" ")
            self._gap(word)
        self.word = None

    def write_all_texts(self) -> None:
        """Write all texts without tokens."""
        for words in self.texts:
            for word in words:
                self._gap(word)

    def _move_to(self, word: tuple[int, int], start: int) -> None:
        """Write the text before a character of a word."""
        sequence, number = word
        if self.word is not None and self.word[0] != sequence:
            self.end_text()
        if self.word != word:
            passed = 0
            if self.word is not None:
                passed = self.word[1] + 1
                self._gap(self._text()[self.reached :])
                self.html.append(" ")
            for text in self.texts[sequence][passed:number]:
                self._gap(text)
                self.html.append(" ")
            self.word, self.reached = word, 0
        self._gap(self._text()[self.reached : start])
        self.reached = max(self.reached, start)

    def _text(self) -> str:
        """Return the word that is being written."""
        assert self.word is not None
        sequence, number = self.word
        return self.texts[sequence][number]

    def _gap(self, text: str) -> None:
        """Write text that no token covers; the middle of a long gap is omitted."""
        if len(text) > 2 * _MAX_GAP:
            text = f"{text[:_MAX_GAP]} … {text[-_MAX_GAP:]}"
        self.html.append(escape(text))

    def _coloured(self, style: str, title: str, text: str) -> None:
        self._span(_BACKGROUNDS[self.shown % len(_BACKGROUNDS)] + style, title, text)
        self.shown += 1

    def _span(self, style: str, title: str, text: str) -> None:
        self.html.append(f'<span style="{style}" title="{escape(title)}">{escape(text)}</span>')
