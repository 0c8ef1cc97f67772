"""Encode files into files, from top to bottom: read, encode, arrange, write.

`encode_files` and `encode_corpus` check their arguments, choose a reader and a writer, and run the same
`Pipeline`. `files` has the reader and the writer of `encode_files`, whose outputs appear together; `shards`
has the reader and the writer of `encode_corpus`, whose shards appear one after the other and are recorded in
a manifest. `encode_lines` reads in the same way and returns a batch. Memory is constant, except for
`encode_lines`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from piecework._internal.progress import progress_bar, show_source
from piecework._internal.setting_fields import given_to, takes_settings
from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike, check_tokenizer, path_text
from piecework.corpus.paths import corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import joined, longest, without_blank
from piecework.corpus.text_stream import SHORT_LINE_BYTES
from piecework.errors import CorpusError, FileError
from piecework.export.arranging import Arranged, Stage, new_stages
from piecework.export.encoded_lines import EncodedLines, Tally, TextsOfUnit
from piecework.export.files import (
    FileReader,
    FileWriter,
    check_not_overwritten,
    checked_inputs,
    checked_outputs,
    path_list,
)
from piecework.export.formats import FORMATS, SHARD_FORMATS, layout_of
from piecework.export.input_lines import LineSource
from piecework.export.line_encoder import LineEncoder
from piecework.export.manifest import Manifest
from piecework.export.settings import CorpusSettings, EncodeSettings, FileSettings
from piecework.export.shards import (
    ShardPlan,
    ShardReader,
    ShardWriter,
    checked_sources,
    delete_temporary_files,
    shard_files,
    shard_names,
)
from piecework.io.atomic_files import locked_folder
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.batch import Batch

if TYPE_CHECKING:
    from piecework.export.options import EncodeCorpusOptions, EncodeFilesOptions, EncodeOptions

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCHES_IN_FLIGHT = 2
_NOT_IN_MEMORY = ("append_eod", "chat")


@dataclass(frozen=True)
class EncodedFiles:
    """Statistics of one `encode_files` call.

    >>> EncodedFiles(3, 2, 1, 0, (7,)).empty_lines_dropped
    1

    Documents of several lines count as lines. Line n of all parallel inputs counts as one line.
    `empty_lines_dropped` counts empty and blank lines; of parallel inputs, lines that are empty in at least
    one input. `replacements` counts invalid UTF-8 sequences, and `tokens` has the number of tokens of each
    output. `parsed_special` counts the special tokens parsed in the lines, such as `<|endoftext|>`;
    `parse_special=False` encodes them as text.
    """

    lines_read: int
    lines_written: int
    empty_lines_dropped: int
    replacements: int
    tokens: tuple[int, ...]
    parsed_special: int = 0


@takes_settings(FileSettings)
def encode_files(
    tokenizer: Tokenizer,
    inputs: PathLike | Sequence[PathLike],
    outputs: PathLike | Sequence[PathLike],
    *,
    progress: Progress = None,
    **settings: Unpack[EncodeFilesOptions],
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

    *Inputs* are plain text or another format of `corpus.FORMATS`, by their suffix, also compressed. With one
    output, an input can be a directory, a pattern or a URL, as for `corpus.read_corpus`. With
    `document="blank-line"` or `"file"`, a document of plain text has several lines, as `corpus.read_corpus`
    defines; everything said about lines then applies to documents. `-` is stdin or stdout; stdin contains
    JSON lines if `field` is set, and its lines are encoded as they arrive. `strip_lines` removes the same
    whitespace as `str.strip`, which byte-level and SentencePiece models would encode; offsets then refer to
    the stripped line.

    With `parallel`, all inputs have the same number of lines. Line n of one output then corresponds to line n
    of the others.

    *Formats*:

    - `tokens`, `ids`: one line of text for each row; line ends in tokens are written as `\\n` and `\\r`.
    - `jsonl`: one object for each line, even an empty one: `file` (if several inputs have one output),
      `line` (from 1; the first one of a document), `id` (if the input object has one), ids, tokens and
      offsets.
    - `npy`: flat ids in `a.npy`, uint16 if the vocabulary fits and uint32 otherwise, and int64 row
      offsets in `a.row_offsets.npy`.
    - `arrow` (an IPC file), `arrow-stream`, `parquet`: a column `ids` of lists of uint32.
    - `megatron`: `a.bin` and `a.idx`.

    `chat` reads conversations, as in `encode_corpus`. `npy`, `arrow`, `arrow-stream` and `parquet` then have
    masks; `jsonl` has `text`, the rendered conversation, with offsets into it, and `assistant_masks`.
    `tokens` and `ids` have no masks.

    If the post-processor already appends the token of `append_eod`, pass `add_special_tokens=False` too.
    The tokenizer's truncation and padding to a fixed length apply; padding to the longest row of a batch
    is not applied.

    Memory is constant: a few batches of about 2 MB of text, and 8 to 40 times the longest line. A line has at
    most a 48th of the memory of the process, otherwise it raises `MemoryLimitError`. Lines of over a million
    characters are cut for encoding, where that does not change ids, so that all threads work on them; lines
    are encoded while others are read and written. `progress=True` shows a bar; a function receives the bytes
    read and their total, 0 if that is unknown. Output files are written atomically.

    Raises `CorpusError` for binary input and for parallel inputs of different lengths, `InvalidUtf8Error`
    with `encoding_errors="strict"`, `FileError`, `ArgumentError` and `MissingExtraError`.
    """
    check_tokenizer(tokenizer)
    checked = given_to(encode_files, FileSettings, settings)
    form, layout = FORMATS[checked.format], layout_of(checked, FORMATS)
    targets = checked_outputs(outputs, form, layout)
    sources = checked_inputs(inputs, targets, form, layout, checked.parallel)
    options = checked.read_options()
    pipeline = Pipeline(
        FileReader(sources, checked, options, labels=form.has_offsets),
        LineEncoder(tokenizer, checked, layout, offsets=form.has_offsets),
        lambda unit: [],
        FileWriter(targets, lambda path: form.open(path, tokenizer, layout)),
        options.fault,
    )
    [tally] = pipeline.run(progress)
    options.warn_of_skipped()
    return EncodedFiles(
        lines_read=tally.documents + tally.empty_lines_dropped,
        lines_written=tally.documents,
        empty_lines_dropped=tally.empty_lines_dropped,
        replacements=tally.replacements,
        tokens=tuple(tally.tokens),
        parsed_special=tally.parsed_special,
    )


