"""`piecework bench`: measure the speed of a tokenizer, and of other libraries."""

from __future__ import annotations

from functools import partial

import click

import piecework as pw
from piecework.cli.outputs import print_blocks, print_json, terminal_width
from piecework.cli.parameters import InputFile, command, is_quiet, option, quiet_option
from piecework.cli.reading import PEER_NAMES, Reading, reading_options
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.io.names import tokenizer_file

_FIRST = "--against --repetitions --megabytes --num-threads --field --json"
_EXAMPLE = """\b
Example:
  piecework bench tokenizer.json corpus.txt --against tokenizers
  piecework bench spiece.model corpus.jsonl.gz --against sentencepiece --json
  piecework bench cl100k_base.tiktoken corpus.txt --encoding-name cl100k_base --against tiktoken
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...", type=InputFile())
@partial(reading_options, on_error=False)
@tokenizer_options
@option(
    "--against",
    multiple=True,
    type=click.Choice(PEER_NAMES),
    help="Also measure this library with the same tokenizer file, and compare ids; repeatable. "
    "Needs the extra bench, or transformers.",
)
@option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of repetitions of each measurement.",
)
@option(
    "--megabytes",
    type=click.FloatRange(min=0, min_open=True),
    default=16,
    show_default=True,
    help="Megabytes of the corpus to measure on.",
)
@option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@quiet_option
def bench(
    tokenizer: str,
    corpus: tuple[str, ...],
    against: tuple[str, ...],
    repetitions: int,
    megabytes: float,
    hints: Hints,
    as_json: bool,
    reading: Reading,
) -> None:
    """Measure how fast TOKENIZER encodes and decodes.

    The measurement "cold" encodes the first quarter of the texts with an empty word cache. "steady" encodes
    the next half with the filled word cache. Use an idle machine and at least ten megabytes of text.
    """
    loaded = load_one(tokenizer, hints)
    file = tokenizer_file(
        tokenizer, encoding_name=hints["encoding_name"], revision=hints["revision"]
    )
    found = pw.analysis.bench_files(
        file,
        list(corpus),
        tokenizer=loaded,
        against=against,
        megabytes=megabytes,
        repetitions=repetitions,
        progress=not is_quiet(),
        **reading,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        from piecework.analysis.bench import speed_table

        print_blocks([speed_table(found)], terminal_width())
