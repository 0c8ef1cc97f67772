"""The formats of shards: for each its writer, its files, and what its rows can have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from piecework._internal.extras import import_extra
from piecework.export.arrow_files import write_arrow, write_arrow_stream, write_parquet
from piecework.export.encoded_lines import RowLayout, Write
from piecework.export.megatron_files import megatron_paths, write_megatron
from piecework.export.npy_files import npy_files, write_npy, write_packed_npy
from piecework.io.atomic_files import atomic_file
from piecework.tokenizer import Tokenizer

ShardFormatName: TypeAlias = Literal[
    "npy", "megatron", "arrow", "arrow-stream", "parquet", "datasets"
]
Open: TypeAlias = Callable[[str, Tokenizer, RowLayout], AbstractContextManager[Write]]


@dataclass(frozen=True)
class ShardFormat:
    """One format of shards.

    `open` returns a context manager that yields a function for batches, `files` the names of the files of a
    shard. `finish` writes files beside the shards: it takes the folder and the files of all shards.
    """

    open: Open
    suffix: str
    files: Callable[[str, RowLayout], tuple[str, ...]]
    ids_name: str = "ids"
    has_columns: bool = False
    can_pack: bool = True
    can_mask: bool = True
    finish: Callable[[Path, Sequence[str]], None] | None = None


def _one_file(name: str, layout: RowLayout) -> tuple[str, ...]:
    return (name,)


def _columnar(open: Open, suffix: str, **settings: Any) -> ShardFormat:
    return ShardFormat(open, suffix, _one_file, has_columns=True, **settings)


def _open_npy(path: str, tokenizer: Tokenizer, layout: RowLayout) -> AbstractContextManager[Write]:
    if layout.packed_length is None:
        return write_npy(path, tokenizer, layout)
    return write_packed_npy(path, tokenizer, layout)


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


SHARD_FORMATS: Mapping[str, ShardFormat] = MappingProxyType(
    {
        "npy": ShardFormat(_open_npy, ".npy", npy_files),
        "megatron": ShardFormat(
            lambda path, tokenizer, layout: write_megatron(path, tokenizer),
            "",
            lambda name, layout: megatron_paths(name),
            can_pack=False,
            can_mask=False,
        ),
        "arrow": _columnar(write_arrow, ".arrow"),
        "arrow-stream": _columnar(write_arrow_stream, ".arrow"),
        "parquet": _columnar(write_parquet, ".parquet"),
        "datasets": _columnar(
            write_arrow_stream, ".arrow", ids_name="input_ids", finish=_write_dataset_files
        ),
    }
)


def check_extra(form: ShardFormat) -> None:
    """Raise `MissingExtraError` now if the packages of a format are not installed."""
    if form.has_columns:
        import_extra("pyarrow", "parquet")
