"""`piecework shrink`: remove the tokens that were learned last."""

from __future__ import annotations

import click

from piecework.cli.parameters import (
    TokenizerOutput,
    VocabSizes,
    command,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.resizing import check_outputs, map_option, save_resized
from piecework.cli.tokenizer_options import (
    Hints,
    load_tokenizer,
    tokenizer_argument,
    tokenizer_options,
)

_EXAMPLE = """\b
Example:
  piecework shrink tokenizer.json --size 8000 -o smaller.json --map ids.npy
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@option(
    "--size",
    section="Vocabulary",
    type=VocabSizes(),
    metavar="N",
    required=True,
    help="Number of tokens to keep, added tokens included, such as 8000 or 8k.",
)
@tokenizer_options
@map_option
@output_option(
    "File to write: .json, .txt or another format by suffix; a name that ends in / is a folder for "
    "transformers; - writes a tokenizer.json to stdout.",
    type=TokenizerOutput(),
    required=True,
)
@quiet_option
def shrink(
    tokenizer: str, size: int | tuple[int, ...], hints: Hints, map_path: str | None, path: str
) -> None:
    """Remove the tokens of TOKENIZER that were learned last.

    BPE removes the last merges, Unigram and SentencePiece the tokens with the lowest scores, other models the
    highest ids. The alphabet and special tokens are kept.
    """
    if isinstance(size, tuple):
        raise click.UsageError("--size takes one size")
    loaded = load_tokenizer(tokenizer, hints)
    check_outputs(path, map_path)
    smaller, id_map = loaded.shrink(size)
    save_resized(smaller, id_map, path, map_path)
