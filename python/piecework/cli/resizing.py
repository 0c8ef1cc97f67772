"""Shared by the commands that change a vocabulary: save the tokenizer and the map of its ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import piecework as pw
from piecework._internal.counted import counted
from piecework.cli.notes import note
from piecework.cli.outputs import check_output, check_tokenizer_output, save_tokenizer
from piecework.cli.parameters import (
    OutputFile,
    TokenizerOutput,
    apply,
    in_output,
    output_option,
    quiet_option,
)
from piecework.io.atomic_files import atomic_file
from piecework.io.saving import check_model_type

Command = TypeVar("Command", bound=Callable[..., Any])

MAP_SUFFIXES = (".npy", ".json")


def resizing_outputs(*, required: bool) -> Callable[[Command], Command]:
    """Return the options for the files to write: the id map and the tokenizer, and `--quiet`."""
    options = (
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
    return lambda command: apply(options, command)


def listed_words(path: str) -> list[str]:
    """Return the lines of a file that are not empty."""
    words: list[str] = []
    for rows in pw.corpus.read_corpus(path, encoding_errors="strict"):
        words += filter(None, rows.texts)
    return words


def check_outputs(tokenizer: pw.Tokenizer, path: str, map_path: str | None) -> None:
    """Raise now if an output cannot be written or store such a model, before the work starts."""
    check_model_type(tokenizer, path)
    check_tokenizer_output(path)
    if map_path is not None:
        if Path(map_path).suffix not in MAP_SUFFIXES:
            problem = f"must be a file name that ends in .npy or .json, not {map_path!r}"
            raise pw.errors.ArgumentError("--map", problem)
        check_output(map_path)


def save_resized(
    tokenizer: pw.Tokenizer, id_map: pw.IdMap, path: str, map_path: str | None
) -> None:
    """Write the tokenizer and the id map, if requested; print how many tokens were kept and added."""
    save_tokenizer(tokenizer, path)
    if map_path is not None:
        _save_map(id_map, map_path)
    kept = int((id_map.new_ids >= 0).sum())
    sizes = f"{counted(kept, 'token')} kept, {len(id_map.added):,} added"
    note(sizes + ("" if path == "-" else f", saved as {path}"))


def _save_map(id_map: pw.IdMap, path: str) -> None:
    import numpy as np

    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        if path.endswith(".npy"):
            np.save(stream, id_map.new_ids)
        else:
            stream.write(id_map.to_json().encode() + b"\n")
