"""`piecework decode`: decode rows of ids, in any format that `encode` writes, to lines of text."""

from __future__ import annotations

import itertools

import click

import piecework as pw
from piecework.cli.notes import note
from piecework.cli.parameters import InputFile, command, option, output_option, quiet_option
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.io.atomic_files import atomic_stream

_EXAMPLE = """\b
Example:
  piecework decode tokenizer.json ids.txt
  piecework decode tokenizer.json corpus.npy -o corpus.txt
  echo "Hello world" | piecework encode tokenizer.json | piecework decode tokenizer.json
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@tokenizer_options
@option(
    "--keep-special-tokens",
    section="Output",
    is_flag=True,
    help="Also print special tokens such as [CLS] and [SEP].",
)
@option("--no-clean-up", section="Output", is_flag=True, help="Keep spaces before punctuation.")
@output_option("File to write.  [default: stdout]", default="-")
@quiet_option
def decode(
    tokenizer: str,
    files: tuple[str, ...],
    keep_special_tokens: bool,
    no_clean_up: bool,
    path: str,
    hints: Hints,
) -> None:
    """Decode the ids in the FILEs to text, one line per row.

    FILEs have a format that `piecework encode` writes; the command detects it from the content. These are
    lines of ids, JSON lines, .npy with its .row_offsets.npy, Arrow, Parquet, and .bin with its .idx.
    Without FILEs, or for -, the command reads stdin. Ids that are not in the vocabulary are skipped, and
    counted on stderr.
    """
    loaded = load_one(tokenizer, hints)
    known = frozenset(loaded.get_vocab().values())
    first_gap = next(id for id in itertools.count() if id not in known)
    unknown = 0
    with atomic_stream(path) as stream:
        for name in files or ("-",):
            for rows in pw.export.read_ids(name):
                unknown += sum(
                    _unknown(row, known) for row in rows if row and max(row) >= first_gap
                )
                texts = loaded.decode_batch(
                    rows,
                    skip_special_tokens=not keep_special_tokens,
                    clean_up=False if no_clean_up else None,
                )
                stream.writelines(f"{text}\n".encode() for text in texts)
                stream.flush()
    if unknown:
        note(f"ids that are not in the vocabulary: {unknown:,} skipped")


def _unknown(row: list[int], known: frozenset[int]) -> int:
    return len(row) - sum(map(known.__contains__, row))
