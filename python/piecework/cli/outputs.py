"""Output files, checked before the work starts, and printed results; `-` is stdout."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework.cli.parameters import (
    Function,
    OutputFile,
    TokenizerOutput,
    all_of,
    in_output,
    is_quiet,
    output_option,
    quiet_option,
)
from piecework.io.atomic_files import atomic_file, atomic_stream, check_writable
from piecework.io.saving import check_format, check_model_type, formats_for, is_folder_path

if TYPE_CHECKING:
    from rich.console import Console

    from piecework.analysis.blocks import Block, Colors
    from piecework.train.plan import Plan


def print_json(data: Any) -> None:
    """Print data as one line of JSON."""
    click.echo(json.dumps(data, ensure_ascii=False))


def print_blocks(blocks: Iterable[Block], width: int | None) -> None:
    """Print blocks of at most `width` columns, None for any width."""
    from piecework.analysis.displayed import as_text

    console = color_console()
    colors: Colors | None = console.color_system if console else None  # type: ignore[assignment]
    click.echo(as_text(blocks, width, colors).lstrip("\n"), nl=False)


def terminal_width() -> int | None:
    """Return the number of columns to use of the terminal, None for another stdout."""
    from piecework.analysis.blocks import WIDTH

    if sys.stdout is not None and sys.stdout.isatty():
        return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)
    return None


def color_console() -> Console | None:
    """Return a console for a stdout with colors, None for another stdout."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    has_colors = console.is_terminal and console.color_system and not console.no_color
    return console if has_colors else None


def note(message: str) -> None:
    """Print a line on stderr unless `--quiet` is given."""
    if not is_quiet():
        click.echo(message, err=True)


def save_tokenizer(tokenizer: pw.Tokenizer, path: str) -> None:
    """Write a tokenizer file; for `-`, write a `tokenizer.json` to stdout."""
    if path != "-":
        tokenizer.save(path)
        return
    with atomic_stream("-") as stream:
        stream.write(tokenizer.to_str(pretty=True).encode() + b"\n")


def save_trained(tokenizer: pw.Tokenizer, path: str) -> None:
    """Write a trained tokenizer; if its format cannot store it after all, keep it as a `.piecework` file."""
    try:
        save_tokenizer(tokenizer, path)
    except (pw.errors.PortabilityError, pw.errors.VocabularyError):
        if path != "-":
            kept = os.path.splitext(path.rstrip(os.sep))[0] + ".piecework"
            tokenizer.save(kept)
            note(f"saved as {kept} instead, which `piecework convert` reads")
        raise


def check_trained_format(plan: Plan, path: str) -> None:
    """Raise, before the corpus is read, for a format that cannot store what a plan learns."""
    smallest = pw.Tokenizer.from_spec(plan.smallest_spec())
    try:
        check_format(smallest, "tokenizer.json" if path == "-" else path)
    except pw.errors.PortabilityError as error:
        advice = f"write {formats_for(smallest)}"
        raise pw.errors.ArgumentError(f"output {path}", error.message, hint=advice) from error
    except (pw.errors.ArgumentError, pw.errors.VocabularyError) as error:
        training = f"train with {_training_for(os.path.splitext(path)[1], plan)}"
        advice = f"{error.hint}, or {training}" if error.hint else training
        raise pw.errors.ArgumentError(f"output {path}", error.message, hint=advice) from error


def _training_for(suffix: str, plan: Plan) -> str:
    """Return the command or option of the training whose model a format can store."""
    if suffix == ".txt":
        return "--model wordpiece"
    if suffix == ".tiktoken":
        return "--model byte-bpe"
    types = {"bpe": "bpe", "byte-bpe": "bpe", "word": "word", "char": "char"}
    model_type = types.get(plan.trainer.kind, "unigram")
    return f"piecework train-sentencepiece --model-type {model_type}"


def check_output(path: str) -> None:
    """Raise, before the work starts, if a path cannot be written."""
    if path != "-":
        check_writable(path)


def check_tokenizer_output(path: str) -> None:
    """Raise, before the work starts, if a tokenizer file or folder cannot be written."""
    if path == "-":
        return
    if not is_folder_path(path):
        check_writable(path)
        return
    inside = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    check_writable(os.path.join(inside, "tokenizer.json"))


LOG_SUFFIX = ".training.json"


def training_log_of(path: str) -> str:
    """Return the file beside a tokenizer that has the merges of its training.

    >>> training_log_of("out/tokenizer.json")
    'out/tokenizer.training.json'
    """
    trimmed = path.rstrip(os.sep)
    root = trimmed if is_folder_path(path) else os.path.splitext(trimmed)[0]
    return f"{root}{LOG_SUFFIX}"


def resizing_outputs(*, required: bool) -> Callable[[Function], Function]:
    """Return the options for the files to write: the id map and the tokenizer, and `--quiet`."""
    return all_of(
        in_output(
            "--map",
            "map_path",
            type=OutputFile(),
            metavar="*.npy|*.json",
            help="Also write the new id of each old id, -1 for a removed token; .json also has the old ids "
            "of the text of each new token.",
        ),
        output_option(
            "File to write: .json, .txt or another format by suffix; a name that ends in / is a folder for "
            "transformers; - writes a tokenizer.json to stdout.",
            type=TokenizerOutput(),
            required=required,
        ),
        quiet_option,
    )


def saves_resized(function: Callable[..., tuple[pw.Tokenizer, pw.IdMap]]) -> Callable[..., None]:
    """Add the options for the files to write, to a command that returns what they get."""

    @wraps(function)
    def save(*arguments: Any, path: str, map_path: str | None, **settings: Any) -> None:
        check_outputs(settings["tokenizer"], path, map_path)
        save_resized(*function(*arguments, **settings), path, map_path)

    return resizing_outputs(required=True)(save)


def listed_words(path: str) -> list[str]:
    """Return the lines of a file that are not empty."""
    words: list[str] = []
    for rows in pw.corpus.read_corpus(path, encoding_errors="strict"):
        words += filter(None, rows.texts)
    return words


def check_outputs(tokenizer: pw.Tokenizer, path: str, map_path: str | None) -> None:
    """Raise, before the work starts, if an output cannot be written or cannot store such a model."""
    check_model_type(tokenizer, path)
    check_tokenizer_output(path)
    if map_path is not None:
        if Path(map_path).suffix not in (".npy", ".json"):
            problem = f"must be a file name that ends in .npy or .json, not {map_path!r}"
            raise pw.errors.ArgumentError("--map", problem)
        check_output(map_path)


def save_resized(
    tokenizer: pw.Tokenizer, id_map: pw.IdMap, path: str, map_path: str | None
) -> None:
    """Write the tokenizer and the id map, if requested; print how many tokens were kept and added."""
    save_tokenizer(tokenizer, path)
    if map_path is not None:
        import numpy as np

        with atomic_file(map_path) as temporary, temporary.open("wb") as stream:
            if map_path.endswith(".npy"):
                np.save(stream, id_map.new_ids)
            else:
                stream.write(id_map.to_json().encode() + b"\n")
    kept = int((id_map.new_ids >= 0).sum())
    sizes = f"{counted(kept, 'token')} kept, {len(id_map.added):,} added"
    note(sizes + ("" if path == "-" else f", saved as {path}"))
