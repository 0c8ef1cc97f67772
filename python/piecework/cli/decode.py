"""`piecework decode`: lines of ids in, lines of text out."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.parameters import InputFile, command, option, output_option, quiet_option
from piecework.cli.streams import Line, line_batches
from piecework.cli.tokenizer_options import (
    Hints,
    load_tokenizer,
    tokenizer_argument,
    tokenizer_options,
)
from piecework.files import whole_stream

_EXAMPLE = """\b
Example:
  piecework decode tokenizer.json ids.txt
  echo "Hello world" | piecework encode tokenizer.json | piecework decode tokenizer.json
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@tokenizer_options
@option("--keep-special-tokens", is_flag=True, help="Write [CLS], [SEP] and the like too.")
@option("--no-clean-up", is_flag=True, help="Leave the spaces before punctuation.")
@output_option("Output file  [default: stdout]", default="-")
@quiet_option
def decode(
    tokenizer: str,
    files: tuple[str, ...],
    keep_special_tokens: bool,
    no_clean_up: bool,
    path: str,
    hints: Hints,
) -> None:
    """Decode the ids in the FILEs to text, a line for each row."""
    loaded = load_tokenizer(tokenizer, hints)
    size = 1 + max(loaded.get_vocab().values(), default=-1)
    with whole_stream(path) as stream:
        for lines in line_batches(files or ("-",)):
            texts = loaded.decode_batch(
                [_ids_of(line, size) for line in lines],
                skip_special_tokens=not keep_special_tokens,
                clean_up=False if no_clean_up else None,
            )
            stream.writelines(f"{text}\n".encode() for text in texts)


def _ids_of(line: Line, size: int) -> list[int]:
    ids = []
    for word in line.data.split():
        if not word.isdigit() or len(word) > 10 or int(word) >= size:
            found = repr(word[:40].decode(errors="replace"))
            raise pw.errors.ArgumentError(
                line.place, found, f"ids from 0 to {size - 1} between blanks"
            )
        ids.append(int(word))
    return ids
