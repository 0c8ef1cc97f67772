"""`piecework train`: train a tokenizer on a corpus or on word counts."""

from __future__ import annotations

from typing import Any

import click

from piecework.cli.options import PRESETS, corpus_options
from piecework.cli.parameters import InputFile, command
from piecework.cli.training_counting import balance_option, parallel_option
from piecework.cli.training_options import PRESET_MODELS, TrainingCommand, model_option
from piecework.cli.training_run import run_options, train_tokenizer

_FIRST = (
    "--model --vocab-size --preset --learner --special-token --field --memory --output --dry-run"
)
_EXAMPLE = """\b
Example:
  piecework train corpus.txt more.jsonl.gz --vocab-size 8000 -o tokenizer.json
  piecework count corpus/ -o counts.parquet
  piecework train counts.parquet --learner merges --score frequency -o vocab.txt
  piecework train counts.parquet --vocab-size 8k,16k,32k -o 'tokenizer-{size}.json'
  piecework train en.txt cs.txt --preset o200k --parity --parallel en.dev --parallel cs.dev -o both.json

\b
Which model, learner, size and preset to choose:
  docs/how-to/choose-a-tokenizer.md
"""


@command(
    cls=TrainingCommand, models=PRESET_MODELS, several_sizes=True, first=_FIRST, epilog=_EXAMPLE
)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@model_option(PRESET_MODELS)
@corpus_options(PRESETS)
@parallel_option
@balance_option
@run_options
def train(corpus: tuple[str, ...], model: str | None, preset: str | None, **options: Any) -> None:
    """Train a tokenizer on CORPUS.

    CORPUS: {formats}; directories of these, quoted patterns such as 'data/**/*.jsonl.gz', URLs such as
    s3://bucket/data.jsonl, or - for stdin.
    Counts files of `piecework count` (.parquet, .tsv), recognized by content, work too and keep their preset.
    To weight sources such as languages, give each as one CORPUS argument.
    """
    train_tokenizer(corpus, model, preset, **options)
