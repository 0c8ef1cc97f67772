"""Read, write and recognize word counts as Parquet or TSV.

Both have the columns `word`, `count` (u64) and, if positions are known, `first` (u64). Words with boundaries
have a column `boundaries`: positions in characters, such as "2,4", "" for none. Files contain the pipeline as
JSON: Parquet in the schema metadata under `piecework`, TSV in a comment on the first line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from piecework._internal._core import OrderedWords, __version__
from piecework._internal.extras import import_extra
from piecework._internal.validation import counted, path_text
from piecework.corpus.field_path import TEXT_FIELD
from piecework.corpus.urls import is_url
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
    FormatError,
    PieceworkError,
    _Translation,
)
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import is_device, too_large
from piecework.train.presets import Pipeline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PARQUET_MAGIC = b"PAR1"
_COMMENT = "# piecework counts "
_METADATA_KEY = b"piecework"
_VERSION_KEY = b"piecework.version"
_COLUMNS = ("word", "count", "first", "boundaries")
_ROWS_PER_WRITE = 65_536
_SUFFIXES = (".parquet", ".tsv")
_HEADERS = tuple(
    "\t".join(["word", "count", *further])
    for further in ((), ("first",), ("boundaries",), ("first", "boundaries"))
)
_HEAD_BYTES = 1 << 16


class CountsTable(NamedTuple):
    """The columns of a counts file, and its pipeline."""

    words: list[str]
    counts: npt.NDArray[np.uint64]
    first: npt.NDArray[np.uint64] | None
    pipeline: Pipeline | None
    boundaries: list[tuple[int, ...]] | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the table has, by name; boundaries as text."""
        rows = self.boundaries
        texts = None if rows is None else [",".join(map(str, row)) for row in rows]
        columns = zip(_COLUMNS, (self.words, self.counts, self.first, texts), strict=True)
        return {name: column for name, column in columns if column is not None}


class CountsSummary(NamedTuple):
    """The number of words that were counted, and of distinct ones.

    >>> CountsSummary(words=3, distinct=2).distinct
    2
    """

    words: int
    distinct: int


def write_counts(table: CountsTable, path: str | os.PathLike[str]) -> None:
    """Write Parquet or TSV, by the suffix of the path, atomically."""
    _write_tables(iter([table]), table, path)


def write_ordered_words(
    words: OrderedWords, pipeline: Pipeline, path: str | os.PathLike[str], corpus: str
) -> CountsSummary:
    """Write the words of a counter as `write_counts` does, in bounded memory.

    Raises `CorpusError` with the name of the corpus if there are none, and writes nothing.
    """
    import numpy as np

    summary = CountsSummary(0, 0)

    def tables() -> Iterator[CountsTable]:
        nonlocal summary
        while len(part := words.next_words(_ROWS_PER_WRITE)):
            counts = part.counts()
            total = summary.words + sum(counts.tolist())
            summary = CountsSummary(total, summary.distinct + len(part))
            yield CountsTable(part.words(), counts, part.first(), pipeline)
        if not summary.words:
            raise CorpusError(corpus, "has no words; give files with text")

    no_rows = np.empty(0, np.uint64)
    _write_tables(tables(), CountsTable([], no_rows, no_rows, pipeline), path)
    return summary


def _write_tables(
    tables: Iterator[CountsTable], like: CountsTable, path: str | os.PathLike[str]
) -> None:
    """Write consecutive tables with the columns and the pipeline of `like`."""
    suffix = Path(path_text(path)).suffix.lower()
    if suffix not in (".parquet", ".tsv"):
        raise ArgumentError("path", f"must be a name ending in .parquet or .tsv, not {str(path)!r}")
    with atomic_file(path) as temporary, FileError.while_writing(path):
        if suffix == ".parquet":
            _write_parquet(tables, like, temporary)
        else:
            with temporary.open("wb") as stream:
                _write_tsv(tables, like, stream)


def read_counts(path: str | os.PathLike[str]) -> CountsTable:
    """Read Parquet or TSV, by the first bytes of the file."""
    path = path_text(path)
    with FileError.while_reading(path):
        if is_device(os.stat(path).st_mode):
            raise FileError(str(path), "is a device, not a counts file")
        with open(path, "rb") as stream:
            head = stream.read(len(_PARQUET_MAGIC))
            if head != _PARQUET_MAGIC:
                return _read_tsv(head + stream.read(), str(path))
    return _read_parquet(path)