@dataclass(frozen=True)
class EncodedCorpus:
    """Statistics of a folder of shards: totals of the folder, not of the last run alone.

    >>> EncodedCorpus("out/manifest.json", 2, 1, 9, 9, 80, 1, 0).shards_from_earlier_runs
    1

    `rows` differs from `documents` only for packed rows, whose padding `tokens` does not count.
    `replacements` counts invalid UTF-8 sequences, and `parsed_special` special tokens parsed in documents.
    """

    manifest: str
    shards: int
    shards_from_earlier_runs: int
    documents: int
    rows: int
    tokens: int
    empty_lines_dropped: int
    replacements: int
    parsed_special: int = 0


@takes_settings(CorpusSettings)
def encode_corpus(
    tokenizer: Tokenizer,
    sources: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    progress: Progress = None,
    **settings: Unpack[EncodeCorpusOptions],
) -> EncodedCorpus:
    """Encode the documents of files into shards in a folder, with a manifest.

    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("ab\\n\\nba\\n")
    >>> done = pw.export.encode_corpus(tok, folder / "in.txt", folder / "out")
    >>> done.documents, done.tokens, sorted(path.name for path in (folder / "out").iterdir())
    (2, 4, ['in.npy', 'in.row_offsets.npy', 'manifest.json'])

    `sources` are files and directories, as for `encode_files`, except stdin. Each line, or each object of
    JSON lines, is a document; `document` makes longer documents of plain text. Shards are consecutive
    documents, in corpus order.

    *Formats* are `npy`, `megatron`, `arrow`, `arrow-stream` and `parquet`, as in `encode_files`, and
    `datasets`: Arrow streams with the column `input_ids`, in a folder that `datasets.load_from_disk` opens.

    *Packed rows* have the lengths of their documents. `strategy="concat"` cuts documents at row ends and pads
    the last row; `"best-fit"` cuts only documents over `pack` and pads each row. Ids after the documents of a
    row are padding: the id of the padding token, otherwise of `append_eod`, otherwise 0. Not for `megatron`.

    Fields that are kept become columns of strings; other values are kept as JSON, missing ones as null.

    `chat` reads conversations of JSON lines and of tables, applies a chat template, and writes masks of the
    assistant's tokens beside the ids: `a.assistant_masks.npy`, or a column `assistant_masks`, of 0 and 1. The
    records have the form that `encode_chats` reads; `field` names a field with messages. Conversations that
    the template rejects are errors for `on_error`. Rows have the special tokens of the template, so
    `add_special_tokens` does not apply.

    *Resuming*: a shard is complete and recorded in `manifest.json`, or it is written again. With
    `resume=True`, a run continues after any interruption and writes the same files as an undisturbed run.
    Finished shards are skipped if their checksums match. Without a manifest, `resume` starts from the
    beginning.

    Memory is constant, apart from the longest document. The result does not depend on `num_threads`. Long
    documents and `progress` are as in `encode_files`.

    Raises `ArgumentError` if the folder has a manifest and `resume` is False, or has the manifest of another
    tokenizer or of other settings; `CorpusError` if an input changed; `FormatError` for a damaged manifest;
    `FileError` if another process uses the folder; and the errors of `encode_files`.
    """
    check_tokenizer(tokenizer)
    checked = given_to(encode_corpus, CorpusSettings, settings)
    form, layout = SHARD_FORMATS[checked.format], layout_of(checked, SHARD_FORMATS)
    options = checked.read_options()
    encoder = LineEncoder(tokenizer, checked, layout)
    folder = Path(path_text(out_dir, "out_dir"))
    files = checked_sources(sources, folder, layout.kept, options)
    files_of = partial(shard_files, form=form, layout=layout)
    names = shard_names(files, checked.shards, files_of)
    made = [str(folder / file) for name in names for file in files_of(name)]
    check_not_overwritten(files, made, "out_dir")
    with locked_folder(folder, "a folder that another process is encoding to"):
        record = checked.as_json(tokenizer)
        manifest = Manifest(folder, tokenizer.fingerprint, record, files, names)
        manifest.start(resume=checked.resume)
        delete_temporary_files(folder)
        earlier = len(manifest.shards)
        reader = ShardReader(
            manifest,
            ShardPlan([entry["size"] for entry in manifest.inputs], checked.shards),
            lambda name: LineSource([name], options, kept=layout.kept),
            keep_empty=checked.keep_empty,
        )
        padding = next((id for id in (tokenizer.pad_token_id, encoder.eod) if id is not None), 0)
        pipeline = Pipeline(
            reader,
            encoder,
            lambda shard: new_stages(checked, shard, padding),
            ShardWriter(manifest, form, layout, tokenizer, reader),
            options.fault,
        )
        pipeline.run(progress)
    options.warn_of_skipped()
    return _result(manifest, earlier)


