"""What `piecework explain` and `piecework explain-training` share: their options, and how they print."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

import piecework as pw
from piecework._support import atomic_stream
from piecework.analysis.block_html import as_html, page
from piecework.analysis.block_text import WIDTH
from piecework.cli.explain_text import print_aligned
from piecework.cli.outputs import check_output
from piecework.cli.parameters import OutputFile, apply, option
from piecework.cli.terminal import print_blocks, terminal_width

Function = TypeVar("Function", bound=Callable[..., Any])


def explanation_options(about_steps: str, default_steps: str) -> Callable[[Function], Function]:
    """Return the options that select steps, and those for the output."""
    options = (
        option(
            "--steps",
            section="Explanation",
            metavar="N,N-N",
            default=default_steps,
            show_default=True,
            help=f"{about_steps} to show, such as 3,5-8, 10- or all.",
        ),
        option(
            "--lines",
            section="Explanation",
            default=20,
            show_default=True,
            type=click.IntRange(min=1),
            help="Maximum number of lines of each list.",
        ),
        option("--json", "as_json", section="Output", is_flag=True, help="Print JSON."),
        option(
            "--html",
            "html_path",
            section="Output",
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
    found: pw.analysis.TrainingTrace | pw.analysis.Explanation | pw.analysis.Lineage,
    as_json: bool,
    html_path: str | None,
    lines: int,
    **how: Any,
) -> None:
    """Print a result as text or JSON, and write it as HTML."""
    if html_path:
        with atomic_stream(html_path) as stream:
            blocks = found.blocks(lines, **how)
            stream.write(page("piecework explain", as_html(blocks)).encode())
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif html_path != "-":
        print_blocks(found.blocks(lines, **how), terminal_width() or WIDTH)


def show_sides(
    found: pw.analysis.SideBySide, as_json: bool, html_path: str | None, lines: int
) -> None:
    """Print an alignment as text or JSON, and write it as HTML."""
    if html_path:
        with atomic_stream(html_path) as stream:
            stream.write(page("piecework explain", found.to_html(lines)).encode())
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif html_path != "-":
        print_aligned(found, terminal_width() or WIDTH, lines)
