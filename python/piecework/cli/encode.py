"""`piecework encode`: files of text in, files of tokens or ids out, in constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

import piecework as pw
from piecework.bars import progress_bar
from piecework.cli.options import reading_options

_EXAMPLE = """\b
Example:
  piecework encode tokenizer.json corpus.txt -o ids.txt
  piecework encode tokenizer.json --parallel train.de train.en -o ids.de -o ids.en
  piecework encode gpt2.json wiki.jsonl.zst --format megatron --append-eod "<|endoftext|>" -o wiki
  echo "Hello world" | piecework encode tokenizer.json --format tokens
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@click.option(
    "--format",
    type=click.Choice(list(pw.corpus_output.FORMATS)),
    default="ids",
    show_default=True,
    help="jsonl gives ids, tokens and character offsets; npy and megatron make two files.",
)
@click.option(
    "--parallel",
    is_flag=True,
    help="The FILEs are translations of each other: a line that is empty in one is dropped from all.",
)
@click.option("--keep-empty", is_flag=True, help="Keep lines that are empty or blank.")
@click.option("--append-eod", metavar="TOKEN", help="End each row with this token.")
@click.option("--no-special-tokens", is_flag=True, help="Leave out [CLS], [SEP] and the like.")
@click.option(
    "--no-parse-special", is_flag=True, help="Take special tokens written in the text as text."
)
@reading_options
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    default=["-"],
    help="Output of all FILEs, or one for each FILE.  [default: stdout]",
)
def encode(
    tokenizer: str,
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    no_special_tokens: bool,
    no_parse_special: bool,
    **settings: Any,
) -> None:
    """Encode each line of the FILEs (stdin without any, or for -) with TOKENIZER.

    FILEs are plain text or JSON lines (.jsonl), also with gzip or Zstandard. One output takes all of
    them, one after the other; as many outputs as FILEs take one each. Empty lines are dropped unless
    --keep-empty.
    """
    loaded = pw.Tokenizer.load(tokenizer)
    with progress_bar("encoding") as progress:
        done = pw.encode_files(
            loaded,
            files or ["-"],
            outputs,
            add_special_tokens=not no_special_tokens,
            parse_special=False if no_parse_special else None,
            progress=progress,
            **settings,
        )
    _report(done, outputs)


def _report(done: pw.EncodedFiles, outputs: Sequence[str]) -> None:
    """Say what was saved; of what went to stdout, only what did not go there whole."""
    to_files = "-" not in outputs
    if not to_files and not done.empty_lines_dropped and not done.replacements:
        return
    parts = [f"{done.lines_read:,} lines read", f"{done.lines_written:,} written"]
    if done.empty_lines_dropped:
        parts.append(f"{done.empty_lines_dropped:,} dropped because empty")
    if done.replacements:
        parts.append(f"{done.replacements:,} invalid UTF-8 sequences replaced")
    if to_files:
        parts.append(f"{' + '.join(f'{count:,}' for count in done.tokens)} tokens")
        parts.append(f"saved as {' '.join(outputs)}")
    click.echo(", ".join(parts), err=True)