def _result(manifest: Manifest, earlier: int) -> EncodedCorpus:
    counts = [field.name for field in fields(Tally)]
    shards = manifest.shards.values()
    return EncodedCorpus(
        manifest=str(manifest.path),
        shards=len(manifest.names),
        shards_from_earlier_runs=earlier,
        **{name: sum(getattr(shard, name) for shard in shards) for name in counts},
    )


# ---- the steps


class EncodedUnit(NamedTuple):
    """Texts whose columns are released, and their rows: a batch for each output."""

    texts: TextsOfUnit
    batches: list[EncodedLines]


@dataclass(frozen=True)
class Pipeline:
    """Read, encode, arrange and write.

    The reader yields the texts of one unit after the other, in batches of about 2 MB. The writer opens the
    outputs of each of its units. `new_stages` returns the stages that arrange the rows of a unit, and `fault`
    takes the errors of conversations that are left out.
    """

    reader: FileReader | ShardReader
    encoder: LineEncoder
    new_stages: Callable[[int], list[Stage]]
    writer: FileWriter | ShardWriter
    fault: Callable[[CorpusError], None]

    def run(self, progress: Progress) -> list[Tally]:
        """Write all units, in order; return their counts.

        A background thread encodes the next batches, while this one reads and writes.
        """
        tallies = []
        names = ", ".join("<stdout>" if path == "-" else path for path in self.writer.targets)
        with (
            FileError.while_writing(names),  # readers convert their own errors
            self.writer,
            progress_bar("encoding", progress, in_bytes=True) as update,
            closing(self._encoded()) as encoded,
        ):
            waiting = None
            for unit in self.writer.units:
                tally = Tally()
                with self.writer.open(unit) as writes:
                    outputs = [Arranged(self.new_stages(unit), write) for write in writes]
                    tally.tokens = [0] * len(outputs)
                    waiting = waiting or next(encoded, None)
                    while waiting is not None and waiting.texts.unit == unit:
                        self._write(waiting, outputs, tally)
                        show_source(update, self.reader.current_name)
                        update(self.reader.bytes_read, self.reader.total_bytes)
                        waiting = None  # its memory is free while the next batch is encoded
                        waiting = next(encoded, None)
                    for output in outputs:
                        output.finish()
                tally.rows = sum(output.rows for output in outputs)
                self.writer.finished(unit, tally)
                tallies.append(tally)
        return tallies

    def _encoded(self) -> Generator[EncodedUnit, None, None]:
        """Read and encode.

        One thread hands the batches to the encoder, whose threads share the texts of each: with a second one,
        threads wait for each other.
        """
        return overlapped(
            self._encode,
            self.reader.texts(),
            BATCHES_IN_FLIGHT,
            lambda: self.reader.is_idle,
            is_large=_is_large,
        )

    def _encode(self, texts: TextsOfUnit) -> EncodedUnit:
        batches = list(map(self.encoder.encode, texts.columns))
        return EncodedUnit(texts._replace(columns=[]), batches)

    def _write(self, encoded: EncodedUnit, outputs: Sequence[Arranged], tally: Tally) -> None:
        """Arrange and write a batch for each output, and count."""
        texts, batches = encoded
        for number, lines in enumerate(batches, start=texts.first_output):
            for error in lines.faults:
                self.fault(error)
            if len(lines.batch):
                outputs[number].add(lines)
            tally.tokens[number] += len(lines.batch.ids)
            tally.parsed_special += lines.parsed_special
        tally.documents += len(batches[0].batch)
        tally.empty_lines_dropped += texts.dropped
        tally.replacements += texts.replacements


