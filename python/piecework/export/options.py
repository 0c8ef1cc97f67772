"""What `encode_files` refuses before it reads a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from piecework._internal.validation import check_choice
from piecework.corpus.files import PathLike, corpus_files
from piecework.errors import ArgumentError, InputTypeError
from piecework.export.output_formats import FORMATS, Format
from piecework.io.atomic_files import check_writable
from piecework.tokenizer import Tokenizer


def checked_format(name: str, append_eod: str | None) -> Format:
    """Return the format of a name, if it can end rows as asked."""
    check_choice("format", name, tuple(FORMATS))
    form = FORMATS[name]
    if append_eod is not None and form.has_offsets:
        others = ", ".join(name for name, other in FORMATS.items() if not other.has_offsets)
        raise ArgumentError("append_eod", f"format {name!r}", f"one of {others}")
    return form


def eod_id(tokenizer: Tokenizer, token: str, add_special_tokens: bool) -> int:
    """Return the id of the token that ends documents, unless rows end with it already."""
    id = tokenizer.token_to_id(token)
    if id is None:
        raise ArgumentError("append_eod", repr(token), "a token of the vocabulary")
    if add_special_tokens and tokenizer.encode("").ids[-1:] == [id]:
        found = f"{token!r}, with which the post-processor ends each row already"
        expected = "add_special_tokens=False, or no append_eod"
        raise ArgumentError("append_eod", found, expected)
    return id


def checked_outputs(outputs: PathLike | Sequence[PathLike], form: Format) -> list[str]:
    """Return the outputs as text: each writable, no file named twice."""
    targets = _texts(outputs, "outputs")
    if "-" in targets and not form.is_stream:
        raise ArgumentError("outputs", "'-'", "a path, as this format is two files")
    files = _files_of(targets, form)
    for at, name in enumerate(files):
        if any(name == other == "-" or _is_same_file(name, other) for other in files[:at]):
            raise ArgumentError("outputs", repr(name), "each output once")
        if name != "-":
            check_writable(name)
    return targets


def checked_inputs(
    inputs: PathLike | Sequence[PathLike], targets: Sequence[str], form: Format, parallel: bool
) -> list[list[str]]:
    """Return the files to read, in order, for each output: all for one, or one for each."""
    given = _texts(inputs, "inputs")
    if parallel and len(targets) != len(given):
        found = f"{len(targets)} for {len(given)} parallel inputs"
        raise ArgumentError("outputs", found, "as many as inputs")
    if len(targets) not in (1, len(given)):
        found = f"{len(targets)} for {len(given)} inputs"
        raise ArgumentError("outputs", found, "one, or as many as inputs")
    sources = [corpus_files(given)] if len(targets) == 1 else [[path] for path in given]
    if len(targets) > 1 and given.count("-") > 1:
        raise ArgumentError("inputs", "'-' twice", "stdin once")
    for output in _files_of(targets, form):
        for path in (path for paths in sources for path in paths):
            if path != "-" and output != "-" and _is_same_file(path, output):
                raise ArgumentError("outputs", repr(output), "files that are not read as inputs")
    return sources


def _texts(paths: PathLike | Sequence[PathLike], place: str) -> list[str]:
    if not isinstance(paths, Iterable) or isinstance(paths, (str, bytes, os.PathLike)):
        return [_text(paths, place)]
    given = [_text(path, place) for path in paths]
    if not given:
        raise ArgumentError(place, "no paths", "at least one")
    return given


def _text(path: object, place: str) -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise InputTypeError(place, type(path).__name__, "paths as str or os.PathLike")
    if "\0" in text:
        raise ArgumentError(place, repr(text), "paths without null characters")
    return text


def _files_of(targets: Sequence[str], form: Format) -> list[str]:
    return [name for path in targets for name in form.files(path)]


def _is_same_file(one: str, other: str) -> bool:
    """Compare where two paths lead; only devices, such as /dev/null, may be named twice."""
    real = os.path.realpath(one)
    if real == os.path.realpath(other):
        return not Path(real).exists() or Path(real).is_file()
    return Path(one).is_file() and Path(other).is_file() and os.path.samefile(one, other)
