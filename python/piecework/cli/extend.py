"""`piecework extend`: add entries learned from a corpus to a tokenizer."""

from __future__ import annotations

from typing import Any

import click

import piecework as pw
from piecework.cli.options import count_or_load
from piecework.cli.outputs import saves_resized
from piecework.cli.parameters import InputFile, command, in_vocabulary, is_quiet
from piecework.cli.reading import Reading, given_options, reading_options
from piecework.cli.tokenizer_options import with_tokenizer
from piecework.cli.training_options import setting_options
from piecework.train.learners import SCORES

_FIRST = "-n --score --min-frequency --field --num-threads --map --output"
_EXAMPLE = """\b
Example:
  piecework extend tokenizer.json medicine.txt -n 2000 -o larger.json --map ids.npy
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@with_tokenizer
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@in_vocabulary(
    "-n",
    "n",
    type=click.IntRange(min=0),
    required=True,
    help="Number of entries to add.",
)
@in_vocabulary(
    "--score",
    type=click.Choice(tuple(SCORES)),
    help="Score that selects the next pair.  [default: likelihood; BPE: frequency]",
)
@setting_options(pw.BPETrainer, "min_frequency", "max_token_length")
@reading_options
@saves_resized
def extend(
    tokenizer: pw.Tokenizer,
    corpus: tuple[str, ...],
    n: int,
    score: str | None,
    reading: Reading,
    **settings: Any,
) -> tuple[pw.Tokenizer, pw.IdMap]:
    """Add entries learned from CORPUS; existing ids stay.

    CORPUS: the same kinds of files as for `piecework train`. Counts files must come from the normalizer and
    pre-tokenizer of TOKENIZER.
    """
    counts = count_or_load(corpus, pw.train.pipeline_of(tokenizer.spec), reading)
    learner = None if score is None else pw.train.Merges(score)
    given = given_options(settings)
    return pw.vocabulary.extend(
        tokenizer, counts, n, learner=learner, progress=not is_quiet(), **given
    )
