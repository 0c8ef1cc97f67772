"""`piecework train-sentencepiece`: train a SentencePiece model with the flags of `spm_train`."""

from __future__ import annotations

from typing import Any

import click

import piecework as pw
from piecework.cli.options import corpus_options
from piecework.cli.parameters import InputFile, command
from piecework.cli.training_counting import balance_option, parallel_option
from piecework.cli.training_options import SENTENCEPIECE, TrainingCommand
from piecework.cli.training_run import run_options, train_tokenizer

_FIRST = (
    "--model-type --vocab-size --character-coverage --normalization-rule-name --byte-fallback "
    "--user-defined-symbol --preset --field --output --dry-run"
)
_EXAMPLE = """\b
Example:
  piecework train-sentencepiece corpus.txt --vocab-size 32000 -o spm.model
  piecework train-sentencepiece corpus.txt --model-type bpe --byte-fallback -o spm.model
  piecework train-sentencepiece corpus.txt --preset llama -o llama.model
"""


@command(
    cls=TrainingCommand,
    models=(SENTENCEPIECE,),
    several_sizes=True,
    first=_FIRST,
    epilog=_EXAMPLE,
    context_settings={"token_normalize_func": lambda name: name.replace("_", "-")},
)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@corpus_options(tuple(pw.train.SENTENCEPIECE_PRESETS))
@parallel_option
@balance_option
@run_options
def train_sentencepiece(corpus: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Train a SentencePiece model, with spm_train's flags.

    CORPUS: the same kinds of files as for `piecework train`. In the names of options, _ works like -.
    """
    train_tokenizer(corpus, SENTENCEPIECE, preset, **options)
