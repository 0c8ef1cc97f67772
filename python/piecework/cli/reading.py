"""The options of commands that read a corpus; an option that is not given uses the default of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

import click

from piecework.cli.parameters import all_of, in_corpus
from piecework.corpus.rows import DOCUMENTS

Reading: TypeAlias = Mapping[str, Any]
"""The options of `reading_options`, by the names of the arguments of functions that read a corpus."""

# Choices that help lists, of modules that import numpy. tests/cli/start/test_options.py compares them.
PEER_NAMES = ("tokenizers", "transformers", "sentencepiece", "tiktoken")
"""The keys of `piecework.analysis.peers.PEERS`."""
CHOICE_MODELS = ("wordpiece", "bpe", "byte-bpe", "unigram", "byte-unigram")
"""The keys of `piecework.analysis.choose.LEARNERS_OF_MODELS`."""
TRAINING_EXAMPLES = ("course", "hugs")
"""`piecework.analysis.EXAMPLES`."""
OUTPUT_FORMATS = (
    "tokens",
    "ids",
    "jsonl",
    "npy",
    "arrow",
    "arrow-stream",
    "parquet",
    "megatron",
    "datasets",
)
"""The keys of `piecework.export.FORMATS` and `SHARD_FORMATS`."""
PACKING_STRATEGIES = ("concat", "best-fit")
"""`piecework.export.STRATEGIES`."""


encoding_errors_option = in_corpus(
    "--encoding-errors",
    type=click.Choice(["replace", "strict"]),
    default="replace",
    show_default=True,
    help="Replace invalid UTF-8 with U+FFFD, or stop with an error.",
)


def reading_options(
    command: Callable[..., Any], on_error: bool = True, document: bool = False
) -> Callable[..., Any]:
    """Add the options for reading a corpus; the command receives them together as `reading`."""
    names = ["field", "encoding_errors", "num_threads"]
    names += [name for name, has in (("on_error", on_error), ("document", document)) if has]

    @wraps(command)
    def with_reading(*arguments: Any, **settings: Any) -> Any:
        reading = {name: settings.pop(name) for name in names}
        return command(*arguments, reading=reading, **settings)

    options = {
        "field": in_corpus(
            "--field",
            metavar="NAME",
            help="Field with the text in JSON lines, or column of a table; a.b is field b of the object a. "
            "With this option, stdin and .json files are read as JSON lines.  "
            "[default: text]",
        ),
        "encoding_errors": encoding_errors_option,
        "num_threads": in_corpus(
            "--num-threads",
            type=click.IntRange(min=1),
            help="Number of threads.  [default: one per CPU]",
        ),
        "on_error": in_corpus(
            "--on-error",
            type=click.Choice(["fail", "skip"]),
            default="fail",
            show_default=True,
            help="Stop at the first error in a line or file, or skip it and print how many were skipped.",
        ),
        "document": in_corpus(
            "--document",
            type=click.Choice(list(DOCUMENTS)),
            default="line",
            show_default=True,
            help="What counts as a document in plain text: a line, the lines between blank lines, or a whole "
            "file. Line ends inside a document are kept.",
        ),
    }
    return all_of(*(options[name] for name in names))(with_reading)


def in_one_thread(reading: Reading) -> Reading:
    """Return the options for a function that reads without threads."""
    return {name: value for name, value in reading.items() if name != "num_threads"}


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None and value != ()}
