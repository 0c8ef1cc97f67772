"""Types of the keyword arguments of `encode_files` and `encode_corpus`.

Written by tools/train_settings.py from the fields of `EncodeSettings`, as type checkers cannot make them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

from piecework.export.settings import Chat


class EncodeOptions(TypedDict, total=False):
    """Settings of both functions."""

    keep_empty: bool
    append_eod: str | None
    add_special_tokens: bool
    parse_special: bool | Collection[str] | None
    chat: Chat | None
    field: str | None
    document: Literal["line", "blank-line", "file"]
    encoding_errors: Literal["replace", "strict"]
    on_error: Literal["fail", "skip"]
    num_threads: int | None


class EncodeFilesOptions(EncodeOptions, total=False):
    """Settings of `encode_files`."""

    format: Literal["tokens", "ids", "jsonl", "npy", "arrow", "arrow-stream", "parquet", "megatron"]
    parallel: bool
    strip_lines: bool


class EncodeCorpusOptions(EncodeOptions, total=False):
    """Settings of `encode_corpus`."""

    format: Literal["npy", "megatron", "arrow", "arrow-stream", "parquet", "datasets"]
    shards: int | None
    resume: bool
    shuffle_seed: int | None
    pack: int | None
    strategy: Literal["concat", "best-fit"]
    keep: Sequence[str]
