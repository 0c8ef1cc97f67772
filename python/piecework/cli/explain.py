"""`piecework explain`: every stage of one text in order, or every step of a small training."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.explain_text import explain_text
from piecework.cli.explain_training import explain_training
from piecework.cli.options import (
    corpus_options,
    counts_by,
    given_options,
    kind_of_model,
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
@option("--training", is_flag=True, help="Train on CORPUS and print the learner's steps.")
@option(
    "--steps",
    default=20,
    show_default=True,
    help="Merges of each word; lines of each list of --training.",
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
    num_threads: int | None,
    hints: Hints,
    **settings: Any,
) -> None:
    """Print each stage of encoding TEXT, or of learning from CORPUS.

    TEXT is encoded with TOKENIZER; with --training a tokenizer is learned from CORPUS. Use --training on
    small corpora; the other options are those of `piecework train`.
    """
    if training:
        given = given_options(settings)
        plan = pw.train.Plan.of(None, kind_of_model(model, given), preset, given)
        counts = counts_by(arguments, plan.pipeline, field, errors, num_threads, plan.sentences)
        explain_training(counts, plan.trainer, steps)
        return
    if len(arguments) != 2:
        found = f"{len(arguments)} arguments"
        raise pw.errors.ArgumentError(
            "arguments", found, "TOKENIZER and one TEXT in quotes, or --training"
        )
    loaded = load_tokenizer(arguments[0], hints).with_special_in_text("parse")
    text = arguments[1].encode(errors="surrogateescape").decode(errors="replace")
    explain_text(loaded, text, steps)
