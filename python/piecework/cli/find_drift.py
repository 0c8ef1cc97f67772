"""`piecework find-drift`: report where ids of files differ from those of their own text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework._internal.progress import progress_bar
from piecework.cli.parameters import InputFile, command, is_quiet, option, quiet_option
from piecework.cli.terminal import print_blocks, terminal_width
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options

if TYPE_CHECKING:
    from piecework.analysis.blocks import Block
    from piecework.chat.drift import Drift, DriftSpan

_EXAMPLE = """\b
Example:
  piecework find-drift tokenizer.json rollouts.jsonl
  piecework find-drift tokenizer.json completions.npy --show 5 --json
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@tokenizer_options
@option(
    "--show",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of differences to print.",
)
@option("--json", "as_json", is_flag=True, help="Print the numbers and the differences as JSON.")
@quiet_option
def find_drift(
    tokenizer: str, files: tuple[str, ...], show: int, as_json: bool, hints: Hints
) -> None:
    """Print where ids in the FILEs differ from the ids of their text.

    The command decodes each row, encodes the text again, and compares. Models generate such ids, and
    training on the text in their place trains on other ids. FILEs have a format that `piecework encode`
    writes; without FILEs, or for -, the command reads stdin. It stops at an id that is not in the vocabulary.
    """
    loaded = load_one(tokenizer, hints)
    found = _Summary(show)
    with progress_bar("comparing", not is_quiet()) as update:
        for drift in pw.chat.find_drift_files(loaded, files or ("-",)):
            found.add(drift)
            update(found.rows, 0)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        print_blocks(found.blocks(), terminal_width())


@dataclass
class _Summary:
    """Numbers of rows and ids, and the first differences with the numbers of their rows."""

    show: int
    rows: int = 0
    ids: int = 0
    drifting_rows: int = 0
    drifting_ids: int = 0
    spans: list[tuple[int, DriftSpan]] = field(default_factory=list)

    def add(self, drift: Drift) -> None:
        self.rows += 1
        self.ids += len(drift.ids)
        self.drifting_rows += not drift.is_stable
        self.drifting_ids += sum(len(span.ids) for span in drift.spans)
        shown = drift.spans[: self.show - len(self.spans)]
        self.spans += [(self.rows, span) for span in shown]

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "ids": self.ids,
            "drifting_rows": self.drifting_rows,
            "drifting_ids": self.drifting_ids,
            "spans": [{"row": row, **span.to_dict()} for row, span in self.spans],
        }

    def blocks(self) -> Iterator[Block]:
        from piecework.analysis.blocks import Grid, Paragraph

        yield Paragraph(
            f"{counted(self.rows, 'row')}, {counted(self.ids, 'id')}: "
            f"{counted(self.drifting_rows, 'row')} with {counted(self.drifting_ids, 'id')} that the text of "
            "the row does not have"
        )
        if self.spans:
            header = ("row", "position", "text", "tokens", "tokens of the text")
            yield Grid(header, tuple(_cells(*one) for one in self.spans), numbers=header[:2])


def _cells(row: int, span: DriftSpan) -> tuple[str, ...]:
    from piecework.analysis.readable import show_whitespace

    tokens = (_shown(span.tokens), _shown(span.new_tokens))
    return str(row), str(span.start), show_whitespace(span.text), *tokens


def _shown(tokens: Iterable[str]) -> str:
    from piecework.analysis.readable import show_whitespace

    return " ".join(map(show_whitespace, tokens))
