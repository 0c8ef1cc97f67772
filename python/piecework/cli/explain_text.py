"""Print the stages of encoding a text, the merges of each word, and the tokens in colors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import click

import piecework as pw
from piecework.analysis.readable_tokens import escape_controls, is_byte_level, text_of_bytes

_WHITESPACE_SYMBOLS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")


def explain_text(tokenizer: pw.Tokenizer, text: str, steps: int) -> None:
    """Print the stages of a text, at most `steps` merges of each word."""
    found = pw.analysis.explain(tokenizer, text)
    model = tokenizer.spec.model
    _print_list("text", [repr(text)])
    _print_list("special tokens", [f"{text[a:b]}  {a}:{b}" for a, b in found.added_tokens])
    _print_list("normalized", [repr(found.normalized)])
    _print_list("words", [f"{word.word}  {word.span[0]}:{word.span[1]}" for word in found.words])
    if isinstance(model, pw.spec.BPE):
        byte_level = is_byte_level(tokenizer.spec)
        shown = _show_byte_level if byte_level else _show_whitespace
        _print_list(
            "merges", [line for word in found.words for line in _merges(word, steps, shown)]
        )
    if isinstance(model, pw.spec.Unigram):
        _print_list("scores", list(_scores(found.tokens)))
    _print_list("pieces", list(_pieces(found)))
    _print_list("ids", [f"{token.id:>8}  {token.token}" for token in found.tokens])
    click.echo("tokens")
    _print_tokens([_show_whitespace(token.text) for token in found.tokens])


def _print_list(title: str, lines: Sequence[str]) -> None:
    click.echo(title)
    for line in lines or ["none"]:
        click.echo(f"  {line}")


def _merges(
    word: pw.analysis.ExplainedWord, limit: int, shown: Callable[[str], str]
) -> Iterator[str]:
    """Yield the initial symbols of a word, then a line for each merge with the symbols after it."""
    symbols: Sequence[str] = word.symbols
    if word.merges is None:
        yield f"(no merges shown for a word of {len(symbols):,} symbols)"
        return
    yield " ".join(map(shown, symbols)) or word.word
    for step in word.merges[:limit]:
        symbols = step.apply_to(symbols)
        merge = f"{shown(step.left)} {shown(step.right)} -> {shown(step.token)}"
        yield f"{step.rank:>8}  {merge}    {' '.join(map(shown, symbols))}"
    if len(word.merges) > limit:
        yield f"          ... and {len(word.merges) - limit:,} more"


def _scores(tokens: Sequence[pw.analysis.ExplainedToken]) -> Iterator[str]:
    for token in tokens:
        if token.word is not None:
            score = "not scored" if token.score is None else f"{token.score:.4f}"
            yield f"{_show_whitespace(token.token)}  {score}"
    total = sum(token.score for token in tokens if token.score is not None)
    yield f"total  {total:.4f}"


def _pieces(found: pw.analysis.Explanation) -> Iterator[str]:
    """Yield a line for each word: its text and its tokens."""
    by_word: dict[int, list[pw.analysis.ExplainedToken]] = {}
    for token in found.tokens:
        if token.word is not None:
            by_word.setdefault(token.word, []).append(token)
    for pieces in by_word.values():
        text = found.text[pieces[0].span[0] : pieces[-1].span[1]]
        yield f"{text} -> {' '.join(piece.token for piece in pieces)}"


def _print_tokens(tokens: Sequence[str]) -> None:
    """Print tokens on alternating background colors, or separated by bars without a color terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False, soft_wrap=True)
        if console.color_system and not console.no_color:
            styles = cycle(_STYLES)
            parts = [Text(token, style) for token, style in zip(tokens, styles, strict=False)]
            console.print(Text("  ").append_text(Text().join(parts)))
            return
    click.echo(f"  {'|'.join(tokens)}")


def _show_byte_level(token: str) -> str:
    return _show_whitespace(text_of_bytes(token))


def _show_whitespace(text: str) -> str:
    """Replace whitespace by symbols, and escape control characters."""
    return "".join(_WHITESPACE_SYMBOLS.get(c) or escape_controls(c) for c in text)
