"""`piecework explain`: print each stage of encoding a text, or each step of a small training run."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any, Literal

import click

import piecework as pw
from piecework.analysis.block_html import as_html, page
from piecework.analysis.block_text import WIDTH
from piecework.analysis.readable_tokens import show_whitespace
from piecework.analysis.step_selection import Selection
from piecework.cli.explain_text import print_aligned, print_tokens
from piecework.cli.explain_training import trace_corpus, trace_example
from piecework.cli.options import (
    OnError,
    corpus_options,
    given_options,
    requested_model,
    training_options,
)
from piecework.cli.outputs import check_output, training_log_of
from piecework.cli.parameters import InputFile, OutputFile, command, option
from piecework.cli.sentencepiece_options import sentencepiece_options
from piecework.cli.terminal import print_blocks, terminal_width
from piecework.cli.tokenizer_options import (
    Hints,
    load_each,
    load_tokenizer,
    names_of_files,
    tokenizer_options,
)
from piecework.io.atomic_files import atomic_stream

_EXAMPLE = """\b
Example:
  piecework explain tokenizer.json "I have a new GPU!"
  piecework explain bert.json gpt2.json "I have a new GPU!"
  piecework explain tokenizer.json --token hug
  piecework explain --training --example course --steps 1-3
  piecework explain --training corpus.txt --score frequency --vocab-size 70 --all
