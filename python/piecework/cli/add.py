"""`piecework add`: add words to a tokenizer as ordinary entries."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.parameters import InputFile, command, in_vocabulary
from piecework.cli.resizing import check_outputs, listed_words, resizing_outputs, save_resized
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options

_EXAMPLE = """\b
Example:
  piecework add tokenizer.json words.txt -o larger.json --map ids.npy
  piecework add bert/ words.txt --replace-unused -o medical/
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("words", type=InputFile())
@in_vocabulary(
    "--replace-unused",
    is_flag=True,
    help="Give the words the ids of tokens such as [unused1]; no other id changes.",
)
@tokenizer_options
@resizing_outputs(required=True)
def add(
    tokenizer: str,
    words: str,
    replace_unused: bool,
    hints: Hints,
    map_path: str | None,
    path: str,
) -> None:
    """Add WORDS to TOKENIZER as ordinary entries, one token each.

    WORDS: a file with one word per line, - for stdin.
    """
    loaded = load_one(tokenizer, hints)
    check_outputs(loaded, path, map_path)
    larger, id_map = pw.vocabulary.add_words(
        loaded, listed_words(words), replace_unused=replace_unused
    )
    save_resized(larger, id_map, path, map_path)
