"""Encode a corpus into shards, with a manifest that makes an interrupted run continue.

The steps, in the order of the data: `shard_plan` assigns documents to shards, `shard_documents` reads them,
`shard_writing` has them encoded on background threads (`prefetch`), rearranges the rows of a shard
(`row_order`, `packing`) and writes them (`shard_formats`), and `manifest` records finished shards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piecework._internal.progress import progress_bar
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress
from piecework._internal.validation import (
    PathLike,
    check_choice,
    check_tokenizer,
    listed,
    optional_number,
    path_text,
    whole_number,
)
from piecework.chat.chat_format import ChatFormat
from piecework.corpus.formats import FORMATS, check_documents, format_of
from piecework.corpus.paths import corpus_files
from piecework.corpus.rows import Document, ReadOptions, Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.errors import ArgumentError, InputTypeError
from piecework.export.chats import (
    MASK_NAME,
    check_without_chat,
    checked_chat,
    no_masks,
)
from piecework.export.encoded_files import (
    system_errors_as_file_errors,
)
from piecework.export.encoded_lines import RowLayout
from piecework.export.file_arguments import eod_id, path_list
from piecework.export.input_lines import LineSource
from piecework.export.line_encoder import line_encoder
from piecework.export.manifest import Manifest, tokenizer_checksum
from piecework.export.packing import STRATEGIES, Strategy
from piecework.export.shard_documents import ShardReader
from piecework.export.shard_formats import SHARD_FORMATS, ShardFormat, ShardFormatName, check_extra
from piecework.export.shard_plan import ShardPlan, shard_names
from piecework.export.shard_writing import ShardJob, write_shards
from piecework.io.locked_folder import locked_folder
from piecework.tokenizer import Tokenizer

_MAX_SHARDS = 100_000
_MAX_PACKED_LENGTH = 1 << 24
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")


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


def encode_corpus(
    tokenizer: Tokenizer,
    sources: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    format: ShardFormatName = "npy",
    shards: int | None = None,
    resume: bool = False,
    shuffle_seed: int | None = None,
    pack: int | None = None,
    strategy: Strategy = "concat",
    keep: Sequence[str] = (),
    keep_empty: bool = False,
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
    JSON lines, is a document; `document` makes longer documents of plain text, as for
    `corpus.read_corpus`. Empty ones are dropped unless `keep_empty`. Each input becomes one shard. With
    `shards`, the corpus becomes this number of shards of about equal bytes: consecutive documents, in corpus
    order. `shuffle_seed` shuffles the documents of each shard, in windows of 16 million tokens.

    *Formats* are `npy`, `megatron`, `arrow`, `arrow-stream` and `parquet`, as in `encode_files`, and
    `datasets`: Arrow streams with the column `input_ids`, in a folder that `datasets.load_from_disk` opens.

    `pack` makes rows of this number of ids from several documents, with the lengths of the documents in each
    row. `strategy="concat"` cuts documents at row ends and pads the last row; `"best-fit"` cuts only
    documents over `pack` and pads each row. Ids after the documents of a row are padding: the id of the
    padding token, otherwise of `append_eod`, otherwise 0. Not for `megatron`.

    `keep` names fields of JSON lines, or columns of tables, that become columns of strings in Arrow, Parquet
    and `datasets` files; other values are kept as JSON, missing ones as null.

    `chat` reads conversations of JSON lines and of tables, applies a chat template, and writes masks of the
    assistant's tokens beside the ids: `a.assistant_masks.npy`, or a column `assistant_masks`, of 0 and 1. The
    records are those of `encode_chats`; `field` names a field with messages. Conversations that the template
    rejects are errors for `on_error`. Rows have the special tokens of the template, so `add_special_tokens`
    does not apply.

    *Resuming*: a shard is complete and recorded in `manifest.json`, or it is written again. With
    `resume=True`, a run continues after an interruption of any kind, with the files of an undisturbed run.
    Finished shards are skipped if their checksums match. Without a manifest, `resume` starts from the
    beginning.

    Memory is constant, apart from the longest document. Documents of over a million characters are cut for
    encoding, where that does not change ids, so that all threads work on them. The result does not depend
    on `num_threads` (None: one for each CPU). `progress=True` shows a bar; a function receives the bytes read
    and their total. The other arguments are those of `encode_files`.

    Raises `ArgumentError` if the folder has a manifest and `resume` is False, or one of another tokenizer or
    other settings; `CorpusError` if an input changed; `FormatError` for a damaged manifest; `FileError` if
    another process uses the folder; and the errors of `encode_files`.
    """
    check_tokenizer(tokenizer)
    check_without_chat(chat, keep_empty=keep_empty)
    settings = {
        "format": format,
        "shuffle_seed": shuffle_seed,
        "pack": pack,
        "strategy": strategy,
        "keep": keep,
        "append_eod": append_eod,
        "add_special_tokens": add_special_tokens,
        "parse_special": parse_special,
        "chat": chat,
        "shards": shards,
        "keep_empty": keep_empty,
        "field": field,
        "document": document,
        "encoding_errors": encoding_errors,
        "on_error": on_error,
    }
    job = _checked_job(tokenizer, settings, num_threads)
    options = ReadOptions.of(
        field, encoding_errors, on_error, document, as_conversations=chat is not None
    )
    folder = Path(path_text(out_dir, "out_dir"))
    files = _checked_files(sources, folder, job.layout.kept, options)
    names = shard_names(files, job.settings["shards"], job.files_of)
    outputs = [str(folder / file) for name in names for file in job.files_of(name)]
    _check_not_overwritten(files, outputs)
    with locked_folder(folder, "a folder that another process is encoding to"):
        manifest = Manifest(folder, tokenizer_checksum(tokenizer), job.settings, files, names)
        manifest.start(resume=resume)
        _delete_temporary_files(folder)
        earlier = len(manifest.shards)
        _write_missing(job, manifest, names, options, progress)
    options.warn_of_skipped()
    return _result(manifest, names, earlier)


