"""What a corpus can be written as: for each format its files, and how to open them for writing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType

from piecework.export.arrow_tables import write_arrow, write_parquet
from piecework.export.id_arrays import megatron_files, npy_files, write_megatron, write_npy
from piecework.export.text_lines import (
    Rows,
    Write,
    id_rows,
    json_rows,
    token_rows,
    write_lines,
)
from piecework.tokenizer import Tokenizer


def _path_alone(path: str) -> tuple[str, ...]:
    return (path,)


@dataclass(frozen=True)
class Format:
    """One way to write encoded lines.

    `open` gives a function that takes batches; the files appear, whole, when its context is left.
    `has_offsets` says that rows tell where each token stands in the text.
    """

    open: Callable[[str, Tokenizer], AbstractContextManager[Write]]
    files: Callable[[str], tuple[str, ...]] = _path_alone
    has_offsets: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether stdout can take it."""
        return self.files is _path_alone


def _text(rows: Callable[[Tokenizer], Rows], *, has_offsets: bool = False) -> Format:
    return Format(
        lambda path, tokenizer: write_lines(path, rows(tokenizer)), has_offsets=has_offsets
    )


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "tokens": _text(token_rows),
        "ids": _text(id_rows),
        "jsonl": _text(json_rows, has_offsets=True),
        "npy": Format(write_npy, npy_files),
        "arrow": Format(write_arrow),
        "parquet": Format(write_parquet),
        "megatron": Format(write_megatron, megatron_files),
    }
)
