"""`piecework add`: add words to a tokenizer as ordinary entries."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
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
  piecework add tokenizer.json words.txt -o larger.json --map ids.npy
  piecework add bert/ words.txt --replace-unused -o medical/
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("words", type=InputFile())
@option(
    "--replace-unused",
    section="Vocabulary",
    is_flag=True,
    help="Give the words the ids of tokens such as [unused1]; no other id changes.",
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
    loaded = load_tokenizer(tokenizer, hints)
    check_outputs(path, map_path)
    listed: list[str] = []
    for lines in pw.export.read_lines(words, errors="strict"):
        listed += filter(None, lines)
    larger, id_map = loaded.add_words(listed, replace_unused=replace_unused)
    save_resized(larger, id_map, path, map_path)
