"""`piecework check`: say what is wrong with tokenizers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from piecework.cli.outputs import print_blocks, print_json, terminal_width
from piecework.cli.parameters import CommaSeparated, InputFile, OutputFile, command, option
from piecework.cli.tokenizer_options import (
    Hints,
    load_with_some,
    tokenizer_argument,
    tokenizer_options,
)
from piecework.errors import FileError
from piecework.io.atomic_files import atomic_file

if TYPE_CHECKING:
    from piecework.analysis.check.findings import CheckReport, Severity

_FIRST = "--select --ignore --fail-on --json"
_EXAMPLE = """\b
Example:
  piecework check tokenizer.json
  piecework check model-folder --ignore changed-text --fail-on warning
  piecework check a.json b.json --sarif findings.sarif
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZER...")
@option(
    "--select",
    type=CommaSeparated(),
    metavar="CODE,...",
    help="Rules that run: codes and groups.  [default: all]",
)
@option(
    "--ignore",
    type=CommaSeparated(),
    metavar="CODE,...",
    help="Rules that do not run: codes and groups.",
)
@option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    default="error",
    show_default=True,
    help="Severity from which on a finding makes the exit code 1.",
)
@option(
    "--corpus",
    multiple=True,
    type=InputFile(),
    help="File in whose first 1,000 texts the use of entries is counted; repeatable.",
)
@option(
    "--field", metavar="NAME", help="Field or column of --corpus with the text.  [default: text]"
)
@option(
    "--embeddings",
    type=InputFile(),
    help="A .safetensors file, an index or a folder of the model, to find untrained entries.",
)
@tokenizer_options
@option(
    "--json", "as_json", is_flag=True, help="Print the findings as JSON, a line for each TOKENIZER."
)
@option("--sarif", type=OutputFile(), help="Also write the findings to this file as SARIF 2.1.0.")
def check(
    tokenizers: tuple[str, ...],
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
    fail_on: Severity,
    corpus: tuple[str, ...],
    field: str | None,
    embeddings: str | None,
    as_json: bool,
    sarif: str | None,
    hints: Hints,
) -> None:
    """Judge TOKENIZERs: print what is wrong with each.

    These are judgements without a corpus or another library; `piecework inspect` prints facts, `compare`
    measures several tokenizers on a corpus, and `verify` compares one with its library.

    A finding has the code of its rule, a severity, its evidence, what it costs and what to do. An error loses
    text or contradicts another file, a warning is a probable mistake, a note is a property to know. The
    reference describes each rule, with examples. No file is changed: a changed tokenizer no longer fits its
    model.
    """
    from piecework.analysis.check import rules
    from piecework.analysis.corpus_texts import sample_of_files

    if embeddings is not None:
        with FileError.while_reading(embeddings):
            os.stat(embeddings)
    chosen = rules.chosen_rules(select or (), ignore or ())
    texts = sample_of_files(corpus, field=field) if corpus else None
    reports: list[CheckReport] = []
    for path in tokenizers:
        load = partial(load_with_some, hints=hints)
        revision = None if os.path.exists(path) else hints["revision"]
        subject = rules.read_subject(path, load, revision=revision)
        subject.texts, subject.embeddings = texts, embeddings
        reports.append(rules.checked(subject, chosen))
        _print(reports[-1], as_json)
    if sarif is not None:
        from piecework.analysis.check.sarif import sarif as as_sarif

        log = as_sarif(reports)
        with atomic_file(sarif) as temporary:
            temporary.write_text(json.dumps(log, ensure_ascii=False, indent=1), encoding="utf-8")
    if any(report.fails(fail_on) for report in reports):
        raise click.exceptions.Exit(1)


def _print(report: CheckReport, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        print_blocks(report.blocks(), terminal_width())
