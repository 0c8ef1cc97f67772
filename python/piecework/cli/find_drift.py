"""`piecework find-drift`: report where the ids in files differ from the ids of their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.progress import progress_bar
from piecework._internal.validation import counted
from piecework.cli.outputs import print_blocks, print_json, terminal_width
from piecework.cli.parameters import InputFile, command, is_quiet, option, quiet_option
from piecework.cli.tokenizer_options import with_tokenizer

if TYPE_CHECKING:
    from piecework.analysis.blocks import Block

_EXAMPLE = """\b
Example:
  piecework find-drift tokenizer.json rollouts.jsonl
  piecework find-drift tokenizer.json completions.npy --show 5 --json
"""


@command(epilog=_EXAMPLE)
@with_tokenizer
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@option(
    "--show",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of differences to print.",
)
@option("--json", "as_json", is_flag=True, help="Print the numbers and the differences as JSON.")
@quiet_option
def find_drift(tokenizer: pw.Tokenizer, files: tuple[str, ...], show: int, as_json: bool) -> None:
    """Print where the ids in the FILEs drift from their text.

    The command decodes each row, encodes the text again, and compares. Models generate ids that drift, and
    training on their text would use other ids. FILEs have a format that `piecework encode`
    writes; without FILEs, or for -, the command reads stdin. It stops at an id that is not in the vocabulary.
    """
    counts = {"rows": 0, "ids": 0, "drifting_rows": 0, "drifting_ids": 0}
    spans: list[tuple[int, Any]] = []
    with progress_bar("comparing", not is_quiet()) as update:
        for drift in pw.chat.find_drift_files(tokenizer, files or ("-",)):
            counts["rows"] += 1
            counts["ids"] += len(drift.ids)
            counts["drifting_rows"] += not drift.is_stable
            counts["drifting_ids"] += sum(len(span.ids) for span in drift.spans)
            spans += [(counts["rows"], span) for span in drift.spans[: show - len(spans)]]
            update(counts["rows"], 0)
    if as_json:
        print_json({**counts, "spans": [{"row": row, **span.to_dict()} for row, span in spans]})
    else:
        print_blocks(_blocks(counts, spans), terminal_width())


def _blocks(counts: Mapping[str, int], spans: Sequence[tuple[int, Any]]) -> Iterator[Block]:
    from piecework.analysis.blocks import Grid, Paragraph

    yield Paragraph(
        f"{counted(counts['rows'], 'row')}, {counted(counts['ids'], 'id')}: "
        f"{counted(counts['drifting_rows'], 'row')} with {counted(counts['drifting_ids'], 'id')} that the "
        "text of the row does not have"
    )
    if spans:
        header = ("row", "position", "text", "tokens", "tokens of the text")
        yield Grid(header, tuple(_cells(*one) for one in spans), numbers=header[:2])


def _cells(row: int, span: Any) -> tuple[str, ...]:
    from piecework.analysis.readable import show_whitespace

    tokens = (" ".join(map(show_whitespace, one)) for one in (span.tokens, span.new_tokens))
    return str(row), str(span.start), show_whitespace(span.text), *tokens
