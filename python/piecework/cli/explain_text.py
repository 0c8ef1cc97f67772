"""What `piecework explain TOKENIZER TEXT` prints: each stage, each merge, and tokens in colours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import click

import piecework as pw
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from piecework.cli.terminal_text import escape_controls

_SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")


def explain_text(tokenizer: pw.Tokenizer, text: str, steps: int) -> None:
    """Print the stages of a text, at most `steps` merges of each word."""
    found = pw.analysis.explain(tokenizer, text)
    model = tokenizer.spec.model
    _say("text", [repr(text)])
    _say("special tokens", [f"{text[a:b]}  {a}:{b}" for a, b in found.added_tokens])
    _say("normalized", [repr(found.normalized)])
    _say("words", [f"{word.word}  {word.span[0]}:{word.span[1]}" for word in found.words])
    if isinstance(model, pw.spec.BPE):
        by_bytes = is_byte_level(tokenizer.spec)
        shown = _shown_bytes if by_bytes else _visible
        _say("merges", [line for word in found.words for line in _merges(word, steps, shown)])
    if isinstance(model, pw.spec.Unigram):
        _say("scores", list(_scores(found.tokens)))
    _say("pieces", list(_pieces(found)))
    _say("ids", [f"{token.id:>8}  {token.token}" for token in found.tokens])
    click.echo("tokens")
    _paint([_visible(token.text) for token in found.tokens])


def _say(title: str, lines: Sequence[str]) -> None:
    click.echo(title)
    for line in lines or ["none"]:
        click.echo(f"  {line}")


def _merges(
    word: pw.analysis.ExplainedWord, limit: int, shown: Callable[[str], str]
) -> Iterator[str]:
    """Give the symbols a word begins as, then a line a merge with the symbols it leaves."""
    symbols: Sequence[str] = word.symbols
    if word.merges is None:
        yield f"a word of {len(symbols):,} symbols, too long to be shown in steps"
        return
    yield " ".join(map(shown, symbols)) or word.word
    for step in word.merges[:limit]:
        symbols = step.applied_to(symbols)
        join = f"{shown(step.left)} {shown(step.right)} -> {shown(step.joined)}"
        yield f"{step.rank:>8}  {join}    {' '.join(map(shown, symbols))}"
    if len(word.merges) > limit:
        yield f"          ... and {len(word.merges) - limit:,} more"


def _scores(tokens: Sequence[pw.analysis.ExplainedToken]) -> Iterator[str]:
    for token in tokens:
        if token.word is not None:
            score = "not scored" if token.score is None else f"{token.score:.4f}"
            yield f"{_visible(token.token)}  {score}"
    total = sum(token.score for token in tokens if token.score is not None)
    yield f"together  {total:.4f}"


def _pieces(found: pw.analysis.Explanation) -> Iterator[str]:
    """Give one line a word: what stands in the text, and the pieces it became."""
    by_word: dict[int, list[pw.analysis.ExplainedToken]] = {}
    for token in found.tokens:
        if token.word is not None:
            by_word.setdefault(token.word, []).append(token)
    for pieces in by_word.values():
        text = found.text[pieces[0].span[0] : pieces[-1].span[1]]
        yield f"{text} -> {' '.join(piece.token for piece in pieces)}"


def _paint(tokens: Sequence[str]) -> None:
    """Print tokens on alternating backgrounds, with bars between where there are no colours."""
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


def _shown_bytes(token: str) -> str:
    return _visible(text_of_bytes(token))


def _visible(text: str) -> str:
    """Show white space by signs, and what a terminal would obey by its code."""
    return "".join(_SIGNS.get(c) or escape_controls(c) for c in text)
