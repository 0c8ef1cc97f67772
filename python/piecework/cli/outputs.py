"""Output files, checked before the work starts; `-` is stdout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import piecework as pw
from piecework.cli.notes import note
from piecework.io.atomic_files import atomic_stream, check_writable
from piecework.io.saving import check_format, formats_for, is_folder_path

if TYPE_CHECKING:
    from piecework.train.plan import Plan


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
    """Raise now for a format that cannot store what a plan learns, before the corpus is read."""
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
    """Raise now if a path cannot be written, before the work starts."""
    if path != "-":
        check_writable(path)


def check_tokenizer_output(path: str) -> None:
    """Raise now if a tokenizer file or folder cannot be written, before the work starts."""
    if path == "-":
        return
    if not is_folder_path(path):
        check_writable(path)
        return
    inside = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    check_writable(os.path.join(inside, "tokenizer.json"))


_LOG_SUFFIX = ".training.json"


def is_training_log(path: str) -> bool:
    """Return whether a path has the name of a file that `--training-log` writes."""
    return path.endswith(_LOG_SUFFIX) and os.path.isfile(path)


def training_log_of(path: str) -> str:
    """Return the file beside a tokenizer that has the merges of its training.

    >>> training_log_of("out/tokenizer.json")
    'out/tokenizer.training.json'
    """
    trimmed = path.rstrip(os.sep)
    root = trimmed if is_folder_path(path) else os.path.splitext(trimmed)[0]
    return f"{root}{_LOG_SUFFIX}"
