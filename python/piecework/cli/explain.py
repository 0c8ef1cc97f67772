"""`piecework explain`: print each stage of encoding a text, or the merges that made a token."""

from __future__ import annotations

import os
from shlex import quote

import click

import piecework as pw
from piecework._internal.step_selection import Selection
from piecework.cli.explanations import check_html, explanation_options, print_tokens, show
from piecework.cli.outputs import LOG_SUFFIX, training_log_of
from piecework.cli.parameters import InputFile, command, in_explanation
from piecework.cli.tokenizer_options import (
    Hints,
    load_each,
    load_one,
    names_of_files,
    tokenizer_options,
)

_FIRST = "--token --steps --lines --json --html --download"
_EXAMPLE = """\b
Example:
  piecework explain tokenizer.json "I have a new GPU!"
  piecework explain bert.json gpt2.json "I have a new GPU!"
  piecework explain tokenizer.json --token hug
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@click.argument("arguments", nargs=-1, metavar="TOKENIZER... [TEXT]", type=InputFile())
@in_explanation(
    "--token",
    metavar="TOKEN",
    help="Print the merges that made TOKEN, instead of encoding a text: from the tokenizer, or from the "
    "NAME.training.json beside it.",
)
@explanation_options("Merges of each word", "all")
@tokenizer_options
def explain(
    arguments: tuple[str, ...],
    token: str | None,
    steps: str,
    lines: int,
    as_json: bool,
    html_path: str | None,
    hints: Hints,
) -> None:
    """Print how TEXT is encoded, or what made a token.

    TOKENIZER encodes TEXT; several TOKENIZERs are shown side by side. `piecework explain-training` prints the
    steps of a training.
    """
    check_html(html_path, as_json)
    wanted = Selection.of(steps)
    if token is not None:
        if len(arguments) != 1:
            message = f"needs one TOKENIZER; there are {len(arguments)} arguments"
            raise pw.errors.ArgumentError("token", message)
        path = arguments[0]
        log = path if path.endswith(LOG_SUFFIX) else training_log_of(path)
        is_logged = os.path.exists(log)
        learned = (
            pw.train.LearnedVocabulary.load(log) if is_logged else load_one(arguments[0], hints)
        )
        show(pw.analysis.lineage(learned, token), as_json, html_path, lines)
        return
    if not arguments:
        raise click.UsageError("Missing argument 'TOKENIZER...'.")
    if len(arguments) == 1:
        example = f'piecework explain {quote(arguments[0])} "some text"'
        raise click.UsageError(f"Missing argument 'TEXT'; give one in quotes: {example}")
    text = arguments[-1].encode(errors="surrogateescape").decode(errors="replace")
    if len(arguments) > 2:
        loaded_by_name = load_each(names_of_files(arguments[:-1]), hints)
        named = {name: _whole(one) for name, one in loaded_by_name.items()}
        show(pw.analysis.side_by_side(named, text), as_json, html_path, lines)
        return
    loaded = _whole(load_one(arguments[0], hints)).with_parse_special(True)
    from piecework.analysis.readable import show_whitespace

    explained = pw.analysis.explain(loaded, text)
    show(explained, as_json, html_path, lines, steps=wanted)
    if not as_json and html_path != "-":
        click.echo("tokens in the text")
        print_tokens([show_whitespace(token.text) for token in explained.tokens])


def _whole(tokenizer: pw.Tokenizer) -> pw.Tokenizer:
    """Return the tokenizer without the lengths that its file stores: the whole text is explained."""
    return tokenizer.without_truncation().without_padding()
