"""`piecework verify`: compare ids with another library, and check a recorded fingerprint."""

from __future__ import annotations

import os
import re
from itertools import chain
from typing import Any

import click

import piecework as pw
from piecework.cli.outputs import print_blocks, print_json, terminal_width
from piecework.cli.parameters import InputFile, command, is_quiet, option, quiet_option
from piecework.cli.reading import PEER_NAMES, Reading, reading_options
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.io.names import tokenizer_path
from piecework.io.read_file import file_bytes

# In lock files: a fingerprint, two spaces and a name a line, as of sha256sum.
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_EXPECTED = (
    "64 hexadecimal digits, or a file with the lines that `piecework verify TOKENIZER` prints"
)

_FIRST = "--against --fingerprint --field --num-threads --download --json"
_EXAMPLE = """\b
Example:
  piecework verify tokenizer.json --against tokenizers corpus.txt
  piecework verify cl100k_base --against tiktoken corpus.jsonl.gz --json
  piecework verify tokenizer.json > tokenizer.lock
  piecework verify tokenizer.json --fingerprint tokenizer.lock
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("corpus", nargs=-1, metavar="[CORPUS]...", type=InputFile())
@option(
    "--against",
    multiple=True,
    type=click.Choice(PEER_NAMES),
    help="Library that reads the same tokenizer and encodes CORPUS; repeatable. Needs the extra bench, or "
    "transformers.",
)
@option(
    "--fingerprint",
    metavar="HEX|FILE",
    help="Also compare the fingerprint of TOKENIZER with a recorded one, or with its line in a file.",
)
@reading_options
@tokenizer_options
@option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@quiet_option
def verify(
    tokenizer: str,
    corpus: tuple[str, ...],
    against: tuple[str, ...],
    fingerprint: str | None,
    as_json: bool,
    hints: Hints,
    reading: Reading,
) -> None:
    """Check that TOKENIZER gives the ids of its library.

    This compares a tokenizer with its owner; `piecework check` looks for what is wrong in the file itself.

    With --against, the command encodes CORPUS with both and prints how many texts and ids it compared, and
    each kind of difference with the smallest text that it found. Lines of plain text are joined to texts of
    about 2,000 characters. With neither --against nor --fingerprint, it prints the fingerprint of TOKENIZER,
    a line for a lock file. The exit code is 1 if something differs.
    """
    if against and not corpus:
        raise click.UsageError("--against needs CORPUS: texts to encode.")
    if corpus and not against:
        raise click.UsageError(f"CORPUS needs --against: one of {', '.join(PEER_NAMES)}.")
    recorded = None if fingerprint is None else recorded_fingerprint(fingerprint, tokenizer)
    loaded = load_one(tokenizer, hints)
    verifications: tuple[Any, ...] = ()
    if against:
        revision, encoding_name = hints["revision"], hints["encoding_name"]
        verifications = pw.analysis.verify_files(
            tokenizer_path(tokenizer, encoding_name=encoding_name, revision=revision),
            list(corpus),
            against=against,
            tokenizer=loaded,
            progress=not is_quiet(),
            **reading,
        )
    is_recorded = recorded in (None, loaded.fingerprint)
    if as_json:
        found = {"fingerprint": loaded.fingerprint, "recorded": recorded}
        compared = [one.to_dict() for one in verifications]
        print_json({**found, "against": compared})
    else:
        if not against or not is_recorded:
            click.echo(f"{loaded.fingerprint}  {tokenizer}")
        if not is_recorded:
            click.echo(f"{recorded}  recorded: the fingerprints differ")
        print_blocks(chain.from_iterable(one.blocks() for one in verifications), terminal_width())
    if not is_recorded or not all(one.is_equal for one in verifications):
        raise click.exceptions.Exit(1)


def recorded_fingerprint(given: str, name: str) -> str:
    """Return the fingerprint that `--fingerprint` has, or that its file has for the name.

    >>> recorded_fingerprint("0" * 64, "tokenizer.json")[:4]
    '0000'

    Raises `ArgumentError` if it is neither, or the file has no line for the name.
    """
    if _FINGERPRINT.fullmatch(given.lower()):
        return given.lower()
    if not os.path.exists(given):
        problem = f"{given!r} is neither a file nor a fingerprint; give {_EXPECTED}"
        raise pw.errors.ArgumentError("fingerprint", problem)
    text = file_bytes(given, "a file of fingerprints").decode(errors="replace")
    for line in text.splitlines():
        fingerprint, _, recorded = line.partition("  ")
        if recorded == name and _FINGERPRINT.fullmatch(fingerprint):
            return fingerprint
    message = f"{given} has no fingerprint of {name}; `piecework verify {name}` prints its line"
    raise pw.errors.ArgumentError("fingerprint", message)
