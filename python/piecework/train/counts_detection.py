"""Recognize files of word counts by their content."""

from __future__ import annotations

from pathlib import Path

from piecework._internal.extras import import_extra
from piecework.corpus.field_path import TEXT_FIELD
from piecework.corpus.urls import is_url

SUFFIXES = (".parquet", ".tsv")
_COMMENT = b"# piecework counts "
_HEADERS = (b"word\tcount", b"word\tcount\tfirst")
_PARQUET_MAGIC = b"PAR1"
_HEAD_BYTES = 1 << 16


def is_counts_file(path: str, field: str | None = None) -> bool:
    r"""Return whether a `.parquet` or `.tsv` file has word counts, and not documents.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = path.write_text("word\tcount\nhug\t3\n")
    >>> is_counts_file(str(path))
    True

    TSV: a comment or header of counts in the first line. Parquet: the pipeline in the metadata, or the
    columns `word` and `count` and no column `field` (None: "text"). False for other and unreadable files.
    """
    if is_url(path) or Path(path).suffix.lower() not in SUFFIXES:
        return False
    try:
        with open(path, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    if head.startswith(_PARQUET_MAGIC):
        return _is_parquet_of_counts(path, field or TEXT_FIELD)
    return head.startswith(_COMMENT) or head.partition(b"\n")[0].rstrip(b"\r") in _HEADERS


def _is_parquet_of_counts(path: str, field: str) -> bool:
    pyarrow = import_extra("pyarrow", "parquet", path)
    parquet = import_extra("pyarrow.parquet", "parquet", path)
    try:
        schema = parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError):
        return False
    names = set(schema.names)
    has_columns = {"word", "count"} <= names
    return b"piecework" in (schema.metadata or {}) or (has_columns and field not in names)