def _is_large(texts: TextsOfUnit) -> bool:
    return any(longest(column) > SHORT_LINE_BYTES for column in texts.columns)


def overlapped(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    in_flight: int,
    is_idle: Callable[[], bool] = lambda: False,
    is_large: Callable[[Item], bool] = lambda item: False,
) -> Generator[Result, None, None]:
    """Yield `work(item)` for each item, in order, computed by a background thread.

    >>> list(overlapped(str.upper, ["a", "b", "c"], in_flight=2))
    ['A', 'B', 'C']

    At most `in_flight` items are queued or processed while the caller handles a result, and one more is read
    while it waits. While `is_idle()` returns True, because the next item has not arrived, results are yielded
    without waiting for it. While an item that `is_large` is processed, nothing else is read or processed, so
    only one of them is in memory. A caller that stops early must close the generator.
    """
    executor = ThreadPoolExecutor(1)
    running: deque[Future[Result]] = deque()
    try:
        for item in items:
            running.append(executor.submit(work, item))
            alone = is_large(item)
            while running and (alone or len(running) > in_flight or is_idle()):
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)


# ---- in memory


@takes_settings(EncodeSettings, without=_NOT_IN_MEMORY)
def encode_lines(
    tokenizer: Tokenizer,
    sources: PathLike | Sequence[PathLike],
    *,
    offsets: bool = False,
    **settings: Unpack[EncodeOptions],
) -> Batch:
    """Encode each line of files as one text, in memory; return a batch as `Tokenizer.encode_batch` does.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> path = Path(tempfile.mkdtemp()) / "in.txt"
    >>> _ = path.write_text("ab\\n\\nb\\n")
    >>> batch = pw.export.encode_lines(tok, path)
    >>> batch.to_lists()
    [[1, 2], [2]]

    `sources` are files, directories, patterns and URLs as for `encode_files`, of lines or records. `offsets`
    means the same as for `encode_batch`. All text is in memory while it is encoded, and is faster to encode
    than a list of strings; `encode_files` and `encode_corpus` take constant memory.

    Raises `FileError`, `CorpusError` for binary input, and `InvalidUtf8Error` with
    `encoding_errors="strict"`.
    """
    check_tokenizer(tokenizer)
    checked = given_to(encode_lines, EncodeSettings, settings)
    options = replace(checked.read_options(), whole_lines=True)
    reader = CorpusReader(corpus_files(path_list(sources, "sources")), options)
    parts = [rows.texts for rows in reader.rows()]
    options.warn_of_skipped()
    texts = joined(parts) if parts else []
    return tokenizer.encode_batch(
        cast("Sequence[str]", texts if checked.keep_empty else without_blank(texts)),
        add_special_tokens=checked.add_special_tokens,
        parse_special=checked.parse_special,
        offsets=offsets,
        num_threads=checked.num_threads,
    )