def _write_missing(
    job: ShardJob,
    manifest: Manifest,
    names: Sequence[str],
    options: ReadOptions,
    progress: Progress,
) -> None:
    """Write the shards that the manifest does not have."""
    plan = ShardPlan([entry["size"] for entry in manifest.inputs], job.settings["shards"])
    wanted = [number for number in range(plan.count) if number not in manifest.shards]
    reader = ShardReader(
        manifest.inputs,
        plan,
        wanted,
        lambda name: LineSource([name], options, kept=job.layout.kept),
        keep_empty=job.settings["keep_empty"],
    )
    shown = progress_bar("encoding", progress, in_bytes=True)
    written = system_errors_as_file_errors([str(manifest.path.parent)])
    with closing(reader), written, shown as update:
        try:
            write_shards(job, reader, manifest, names, wanted, update, options.fault)
        finally:
            manifest.save()


# ---- what to do with each shard


def _checked_job(
    tokenizer: Tokenizer, settings: Mapping[str, Any], num_threads: int | None
) -> ShardJob:
    """Return what to do with each shard, with the settings as JSON data."""
    format, chat, parse_special = (settings[name] for name in ("format", "chat", "parse_special"))
    check_choice("format", format, tuple(SHARD_FORMATS))
    check_choice("strategy", settings["strategy"], STRATEGIES)
    form = SHARD_FORMATS[format]
    check_extra(form)
    has_mask = chat is not None and checked_chat(chat, parse_special).has_mask
    kept, length = _checked_columns(settings["keep"]), _checked_length(settings["pack"])
    layout = RowLayout(form.ids_name, kept, length, has_mask)
    _check_layout(form, format, layout)
    seed = optional_number("shuffle_seed", settings["shuffle_seed"], 0)
    add_special_tokens = settings["add_special_tokens"]
    eod = eod_id(tokenizer, settings["append_eod"], add_special_tokens and chat is None)
    threads = thread_count(num_threads)
    encode = line_encoder(
        tokenizer,
        eod=eod,
        add_special_tokens=add_special_tokens,
        parse_special=parse_special,
        chat=chat,
        num_threads=threads,
        kept=kept,
    )
    count = optional_number("shards", settings["shards"], 1)
    if count is not None and count > _MAX_SHARDS:
        raise ArgumentError("shards", f"must be at most {_MAX_SHARDS}, not {count}")
    is_set = isinstance(parse_special, Collection) and not isinstance(parse_special, str)
    as_json = {
        "shuffle_seed": seed,
        "pack": length,
        "keep": list(kept),
        "parse_special": sorted(parse_special) if is_set else parse_special,
        "chat": None if chat is None else chat.settings(tokenizer),
        "shards": count,
    }
    padding = next((id for id in (tokenizer.pad_token_id, eod) if id is not None), 0)
    return ShardJob(
        tokenizer,
        form,
        layout,
        lambda documents: encode(documents.texts),
        threads,
        {**settings, **as_json},
        padding,
    )


