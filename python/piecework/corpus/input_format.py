"""The format of an input, by its suffix; the readers of `files` and of `export.input_lines` follow it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

InputFormat: TypeAlias = Literal["text", "json-lines", "csv", "tsv", "parquet", "arrow"]

_SUFFIXES: dict[InputFormat, tuple[str, ...]] = {
    "text": (".txt", ".text", ".md", ".rst"),
    "json-lines": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet",),
    "arrow": (".arrow",),
}
_COMPRESSION_SUFFIXES = (".gz", ".zst", ".xz", ".bz2")
KNOWN_SUFFIXES = tuple(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)


def input_format(path: str, field: str | None, *, plain_tables: bool = False) -> InputFormat:
    """Return the format of a file, a URL or stdin (`-`).

    >>> input_format("a.jsonl.gz", None), input_format("a.log", None), input_format("-", "text")
    ('json-lines', 'text', 'json-lines')

    A file with an unknown suffix is plain text. Stdin has JSON lines if `field` is set. With `plain_tables`,
    CSV and TSV are plain text.
    """
    if path == "-":
        return "text" if field is None else "json-lines"
    suffix = _suffix(path)
    format: InputFormat = next(
        (format for format, known in _SUFFIXES.items() if suffix in known), "text"
    )
    return "text" if plain_tables and format in ("csv", "tsv") else format


def has_known_suffix(name: str) -> bool:
    """Return whether a directory of a corpus includes files with this name.

    >>> has_known_suffix("a.txt.zst"), has_known_suffix("a.bin")
    (True, False)
    """
    return _suffix(name) in KNOWN_SUFFIXES


def _suffix(name: str) -> str:
    """Return the suffix without that of the compression: `.jsonl` for `a.jsonl.gz`.

    The query of a web address is no part of its name.
    """
    lower = name.lower().partition("::")[0]
    if lower.startswith(("http://", "https://")):
        lower = lower.partition("?")[0].partition("#")[0]
    path = Path(lower)
    return (path.with_suffix("") if path.suffix in _COMPRESSION_SUFFIXES else path).suffix
