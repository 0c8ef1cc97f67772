"""`piecework normalize`: normalize lines of text."""

from __future__ import annotations

import json
import os
from typing import Literal

import click

import piecework as pw
from piecework.cli.parameters import InputFile, command, option, output_option, quiet_option
from piecework.cli.reading import encoding_errors_option
from piecework.io.atomic_files import atomic_stream
from piecework.io.normalization_rules import NormalizationRules

_EXAMPLE = """\b
Example:
  piecework normalize --rules nmt_nfkc corpus.txt
  printf '49 27 6D\\t49 20 61 6D\\n' > rules.tsv
  echo "I'm here" | piecework normalize --rules rules.tsv --json
"""


@command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@option(
    "--rules",
    required=True,
    metavar="NAME|TSV",
    help=f"{', '.join(NormalizationRules.NAMES)}, or a file of rules. Each line has source, tab and "
    "replacement, in hexadecimal code points.",
)
@option(
    "--json", "as_json", is_flag=True, help="Write JSON lines with normalized text and offsets."
)
@encoding_errors_option
@output_option("File to write.  [default: stdout]", default="-")
@quiet_option
def normalize(
    files: tuple[str, ...],
    rules: str,
    as_json: bool,
    encoding_errors: Literal["replace", "strict"],
    path: str,
) -> None:
    """Normalize each line of the FILEs as SentencePiece does.

    Without FILEs, or for -, the command reads stdin.
    """
    loaded = _load_rules(rules)
    write = _normalize_to_json if as_json else NormalizationRules.normalize
    with atomic_stream(path) as stream:
        for name in files or ("-",):
            for rows in pw.corpus.read_corpus(
                name, encoding_errors=encoding_errors, whole_lines=True
            ):
                stream.writelines(f"{write(loaded, line)}\n".encode() for line in rows.texts)
                stream.flush()


def _load_rules(name: str) -> NormalizationRules:
    if name in NormalizationRules.NAMES:
        return NormalizationRules.named(name)
    if not os.path.exists(name):
        expected = f"a file of rules, or one of {', '.join(NormalizationRules.NAMES)}"
        message = f"there is no file {name!r}; give {expected}"
        raise pw.errors.ArgumentError("rules", message)
    return NormalizationRules.from_tsv(name)


def _normalize_to_json(rules: NormalizationRules, text: str) -> str:
    normalized, offsets = rules.normalize_with_offsets(text)
    return json.dumps({"text": normalized, "offsets": offsets}, ensure_ascii=False)