"""
_DEFAULT_STEPS = "1-10"


@command(epilog=_EXAMPLE, short_sections=True)
@click.argument("arguments", nargs=-1, metavar="(TOKENIZER... TEXT | CORPUS...)", type=InputFile())
@option(
    "--training",
    section="Explanation",
    is_flag=True,
    help="Train on CORPUS and print the steps of the trainer.",
)
@option(
    "--example",
    section="Explanation",
    type=click.Choice(pw.analysis.EXAMPLES),
    help="With --training: a published example in place of CORPUS.",
)
@option(
    "--token",
    section="Explanation",
    metavar="TOKEN",
    help="Print the merges that made TOKEN, in place of encoding a text: from the tokenizer, or from the "
    "NAME.training.json beside it.",
)
@option(
    "--steps",
    section="Explanation",
    metavar="N,N-N",
    help="Steps to show, such as 3,5-8 or 10-: merges of each word, or steps of the trainer.  "
    "[default: all merges; --training: 1-10]",
)
@option(
    "--word",
    section="Explanation",
    metavar="WORD",
    help="With --training --model unigram: the lattice of this word of the corpus at each step.",
)
@option("--all", "all_steps", section="Explanation", is_flag=True, help="Show all steps.")
@option(
    "--lines",
    section="Explanation",
    default=20,
    show_default=True,
    type=click.IntRange(min=1),
    help="Maximum number of lines of each list.",
)
@option("--json", "as_json", section="Output", is_flag=True, help="Print JSON.")
@option(
    "--html",
    "html_path",
    section="Output",
    type=OutputFile(),
    help="Write a self-contained HTML page.",
)
@partial(tokenizer_options, shared=("special_tokens",))
@corpus_options
@training_options
@sentencepiece_options
def explain(
    arguments: tuple[str, ...],
    training: bool,
    example: str | None,
    token: str | None,
    steps: str | None,
    word: str | None,
    all_steps: bool,
    lines: int,
    as_json: bool,
    html_path: str | None,
    model: str,
    preset: str | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    on_error: OnError,
    num_threads: int | None,
    hints: Hints,
    **settings: Any,
) -> None:
    """Print each stage of encoding TEXT, or each step of training on CORPUS.

    TOKENIZER encodes TEXT; several TOKENIZERs are shown side by side. With --training, the arguments are a
    small CORPUS, and the options are those of `piecework train`.
    """
    if html_path == "-" and as_json:
        raise pw.errors.ArgumentError(
            "html", "- together with --json", "only one of them on stdout"
        )
    if html_path:
        check_output(html_path)
    if all_steps and steps is not None:
        raise pw.errors.ArgumentError("steps", f"{steps} together with --all", "one of them")
    chosen = "all" if all_steps else steps
    _check_training(training, example, word, arguments)
    if training:
        given = given_options(settings)
        kind = requested_model(model, given)
        how = {"steps": chosen or _DEFAULT_STEPS, "top": lines, "word": word}
        if example is not None:
            trace = trace_example(example, kind, preset, given, **how)
        else:
            reading = {"field": field, "errors": errors, "num_threads": num_threads}
            trace = trace_corpus(arguments, kind, preset, given, reading, on_error, **how)
        show(trace, as_json, html_path, lines)
        return
    if token is not None:
        _print_lineage(arguments, token, hints, as_json, html_path, lines)
        return
    text = (
        arguments[-1].encode(errors="surrogateescape").decode(errors="replace") if arguments else ""
    )
    if len(arguments) > 2:
        loaded_by_name = load_each(names_of_files(arguments[:-1]), hints)
        named = {name: _whole(one) for name, one in loaded_by_name.items()}
        show_sides(pw.analysis.side_by_side(named, text), as_json, html_path, lines)
        return
    if len(arguments) != 2:
        found = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
        raise pw.errors.ArgumentError(
            "arguments", found, "TOKENIZER... and TEXT (in quotes), or --training with CORPUS"
        )
    loaded = _whole(load_tokenizer(arguments[0], hints)).with_special_in_text("parse")
    explained = pw.analysis.explain(loaded, text)
    show(explained, as_json, html_path, lines, steps=Selection.of(chosen or "all"))
    if not as_json and html_path != "-":
        click.echo("tokens in the text")
        print_tokens([show_whitespace(token.text) for token in explained.tokens])


def _whole(tokenizer: pw.Tokenizer) -> pw.Tokenizer:
    """Return the tokenizer without the lengths that its file stores: the whole text is explained."""
    return tokenizer.without_truncation().without_padding()


def _print_lineage(
    arguments: tuple[str, ...],
    token: str,
    hints: Hints,
    as_json: bool,
    html_path: str | None,
    lines: int,
) -> None:
    """Print the merges that made a token of one tokenizer."""
    if len(arguments) != 1:
        found = f"{len(arguments)} arguments with --token"
        raise pw.errors.ArgumentError("arguments", found, "one TOKENIZER")
    log = training_log_of(arguments[0])
    source: pw.Tokenizer | pw.train.LearnedVocabulary
    if os.path.exists(log):
        source = pw.train.LearnedVocabulary.load(log)
    else:
        source = load_tokenizer(arguments[0], hints)
    show(pw.analysis.lineage(source, token), as_json, html_path, lines)


def _check_training(
    training: bool, example: str | None, word: str | None, arguments: tuple[str, ...]
) -> None:
    """Raise for arguments that the kind of explanation does not take."""
    if word is not None and not training:
        raise pw.errors.ArgumentError("word", word, "--training with --word")
    if example is not None and not training:
        raise pw.errors.ArgumentError("example", example, "--training with --example")
    if example is not None and arguments:
        found = f"{arguments[0]} together with --example"
        raise pw.errors.ArgumentError("CORPUS", found, "one of them")
    if training and example is None and not arguments:
        raise pw.errors.ArgumentError("CORPUS", "none", "files with text, or --example")


def show(
    found: pw.analysis.TrainingTrace | pw.analysis.Explanation | pw.analysis.Lineage,
    as_json: bool,
    html_path: str | None,
    lines: int,
    **how: Any,
) -> None:
    """Print a result as text or JSON, and write it as HTML."""
    if html_path:
        with atomic_stream(html_path) as stream:
            blocks = found.blocks(lines, **how)
            stream.write(page("piecework explain", as_html(blocks)).encode())
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif html_path != "-":
        print_blocks(found.blocks(lines, **how), terminal_width() or WIDTH)


def show_sides(
    found: pw.analysis.SideBySide, as_json: bool, html_path: str | None, lines: int
) -> None:
    """Print an alignment as text or JSON, and write it as HTML."""
    if html_path:
        with atomic_stream(html_path) as stream:
            stream.write(page("piecework explain", found.to_html(lines)).encode())
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif html_path != "-":
        print_aligned(found, terminal_width() or WIDTH, lines)