def _checked_columns(keep: Sequence[str]) -> tuple[str, ...]:
    names = listed(keep, "keep")
    if isinstance(keep, str) or not all(isinstance(name, str) for name in names):
        raise InputTypeError("keep", f"must be a list of field names, not {keep!r}")
    if len(set(names)) != len(names) or not all(names):
        raise ArgumentError("keep", f"must be a list of distinct field names, not {names!r}")
    return tuple(names)


def _checked_length(pack: int | None) -> int | None:
    if pack is None:
        return None
    length = whole_number("pack", pack, 1)
    if length > _MAX_PACKED_LENGTH:
        raise ArgumentError("pack", f"must be at most {_MAX_PACKED_LENGTH} ids, not {length}")
    return length


def _check_layout(form: ShardFormat, name: str, layout: RowLayout) -> None:
    if layout.packed_length is not None and not form.can_pack:
        packing = [other for other, form in SHARD_FORMATS.items() if form.can_pack]
        problem = f"does not support format {name!r}; use {' or '.join(packing)}"
        raise ArgumentError("pack", problem)
    if layout.has_mask and not form.can_mask:
        masking = [other for other, form in SHARD_FORMATS.items() if form.can_mask]
        raise ArgumentError("format", no_masks(name, masking))
    if not layout.kept:
        return
    if not form.has_columns:
        columnar = [other for other, form in SHARD_FORMATS.items() if form.has_columns]
        problem = f"does not support format {name!r}; use {' or '.join(columnar)}"
        raise ArgumentError("keep", problem)
    if layout.packed_length is not None:
        problem = "cannot be combined: a packed row has several documents"
        raise ArgumentError("keep", problem, also=["pack"])
    if clash := {layout.ids_name, "lengths", MASK_NAME}.intersection(layout.kept):
        problem = (
            f"cannot contain the names of the format's own columns: {', '.join(sorted(clash))}"
        )
        raise ArgumentError("keep", problem)


# ---- files


def _checked_files(
    sources: PathLike | Sequence[PathLike], folder: Path, keep: Sequence[str], options: ReadOptions
) -> list[str]:
    given = path_list(sources, "sources")
    target = Path(os.path.realpath(folder))
    for path in given:
        if path == "-":
            problem = "must be files, not '-': an encoding that resumes reads them again"
            raise ArgumentError("sources", problem)
        inside = os.path.isdir(path) and target.is_relative_to(os.path.realpath(path))
        if inside:
            raise ArgumentError("out_dir", f"must not be inside of the source {path}")
    files = corpus_files(given)
    check_documents(files, options)
    for name in files if keep else ():
        if not format_of(name, options).has_fields:
            with_fields = ", ".join(format.name for format in FORMATS if format.has_fields)
            problem = f"needs {with_fields.replace(', ', ' or ')}: {name} has no fields"
            raise ArgumentError("keep", problem)
    return files


def _check_not_overwritten(files: Sequence[str], outputs: Sequence[str]) -> None:
    inputs = set(map(os.path.realpath, files))
    for output in outputs:
        if os.path.realpath(output) in inputs:
            problem = f"must not contain the inputs: {output!r} is one of them"
            raise ArgumentError("out_dir", problem)


def _delete_temporary_files(folder: Path) -> None:
    """Delete what processes that were killed left; the lock keeps others from writing here."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


def _result(manifest: Manifest, names: Sequence[str], earlier: int) -> EncodedCorpus:
    shards = manifest.shards.values()
    return EncodedCorpus(
        manifest=str(manifest.path),
        shards=len(names),
        shards_from_earlier_runs=earlier,
        documents=sum(shard.documents for shard in shards),
        rows=sum(shard.rows for shard in shards),
        tokens=sum(shard.tokens for shard in shards),
        empty_lines_dropped=sum(shard.empty_lines_dropped for shard in shards),
        replacements=sum(shard.replacements for shard in shards),
        parsed_special=sum(shard.parsed_special for shard in shards),
    )
