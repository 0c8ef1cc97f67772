"""Encode files: read lines, drop empty ones, encode, write, with a few batches in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal, TypeAlias, cast

import numpy as np

from piecework._internal.progress import progress_bar, show_source
from piecework._internal.renamed_arguments import renamed_arguments
from piecework._internal.types import Progress, Update
from piecework._internal.validation import PathLike
from piecework.batch import Batch
from piecework.chat.chat_format import ChatFormat
from piecework.chat.conversations import Conversation
from piecework.corpus.line_blocks import SHORT_LINE_BYTES
from piecework.corpus.paths import corpus_bytes
from piecework.corpus.rows import Document, ReadOptions, Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.corpus.texts import Texts, longest, without_blank
from piecework.errors import ArgumentError, CorpusError, FileError
from piecework.export.chats import ChatEncoder, check_without_chat, checked_chat, no_masks
from piecework.export.encoded_lines import PLAIN, EncodedLines, RowLayout, with_rows
from piecework.export.file_arguments import (
    FORMATS,
    OutputFormat,
    checked_format,
    checked_inputs,
    checked_outputs,
    eod_id,
)
from piecework.export.input_lines import LabelledLine, LineSource, parallel_lines
from piecework.export.prefetch import overlapped
from piecework.export.special_in_text import SpecialTokensInText
from piecework.tokenizer import Tokenizer

FormatName: TypeAlias = Literal[
    "tokens", "ids", "jsonl", "npy", "arrow", "arrow-stream", "parquet", "megatron"
]
Columns: TypeAlias = list[Texts]
"""The same number of lines from each source."""
Step: TypeAlias = tuple[int, Columns]
"""Index of the output of the first column, and the columns for this and the following outputs."""

BATCHES_IN_FLIGHT = 2
_MAX_BATCH_TOKENS = 2**31 - 1  # the limit of Arrow list offsets and Megatron lengths


@dataclass(frozen=True)
class EncodedFiles:
    """Statistics of one `encode_files` call.

    >>> EncodedFiles(3, 2, 1, 0, (7,)).empty_lines_dropped
    1

    Documents of several lines count as lines. Line n of all parallel inputs counts as one line.
    `empty_lines_dropped` counts empty and blank lines; of parallel inputs, lines that are empty in at least
    one input. `replacements` counts invalid UTF-8
    sequences, and `tokens` has the number of tokens of each output. `special_in_text` counts the
    special tokens that lines have, such as `<|endoftext|>`; with `parse_special=False` they are plain text.
    """

    lines_read: int
    lines_written: int
    empty_lines_dropped: int
    replacements: int
    tokens: tuple[int, ...]
    special_in_text: int = 0


@renamed_arguments(errors="encoding_errors")
def encode_files(
    tokenizer: Tokenizer,
    inputs: PathLike | Sequence[PathLike],
    outputs: PathLike | Sequence[PathLike],
    *,
    format: FormatName = "ids",
    parallel: bool = False,
    keep_empty: bool = False,
    strip_lines: bool = False,
    append_eod: str | None = None,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    chat: ChatFormat | None = None,
    field: str | None = None,
    document: Document = "line",
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
    progress: Progress = None,
) -> EncodedFiles:
    """Encode each line of `inputs` as one document and write files of tokens or ids.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("ab\\n\\nba\\n")
    >>> done = pw.encode_files(tok, folder / "in.txt", folder / "out.txt")
    >>> (folder / "out.txt").read_text(), done.empty_lines_dropped
    ('1 2\\n2 1\\n', 1)

    Pass one output for all inputs, or one output for each input.

    *Inputs* are plain text or another format of `corpus.FORMATS`, by their suffix, also compressed. `field`
    names the text of a JSON object or the column (None: "text"). With one output, an input can be a
    directory, a pattern or a URL, as for `corpus.read_corpus`.
    `on_error="skip"` leaves out records and files with errors, and warns how many. With
    `document="blank-line"` or `"file"`, a document of plain text has several lines, as `corpus.read_corpus`
    defines; all that is said of lines is then true of documents.
    `-` is stdin or stdout; stdin contains JSON lines if `field` is set, and its lines are encoded as they
    arrive. Empty and blank lines are dropped unless `keep_empty`. `strip_lines` removes whitespace at both
    ends of each line, as `str.strip` does, which byte-level and SentencePiece models would encode; offsets
    are then those in the stripped line.

    `parallel` is for translations: all inputs have the same number of lines, and a line that is empty in
    one input is dropped from every output. Line n of one output then corresponds to line n of the others.

    *Formats*:

    - `tokens`, `ids`: one line of text for each row; line ends in tokens are written as `\\n` and `\\r`.
    - `jsonl`: one object for each line, also for empty ones: `file` (if several inputs have one output),
      `line` (from 1; the first one of a document), `id` (if the input object has one), ids, tokens and
      offsets.
    - `npy`: flat ids in `a.npy`, uint16 if the vocabulary fits and uint32 otherwise, and int64 row
      offsets in `a.row_offsets.npy`.
    - `arrow` (an IPC file), `arrow-stream`, `parquet`: a column `ids` of lists of uint32.
    - `megatron`: `a.bin` and `a.idx`.

    `chat` reads conversations, as in `encode_corpus`. `npy`, `arrow`, `arrow-stream` and `parquet` then have
    masks; `jsonl` has `text`, the rendered conversation, with offsets into it, and `assistant_masks`.
    `tokens` and `ids` have no masks.

    `append_eod` appends this token to each row (not for `jsonl`). If the post-processor appends it
    already, pass `add_special_tokens=False` too. Truncation and padding to a fixed length are those of the
    tokenizer; padding to the longest row of a batch is not applied.

    Memory is constant: a few batches of about 2 MB of text, and 8 to 40 times the longest line. A line has at
    most a 48th of the memory of the process, otherwise it raises `MemoryLimitError`. `num_threads` threads
    encode (None: one for each CPU) while other lines are read and written. `progress=True` shows a
    bar; a function receives the bytes read and their total, 0 if that is unknown. Output files are written
    atomically.

    Raises `CorpusError` for binary input and for parallel inputs of different lengths, `InvalidUtf8Error`
    with `encoding_errors="strict"`, `FileError`, `ArgumentError` and `MissingExtraError`.
    """
    form = checked_format(format, append_eod)
    options = ReadOptions.of(
        field, encoding_errors, on_error, document, as_conversations=chat is not None
    )
    layout = PLAIN
    if chat is not None:
        check_without_chat(parallel=parallel, strip_lines=strip_lines, keep_empty=keep_empty)
        layout = _layout_of(chat, parse_special, form, format)
    if parallel and on_error == "skip":
        problem = "='skip' does not support parallel inputs: a skipped line would shift the others"
        raise ArgumentError("on_error", problem)
    targets = checked_outputs(outputs, form, layout)
    paths_of_outputs = checked_inputs(inputs, targets, form, layout, parallel)
    sources = [LineSource(paths, options, labels=form.has_offsets) for paths in paths_of_outputs]
    adds_special_tokens = add_special_tokens and chat is None
    eod = None if append_eod is None else eod_id(tokenizer, append_eod, adds_special_tokens)
    unpadded = without_batch_padding(tokenizer)
    in_text = SpecialTokensInText(
        unpadded, add_special_tokens=add_special_tokens, parse_special=parse_special
    )

    def encode_text(texts: Texts) -> EncodedLines:
        texts = _stripped(texts) if strip_lines else texts
        batch = unpadded.encode_batch(
            cast("Sequence[str]", texts),
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            offsets=format == "jsonl",
            num_threads=num_threads,
        )
        labelled = cast("list[LabelledLine]", texts) if form.has_offsets else []
        special_in_text = in_text.count(batch)
        labels = [text.label for text in labelled]
        return EncodedLines(with_eod(batch, eod), labels, special_in_text=special_in_text)

    encoder = None if chat is None else _chat_encoder(unpadded, chat, layout, form)

    def encode_chat(texts: Texts) -> EncodedLines:
        assert encoder is not None
        encoded = encoder.encode(cast("Sequence[Conversation]", texts))
        labels = [conversation.label for conversation in encoded.conversations]
        return EncodedLines(with_eod(encoded.batch, eod), labels, faults=encoded.faults)

    encode = encode_text if chat is None else encode_chat

    def encode_step(step: Step) -> tuple[int, list[EncodedLines]]:
        first_output, columns = step
        return first_output, list(map(encode, columns))

    def is_idle() -> bool:
        return any(source.is_idle for source in sources)

    def is_large(step: Step) -> bool:
        return any(longest(texts) > SHORT_LINE_BYTES for texts in step[1])

    with system_errors_as_file_errors(targets), ExitStack() as stack:
        update = stack.enter_context(progress_bar("encoding", progress, in_bytes=True))
        keeps_empty = (keep_empty or form.has_offsets) and chat is None
        tally = _Tally(sources, parallel, keeps_empty, update)
        writers = [stack.enter_context(form.open(path, tokenizer, layout)) for path in targets]
        encoded = overlapped(
            encode_step, tally.steps(), BATCHES_IN_FLIGHT, is_idle, is_large=is_large
        )
        for first_output, columns in stack.enter_context(closing(encoded)):
            for output, lines in enumerate(columns, start=first_output):
                for error in lines.faults:
                    options.fault(error)
                writers[output](lines)
                tally.add_tokens(output, lines)
            del columns, lines  # while the next batch is encoded
    options.warn_of_skipped()
    return tally.result()


def _layout_of(
    chat: ChatFormat,
    parse_special: bool | Collection[str] | None,
    form: OutputFormat,
    format: str,
) -> RowLayout:
    """Return the layout of rows of conversations; raise for a format that would lose their masks."""
    has_mask = checked_chat(chat, parse_special).has_mask
    if has_mask and not (form.can_mask or form.is_for_reading):
        raise ArgumentError(
            "format", no_masks(format, [n for n, f in FORMATS.items() if f.can_mask])
        )
    return RowLayout(has_mask=has_mask and form.can_mask)


def _chat_encoder(
    tokenizer: Tokenizer, chat: ChatFormat, layout: RowLayout, form: OutputFormat
) -> ChatEncoder:
    if not (layout.has_mask or form.has_offsets):
        chat = replace(chat, mask=())
    return ChatEncoder(tokenizer, chat, offsets=form.has_offsets)


class _Tally:
    """Read lines, drop the empty ones and count."""

    def __init__(
        self,
        sources: Sequence[LineSource],
        parallel: bool,
        keep_empty: bool,
        update: Update,
    ) -> None:
        self._sources = sources
        self._groups = [sources] if parallel else [[source] for source in sources]
        self._keep_empty = keep_empty
        self._update = update
        self._total_bytes = corpus_bytes([path for source in sources for path in source.paths])
        self._lines_read = self._lines_kept = 0
        self._tokens = [0] * len(sources)
        self._special_in_text = 0

    def steps(self) -> Iterator[Step]:
        first_output = 0
        for group in self._groups:
            for columns in parallel_lines(group):
                kept = columns if self._keep_empty else _without_empty(columns)
                self._lines_read += len(columns[0])
                self._lines_kept += len(kept[0])
                if len(kept[0]):
                    yield first_output, kept
                show_source(self._update, group[0].current_name)
                self._update(sum(s.bytes_read for s in self._sources), self._total_bytes)
            first_output += len(group)

    def add_tokens(self, output: int, lines: EncodedLines) -> None:
        self._tokens[output] += len(lines.batch.ids)
        self._lines_kept -= len(lines.faults)
        self._lines_read -= len(lines.faults)
        self._special_in_text += lines.special_in_text

    def result(self) -> EncodedFiles:
        return EncodedFiles(
            lines_read=self._lines_read,
            lines_written=self._lines_kept,
            empty_lines_dropped=self._lines_read - self._lines_kept,
            replacements=sum(source.replacements for source in self._sources),
            tokens=tuple(self._tokens),
            special_in_text=self._special_in_text,
        )


def _without_empty(columns: Columns) -> Columns:
    if len(columns) == 1:
        return [without_blank(columns[0])]
    keep = [not any(map(_is_blank, row)) for row in zip(*columns, strict=True)]
    return columns if all(keep) else [list(compress(texts, keep)) for texts in columns]


def _stripped(texts: Texts) -> Texts:
    """Return the lines without whitespace at their ends, with their labels."""
    return [
        LabelledLine.of(text.strip(), text.label)
        if isinstance(text, LabelledLine)
        else text.strip()
        for text in texts
    ]


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def without_batch_padding(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer without padding to the longest row of a batch."""
    padding = tokenizer._stages().padding
    depends_on_batch = padding is not None and padding.length is None
    return tokenizer.without_padding() if depends_on_batch else tokenizer


def with_eod(batch: Batch, eod: int | None) -> Batch:
    """Return the batch with `eod` appended to each row; raises if a format cannot count its tokens."""
    if eod is not None:
        ids = np.insert(batch.ids, batch.row_offsets[1:], np.uint32(eod))
        row_offsets = batch.row_offsets + np.arange(len(batch.row_offsets))
        batch = with_rows(batch, ids, row_offsets)
    if len(batch.ids) > _MAX_BATCH_TOKENS:
        problem = (
            f"have a line or document of {len(batch.ids)} tokens; the limit is {_MAX_BATCH_TOKENS}"
        )
        raise CorpusError("inputs", problem)
    return batch


@contextmanager
def system_errors_as_file_errors(targets: Sequence[str]) -> Iterator[None]:
    """Convert system errors about writing to `FileError`; readers convert their own."""
    try:
        yield
    except (FileError, BrokenPipeError):
        raise
    except OSError as error:
        names = ", ".join("<stdout>" if path == "-" else path for path in targets)
        raise FileError.writing(names, error, "writable files") from error
