"""The output formats: for each its writer, its files, and what its rows can have.

To add a format, write its module, name it in `settings`, and give it a row here; `ids_reader` reads it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from piecework._internal._core import Xxh128
from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError
from piecework.export.arrow_files import write_arrow, write_parquet
from piecework.export.chats import MASK_NAME
from piecework.export.encoded_lines import RowLayout, Write
from piecework.export.megatron_files import megatron_files, write_megatron
from piecework.export.npy_files import npy_files, write_npy
from piecework.export.settings import CorpusSettings, FileSettings, FormatName, ShardFormatName
from piecework.export.text_files import id_texts, json_texts, token_texts, write_text
from piecework.io.atomic_files import atomic_file
from piecework.tokenizer import Tokenizer


def _one_path(path: str, layout: RowLayout) -> tuple[str, ...]:
    return (path,)


@dataclass(frozen=True)
class OutputFormat:
    """One output format.

    `open` returns a context manager that yields a function for batches; the files appear, complete, when
    the context closes. `files` returns the paths of the files for an output path. `suffix` ends the names of
    shards, and of what a cluster writes. `finish` writes files beside the shards: it takes the folder and the
    files of all shards.

    With `has_offsets`, rows contain the offsets and the label of their line; with `has_columns`, they can
    have further columns; with `has_numbers`, masks of conversations and lengths of packed documents. Formats
    that are for reading by people are also written without masks.
    """

    open: Callable[[str, Tokenizer, RowLayout], AbstractContextManager[Write]]
    files: Callable[[str, RowLayout], tuple[str, ...]] = _one_path
    suffix: str = ""
    ids_name: str = "ids"
    has_offsets: bool = False
    has_columns: bool = False
    has_numbers: bool = False
    is_for_reading: bool = False
    finish: Callable[[Path, Sequence[str]], None] | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the output can be stdout."""
        return self.files is _one_path


_text_format = partial(OutputFormat, suffix=".txt", is_for_reading=True)
_columnar = partial(OutputFormat, suffix=".arrow", has_columns=True, has_numbers=True)


def _write_dataset_files(folder: Path, files: Sequence[str]) -> None:
    """Write the two files that make a folder of Arrow streams a dataset of `datasets`.

    The files have no features, which `datasets` then takes from the Arrow schema in every version.
    """
    checksum = Xxh128()
    checksum.update("\n".join(files).encode())
    state: dict[str, Any] = {
        "_data_files": [{"filename": name} for name in files],
        "_fingerprint": checksum.hexdigest(),
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    for name, content in (("dataset_info.json", {}), ("state.json", state)):
        with atomic_file(folder / name) as temporary:
            temporary.write_text(json.dumps(content, indent=1) + "\n")


_FORMATS: Mapping[str, OutputFormat] = {
    "tokens": _text_format(partial(write_text, token_texts)),
    "ids": _text_format(partial(write_text, id_texts)),
    "jsonl": _text_format(partial(write_text, json_texts), suffix=".jsonl", has_offsets=True),
    "npy": OutputFormat(write_npy, npy_files, ".npy", has_numbers=True),
    "arrow": _columnar(partial(write_arrow, "file")),
    "arrow-stream": _columnar(partial(write_arrow, "stream")),
    "parquet": _columnar(write_parquet, suffix=".parquet"),
    "megatron": OutputFormat(write_megatron, megatron_files, ".bin"),
    "datasets": _columnar(
        partial(write_arrow, "stream"), ids_name="input_ids", finish=_write_dataset_files
    ),
}

FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {name: _FORMATS[name] for name in get_args(FormatName)}
)
"""The formats of `encode_files`."""

SHARD_FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {name: _FORMATS[name] for name in get_args(ShardFormatName)}
)
"""The formats of `encode_corpus`."""


def layout_of(
    settings: FileSettings | CorpusSettings, formats: Mapping[str, OutputFormat]
) -> RowLayout:
    """Return what the rows of a file have; raise for a format that cannot have it, or its missing extra."""
    form, keep, pack = formats[settings.format], tuple[str, ...](), None
    if isinstance(settings, CorpusSettings):
        keep, pack = tuple(settings.keep), settings.pack
    has_mask = settings.chat is not None and settings.chat.has_mask
    if form.has_columns:
        import_extra("pyarrow", "parquet")

    def check(
        name: str, can: Callable[[OutputFormat], bool], problem: str, advice: str = ""
    ) -> None:
        if not can(form):
            others = " or ".join(other for other, its in formats.items() if can(its))
            raise ArgumentError(name, f"{problem} {others}{advice}")

    unsupported = f"does not support format {settings.format!r}; use"
    if settings.append_eod is not None:
        check("append_eod", lambda form: not form.has_offsets, unsupported)
    if pack is not None:
        check("pack", lambda form: form.has_numbers, unsupported)
    if keep:
        check("keep", lambda form: form.has_columns, unsupported)
    if has_mask and not form.is_for_reading:
        problem = f"{settings.format!r} has no masks; use"
        check("format", lambda form: form.has_numbers, problem, ", or a ChatFormat with mask=[]")
    if clash := {form.ids_name, "lengths", MASK_NAME}.intersection(keep):
        names = ", ".join(sorted(clash))
        raise ArgumentError(
            "keep", f"cannot contain the names of the format's own columns: {names}"
        )
    return RowLayout(form.ids_name, keep, pack, has_mask and form.has_numbers)
