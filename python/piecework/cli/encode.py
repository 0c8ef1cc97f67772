"""`piecework encode`: lines of text in, tokens or ids out, in constant memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click

import piecework as pw
from piecework.cli.streams import line_batches, output, text_of

_EXAMPLE = """\b
Example:
  piecework encode tokenizer.json corpus.txt -o ids.txt
  echo "Hello world" | piecework encode tokenizer.json --format tokens
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["tokens", "ids", "jsonl"]),
    default="ids",
    show_default=True,
    help="jsonl gives ids, tokens and character offsets.",
)
@click.option("--no-special-tokens", is_flag=True, help="Leave out [CLS], [SEP] and the like.")
@click.option(
    "--errors",
    type=click.Choice(["replace", "strict"]),
    default="replace",
    show_default=True,
    help="What to do about invalid UTF-8.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Threads  [default: all cores]")
@click.option("-o", "--output", "path", default="-", help="Output file  [default: stdout]")
def encode(
    tokenizer: str,
    files: tuple[str, ...],
    form: str,
    no_special_tokens: bool,
    errors: str,
    workers: int | None,
    path: str,
) -> None:
    """Encode each line of the FILEs (stdin without any, or for -) with TOKENIZER: one line each."""
    loaded = pw.Tokenizer.load(tokenizer)
    write_rows = _FORMATS[form](loaded)
    with output(path) as stream:
        for lines in line_batches(files or ("-",)):
            texts = [text_of(line, errors) for line in lines]
            batch = loaded.encode_batch(
                texts, add_special_tokens=not no_special_tokens, workers=workers
            )
            stream.writelines(f"{row}\n".encode() for row in write_rows(batch))


RowWriter = Callable[[pw.Batch], Iterator[str]]


def _ids(_: pw.Tokenizer) -> RowWriter:
    return lambda batch: (" ".join(map(str, row)) for row in batch.to_lists())


def _tokens(tokenizer: pw.Tokenizer) -> RowWriter:
    names = {number: token for token, number in tokenizer.get_vocab().items()}
    return lambda batch: (" ".join(names[number] for number in row) for row in batch.to_lists())


def _json_lines(_: pw.Tokenizer) -> RowWriter:
    return lambda batch: (
        json.dumps(
            {"ids": row.ids, "tokens": row.tokens, "offsets": row.offsets}, ensure_ascii=False
        )
        for row in batch
    )


_FORMATS: dict[str, Callable[[pw.Tokenizer], RowWriter]] = {
    "tokens": _tokens,
    "ids": _ids,
    "jsonl": _json_lines,
}
