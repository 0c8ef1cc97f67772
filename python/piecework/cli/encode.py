"""`piecework encode`: encode files of text to tokens or ids, in constant memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from glob import glob
from pathlib import Path
from shlex import quote
from typing import Any

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework.cli.outputs import note
from piecework.cli.parameters import (
    CommaSeparated,
    InputFile,
    all_of,
    command,
    in_corpus,
    in_output,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.reading import (
    OUTPUT_FORMATS,
    PACKING_STRATEGIES,
    Reading,
    given_options,
    reading_options,
)
from piecework.cli.summaries import (
    Timing,
    documents_text,
    special_text,
    summarize,
    summary_option,
    tokenizer_data,
    tokenizer_text,
)
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options
from piecework.corpus.rows import ReadOptions
from piecework.errors import ArgumentError

length_options = all_of(
    in_output(
        "--max-length",
        type=click.IntRange(min=1),
        metavar="N",
        help="Truncate each row to N tokens, special tokens and --append-eod included.  "
        "[default: whole rows]",
    ),
    in_output(
        "--padding",
        type=click.Choice(["max-length"]),
        help="Pad each row to --max-length tokens.  [default: no padding]",
    ),
)


def with_row_lengths(tokenizer: pw.Tokenizer, settings: dict[str, Any]) -> pw.Tokenizer:
    """Return the tokenizer with the truncation and padding of the settings, which lose them, and no other.

    Prints a note if the tokenizer file stores lengths and no option sets others.
    """
    max_length, padding = settings.pop("max_length"), settings.pop("padding")
    append_eod = settings["append_eod"]
    if padding is not None and max_length is None:
        raise ArgumentError("padding", "needs --max-length N")
    if append_eod is not None and max_length is not None and max_length < 2:
        raise ArgumentError("max_length", f"must be at least 2 with --append-eod, not {max_length}")
    for name in ("append_eod", "pack"):
        if padding is not None and settings[name] is not None:
            raise ArgumentError(name, "cannot be combined with --padding")
    if max_length is not None:
        tokenizer = tokenizer.with_truncation(max_length - (append_eod is not None))
        return (
            tokenizer.without_padding() if padding is None else tokenizer.with_padding(max_length)
        )
    spec = tokenizer.spec
    stored = [name for name in ("truncation", "padding") if getattr(spec, name) is not None]
    if stored:
        names = " and ".join(stored)
        note(f"rows are whole: --max-length and --padding apply the {names} stored in TOKENIZER")
    return tokenizer.without_truncation().without_padding()


_in_chat = partial(option, section="Conversations")
chat_options = all_of(
    _in_chat(
        "--chat",
        "is_chat",
        is_flag=True,
        help="Read conversations (messages, conversations, or prompt and completion), apply the chat "
        "template, and write masks of the assistant's tokens.",
    ),
    _in_chat(
        "--chat-template",
        metavar="NAME|FILE",
        help="Template of TOKENIZER by name, or a file with one.  [default: TOKENIZER's own]",
    ),
    _in_chat(
        "--mask",
        metavar="PART,...",
        help=f"Parts of the assistant's messages in the masks: {', '.join(pw.chat.MASK_PARTS)}; "
        "none writes no masks.  [default: {% generation %} of the template, or all]",
    ),
    _in_chat(
        "--trusted-role",
        metavar="ROLE",
        multiple=True,
        help="Recognize special tokens in messages of this role.",
    ),
)


def _chat_format(settings: dict[str, Any], tokenizer: pw.Tokenizer) -> pw.chat.ChatFormat | None:
    """Return the format of conversations from the settings, which lose its options; None without `--chat`."""
    is_chat, roles = settings.pop("is_chat"), settings.pop("trusted_role")
    template, mask = settings.pop("chat_template"), settings.pop("mask")
    if is_chat:
        text = None if template is None else _template(template, tokenizer)
        if mask is not None:
            mask = () if mask == "none" else tuple(mask.split(","))
        return pw.chat.ChatFormat(text, mask=mask, trusted_roles=roles)
    for name, value in (("chat_template", template), ("mask", mask), ("trusted_role", roles)):
        if value:
            raise ArgumentError(name, "needs --chat")
    return None


def _template(name: str, tokenizer: pw.Tokenizer) -> str:
    """Return the text of a file, otherwise the name of a template of the tokenizer."""
    path = Path(name)
    if not path.is_file():
        if "{" not in name and name not in tokenizer.chat_templates:
            known = ", ".join(tokenizer.chat_templates) or "it has none"
            problem = f"must be a file or a template of the tokenizer ({known}), not {name!r}"
            raise ArgumentError("chat_template", problem)
        return name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise pw.errors.TemplateError(name, "cannot be read as text in UTF-8") from error


FOLDER_NAMES = ("shards", "resume", "shuffle_seed", "pack", "strategy", "keep")
"""The arguments of `folder_options` that need `--out-dir`."""


_in_folder = partial(option, section="Folders of shards")
folder_options = all_of(
    _in_folder(
        "--out-dir",
        metavar="DIR",
        help="Write shards and a manifest.json to this folder: one shard for each FILE, or --shards.",
    ),
    _in_folder("--shards", type=int, help="Number of shards, of about equal bytes."),
    _in_folder(
        "--resume",
        is_flag=True,
        default=None,
        help="Continue after an interruption: keep the finished shards in --out-dir.",
    ),
    _in_folder(
        "--shuffle-seed",
        type=int,
        help="Shuffle the documents of each shard, in windows of 16 million tokens.",
    ),
    _in_folder(
        "--pack",
        type=int,
        metavar="LENGTH",
        help="Make rows of LENGTH ids from several documents, and write the lengths of the documents.",
    ),
    _in_folder(
        "--strategy",
        type=click.Choice(PACKING_STRATEGIES),
        help="How to pack: cut documents at row ends, or pad rows and cut only documents over LENGTH.  "
        "[default: concat]",
    ),
    _in_folder(
        "--keep",
        metavar="NAME,...",
        type=CommaSeparated(),
        help="Fields of JSON lines or columns of tables to copy to Arrow, Parquet or datasets files.",
    ),
)


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
    document, has_chat = settings["document"], settings["chat"] is not None
    options = ReadOptions.of(settings["field"], as_conversations=has_chat)
    parts = [documents_text(done.documents, sources, document, options)]
    if done.rows != done.documents:
        parts.append(counted(done.rows, "row"))
    parts += [counted(done.tokens, "token"), counted(done.shards, "shard")]
    if done.shards_from_earlier_runs:
        parts[-1] += f" ({done.shards_from_earlier_runs:,} finished before)"
    parts += _losses(done, "line" if document == "line" else "document")
    if not done.shards_from_earlier_runs:
        parts[-1] += f" {timing}"
    line = f"{', '.join(parts)}, saved in {out_dir}"
    summary = {"document": document, "saved": out_dir, "next": None}
    _print_summary(done, line, tokenizer, timing, as_json, **summary)


def _losses(done: Any, what: str = "") -> list[str]:
    """Return what was dropped and replaced."""
    dropped, replaced = done.empty_lines_dropped, done.replacements
    texts = counted(dropped, what) if what else f"{dropped:,}"
    parts = [f"{texts} dropped as empty"] if dropped else []
    return [*parts, f"{replaced:,} invalid UTF-8 sequences replaced"] if replaced else parts


def _print_summary(
    done: Any,
    line: str | None,
    tokenizer: pw.Tokenizer,
    timing: Timing,
    as_json: bool,
    **data: Any,
) -> None:
    """Print what was encoded and with what; print little if no files are saved."""
    lines = [
        line,
        tokenizer_text(tokenizer) if data["saved"] else None,
        special_text(done.parsed_special, tokenizer),
        data["next"] and f"next: {data['next']}",
    ]
    data = {**asdict(done), **tokenizer_data(tokenizer), **timing.figures(), **data}
    summarize(lines, data, as_json=as_json, err=not data["saved"])


_FIRST = (
    "--format --field --num-threads --max-length --append-eod --no-special-tokens --chat --output "
    "--out-dir --resume"
)
_EXAMPLE = """\b
Example:
  piecework encode tokenizer.json corpus.txt -o ids.txt
  piecework encode tokenizer.json --parallel train.de train.en -o ids.de -o ids.en
  piecework encode gpt2.json wiki.jsonl.zst --format megatron --append-eod "<|endoftext|>" -o wiki
  piecework encode bert/ train.txt --max-length 128 --padding max-length --format npy -o train.npy
  piecework encode gpt2.json corpus/ --out-dir ids --shards 64 --format megatron --resume
  piecework encode qwen/ chats.jsonl --chat --out-dir ids --pack 4096 --format parquet
  echo "Hello world" | piecework encode tokenizer.json --format tokens
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("inputs", nargs=-1, metavar="[FILE|-]...", type=InputFile())
@partial(reading_options, document=True)
@tokenizer_options
@in_output(
    "--format",
    type=click.Choice(OUTPUT_FORMATS),
    help="Output format. jsonl has ids, tokens and character offsets; npy and megatron write two files. "
    "datasets needs --out-dir, and tokens, ids and jsonl do not work with it.  "
    "[default: ids; with --out-dir: npy]",
)
@in_corpus(
    "--parallel",
    is_flag=True,
    help="The FILEs are translations of each other; a line that is empty in one is dropped from all.",
)
@in_output(
    "--keep-empty",
    is_flag=True,
    help="Keep empty and blank lines; jsonl always keeps them.",
)
@in_output(
    "--strip-lines",
    is_flag=True,
    help="Remove whitespace at both ends of each line before encoding.",
)
@in_output("--append-eod", metavar="TOKEN", help="Append this token to each row.")
@in_output(
    "--no-special-tokens",
    is_flag=True,
    help="Do not add special tokens such as [CLS] and [SEP].",
)
@in_output(
    "--parse-special/--no-parse-special",
    default=None,
    help="Parse special tokens written in the text, or encode them as plain text.  "
    "[default: set by the tokenizer]",
)
@length_options
@chat_options
@output_option(
    "File to write; give one for all FILEs, or one for each FILE.  [default: stdout]",
    name="outputs",
    multiple=True,
)
@folder_options
@summary_option
@quiet_option
def encode(
    tokenizer: str,
    inputs: tuple[str, ...],
    hints: Hints,
    reading: Reading,
    outputs: tuple[str, ...],
    out_dir: str | None,
    no_special_tokens: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Encode each line of the FILEs with TOKENIZER, or each document of several lines with --document.

    FILEs: {formats}. With one output, a FILE can be a directory, a quoted pattern or a URL. Without FILEs,
    or for -, the command reads stdin. One output receives the lines of all FILEs; several outputs receive
    one FILE each. Empty lines are dropped, except with --keep-empty. Rows are neither truncated nor
    padded, even if TOKENIZER stores lengths, except with --max-length and --padding.

    With --chat, the records of JSON lines, Parquet and Arrow files are conversations.

    With --out-dir, the command writes a folder of shards with a manifest, and --resume continues after an
    interruption.
    """
    if len(outputs) < 2:  # several outputs have one file each
        check_no_text(inputs, f"piecework encode {quote(tokenizer)} -")
    timing = Timing(inputs or ["-"])
    loaded = with_row_lengths(load_one(tokenizer, hints), settings)
    chat = _chat_format(settings, loaded)
    settings |= {**reading, "add_special_tokens": not no_special_tokens, "chat": chat}
    if out_dir is not None:
        if outputs:
            raise ArgumentError("outputs", "cannot be combined with --out-dir")
        for name in ("parallel", "strip_lines"):
            if settings.pop(name):
                raise ArgumentError(name, "cannot be combined with --out-dir; use -o per file")
        encode_to_folder(loaded, inputs, out_dir, settings, timing, as_json=as_json)
        return
    for name in given_options({name: settings.pop(name) for name in FOLDER_NAMES}):
        raise ArgumentError(name, "needs --out-dir DIR")
    settings["format"] = settings["format"] or "ids"
    if not outputs:
        _check_stdout(settings["format"])
    outputs = outputs or ("-",)
    done = pw.encode_files(loaded, inputs or ["-"], outputs, progress=not is_quiet(), **settings)
    to_files = "-" not in outputs
    document = reading["document"]
    read = counted(done.lines_read, "line")
    if document != "line":
        read = documents_text(done.lines_read, [], document)
    parts = [f"{read} read", f"{done.lines_written:,} written", *_losses(done)]
    line = ", ".join(parts) if len(parts) > 2 else None
    if to_files:
        tokens = " + ".join(f"{count:,}" for count in done.tokens)
        line = ", ".join([*parts, f"{tokens} tokens {timing}", f"saved as {' '.join(outputs)}"])
    following = None
    if to_files and settings["format"] != "tokens":
        following = f"piecework decode {quote(tokenizer)} {quote(outputs[0])} -o text.txt"
    saved = list(outputs) if to_files else None
    summary = {"document": document, "saved": saved, "next": following}
    _print_summary(done, line, loaded, timing, as_json, **summary)


def _check_stdout(name: str) -> None:
    """Raise for a format that stdout cannot receive."""
    form = pw.export.FORMATS.get(name)
    if form is None:
        raise click.UsageError(f"--format {name} needs a folder to write: --out-dir DIR")
    if not form.is_stream:
        raise click.UsageError(
            f"--format {name} writes two files, so name one: -o ids{form.suffix}"
        )


def check_no_text(paths: Sequence[str], command: str) -> None:
    """Raise `FileError` for a text instead of a file; the message has a `command` that reads stdin."""
    for path in paths:
        if path == "-" or not _can_be_text(path) or os.path.exists(path) or glob(path):
            continue
        shown = path if len(path) <= 40 else f"{path[:40]}..."
        problem = f"there is no such file; for a text: echo {quote(shown)} | {command}"
        raise pw.errors.FileError(shown, problem)


def _can_be_text(path: str) -> bool:
    """Whether a path has several words, or is one word without a folder, a suffix or a wildcard."""
    if "://" in path:
        return False
    return len(path.split()) > 1 or not re.search(r"[/\\.*?\[]", path)
