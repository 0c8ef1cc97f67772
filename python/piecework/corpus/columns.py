"""Read columns of Parquet files, Arrow IPC files and Arrow IPC streams, batch by batch.

Parquet is read in batches of 1,024 rows, Arrow files in their record batches. They are not mapped: another
process that truncates a mapped file ends this process, and one that writes into it changes texts that were
checked. Only the column with the texts and the kept columns are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, Literal, TypeAlias

from piecework._internal._core import TextColumn
from piecework._internal.extras import import_extra
from piecework.corpus.compression import compression_of
from piecework.corpus.conversations import conversation_columns, conversation_of, without_nulls
from piecework.corpus.rows import LIST_CHARS, ReadOptions, Rows, decode_utf8
from piecework.corpus.text_stream import open_stored, stored_bytes
from piecework.corpus.urls import is_url, open_url
from piecework.errors import CorpusError, FileError, PieceworkError
from piecework.io.read_file import too_large

_PARQUET_ROWS = 1024
_LIST_ROWS = 8192
_PARQUET_MAGIC = b"PAR1"
_ARROW_MAGIC = b"ARROW1"
_STREAM_MAGIC = b"\xff\xff\xff\xff"
_HEAD_BYTES = 16
_BUFFER_BYTES = 1 << 20
# A request takes tens of milliseconds, so it reads more.
_URL_BUFFER_BYTES = 8 << 20

_Batch: TypeAlias = tuple[Any, list[Any]]
"""An array of texts, and the arrays of the kept columns."""


class ColumnFile:
    """One file of columns; `bytes_read` estimates how many of its bytes have been read.

    Raises `FileError` for an unreadable file, `CorpusError` if its first bytes belong to another format.
    """

    is_idle = False

    def __init__(
        self,
        path: str,
        stack: ExitStack,
        options: ReadOptions,
        *,
        format: Literal["parquet", "arrow"],
    ) -> None:
        self.name = path
        self.bytes_read = 0
        self._kept: list[str] = list(options.kept)
        self._stack = stack
        self._pa = import_extra("pyarrow", "parquet", path)
        with FileError.while_reading(path):
            self._file: Any = _opened(path, stack, format)
            self._head = self._file.read(_HEAD_BYTES)
            self._file.seek(0)
        self._check_head(format)
        self._size = stored_bytes(path)

    def rows(self, options: ReadOptions) -> Iterator[Rows]:
        """Yield the texts of the column, in lists of about 2 million characters.

        Raises `CorpusError` for a missing column, a column without strings, null, and damaged data.
        """
        number = 1
        is_parquet = self._head.startswith(_PARQUET_MAGIC)
        kind = "Parquet" if is_parquet else "Arrow"
        batches = self._parquet_batches(options) if is_parquet else self._arrow_batches(options)
        while True:
            try:
                batch = next(batches, None)
                pieces = [] if batch is None else list(self._slices(*batch))
            except PieceworkError:
                raise
            except MemoryError as error:
                raise too_large(self.name) from error
            # A damaged name of a column raises UnicodeDecodeError, a ValueError.
            except (self._pa.ArrowException, OSError, ValueError) as error:
                raise self._damaged(" ".join(str(error).split())[:120], kind) from error
            if batch is None:
                return
            for array, kept in pieces:
                yield self._rows_of(array, kept, number, options)
                number += len(array)

    def _check_head(self, format: str) -> None:
        magics = (_PARQUET_MAGIC,) if format == "parquet" else (_ARROW_MAGIC, _STREAM_MAGIC)
        if self._head.startswith(magics):
            return
        kind = "a Parquet file" if format == "parquet" else "an Arrow IPC file or stream"
        compression = compression_of(self._head)
        found = (
            f"{compression} data" if compression else "another format" if self._head else "no bytes"
        )
        raise CorpusError(self.name, f"found {found}, expected {kind}")

    # ---- batches

    def _parquet_batches(self, options: ReadOptions) -> Iterator[_Batch]:
        parquet = import_extra("pyarrow.parquet", "parquet", self.name)
        buffer_bytes = _URL_BUFFER_BYTES if is_url(self.name) else _BUFFER_BYTES
        file = parquet.ParquetFile(self._file, buffer_size=buffer_bytes, pre_buffer=False)
        path = self._column_path(file.schema_arrow, options)
        rows = 0
        columns = [".".join(path), *self._kept]
        for batch in file.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=False):
            rows += batch.num_rows
            self.bytes_read = self._size * rows // max(file.metadata.num_rows, 1)
            yield self._array_of(batch, path), self._kept_of(batch)

    def _arrow_batches(self, options: ReadOptions) -> Iterator[_Batch]:
        ipc = self._pa.ipc
        opened = ipc.open_file if self._head.startswith(_ARROW_MAGIC) else ipc.open_stream
        with opened(self._source()) as reader:
            path = self._column_path(reader.schema, options)
            names = {path[0], *self._kept}
            indexes = sorted(map(reader.schema.get_field_index, names))
        source = self._source()
        with opened(source, options=ipc.IpcReadOptions(included_fields=indexes)) as reader:
            if opened is ipc.open_file:
                batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                batches = iter(reader)
            for count, batch in enumerate(batches, start=1):
                if opened is ipc.open_file:
                    self.bytes_read = self._size * count // reader.num_record_batches
                else:
                    self.bytes_read = source.tell()
                yield self._array_of(batch, path), self._kept_of(batch)

    def _source(self) -> Any:
        if not is_url(self.name):
            return self._stack.enter_context(self._pa.OSFile(self.name))
        self._file.seek(0)
        return self._pa.PythonFile(self._file, mode="r")

    # ---- the column

    def _column_path(self, schema: Any, options: ReadOptions) -> tuple[str, ...]:
        """Return the names of the column and of the fields inside it; raises unless it has strings."""
        field = options.field
        place = f"{self.name} column {field.key!r}"
        self._check_kept(schema, options)
        if options.as_conversations:
            columns = conversation_columns(schema.names, self.name, options)
            self._kept = list(dict.fromkeys([*columns, *options.kept]))
            return (columns[0],)
        path = (field.key,) if field.key in schema.names else field.path
        kind: Any = schema
        for depth, name in enumerate(path):
            names = _names_of(kind)
            if names.count(name) != 1:
                inside = f" in {'.'.join(path[:depth])!r}" if depth else ""
                listed = ", ".join(map(repr, names[:8])) or "no fields"
                found = f"{names.count(name)} of this name" if name in names else f"only {listed}"
                problem = f"must be one column with strings; the file has {found}{inside}"
                raise CorpusError(place, problem, kind="a missing or repeated column")
            kind = kind.field(name).type
        values = kind.value_type if self._pa.types.is_dictionary(kind) else kind
        if str(values) not in ("string", "large_string", "string_view"):
            problem = f"found values of type {kind}, expected strings"
            raise CorpusError(place, problem, kind="a column without strings")
        return path

    def _check_kept(self, schema: Any, options: ReadOptions) -> None:
        for name in options.kept:
            if schema.names.count(name) != 1:
                listed = ", ".join(map(repr, schema.names[:8]))
                found = f"{schema.names.count(name)} of this name among {listed}"
                problem = f"must be one column; the file has {found}"
                place = f"{self.name} column {name!r}"
                raise CorpusError(place, problem, kind="a missing or repeated column")

    def _array_of(self, batch: Any, path: tuple[str, ...]) -> Any:
        array = batch.column(path[0])
        if len(path) > 1:
            array.validate(full=True)
            compute = import_extra("pyarrow.compute", "parquet", self.name)
            array = compute.struct_field(array, list(path[1:]))
        return array

    def _kept_of(self, batch: Any) -> list[Any]:
        arrays = [batch.column(name) for name in self._kept]
        for array in arrays:
            array.validate(full=True)
        return arrays

    def _slices(self, array: Any, kept: list[Any]) -> Iterator[_Batch]:
        """Yield parts of the arrays with about 2 MB of texts each; raises `ArrowInvalid` for damage.

        `nbytes` and `null_count` read the buffers, so their sizes are validated before.
        """
        array.validate()
        rows = len(array)
        if not self._is_dictionary(array):
            rows = min(_LIST_ROWS, max(1, rows * LIST_CHARS // max(array.nbytes, 1)))
        for start in range(0, len(array), rows or 1):
            yield array.slice(start, rows), [other.slice(start, rows) for other in kept]

    def _rows_of(self, array: Any, kept: list[Any], first: int, options: ReadOptions) -> Rows:
        """Return the texts of an array; the offsets of an Arrow file are checked before they are used."""
        values = zip(*(other.to_pylist() for other in kept), strict=True)
        records = [dict(zip(self._kept, row, strict=True)) for row in values]
        if options.as_conversations:
            return self._conversations(records, first, options)
        if self._is_valid(array) and not array.null_count:
            column = TextColumn.of_arrow(array, self.name)
            return Rows(column, range(first, first + len(array)), records=records)
        texts, replacements = self._texts_of(array, first, options)
        # The null count of a dictionary array leaves out rows that refer to a null of the dictionary.
        if None not in texts:
            return Rows(texts, range(first, first + len(texts)), replacements, records)
        strings: list[str] = []
        numbers: list[int] = []
        for number, text in enumerate(texts, start=first):
            if text is None:
                place = f"{self.name} row {number} column {options.field.key!r}"
                reason = "a field that is not a string"
                options.fault(CorpusError(place, "found a null, expected a string", kind=reason))
            else:
                strings.append(text)
                numbers.append(number)
        if records:
            records = [records[number - first] for number in numbers]
        return Rows(strings, numbers, replacements, records)

    def _conversations(
        self, records: list[dict[str, Any]], first: int, options: ReadOptions
    ) -> Rows:
        conversations: list[str] = []
        numbers: list[int] = []
        kept: list[dict[str, Any]] = []
        for number, record in enumerate(records, start=first):
            place = f"{self.name} row {number}"
            try:
                conversation, _ = conversation_of(without_nulls(record), place, options)
            except CorpusError as error:
                options.fault(error)
                continue
            conversations.append(conversation)
            numbers.append(number)
            kept.append(record)
        return Rows(conversations, numbers, 0, kept)

    def _is_dictionary(self, array: Any) -> bool:
        return bool(self._pa.types.is_dictionary(array.type))

    def _is_valid(self, array: Any) -> bool:
        """Whether an array has strings of UTF-8, and no dictionary."""
        if self._is_dictionary(array):
            return False
        try:
            array.validate(full=True)
        except self._pa.ArrowException:
            return False
        return True

    def _texts_of(self, array: Any, first: int, options: ReadOptions) -> tuple[Any, int]:
        if self._is_dictionary(array):
            indices = self._indices_of(array)
            values, replacements = self._texts_of(array.dictionary, first, options)
            return [None if index is None else values[index] for index in indices], replacements
        if self._is_valid(array):
            return array.to_pylist(), 0
        binary = array.view(str(array.type).replace("string", "binary"))
        self._check(binary)
        texts: list[str | None] = []
        replacements = 0
        for number, data in enumerate(binary.to_pylist(), start=first):
            text, replaced = None, 0
            if data is not None:
                place = f"{self.name} row {number} column {options.field.key!r}"
                text, replaced = decode_utf8(data, options.encoding_errors, place)
            texts.append(text)
            replacements += replaced
        return texts, replacements

    def _indices_of(self, array: Any) -> list[int | None]:
        """Return the indices of a dictionary array; raises `CorpusError` for one out of bounds.

        Full validation of the array would also reject invalid UTF-8, which `encoding_errors` may replace.
        """
        self._check(array.indices)
        indices: list[int | None] = array.indices.to_pylist()
        size = len(array.dictionary)
        for index in indices:
            if index is not None and not 0 <= index < size:
                raise self._damaged(f"index {index} of a dictionary with {size} values")
        return indices

    def _check(self, array: Any) -> None:
        try:
            array.validate(full=True)
        except self._pa.ArrowException as error:
            raise self._damaged(" ".join(str(error).split())[:120]) from error

    def _damaged(self, found: str, kind: str = "Arrow") -> CorpusError:
        problem = f"found damaged {kind} data ({found}), expected an undamaged file"
        return CorpusError(self.name, problem, kind="damaged data")


def _opened(path: str, stack: ExitStack, format: str) -> BinaryIO:
    """Open a file; from a URL of Parquet, reads request single ranges, so that other columns stay there."""
    if is_url(path) and format == "parquet":
        return open_url(path, stack, in_ranges=True)
    return open_stored(path, stack)


def _names_of(kind: Any) -> list[str]:
    """Return the names of the fields of a schema or a struct; other types have none."""
    if hasattr(kind, "names"):
        return list(kind.names)
    fields = getattr(kind, "num_fields", 0) if str(kind).startswith("struct") else 0
    return [kind.field(index).name for index in range(fields)]
