"""`piecework extend`: add entries learned from a corpus to a tokenizer."""

from __future__ import annotations

from typing import Any

import click

import piecework as pw
from piecework.cli.options import count_or_load
from piecework.cli.parameters import InputFile, command, in_vocabulary, is_quiet
from piecework.cli.reading import Reading, given_options, reading_options
from piecework.cli.resizing import check_outputs, resizing_outputs, save_resized
from piecework.cli.setting_options import setting_options
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.train.learners import SCORES

_EXAMPLE = """\b
Example:
  piecework extend tokenizer.json medicine.txt -n 2000 -o larger.json --map ids.npy
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
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
@tokenizer_options
@resizing_outputs(required=True)
def extend(
    tokenizer: str,
    corpus: tuple[str, ...],
    n: int,
    score: str | None,
    reading: Reading,
    hints: Hints,
    map_path: str | None,
    path: str,
    **settings: Any,
) -> None:
    """Add entries learned from CORPUS to TOKENIZER, without changing existing ids.

    CORPUS: the same kinds of files as for `piecework train`. Counts files must come from the normalizer and
    pre-tokenizer of TOKENIZER.
    """
    loaded = load_one(tokenizer, hints)
    check_outputs(loaded, path, map_path)
    pipeline = pw.train.pipeline_of(loaded.spec)
    counts = count_or_load(corpus, pipeline, reading)
    larger, id_map = pw.vocabulary.extend(
        loaded,
        counts,
        n,
        learner=None if score is None else pw.train.Merges(score),
        progress=not is_quiet(),
        **given_options(settings),
    )
    save_resized(larger, id_map, path, map_path)
