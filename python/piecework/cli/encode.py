"""`piecework encode`: encode files of text to tokens or ids, in constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework.cli.chat_options import chat_options, check_template
from piecework.cli.folder_options import (
    FOLDER_NAMES,
    check_only_folder_options,
    encode_to_folder,
    folder_options,
)
from piecework.cli.parameters import (
    InputFile,
    command,
    in_corpus,
    in_output,
    is_quiet,
    output_option,
    quiet_option,
)
from piecework.cli.reading import OUTPUT_FORMATS, Reading, reading_options
from piecework.cli.row_lengths import length_options, with_row_lengths
from piecework.cli.sources import check_no_text
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

if TYPE_CHECKING:
    from piecework.export.pipeline import EncodedFiles

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


@command(epilog=_EXAMPLE)
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
    max_length: int | None,
    padding: str | None,
    no_truncation: bool,
    as_json: bool,
    chat: pw.chat.ChatFormat | None,
    **settings: Any,
) -> None:
    """Encode each line of the FILEs with TOKENIZER, or each document of several lines with --document.

    FILEs: {formats}. With one output, a FILE can be a directory, a quoted pattern or a URL. Without FILEs,
    or for -, the command reads stdin. One output receives the lines of all FILEs; several outputs receive
    one FILE each. Empty lines are dropped, except with --keep-empty. Rows are whole and not padded, also if
    TOKENIZER stores lengths, except with --max-length and --padding.

    With --chat, the records of JSON lines, Parquet and Arrow files are conversations.

    With --out-dir, the command writes a folder of shards with a manifest, and --resume continues after an
    interruption.
    """
    if len(outputs) < 2:  # several outputs have one file each
        check_no_text(inputs, f"piecework encode {quote(tokenizer)} -")
    timing = Timing(inputs or ["-"])
    loaded = with_row_lengths(
        load_one(tokenizer, hints),
        max_length=max_length,
        padding=padding,
        no_truncation=no_truncation,
        append_eod=settings["append_eod"],
        pack=settings["pack"],
    )
    check_template(chat, loaded)
    settings |= {**reading, "add_special_tokens": not no_special_tokens, "chat": chat}
    if out_dir is not None:
        _check_no_file_options(outputs, settings)
        encode_to_folder(loaded, inputs, out_dir, settings, timing, as_json=as_json)
        return
    check_only_folder_options(settings)
    settings = {name: value for name, value in settings.items() if name not in FOLDER_NAMES}
    settings["format"] = settings["format"] or "ids"
    outputs = outputs or ("-",)
    done = pw.encode_files(loaded, inputs or ["-"], outputs, progress=not is_quiet(), **settings)
    following = _next(tokenizer, outputs, settings["format"])
    _report(done, reading["document"], outputs, loaded, timing, following, as_json=as_json)


def _check_no_file_options(outputs: Sequence[str], settings: dict[str, Any]) -> None:
    """Remove the options that only files have; raise if one of them or an output file is given."""
    if outputs:
        raise pw.errors.ArgumentError("outputs", "cannot be combined with --out-dir")
    if settings.pop("parallel"):
        message = "cannot be combined with --out-dir; use -o per file"
        raise pw.errors.ArgumentError("parallel", message)
    if settings.pop("strip_lines"):
        message = "cannot be combined with --out-dir; use -o per file"
        raise pw.errors.ArgumentError("strip_lines", message)


def _next(tokenizer: str, outputs: Sequence[str], format: str) -> str | None:
    """Return the command that turns the ids of the first output into text again."""
    if "-" in outputs or format == "tokens":
        return None
    return f"piecework decode {quote(tokenizer)} {quote(outputs[0])} -o text.txt"


def _report(
    done: EncodedFiles,
    document: str,
    outputs: Sequence[str],
    tokenizer: pw.Tokenizer,
    timing: Timing,
    following: str | None,
    *,
    as_json: bool,
) -> None:
    """Print a summary; for output on stdout, only if lines were dropped, bytes replaced, or as JSON."""
    to_files = "-" not in outputs
    read = counted(done.lines_read, "line")
    if document != "line":
        read = documents_text(done.lines_read, [], document)
    parts = [f"{read} read", f"{done.lines_written:,} written"]
    if done.empty_lines_dropped:
        parts.append(f"{done.empty_lines_dropped:,} dropped as empty")
    if done.replacements:
        parts.append(f"{done.replacements:,} invalid UTF-8 sequences replaced")
    is_notable = len(parts) > 2
    if to_files:
        parts.append(f"{' + '.join(f'{count:,}' for count in done.tokens)} tokens {timing}")
        parts.append(f"saved as {' '.join(outputs)}")
    lines = [
        ", ".join(parts) if to_files or is_notable else None,
        tokenizer_text(tokenizer) if to_files else None,
        special_text(done.parsed_special, tokenizer),
        following and f"next: {following}",
    ]
    data = {
        **asdict(done),
        "document": document,
        **tokenizer_data(tokenizer),
        **timing.figures(),
        "saved": list(outputs) if to_files else None,
        "next": following,
    }
    summarize(lines, data, as_json=as_json, err=not to_files)
