"""What `piecework explain` and `piecework explain-training` share: their options, and how they print."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

import piecework as pw
from piecework.cli.explain_text import print_aligned
from piecework.cli.outputs import check_output
from piecework.cli.parameters import OutputFile, apply, in_explanation, in_output
from piecework.cli.terminal import print_blocks, terminal_width
from piecework.io.atomic_files import atomic_stream

if TYPE_CHECKING:
    from piecework.analysis.explain import Explanation
    from piecework.analysis.lineage import Lineage
    from piecework.analysis.side_by_side import SideBySide
    from piecework.analysis.training.trace import TrainingTrace

Function = TypeVar("Function", bound=Callable[..., Any])


def explanation_options(about_steps: str, default_steps: str) -> Callable[[Function], Function]:
    """Return the options that select steps, and those for the output."""
    options = (
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
    return lambda function: apply(options, function)


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
    from piecework.analysis.displayed import WIDTH, as_html, page
    from piecework.analysis.side_by_side import SideBySide

    sides = found if isinstance(found, SideBySide) else None
    if html_path:
        with atomic_stream(html_path) as stream:
            html = sides.to_html(lines) if sides else as_html(found.blocks(lines, **how))
            stream.write(page("piecework explain", html).encode())
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif html_path != "-" and sides:
        print_aligned(sides, terminal_width() or WIDTH, lines)
    elif html_path != "-":
        print_blocks(found.blocks(lines, **how), terminal_width() or WIDTH)
