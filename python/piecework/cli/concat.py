"""`piecework concat`: concatenate indexed datasets of Megatron-LM."""

from __future__ import annotations

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework.cli.notes import note
from piecework.cli.parameters import InputFile, command, output_option, quiet_option

_EXAMPLE = """\b
Example:
  piecework concat wiki books news.bin -o all
  piecework concat ids/*.bin -o corpus.bin
"""


@command(epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="PAIR...", type=InputFile())
@output_option("Pair of files to write: its .bin, its .idx or their common prefix.", required=True)
@quiet_option
def concat(inputs: tuple[str, ...], path: str) -> None:
    """Concatenate the Megatron-LM datasets PAIRs.

    A PAIR is a .bin and an .idx file, named by either or by their common prefix. All PAIRs must have ids of
    the same type. Memory is constant.
    """
    sequences = pw.export.concat_megatron(inputs, path)
    note(f"{counted(sequences, 'sequence')} of {counted(len(inputs), 'dataset')}, saved as {path}")
