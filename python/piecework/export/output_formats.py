"""The output formats of `encode_files`: for each its writer and the files that it creates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType

from piecework.export.arrow_files import write_arrow, write_arrow_stream, write_parquet
from piecework.export.encoded_lines import Write
from piecework.export.megatron_files import megatron_paths, write_megatron
from piecework.export.npy_files import npy_paths, write_npy
from piecework.export.text_files import RowTexts, id_texts, json_texts, token_texts, write_text
from piecework.tokenizer import Tokenizer


def _one_path(path: str) -> tuple[str, ...]:
    return (path,)


@dataclass(frozen=True)
class OutputFormat:
    """One output format.

    `open` returns a context manager that yields a function for batches; the files appear, complete, when
    the context closes. `files` returns the paths of the files for an output path. With `has_offsets`,
    rows contain the offsets and the label of their line.
    """

    open: Callable[[str, Tokenizer], AbstractContextManager[Write]]
    files: Callable[[str], tuple[str, ...]] = _one_path
    has_offsets: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether the output can be stdout."""
        return self.files is _one_path


def _text_format(
    texts: Callable[[Tokenizer], RowTexts], *, has_offsets: bool = False
) -> OutputFormat:
    return OutputFormat(
        lambda path, tokenizer: write_text(path, texts(tokenizer)), has_offsets=has_offsets
    )


FORMATS: Mapping[str, OutputFormat] = MappingProxyType(
    {
        "tokens": _text_format(token_texts),
        "ids": _text_format(id_texts),
        "jsonl": _text_format(json_texts, has_offsets=True),
        "npy": OutputFormat(write_npy, npy_paths),
        "arrow": OutputFormat(write_arrow),
        "arrow-stream": OutputFormat(write_arrow_stream),
        "parquet": OutputFormat(write_parquet),
        "megatron": OutputFormat(write_megatron, megatron_paths),
    }
)
