"""`piecework choose`: compare sizes and learners of a vocabulary before a model is trained."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import click

import piecework as pw
from piecework.cli.compare import texts_of_corpus
from piecework.cli.options import PRESETS
from piecework.cli.outputs import check_output, print_blocks, print_json, terminal_width
from piecework.cli.parameters import (
    CommaSeparated,
    InputFile,
    NameChoice,
    OutputFile,
    VocabSize,
    command,
    in_corpus,
    in_output,
    in_vocabulary,
    is_quiet,
    quiet_option,
)
from piecework.cli.reading import CHOICE_MODELS, Reading, reading_options
from piecework.cli.tokenizer_options import Hints, load_each, names_of_files, tokenizer_options
from piecework.cli.training_options import setting_options
from piecework.io.atomic_files import atomic_stream
from piecework.train.counting import FileCountSettings

_FIRST = "--sizes --learners --preset --document --model-size --width --against --json --chart"
_EXAMPLE = """\b
Example:
  piecework choose corpus.txt --preset bert-cased --sizes 4k,8k,16k,32k
  piecework choose en=en.txt cs=cs.txt --model byte-bpe --preset o200k --sizes 16k,32k --chart sizes.svg
  piecework choose corpus.txt --sizes 4k,8k,16k --model-size 110M --width 768 --against gpt2
"""
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([kKmMbB]?)")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_PRESET = NameChoice(PRESETS, "preset")


class ParameterCount(click.ParamType):  # type: ignore[type-arg]
    """A number of parameters, such as `110M` or `7B`."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the number."""
        found = _COUNT.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is not a number of parameters such as 110M or 7B.", param, ctx)
        return round(float(found[1]) * _UNITS[found[2].lower()])


@command(first=_FIRST, epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@in_vocabulary(
    "--sizes",
    type=VocabSize(several=True),
    required=True,
    metavar="N,N...",
    help="Sizes of the vocabulary, such as 4k,8k,16k,32k.",
)
@in_vocabulary(
    "--model",
    type=click.Choice(CHOICE_MODELS),
    help="Type of the model.  [default: the preset's model, or wordpiece]",
)
@in_vocabulary(
    "--learners",
    type=CommaSeparated(),
    metavar="NAME,NAME...",
    help="Learners to compare: pruning, likelihood, frequency, pmi and top-down of WordPiece, em and pruning "
    "of Unigram, merges of BPE.  [default: pruning,likelihood,frequency, or all of another model]",
)
@in_vocabulary(
    "--model-size",
    type=ParameterCount(),
    metavar="N",
    help="Parameters of the model, such as 110M, for the share that its embedding takes.",
)
@in_vocabulary(
    "--width",
    type=click.IntRange(min=1),
    help="Columns of the table of embeddings, such as 768; untied tables count as twice the width.",
)
@in_vocabulary(
    "--least-gain",
    type=float,
    help="Share of the tokens that a thousand more entries must save to pay.  "
    "[default: the share of parameters that they add, or 0.005 without --model-size]",
)
@in_vocabulary(
    "--min-uses",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Entries that the training text uses less often are rare.",
)
@in_corpus(
    "--preset",
    type=_PRESET,
    help=f"Preset of normalizer, pre-tokenizer and decoder, {_PRESET.examples}.",
)
@in_corpus(
    "--hold-out",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of the documents to measure on, which no learner sees.",
)
@in_corpus(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed that decides, with the text of a document, whether it is held out.",
)
@in_corpus(
    "--against",
    multiple=True,
    type=InputFile(),
    metavar="FILE",
    help="Tokenizer of any pipeline to show beside: its tokens per byte and what the text loses, without a "
    "rank; repeatable.",
)
@partial(reading_options, document=True)
@setting_options(FileCountSettings, "memory", "checkpoint", section="Large corpora")
@partial(tokenizer_options, argument="A FILE of --against")
@in_output("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@in_output("--chart", type=OutputFile(), metavar="FILE", help="Write the chart as an SVG file.")
@quiet_option
def choose(
    corpus: tuple[str, ...],
    sizes: int | tuple[int, ...],
    against: tuple[str, ...],
    reading: Reading,
    hints: Hints,
    as_json: bool,
    chart: str | None,
    **settings: Any,
) -> None:
    """Choose the size and the learner of a vocabulary.

    Documents of CORPUS are held out by a hash of their text. One count of the others gives every size and
    learner, and the held-out documents measure them. One sentence says which learner takes the fewest tokens,
    where more entries stop paying, and what the documents cannot tell apart.

    CORPUS: {formats}; directories of these, quoted patterns, or URLs. The files are read three times.
    Several CORPUS arguments, such as one for each language, also give parity; NAME=CORPUS names one.
    """
    if "-" in corpus:
        raise click.UsageError("choose reads CORPUS three times; give files, not -")
    if chart is not None:
        check_output(chart)
    others = load_each(names_of_files(against), hints)
    found = pw.analysis.choose(
        texts_of_corpus(corpus, reading),
        sizes if isinstance(sizes, tuple) else (sizes,),
        against=others,
        num_threads=reading["num_threads"],
        progress=not is_quiet(),
        **settings,
    )
    if chart is not None:
        with atomic_stream(chart) as stream:
            stream.write(found.chart.to_svg().encode())
    if as_json:
        print_json(found.to_dict())
    elif chart != "-":
        print_blocks(found.blocks(), terminal_width())
