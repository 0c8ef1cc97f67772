"""`piecework decode`: decode rows of ids, in any format that `encode` writes, to lines of text."""

from __future__ import annotations

import itertools

import click

import piecework as pw
from piecework.cli.outputs import note
from piecework.cli.parameters import InputFile, command, in_output, output_option, quiet_option
from piecework.cli.tokenizer_options import with_tokenizer
from piecework.io.atomic_files import atomic_stream

_EXAMPLE = """\b
Example:
  piecework decode tokenizer.json ids.txt
  piecework decode tokenizer.json corpus.npy -o corpus.txt
  echo "Hello world" | piecework encode tokenizer.json | piecework decode tokenizer.json
"""


@command(epilog=_EXAMPLE)
@with_tokenizer
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@in_output(
    "--keep-special-tokens",
    is_flag=True,
    help="Also print special tokens such as [CLS] and [SEP].",
)
@in_output("--no-clean-up", is_flag=True, help="Keep spaces before punctuation.")
@output_option("File to write.  [default: stdout]", default="-")
@quiet_option
def decode(
    tokenizer: pw.Tokenizer,
    files: tuple[str, ...],
    keep_special_tokens: bool,
    no_clean_up: bool,
    path: str,
) -> None:
    """Decode the ids in the FILEs to text, one line per row.

    FILEs have a format that `piecework encode` writes; the command detects it from the content. These are
    lines of ids, JSON lines, .npy with its .row_offsets.npy, Arrow, Parquet, and .bin with its .idx.
    Without FILEs, or for -, the command reads stdin. Ids that are not in the vocabulary are skipped, and
    counted on stderr.
    """
    known = frozenset(tokenizer.get_vocab().values())
    first_gap = next(id for id in itertools.count() if id not in known)
    unknown = 0
    with atomic_stream(path) as stream:
        for name in files or ("-",):
            for rows in pw.export.read_ids(name):
                odd = (row for row in rows if row and max(row) >= first_gap)
                unknown += sum(id not in known for row in odd for id in row)
                texts = tokenizer.decode_batch(
                    rows,
                    skip_special_tokens=not keep_special_tokens,
                    clean_up=False if no_clean_up else None,
                )
                stream.writelines(f"{text}\n".encode() for text in texts)
                stream.flush()
    if unknown:
        note(f"ids that are not in the vocabulary: {unknown:,} skipped")
