"""`encode_files`: read lines, drop empty ones, encode, write; each step holds a few batches at most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import Literal, TypeAlias, cast

import numpy as np

from piecework._core import RawBatch
from piecework._internal.validation import check_choice
from piecework.batch import Batch
from piecework.corpus.files import PathLike, Utf8Errors, corpus_bytes
from piecework.errors import CorpusError, FileError
from piecework.export.options import (
    checked_format,
    checked_inputs,
    checked_outputs,
    eod_id,
)
from piecework.export.parallel_lines import LabelledText, LineSource, parallel_lines
from piecework.export.prefetch import overlapped
from piecework.export.text_lines import EncodedLines
from piecework.io.read_file import reason
from piecework.tokenizer import Tokenizer

FormatName: TypeAlias = Literal["tokens", "ids", "jsonl", "npy", "arrow", "parquet", "megatron"]
Progress: TypeAlias = Callable[[int, int], None]
Columns: TypeAlias = list[list[str]]  # as many lines of each source
Step: TypeAlias = tuple[
    int, Columns
]  # the output of the first column, and a column for each output from there on

BATCHES_IN_FLIGHT = 2
_MAX_BATCH_TOKENS = 2**31 - 1  # what the offsets of Arrow lists and Megatron's lengths can count


@dataclass(frozen=True)
class EncodedFiles:
    """Statistics of one `encode_files` call; line n of parallel inputs counts once.

    `empty_lines_dropped` counts empty and blank lines (of parallel inputs, lines that are empty in at
    least one), `replacements` the invalid UTF-8 sequences, and `tokens` the tokens of each output.
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
    parallel: bool = False,
    keep_empty: bool = False,
    append_eod: str | None = None,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    field: str | None = None,
    errors: Utf8Errors = "replace",
    num_threads: int | None = None,
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

    One output takes all inputs, one after the other; as many outputs as inputs take one input each. Empty
    and blank lines are dropped unless `keep_empty`. `parallel` is for translations: all inputs have as
    many lines, and a line that is empty in one of them is dropped from every output, so that line n of
    each output still corresponds to line n of the others. Inputs are plain text or JSON lines (`.jsonl`,
    `.ndjson`; the text under `field`, None for "text"), also with gzip or Zstandard, and directories
    where there is one output; `-` is stdin or stdout. Stdin holds JSON lines if `field` is given. Lines
    from a pipe are encoded as they arrive.

    `format`: `tokens`, `ids` and `jsonl` write a line each. `jsonl` keeps empty lines, and its objects
    begin with the `file` (where one output has several), the `line` from 1, and the `id` of an input
    object that has one. `npy` writes flat ids, uint16 where the vocabulary fits and uint32 otherwise,
    and int64 row offsets beside them (`a.npy`, `a.row_offsets.npy`). `arrow` (an IPC file) and `parquet`
    write a column `ids` of lists of uint32. `megatron` writes `a.bin` and `a.idx`. `append_eod` ends
    each row with that token (not for `jsonl`); where the post-processor ends rows with it already, also
    pass `add_special_tokens=False`. Padding to the longest of a batch is left out, as a file has no
    batches; truncation and padding to a fixed length are those of the tokenizer.

    Memory is constant: a few batches of about 2 MB of text, and the longest line. `num_threads` threads
    encode (None: one a processor) while other lines are read and written. `progress` is called with
    the bytes read and their total, 0 where that is unknown. Files appear whole or not at all.

    Raises `CorpusError` for binary input and where parallel inputs differ in length, `InvalidUtf8Error`
    under `errors="strict"`, `FileError`, `ArgumentError` and `MissingExtraError`.
    """
    form = checked_format(format, append_eod)
    check_choice("errors", errors, ("replace", "strict"))
    targets = checked_outputs(outputs, form)
    paths_of_outputs = checked_inputs(inputs, targets, form, parallel)
    sources = [
        LineSource(paths, field, errors, labels=form.has_offsets) for paths in paths_of_outputs
    ]
    eod = None if append_eod is None else eod_id(tokenizer, append_eod, add_special_tokens)
    bare = _without_batch_padding(tokenizer)

    def encode(texts: list[str]) -> EncodedLines:
        batch = bare.encode_batch(
            texts,
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            offsets=format == "jsonl",
            num_threads=num_threads,
        )
        labelled = cast("list[LabelledText]", texts) if form.has_offsets else []
        return EncodedLines(_ended(batch, eod), [text.label for text in labelled])

    def encode_step(step: Step) -> tuple[int, list[EncodedLines]]:
        first_output, columns = step
        return first_output, list(map(encode, columns))

    def is_idle() -> bool:
        return any(source.is_idle for source in sources)

    tally = _Tally(sources, parallel, keep_empty or form.has_offsets, progress)
    with _system_errors_told(targets), ExitStack() as stack:
        writers = [stack.enter_context(form.open(path, tokenizer)) for path in targets]
        encoded = overlapped(encode_step, tally.steps(), BATCHES_IN_FLIGHT, is_idle)
        for first_output, columns in stack.enter_context(closing(encoded)):
            for output, lines in enumerate(columns, start=first_output):
                writers[output](lines)
                tally.add_tokens(output, lines.batch)
    return tally.result()


class _Tally:
    """Reads lines, drops the empty ones, and counts."""

    def __init__(
        self,
        sources: Sequence[LineSource],
        parallel: bool,
        keep_empty: bool,
        progress: Progress | None,
    ) -> None:
        self._sources = sources
        self._groups = [sources] if parallel else [[source] for source in sources]
        self._keep_empty = keep_empty
        self._progress = progress
        self._bytes_in_all = corpus_bytes([path for source in sources for path in source.paths])
        self._read = self._kept = 0
        self._tokens = [0] * len(sources)

    def steps(self) -> Iterator[Step]:
        first_output = 0
        for group in self._groups:
            for columns in parallel_lines(group):
                kept = columns if self._keep_empty else _without_empty(columns)
                self._read += len(columns[0])
                self._kept += len(kept[0])
                if kept[0]:
                    yield first_output, kept
                if self._progress:
                    self._progress(sum(s.bytes_read for s in self._sources), self._bytes_in_all)
            first_output += len(group)

    def add_tokens(self, output: int, batch: Batch) -> None:
        self._tokens[output] += len(batch.ids)

    def result(self) -> EncodedFiles:
        return EncodedFiles(
            lines_read=self._read,
            lines_written=self._kept,
            empty_lines_dropped=self._read - self._kept,
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
        batch = Batch(RawBatch.of_arrays(ids, row_offsets), batch._token_of, batch._filling)
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
        names = ", ".join("<stdout>" if path == "-" else path for path in targets)
        raise FileError(names, reason(error), "files that can be written") from error
