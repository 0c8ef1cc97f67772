"""The output formats: for each its writer, its files, and what its rows can have.

To add a format, write its module, name it in `settings`, and give it a row here; `ids_reader` reads it back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError
from piecework.export.arrow_files import write_arrow, write_arrow_stream, write_parquet
from piecework.export.chats import MASK_NAME
from piecework.export.encoded_lines import RowLayout, Write
from piecework.export.megatron_files import megatron_paths, write_megatron
from piecework.export.npy_files import npy_files, write_npy
from piecework.export.settings import CorpusSettings, FileSettings, FormatName, ShardFormatName
from piecework.export.text_files import RowTexts, id_texts, json_texts, token_texts, write_text
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
    have further columns. `can_mask` says whether rows can have masks of conversations; formats that are for
    reading by people are also written without them.
    """

    open: Callable[[str, Tokenizer, RowLayout], AbstractContextManager[Write]]
    files: Callable[[str, RowLayout], tuple[str, ...]] = _one_path
    suffix: str = ""
    ids_name: str = "ids"
    has_offsets: bool = False
    has_columns: bool = False
    can_pack: bool = False
    can_mask: bool = False
    is_for_reading: bool = False
    finish: Callable[[Path, Sequence[str]], None] | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the output can be stdout."""
        return self.files is _one_path


def _text_format(
    texts: Callable[[Tokenizer], RowTexts], suffix: str, *, has_offsets: bool = False
) -> OutputFormat:
    return OutputFormat(
        lambda path, tokenizer, layout: write_text(path, texts(tokenizer)),
        suffix=suffix,
        has_offsets=has_offsets,
        is_for_reading=True,
    )


def _columnar(
    open: Callable[[str, Tokenizer, RowLayout], AbstractContextManager[Write]],
    suffix: str = ".arrow",
    **further: Any,
) -> OutputFormat:
    return OutputFormat(
        open, suffix=suffix, has_columns=True, can_pack=True, can_mask=True, **further
    )


def _write_dataset_files(folder: Path, files: Sequence[str]) -> None:
    """Write the two files that make a folder of Arrow streams a dataset of `datasets`.

    The files have no features, which `datasets` then takes from the Arrow schema in every version.
    """
    state: dict[str, Any] = {
        "_data_files": [{"filename": name} for name in files],
        "_fingerprint": hashlib.blake2b("\n".join(files).encode(), digest_size=8).hexdigest(),
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
    "tokens": _text_format(token_texts, ".txt"),
    "ids": _text_format(id_texts, ".txt"),
    "jsonl": _text_format(json_texts, ".jsonl", has_offsets=True),
    "npy": OutputFormat(write_npy, npy_files, ".npy", can_pack=True, can_mask=True),
    "arrow": _columnar(write_arrow),
    "arrow-stream": _columnar(write_arrow_stream),
    "parquet": _columnar(write_parquet, ".parquet"),
    "megatron": OutputFormat(
        lambda path, tokenizer, layout: write_megatron(path, tokenizer),
        lambda path, layout: megatron_paths(path),
        ".bin",
    ),
    "datasets": _columnar(write_arrow_stream, ids_name="input_ids", finish=_write_dataset_files),
}

FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {name: _FORMATS[name] for name in get_args(FormatName)}
)
"""The formats of `encode_files`."""

SHARD_FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {name: _FORMATS[name] for name in get_args(ShardFormatName)}
)
"""The formats of `encode_corpus`."""


# ---- settings that a format must support


def layout_of_file(settings: FileSettings) -> RowLayout:
    """Return what the rows of a file have; raise for a format that would lose something."""
    form = FORMATS[settings.format]
    if settings.append_eod is not None and form.has_offsets:
        others = [name for name, other in FORMATS.items() if not other.has_offsets]
        raise _unsupported("append_eod", settings.format, others)
    has_mask = _has_mask(settings, FORMATS)
    return RowLayout(form.ids_name, has_mask=has_mask and form.can_mask)


def layout_of_shard(settings: CorpusSettings) -> RowLayout:
    """Return what the rows of a shard have; raise for a format that cannot have it, or its missing extra."""
    form = SHARD_FORMATS[settings.format]
    if form.has_columns:
        import_extra("pyarrow", "parquet")
    if settings.pack is not None and not form.can_pack:
        packing = [name for name, other in SHARD_FORMATS.items() if other.can_pack]
        raise _unsupported("pack", settings.format, packing)
    keep = tuple(settings.keep)
    if keep and not form.has_columns:
        columnar = [name for name, other in SHARD_FORMATS.items() if other.has_columns]
        raise _unsupported("keep", settings.format, columnar)
    if clash := {form.ids_name, "lengths", MASK_NAME}.intersection(keep):
        names = ", ".join(sorted(clash))
        raise ArgumentError(
            "keep", f"cannot contain the names of the format's own columns: {names}"
        )
    return RowLayout(form.ids_name, keep, settings.pack, _has_mask(settings, SHARD_FORMATS))


def _has_mask(settings: FileSettings | CorpusSettings, formats: Mapping[str, OutputFormat]) -> bool:
    has_mask = settings.chat is not None and settings.chat.has_mask
    form = formats[settings.format]
    if has_mask and not (form.can_mask or form.is_for_reading):
        others = " or ".join(name for name, other in formats.items() if other.can_mask)
        problem = f"{settings.format!r} has no masks; use {others}, or a ChatFormat with mask=[]"
        raise ArgumentError("format", problem)
    return has_mask


def _unsupported(setting: str, format: str, others: Sequence[str]) -> ArgumentError:
    problem = f"does not support format {format!r}; use {' or '.join(others)}"
    return ArgumentError(setting, problem)
