"""Check the arguments of `encode_files` before any line is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from piecework._internal.counted import counted
from piecework._internal.validation import PathLike, check_choice, file_path
from piecework.corpus.paths import corpus_files
from piecework.errors import ArgumentError
from piecework.export.arrow_files import write_arrow, write_arrow_stream, write_parquet
from piecework.export.encoded_lines import RowLayout, Write
from piecework.export.megatron_files import megatron_paths, write_megatron
from piecework.export.npy_files import npy_files, write_npy
from piecework.export.text_files import RowTexts, id_texts, json_texts, token_texts, write_text
from piecework.io.atomic_files import check_writable
from piecework.tokenizer import Tokenizer

_SPECIAL_SHOWN = 8


def checked_format(name: str, append_eod: str | None) -> OutputFormat:
    """Return the output format; raises if it cannot end rows with a token."""
    check_choice("format", name, tuple(FORMATS))
    form = FORMATS[name]
    if append_eod is not None and form.has_offsets:
        others = ", ".join(name for name, other in FORMATS.items() if not other.has_offsets)
        problem = f"does not support format {name!r}; use {others.replace(', ', ' or ')}"
        raise ArgumentError("append_eod", problem)
    return form


def eod_id(tokenizer: Tokenizer, token: str | None, add_special_tokens: bool) -> int | None:
    """Return the id of the end-of-document token; raises if the post-processor adds it already."""
    if token is None:
        return None
    id = tokenizer.token_to_id(token)
    if id is None:
        raise ArgumentError(
            "append_eod",
            f"must be a token of the vocabulary, not {token!r}; {_special_tokens(tokenizer)}",
        )
    if add_special_tokens and tokenizer.encode("").ids[-1:] == [id]:
        problem = (
            f"the post-processor already appends {token!r} to each row; pass leave out one of them"
        )
        raise ArgumentError("append_eod", problem)
    return id


def _special_tokens(tokenizer: Tokenizer) -> str:
    """Return the special tokens, at most eight, for a message."""
    ids = sorted(tokenizer.special_token_ids)
    if not ids:
        return "it has no special tokens"
    shown = ", ".join(repr(tokenizer.id_to_token(id)) for id in ids[:_SPECIAL_SHOWN])
    more = f" and {len(ids) - _SPECIAL_SHOWN:,} more" if len(ids) > _SPECIAL_SHOWN else ""
    return f"its special tokens are {shown}{more}"


def checked_outputs(
    outputs: PathLike | Sequence[PathLike], form: OutputFormat, layout: RowLayout
) -> list[str]:
    """Return the output paths; raises unless each is writable and no file is named twice."""
    targets = path_list(outputs, "outputs")
    if "-" in targets and not form.is_stream:
        raise ArgumentError("outputs", "must be a path, not '-': this format has two files")
    files = _files_of(targets, form, layout)
    for index, name in enumerate(files):
        if any(name == other == "-" or _is_same_file(name, other) for other in files[:index]):
            raise ArgumentError("outputs", f"contain {name!r} twice")
        if name != "-":
            check_writable(name)
    return targets


def checked_inputs(
    inputs: PathLike | Sequence[PathLike],
    targets: Sequence[str],
    form: OutputFormat,
    layout: RowLayout,
    parallel: bool,
    on_error: str,
) -> list[list[str]]:
    """Return the files to read for each output: all inputs for one output, otherwise one for each."""
    if parallel and on_error == "skip":
        problem = "'skip' does not support parallel inputs: a skipped line would shift the others"
        raise ArgumentError("on_error", problem)
    given = path_list(inputs, "inputs")
    if parallel and len(targets) != len(given):
        found = f"{len(targets)} for {len(given)} parallel inputs"
        raise ArgumentError("outputs", f"must be as many as inputs: there are {found}")
    if len(targets) not in (1, len(given)):
        found = f"{len(targets)} for {counted(len(given), 'input')}"
        raise ArgumentError("outputs", f"must be one, or as many as inputs: there are {found}")
    sources = [corpus_files(given)] if len(targets) == 1 else [[path] for path in given]
    if len(targets) > 1 and given.count("-") > 1:
        raise ArgumentError("inputs", "contain '-' twice; stdin can be read once")
    _check_not_overwritten(sources, _files_of(targets, form, layout))
    return sources


def _check_not_overwritten(sources: list[list[str]], outputs: list[str]) -> None:
    for output in outputs:
        for path in (path for paths in sources for path in paths):
            if path != "-" and output != "-" and _is_same_file(path, output):
                raise ArgumentError("outputs", f"contain {output!r}, which is an input")


def path_list(paths: PathLike | Sequence[PathLike], place: str) -> list[str]:
    """Return one or several paths as strings; raises unless there is at least one."""
    if not isinstance(paths, Iterable) or isinstance(paths, (str, bytes, os.PathLike)):
        return [file_path(paths, place)]
    given = [file_path(path, place) for path in paths]
    if not given:
        raise ArgumentError(place, "must contain at least one path")
    return given


def _files_of(targets: Sequence[str], form: OutputFormat, layout: RowLayout) -> list[str]:
    return [name for path in targets for name in form.files(path, layout)]


def _is_same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to one regular file; a device such as /dev/null may repeat."""
    real = os.path.realpath(one)
    if real == os.path.realpath(other):
        return not Path(real).exists() or Path(real).is_file()
    return Path(one).is_file() and Path(other).is_file() and os.path.samefile(one, other)


# ---- the output formats of `encode_files`: for each its writer and the files that it creates


def _one_path(path: str, layout: RowLayout) -> tuple[str, ...]:
    return (path,)


@dataclass(frozen=True)
class OutputFormat:
    """One output format.

    `open` returns a context manager that yields a function for batches; the files appear, complete, when
    the context closes. `files` returns the paths of the files for an output path. With `has_offsets`,
    rows contain the offsets and the label of their line. `can_mask` says whether rows can have masks of
    conversations; formats that are for reading by people are also written without them.
    """

    open: Callable[[str, Tokenizer, RowLayout], AbstractContextManager[Write]]
    files: Callable[[str, RowLayout], tuple[str, ...]] = _one_path
    has_offsets: bool = False
    can_mask: bool = False
    is_for_reading: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether the output can be stdout."""
        return self.files is _one_path


def _text_format(
    texts: Callable[[Tokenizer], RowTexts], *, has_offsets: bool = False
) -> OutputFormat:
    return OutputFormat(
        lambda path, tokenizer, layout: write_text(path, texts(tokenizer)),
        has_offsets=has_offsets,
        is_for_reading=True,
    )


FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {
        "tokens": _text_format(token_texts),
        "ids": _text_format(id_texts),
        "jsonl": _text_format(json_texts, has_offsets=True),
        "npy": OutputFormat(write_npy, npy_files, can_mask=True),
        "arrow": OutputFormat(write_arrow, can_mask=True),
        "arrow-stream": OutputFormat(write_arrow_stream, can_mask=True),
        "parquet": OutputFormat(write_parquet, can_mask=True),
        "megatron": OutputFormat(
            lambda path, tokenizer, layout: write_megatron(path, tokenizer),
            lambda path, layout: megatron_paths(path),
        ),
    }
)
