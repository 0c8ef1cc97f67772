"""`piecework add`: add words to a tokenizer as ordinary entries."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.outputs import listed_words, saves_resized
from piecework.cli.parameters import InputFile, command, in_vocabulary
from piecework.cli.tokenizer_options import with_tokenizer

_EXAMPLE = """\b
Example:
  piecework add tokenizer.json words.txt -o larger.json --map ids.npy
  piecework add bert/ words.txt --replace-unused -o medical/
"""


@command(epilog=_EXAMPLE)
@with_tokenizer
@click.argument("words", type=InputFile())
@in_vocabulary(
    "--replace-unused",
    is_flag=True,
    help="Give the words the ids of tokens such as [unused1]; no other id changes.",
)
@saves_resized
def add(tokenizer: pw.Tokenizer, words: str, replace_unused: bool) -> tuple[pw.Tokenizer, pw.IdMap]:
    """Add WORDS to TOKENIZER as entries, one token each.

    WORDS: a file with one word per line, - for stdin.
    """
    entries = listed_words(words)
    return pw.vocabulary.add_words(tokenizer, entries, replace_unused=replace_unused)
