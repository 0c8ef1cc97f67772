"""`piecework train-sentencepiece`: train a SentencePiece model with the flags of `spm_train`."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import click

import piecework as pw
from piecework.cli.options import corpus_options
from piecework.cli.parameters import InputFile, command
from piecework.cli.source_counting import balance_option, parallel_option
from piecework.cli.training_options import SENTENCEPIECE, TrainingCommand
from piecework.cli.training_run import run_options, train_tokenizer

_EXAMPLE = """\b
Example:
  piecework train-sentencepiece corpus.txt --vocab-size 32000 -o spm.model
  piecework train-sentencepiece corpus.txt --model-type bpe --byte-fallback -o spm.model
  piecework train-sentencepiece corpus.txt --preset llama -o llama.model
"""


class _Command(TrainingCommand):
    """A command whose options may have underscores, as those of spm_train have."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments with dashes in the names of options that exist."""
        options = self.get_params(ctx)
        known = {flag for one in options for flag in (*one.opts, *one.secondary_opts)}
        return super().parse_args(ctx, [_as_known(argument, known) for argument in args])


def _as_known(argument: str, known: Container[str]) -> str:
    name, equals, value = argument.partition("=")
    dashed = name.replace("_", "-")
    return f"{dashed}{equals}{value}" if dashed in known else argument


@command(cls=_Command, models=(SENTENCEPIECE,), several_sizes=True, epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@corpus_options(tuple(pw.train.SENTENCEPIECE_PRESETS))
@parallel_option
@balance_option
@run_options
def train_sentencepiece(corpus: tuple[str, ...], preset: str | None, **options: Any) -> None:
    """Train a SentencePiece model on CORPUS, with the flags of spm_train.

    CORPUS: the same kinds of files as for `piecework train`. Words of options are separated by - or _.
    """
    train_tokenizer(corpus, SENTENCEPIECE, preset, **options)