def recorded_pipeline(path: str | os.PathLike[str]) -> Pipeline | None:
    """Read the pipeline of a counts file, but not its words; None if the file has none.

    >>> import tempfile
    >>> from piecework.train import count_texts
    >>> path = tempfile.mkdtemp() + "/counts.tsv"
    >>> count_texts(["hug pug"], preset="whitespace").save(path)
    >>> print(recorded_pipeline(path))
    WhitespaceSplit()
    """
    path = path_text(path)
    with FileError.while_reading(path), open(path, "rb") as stream:
        line = stream.readline()
    if line.startswith(_PARQUET_MAGIC):
        return _parquet_pipeline(_parquet_schema(path), path)
    if line.startswith(_COMMENT.encode()):
        text = line[len(_COMMENT) :].decode(errors="replace").rstrip("\r\n")
        return _pipeline_of(text, f"{path} line 1")
    return None


# ---- TSV


def write_tsv(table: CountsTable, stream: BinaryIO) -> None:
    """Write a comment line with the pipeline, a header line, and a line for each word.

    Raises `ArgumentError` for a word with a tab or a newline, which TSV cannot represent, before it writes.
    """
    _check_tsv(table)
    _write_tsv(iter([table]), table, stream)


def _write_tsv(tables: Iterator[CountsTable], like: CountsTable, stream: BinaryIO) -> None:
    if like.pipeline is not None:
        stream.write(f"{_COMMENT}{like.pipeline.to_json()}\n".encode())
    stream.write(("\t".join(like.columns) + "\n").encode())
    for table in tables:
        _check_tsv(table)
        columns = table.columns.values()
        rows = zip(*(map(str, column) for column in columns), strict=True)
        lines = ["\t".join(row) + "\n" for row in rows]
        for start in range(0, len(lines), _ROWS_PER_WRITE):
            stream.write("".join(lines[start : start + _ROWS_PER_WRITE]).encode())


def _check_tsv(table: CountsTable) -> None:
    for word in table.words:
        if "\t" in word or "\n" in word:
            problem = f"{word!r} has a tab or a newline, which TSV cannot hold; use .parquet"
            raise ArgumentError("words", problem)


def _read_tsv(data: bytes, name: str) -> CountsTable:
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        problem = f"found invalid UTF-8 at byte {error.start}, expected Parquet or TSV"
        raise FormatError(name, problem) from error
    pipeline = None
    skipped = 0
    if lines[0].startswith(_COMMENT):
        pipeline = _pipeline_of(lines[0][len(_COMMENT) :], f"{name} line 1")
        skipped = 1
    header = lines[skipped].rstrip("\r") if skipped < len(lines) else ""
    if header not in _HEADERS:
        problem = f"found {header[:80]!r}, expected word, count, first, separated by tabs"
        raise FormatError(f"{name} line {skipped + 1}", problem)
    rows = lines[skipped + 1 : -1] if lines[-1] == "" else lines[skipped + 1 :]
    return _table_of(rows, header.split("\t"), skipped + 2, name, pipeline)


def _table_of(
    rows: list[str], header: list[str], first_line: int, name: str, pipeline: Pipeline | None
) -> CountsTable:
    cells = [row.split("\t") for row in rows]
    for line, row in enumerate(cells, start=first_line):
        if len(row) != len(header):
            problem = f"found {counted(len(row), 'column')}, expected {len(header)}"
            raise FormatError(f"{name} line {line}", problem)
    numbers = {
        column: _column(cells, at, f"{name} column {column!r}", first_line)
        for at, column in enumerate(header)
        if column in ("count", "first")
    }
    boundaries = None
    if header[-1] == "boundaries":
        texts = (row[-1].rstrip("\r") for row in cells)
        boundaries = _positions(texts, f"{name} column 'boundaries' line", first_line)
    words = [row[0] for row in cells]
    return CountsTable(words, numbers["count"], numbers.get("first"), pipeline, boundaries)


def _positions(texts: Iterable[str], place: str, first: int) -> list[tuple[int, ...]]:
    """Return the boundaries of each word; a place and the number of the first row name a row."""
    found = []
    for row, text in enumerate(texts, start=first):
        cells = text.split(",") if text else []
        if not all(cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in cells):
            problem = f"found {text[:80]!r}, expected positions such as 2,4"
            raise FormatError(f"{place} {row}", problem)
        found.append(tuple(map(int, cells)))
    return found


def _column(
    cells: list[list[str]], index: int, place: str, first_line: int
) -> npt.NDArray[np.uint64]:
    import numpy as np

    values = np.empty(len(cells), np.uint64)
    for row, cell in enumerate(cells):
        text = cell[index].rstrip("\r")
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 1 << 64):
            problem = f"found {text[:80]!r}, expected an integer from 0 to 2**64 - 1"
            raise FormatError(f"{place} line {row + first_line}", problem)
        values[row] = int(text)
    return values


def _pipeline_of(text: str, place: str) -> Pipeline:
    try:
        return Pipeline.from_json(text)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"found {text[:80]!r}, expected the JSON of a normalizer and a pre_tokenizer"
        raise FormatError(f"{place}: pipeline", problem) from error


