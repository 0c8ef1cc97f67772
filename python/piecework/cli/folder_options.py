"""The options of `piecework encode` that write a folder of shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework.cli.notes import note
from piecework.cli.parameters import CommaSeparated, apply, is_quiet, option
from piecework.cli.reading import PACKING_STRATEGIES, given_options
from piecework.cli.summaries import (
    Timing,
    documents_text,
    special_text,
    summarize,
    tokenizer_data,
    tokenizer_text,
)
from piecework.corpus.rows import ReadOptions

Command = TypeVar("Command", bound=Callable[..., Any])

FOLDER_NAMES = ("shards", "resume", "shuffle_seed", "pack", "strategy", "keep")
"""The arguments of `folder_options` that need `--out-dir`."""


def folder_options(command: Command) -> Command:
    """Add the options for a folder of shards."""
    add = partial(option, section="Folders of shards")
    options = (
        add(
            "--out-dir",
            metavar="DIR",
            help="Write shards and a manifest.json to this folder: one shard for each FILE, or --shards.",
        ),
        add("--shards", type=int, help="Number of shards, of about equal bytes."),
        add(
            "--resume",
            is_flag=True,
            default=None,
            help="Continue after an interruption: keep the finished shards in --out-dir.",
        ),
        add(
            "--shuffle-seed",
            type=int,
            help="Shuffle the documents of each shard, in windows of 16 million tokens.",
        ),
        add(
            "--pack",
            type=int,
            metavar="LENGTH",
            help="Make rows of LENGTH ids from several documents, and keep the lengths of these.",
        ),
        add(
            "--strategy",
            type=click.Choice(PACKING_STRATEGIES),
            help="How to pack: cut documents at row ends, or pad rows and cut only documents over LENGTH.  "
            "[default: concat]",
        ),
        add(
            "--keep",
            metavar="NAME,...",
            type=CommaSeparated(),
            help="Fields of JSON lines or columns of tables to copy to Arrow, Parquet or datasets files.",
        ),
    )
    return apply(options, command)


def encode_to_folder(
    tokenizer: pw.Tokenizer,
    sources: Sequence[str],
    out_dir: str,
    settings: Mapping[str, Any],
    timing: Timing,
    *,
    as_json: bool,
) -> None:
    """Write a folder of shards, and print a summary."""
    try:
        done = pw.export.encode_corpus(
            tokenizer, sources, out_dir, progress=not is_quiet(), **given_options(dict(settings))
        )
    except KeyboardInterrupt:
        note(f"the same command with --resume keeps the finished shards in {out_dir} and continues")
        raise
    has_chat = settings["chat"] is not None
    options = ReadOptions.of(settings["field"], as_conversations=has_chat)
    parts = [documents_text(done.documents, sources, settings["document"], options)]
    if done.rows != done.documents:
        parts.append(counted(done.rows, "row"))
    parts += [counted(done.tokens, "token"), counted(done.shards, "shard")]
    if done.shards_from_earlier_runs:
        parts[-1] += f" ({done.shards_from_earlier_runs:,} finished before)"
    if done.empty_lines_dropped:
        a_text = "line" if settings["document"] == "line" else "document"
        parts.append(f"{counted(done.empty_lines_dropped, a_text)} dropped as empty")
    if done.replacements:
        parts.append(f"{done.replacements:,} invalid UTF-8 sequences replaced")
    if not done.shards_from_earlier_runs:
        parts[-1] += f" {timing}"
    lines = [
        f"{', '.join(parts)}, saved in {out_dir}",
        tokenizer_text(tokenizer),
        special_text(done.parsed_special, tokenizer),
    ]
    data = {
        **asdict(done),
        "document": settings["document"],
        **tokenizer_data(tokenizer),
        **timing.figures(),
        "saved": out_dir,
    }
    summarize(lines, data, as_json=as_json, err=False)


def check_only_folder_options(settings: Mapping[str, Any]) -> None:
    """Raise if an option is given that needs `--out-dir`."""
    for name in given_options({name: settings[name] for name in FOLDER_NAMES}):
        raise pw.errors.ArgumentError(name, "needs --out-dir DIR")
