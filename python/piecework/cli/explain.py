"""`piecework explain`: every stage of one text in order, or every step of a small training."""

from __future__ import annotations

from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.explain_text import explain_text
from piecework.cli.explain_training import explain_training
from piecework.cli.options import corpus_options, counts_of, trainer_of, training_options

_EXAMPLE = """\b
Example:
  piecework explain tokenizer.json "I have a new GPU!"
  piecework explain --training corpus.txt --score pmi --min-frequency 1 --vocab-size 70
"""


@click.command(epilog=_EXAMPLE)
@click.argument("arguments", nargs=-1, required=True, metavar="(TOKENIZER TEXT | CORPUS...)")
@click.option("--training", is_flag=True, help="Train on CORPUS and print the learner's steps.")
@click.option(
    "--steps",
    default=20,
    show_default=True,
    help="Merges of each word; lines of each list of --training.",
)
@training_options
@corpus_options
def explain(
    arguments: tuple[str, ...],
    training: bool,
    steps: int,
    model: str,
    preset: str | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
    **settings: Any,
) -> None:
    """Print each stage of encoding TEXT with TOKENIZER, or with --training of learning from CORPUS.

    Use --training on small corpora; the other options are those of `piecework train`.
    """
    if training:
        chosen = pw.train.preset_for(model, preset)
        trainer = trainer_of(model, settings, chosen)
        counts = counts_of(arguments, chosen, field, errors, workers)
        explain_training(counts, trainer, steps)
        return
    if len(arguments) != 2:
        found = f"{len(arguments)} arguments"
        raise pw.errors.ArgumentError(
            "explain", found, "TOKENIZER and one TEXT in quotes, or --training"
        )
    loaded = pw.Tokenizer.load(arguments[0])
    text = arguments[1].encode(errors="surrogateescape").decode(errors="replace")
    explain_text(loaded, text, steps)