# ---- Parquet


def _write_parquet(tables: Iterator[CountsTable], like: CountsTable, path: Path) -> None:
    pyarrow, parquet = _pyarrow()
    kinds = {name: pyarrow.string() for name in ("word", "boundaries")}
    metadata = {_VERSION_KEY: __version__.encode()}
    if like.pipeline is not None:
        metadata[_METADATA_KEY] = like.pipeline.to_json().encode()
    fields = [(name, kinds.get(name, pyarrow.uint64())) for name in like.columns]
    schema = pyarrow.schema(fields, metadata)
    with parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for table in tables:
            arrays = [
                pyarrow.array(column, kind)
                for column, (_, kind) in zip(table.columns.values(), fields, strict=True)
            ]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _read_parquet(path: str | os.PathLike[str]) -> CountsTable:
    pyarrow, parquet = _pyarrow()
    with _damage_as_format_error(path):
        arrow = parquet.read_table(os.fspath(path))
        return CountsTable(
            _parquet_column(arrow, "word", pyarrow.string(), path).to_pylist(),
            _parquet_column(arrow, "count", pyarrow.uint64(), path).to_numpy(),
            _parquet_column(arrow, "first", pyarrow.uint64(), path).to_numpy()
            if "first" in arrow.column_names
            else None,
            _parquet_pipeline(arrow.schema, path),
            _parquet_boundaries(arrow, path) if "boundaries" in arrow.column_names else None,
        )


def _parquet_boundaries(arrow: Any, path: str | os.PathLike[str]) -> list[tuple[int, ...]]:
    column = _parquet_column(arrow, "boundaries", _pyarrow()[0].string(), path)
    return _positions(column.to_pylist(), f"{path} column 'boundaries' row", 0)


def _damage_as_format_error(path: str | os.PathLike[str]) -> _Translation:
    """Return a context that raises `FormatError` for damaged Parquet data.

    Errors of the operating system become `FileError`, and lengths that do not fit into memory
    `MemoryLimitError`.
    """
    pyarrow = _pyarrow()[0]

    def translated(error: BaseException) -> PieceworkError | None:
        if isinstance(error, MemoryError):
            return too_large(str(path))
        if isinstance(error, OSError) and isinstance(error.errno, int):
            return FileError.reading(path, error)
        # Damaged names of columns and words raise UnicodeDecodeError, a ValueError.
        if isinstance(error, (pyarrow.ArrowException, OSError, ValueError)):
            message = " ".join(str(error).split())[:120]
            problem = f"found damaged Parquet ({message}), expected a counts file"
            return FormatError(str(path), problem)
        return None

    return _Translation(translated)


def _parquet_schema(path: str | os.PathLike[str]) -> Any:
    with _damage_as_format_error(path):
        return _pyarrow()[1].read_schema(os.fspath(path))


def _parquet_pipeline(schema: Any, path: str | os.PathLike[str]) -> Pipeline | None:
    stored = (schema.metadata or {}).get(_METADATA_KEY)
    return None if stored is None else _pipeline_of(stored.decode(errors="replace"), str(path))


def _parquet_column(arrow: Any, name: str, kind: Any, path: str | os.PathLike[str]) -> Any:
    pyarrow, _ = _pyarrow()
    place = f"{path} column {name!r}"
    if name not in arrow.column_names:
        raise FormatError(place, f"is missing; there is only {', '.join(arrow.column_names)}")
    column = arrow.column(name)
    if column.null_count:
        raise FormatError(place, f"must not have empty cells; it has {column.null_count}")
    try:
        return column.cast(kind)
    except pyarrow.ArrowException as error:
        raise FormatError(place, f"found values of type {column.type}, expected {kind}") from error


def _pyarrow() -> tuple[Any, Any]:
    return import_extra("pyarrow", "parquet"), import_extra("pyarrow.parquet", "parquet")


# ---- recognize files by their content


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
    if is_url(path) or Path(path).suffix.lower() not in _SUFFIXES:
        return False
    try:
        with open(path, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    if head.startswith(_PARQUET_MAGIC):
        return _is_parquet_of_counts(path, field or TEXT_FIELD)
    header = head.partition(b"\n")[0].rstrip(b"\r").decode(errors="replace")
    return head.startswith(_COMMENT.encode()) or header in _HEADERS


def _is_parquet_of_counts(path: str, field: str) -> bool:
    pyarrow = import_extra("pyarrow", "parquet", path)
    parquet = import_extra("pyarrow.parquet", "parquet", path)
    try:
        schema = parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError):
        return False
    names = set(schema.names)
    has_columns = {"word", "count"} <= names
    return _METADATA_KEY in (schema.metadata or {}) or (has_columns and field not in names)
