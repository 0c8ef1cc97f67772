"""`encode_files`: read lines, leave out empty ones, encode, write; every step a few batches at most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import Literal, TypeAlias

import numpy as np

from piecework._core import RawBatch
from piecework.arguments import check_choice
from piecework.batch import Batch
from piecework.corpus_output.checks import (
    checked_format,
    checked_inputs,
    checked_outputs,
    known_token,
)
from piecework.corpus_output.lines import LineSource, parallel_lines
from piecework.corpus_output.overlap import overlapped
from piecework.errors import CorpusError, FileError
from piecework.reading import reason
from piecework.tokenizer import Tokenizer
from piecework.train.corpus import PathLike, Utf8Errors, corpus_bytes

FormatName: TypeAlias = Literal["tokens", "ids", "jsonl", "npy", "arrow", "parquet", "megatron"]
Progress: TypeAlias = Callable[[int, int], None]
Columns: TypeAlias = list[list[str]]  # for each source as many lines

BATCHES_IN_FLIGHT = 2
_MAX_BATCH_TOKENS = 2**31 - 1  # what the offsets of Arrow lists and Megatron's lengths can count


@dataclass(frozen=True)
class EncodedFiles:
    """What `encode_files` did; a line of parallel inputs counts once.

    `empty_lines_dropped` were empty or blank in one input at least, `replacements` counts the
    sequences of bytes that were no UTF-8, and `tokens` what each output got.
    """

    lines_read: int
    lines_written: int
    empty_lines_dropped: int
    replacements: int
    tokens: tuple[int, ...]


def encode_files(
    tokenizer: Tokenizer,
    inputs: PathLike | Sequence[PathLike],
    outputs: PathLike | Sequence[PathLike],
    *,
    format: FormatName = "ids",
    keep_empty: bool = False,
    append_eod: str | None = None,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    field: str = "text",
    errors: Utf8Errors = "replace",
    workers: int | None = None,
    progress: Progress | None = None,
) -> EncodedFiles:
    """Encode each line of `inputs`, as a document of its own, into files of tokens or ids.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("ab\\n\\nba\\n")
    >>> done = pw.encode_files(tok, folder / "in.txt", folder / "out.txt")
    >>> (folder / "out.txt").read_text(), done.empty_lines_dropped
    ('1 2\\n2 1\\n', 1)

    One output takes all inputs, one after the other. As many outputs as inputs take parallel texts:
    line n of every output comes from line n of its input, and a line that is empty or blank in one
    input is left out of every output; `keep_empty` keeps such lines. Inputs are plain text or JSON
    lines (`.jsonl`, `.ndjson`; the text under `field`), either also with gzip or Zstandard, and
    directories where there is one output; `-` is stdin or stdout.

    `format`: `tokens`, `ids` and `jsonl` write a line each. `npy` writes flat ids, uint16 where the
    vocabulary fits and uint32 otherwise, and int64 row offsets beside them (`a.npy`,
    `a.row_offsets.npy`). `arrow` (an IPC file) and `parquet` write a column `ids` of lists of uint32.
    `megatron` writes `a.bin` and `a.idx`. `append_eod` ends each row with that token (not for
    `jsonl`). Padding to the longest of a batch is left out, as a file has no batches; truncation and
    padding to a fixed length are those of the tokenizer.

    Memory is constant: a few batches of about 2 MB of text, and the longest line. `workers` threads
    encode (None: one a processor) while other lines are read and written. `progress` is called with
    the bytes read and their total, 0 where that is unknown. Files appear whole or not at all.

    Raises `CorpusError` naming files and line where parallel inputs differ in length,
    `InvalidUtf8Error` under `errors="strict"`, `FileError`, `ArgumentError` and `MissingExtraError`.
    """
    form = checked_format(format, append_eod)
    check_choice("errors", errors, ("replace", "strict"))
    targets = checked_outputs(outputs, form)
    sources = [LineSource(paths, field, errors) for paths in checked_inputs(inputs, targets, form)]
    eod = None if append_eod is None else known_token(tokenizer, append_eod)
    bare = _without_batch_padding(tokenizer)

    def encode(texts: list[str]) -> Batch:
        batch = bare.encode_batch(
            texts,
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            workers=workers,
        )
        return _ended(batch, eod)

    tally = _Tally(sources, keep_empty, progress)
    with _system_errors_told(targets), ExitStack() as stack:
        writers = [stack.enter_context(form.open(path, tokenizer)) for path in targets]
        in_flight = 0 if any(source.is_interactive for source in sources) else BATCHES_IN_FLIGHT
        encoded = overlapped(lambda texts: list(map(encode, texts)), tally.lines(), in_flight)
        for batches in stack.enter_context(closing(encoded)):
            for write, batch in zip(writers, batches, strict=True):
                write(batch)
            tally.add_written(batches)
    return tally.result()


class _Tally:
    """Draws the lines, leaves out the empty ones, and counts what came and went."""

    def __init__(
        self, sources: Sequence[LineSource], keep_empty: bool, progress: Progress | None
    ) -> None:
        self._sources = sources
        self._keep_empty = keep_empty
        self._progress = progress
        self._bytes_in_all = corpus_bytes([path for source in sources for path in source.paths])
        self._read = self._written = 0
        self._tokens = [0] * len(sources)

    def lines(self) -> Iterator[Columns]:
        for columns in parallel_lines(self._sources):
            self._read += len(columns[0])
            kept = columns if self._keep_empty else _without_empty(columns)
            if kept[0]:
                yield kept
            if self._progress:
                self._progress(sum(s.bytes_read for s in self._sources), self._bytes_in_all)

    def add_written(self, batches: Sequence[Batch]) -> None:
        self._written += len(batches[0])
        for at, batch in enumerate(batches):
            self._tokens[at] += len(batch.ids)

    def result(self) -> EncodedFiles:
        return EncodedFiles(
            lines_read=self._read,
            lines_written=self._written,
            empty_lines_dropped=self._read - self._written,
            replacements=sum(source.replacements for source in self._sources),
            tokens=tuple(self._tokens),
        )


def _without_empty(columns: Columns) -> Columns:
    keep = [not any(map(_is_blank, row)) for row in zip(*columns, strict=True)]
    return columns if all(keep) else [list(compress(texts, keep)) for texts in columns]


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _without_batch_padding(tokenizer: Tokenizer) -> Tokenizer:
    padding = tokenizer.spec.padding
    depends_on_batch = padding is not None and padding.length is None
    return tokenizer.with_padding(None) if depends_on_batch else tokenizer


def _ended(batch: Batch, eod: int | None) -> Batch:
    """Return the batch with `eod` behind each row, and of a size that every format can count."""
    if eod is not None:
        ids = np.insert(batch.ids, batch.row_offsets[1:], np.uint32(eod))
        row_offsets = batch.row_offsets + np.arange(len(batch.row_offsets))
        batch = Batch(RawBatch.of_arrays(ids, row_offsets), batch.__getitem__)
    if len(batch.ids) > _MAX_BATCH_TOKENS:
        found = f"lines that give {len(batch.ids)} tokens at once"
        raise CorpusError("inputs", found, f"at most {_MAX_BATCH_TOKENS}")
    return batch


@contextmanager
def _system_errors_told(targets: Sequence[str]) -> Iterator[None]:
    """Tell what the system says about writing in our own terms; reading has done so by itself."""
    try:
        yield
    except (FileError, BrokenPipeError):
        raise
    except OSError as error:
        raise FileError(", ".join(targets), reason(error), "files that can be written") from error
