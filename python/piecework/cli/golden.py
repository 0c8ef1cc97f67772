"""`piecework golden`: pin the ids of a tokenizer in a file, and check any engine against it."""

from __future__ import annotations

import os
from shlex import quote

import click

import piecework as pw
from piecework.cli.outputs import check_output, note, print_blocks, print_json, terminal_width
from piecework.cli.parameters import (
    InputFile,
    command,
    in_corpus,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.reading import PEER_NAMES
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.io.names import tokenizer_path

_FIRST = "--output --check --library --with --corpus --json"
_EXAMPLE = """\b
Example:
  piecework golden tokenizer.json -o golden.jsonl
  piecework golden tokenizer.json --check golden.jsonl
  piecework golden tokenizer.json --check golden.jsonl --library tokenizers
  piecework golden --check golden.jsonl --with "node encode.js" --json
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument(required=False)
@option(
    "--check",
    "golden_path",
    type=InputFile(),
    metavar="FILE",
    help="Compare TOKENIZER, a library or a program with this golden file.",
)
@option(
    "--library",
    type=click.Choice(PEER_NAMES),
    help="With --check: compare this library, which reads the file of TOKENIZER. Needs the extra bench, or "
    "transformers.",
)
@option(
    "--with",
    "program",
    metavar="COMMAND",
    help="With --check: compare a program that reads rows as JSON lines and writes their ids.",
)
@option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds that the program of --with has for all rows.",
)
@in_corpus(
    "--corpus",
    multiple=True,
    type=InputFile(),
    help="Add lines of this corpus to the golden file, which then contains text of people; repeatable.",
)
@tokenizer_options
@output_option("Golden file to write; - is stdout.", required=False)
@option("--json", "as_json", is_flag=True, help="With --check: print the result as JSON.")
@quiet_option
def golden(
    tokenizer: str | None,
    golden_path: str | None,
    library: str | None,
    program: str | None,
    timeout: float,
    corpus: tuple[str, ...],
    path: str | None,
    as_json: bool,
    hints: Hints,
) -> None:
    """Write texts and their ids that judge any engine.

    The file has a few hundred rows: the texts that tell engines apart, chosen for TOKENIZER, with ids,
    tokens, offsets and decoded text as JSON lines. With --check, the command compares TOKENIZER, a library or
    a program with such a file, and prints what differs by flag, the smallest text first. The exit code is
    1 if something differs.
    """
    if golden_path is None:
        _refuse({"--library": library, "--with": program, "--json": as_json}, "needs --check")
        if tokenizer is None:
            raise click.UsageError("Missing argument 'TOKENIZER'.")
        if path is None:
            writing = f"piecework golden {quote(tokenizer)} -o golden.jsonl"
            message = f"give a file to write: {writing}; or one to compare with: --check FILE"
            raise click.UsageError(message)
        _write(tokenizer, hints, corpus, path)
        return
    _refuse({"--output": path, "--corpus": corpus}, "cannot be combined with --check")
    if library is not None and program is not None:
        raise click.UsageError("--with cannot be combined with --library.")
    if tokenizer is None and program is None:
        raise click.UsageError("--check needs TOKENIZER or --with.")
    pins = pw.analysis.Golden.load(golden_path)
    loaded = None if tokenizer is None else load_one(tokenizer, hints)
    file = None
    if tokenizer is not None and library is not None:
        name, revision = hints["encoding_name"], hints["revision"]
        file = tokenizer_path(tokenizer, encoding_name=name, revision=revision)
    found = pw.analysis.check_golden(
        pins, loaded, library=library, path=file, program=program, timeout=timeout
    )
    if as_json:
        print_json(found.to_dict())
    else:
        print_blocks(found.blocks(), terminal_width())
    if not found.is_equal:
        raise click.exceptions.Exit(1)


def _refuse(options: dict[str, object], problem: str) -> None:
    for flag, value in options.items():
        if value:
            raise click.UsageError(f"{flag} {problem}.")


def _write(tokenizer: str, hints: Hints, corpus: tuple[str, ...], path: str) -> None:
    check_output(path)
    loaded = load_one(tokenizer, hints)
    texts = pw.corpus.read_corpus(list(corpus)) if corpus else None
    name = os.path.basename(tokenizer.rstrip(os.sep))
    pins = pw.analysis.golden(loaded, corpus=texts, name=name, format=_format_of(tokenizer))
    pins.save(path)
    kept = f"{len(pins.rows):,} rows"
    kept += f", with texts of {', '.join(corpus)}" if corpus else ""
    note(kept + ("" if path == "-" else f", saved as {path}"))
    if path != "-":
        note(f"next: piecework golden {quote(tokenizer)} --check {quote(path)}")


def _format_of(tokenizer: str) -> str:
    """Return the kind of file: the name of a `tokenizer.json`, or the suffix.

    >>> _format_of("bert/tokenizer.json"), _format_of("spiece.model"), _format_of("cl100k_base")
    ('tokenizer.json', '.model', '')
    """
    name = os.path.basename(tokenizer.rstrip(os.sep)).removesuffix(".gz")
    if os.path.isdir(tokenizer):
        return "folder"
    return name if name in ("tokenizer.json", "vocab.txt") else os.path.splitext(name)[1]
