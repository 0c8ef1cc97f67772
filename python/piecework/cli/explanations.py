"""What `piecework explain` and `piecework explain-training` share: their options, and how they print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework.cli.outputs import (
    check_output,
    color_console,
    print_blocks,
    print_json,
    terminal_width,
)
from piecework.cli.parameters import Function, OutputFile, all_of, in_explanation, in_output
from piecework.io.atomic_files import atomic_stream

if TYPE_CHECKING:
    from piecework.analysis.explain import Explanation
    from piecework.analysis.lineage import Lineage
    from piecework.analysis.side_by_side import SideBySide
    from piecework.analysis.training.trace import TrainingTrace


def print_tokens(tokens: Sequence[str]) -> None:
    """Print tokens on alternating background colors, or separated by bars without a color terminal."""
    console = color_console()
    if console is None:
        click.echo(f"  {'|'.join(tokens)}")
        return
    from rich.text import Text

    from piecework.analysis.block_drawing import TOKEN_STYLES

    styles = cycle(TOKEN_STYLES)
    parts = [Text(token, style) for token, style in zip(tokens, styles, strict=False)]
    console.print(Text("  ").append_text(Text().join(parts)))


def explanation_options(about_steps: str, default_steps: str) -> Callable[[Function], Function]:
    """Return the options for selecting steps and for the output."""
    return all_of(
        in_explanation(
            "--steps",
            metavar="N,N-N",
            default=default_steps,
            show_default=True,
            help=f"{about_steps} to show, such as 3,5-8, 10- or all.",
        ),
        in_explanation(
            "--lines",
            default=20,
            show_default=True,
            type=click.IntRange(min=1),
            help="Maximum number of lines of each list.",
        ),
        in_output("--json", "as_json", is_flag=True, help="Print JSON."),
        in_output(
            "--html",
            "html_path",
            type=OutputFile(),
            help="Write a self-contained HTML page.",
        ),
    )


def check_html(html_path: str | None, as_json: bool) -> None:
    """Raise if the page cannot be written, or not together with JSON."""
    if html_path == "-" and as_json:
        message = "cannot both write to stdout"
        raise pw.errors.ArgumentError("html", message, also=["--json"], hint="give --html a file")
    if html_path:
        check_output(html_path)


def show(
    found: TrainingTrace | Explanation | Lineage | SideBySide,
    as_json: bool,
    html_path: str | None,
    lines: int,
    **how: Any,
) -> None:
    """Print a result as text or JSON, and write it as HTML."""
    from piecework.analysis.blocks import WIDTH
    from piecework.analysis.displayed import as_html, page

    if html_path:
        with atomic_stream(html_path) as stream:
            html = as_html(found.blocks(lines, **how))
            stream.write(page("piecework explain", html).encode())
    if as_json:
        print_json(found.to_dict())
    elif html_path != "-":
        print_blocks(found.blocks(lines, **how), terminal_width() or WIDTH)
