"""An encoding as HTML, for notebooks: tokens as spans over the original text, with ids on hover.

`Encoding._repr_html_` imports this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate, takewhile
from typing import NamedTuple

from piecework._internal._core import Encoding
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


class _Token(NamedTuple):
    title: str
    token: str
    is_special: bool
    """Whether the template or padding added the token."""
    sequence: int | None
    """The text that the token is from; None for template tokens, given words, and rows of batches."""
    start: int
    end: int


def encoding_html(encoding: Encoding) -> str:
    """Return the first tokens over the text; without a text, and for words, the tokens themselves."""
    texts = [text for text in encoding.texts if isinstance(text, str)]
    if len(texts) < len(encoding.texts):
        texts = []
    shown = list(_tokens(encoding, has_text=bool(texts)))
    writer = _Writer(texts)
    at = 0
    while at < len(shown):
        group = _group(shown, at)
        writer.write(group)
        at += len(group)
    omitted = len(encoding) - len(shown)
    if not omitted:
        writer.end_text()
    if all(token.sequence is None for token in shown):
        for text in texts:
            writer.gap(text)
    rest = f"<span> … {omitted} more tokens</span>" if omitted else ""
    return f'<div style="{_BLOCK}">{"".join(writer.html)}{rest}</div>'


def _tokens(encoding: Encoding, *, has_text: bool) -> Iterator[_Token]:
    """Yield the fields of the first tokens."""
    count = min(len(encoding), _MAX_TOKENS)
    added = _column(encoding, "special_tokens_mask", [0] * count)
    attended = _column(encoding, "attention_mask", [1] * count)
    sequences: Sequence[int | None] = encoding.sequence_ids if has_text else [None] * count
    for at in range(count):
        token, sequence = encoding.tokens[at], sequences[at]
        start, end = (0, 0) if sequence is None else encoding.offsets[at]
        is_special = bool(added[at] or not attended[at])
        yield _Token(f"{encoding.ids[at]} {token}", token, is_special, sequence, start, end)


def _column(encoding: Encoding, name: str, default: list[int]) -> list[int]:
    """Return a column, or `default` for a row of a batch without it."""
    try:
        return getattr(encoding, name)  # type: ignore[no-any-return]
    except ArgumentError:
        return default


def _group(tokens: list[_Token], at: int) -> list[_Token]:
    """Return the tokens from `at` on that share characters, such as byte-level tokens of one character."""
    first = tokens[at]
    if first.sequence is None:
        return [first]
    ends = accumulate((token.end for token in tokens[at:]), max)

    def shares(token_and_end: tuple[_Token, int]) -> bool:
        token, end = token_and_end
        is_of_text = token.sequence == first.sequence and not token.is_special
        return is_of_text and first.start <= token.start < min(end, token.end)

    following = takewhile(shares, zip(tokens[at + 1 :], ends, strict=False))
    return [first, *(token for token, _ in following)]


class _Writer:
    """Write spans over the texts of up to two sequences."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.html: list[str] = []
        self.sequence: int | None = None
        """The text that is being written."""
        self.reached = 0
        """Its first character that is not written yet."""
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
        elif first.sequence is None or first.start == end:
            self._span(_SPECIAL, first.title, first.token)
        else:
            if self.sequence != first.sequence:
                self.end_text()
                self.sequence, self.reached = first.sequence, 0
            self.gap(self.texts[first.sequence][self.reached : first.start])
            self.reached = max(self.reached, first.start)
            text = self.texts[first.sequence][self.reached : end]
            self._coloured(_ROUNDED, " + ".join(token.title for token in group), text)
            self.reached = max(self.reached, end)

    def end_text(self) -> None:
        """Write the rest of the text that is being written."""
        if self.sequence is not None:
            self.gap(self.texts[self.sequence][self.reached :])
            self.sequence = None

    def gap(self, text: str) -> None:
        """Write text that no token covers; the middle of a long gap is omitted."""
        if len(text) > 2 * _MAX_GAP:
            text = f"{text[:_MAX_GAP]} … {text[-_MAX_GAP:]}"
        self.html.append(escape(text))

    def _coloured(self, style: str, title: str, text: str) -> None:
        self._span(_BACKGROUNDS[self.shown % len(_BACKGROUNDS)] + style, title, text)
        self.shown += 1

    def _span(self, style: str, title: str, text: str) -> None:
        self.html.append(f'<span style="{style}" title="{escape(title)}">{escape(text)}</span>')
