"""`piecework explain`: print each stage of encoding a text, or each step of a small training run."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.explain_text import explain_text
from piecework.cli.explain_training import explain_training
from piecework.cli.options import (
    OnError,
    corpus_options,
    count_or_load,
    given_options,
    requested_model,
    training_options,
)
from piecework.cli.parameters import InputFile, command, option
from piecework.cli.sentencepiece_options import sentencepiece_options
from piecework.cli.tokenizer_options import Hints, load_tokenizer, tokenizer_options

_EXAMPLE = """\b
Example:
  piecework explain tokenizer.json "I have a new GPU!"
  piecework explain --training corpus.txt --score pmi --min-frequency 1 --vocab-size 70
"""


@command(epilog=_EXAMPLE)
@click.argument(
    "arguments", nargs=-1, required=True, metavar="(TOKENIZER TEXT | CORPUS...)", type=InputFile()
)
@option("--training", is_flag=True, help="Train on CORPUS and print the steps of the trainer.")
@option(
    "--steps",
    default=20,
    show_default=True,
    help="Maximum number of merges of each word, or of lines of each list with --training.",
)
@partial(tokenizer_options, shared=("special_tokens",))
@corpus_options
@training_options
@sentencepiece_options
def explain(
    arguments: tuple[str, ...],
    training: bool,
    steps: int,
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

    TOKENIZER encodes TEXT. With --training, the arguments are a small CORPUS, and the options are those of
    `piecework train`.
    """
    if training:
        given = given_options(settings)
        plan = pw.train.Plan.of(None, requested_model(model, given), preset, given)
        counts = count_or_load(
            arguments, plan.pipeline, field, errors, num_threads, plan.sentences, on_error=on_error
        )
        explain_training(counts, plan.trainer, steps)
        return
    if len(arguments) != 2:
        found = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
        raise pw.errors.ArgumentError(
            "arguments", found, "TOKENIZER and TEXT (in quotes), or --training with CORPUS"
        )
    loaded = load_tokenizer(arguments[0], hints).with_special_in_text("parse")
    text = arguments[1].encode(errors="surrogateescape").decode(errors="replace")
    explain_text(loaded, text, steps)
