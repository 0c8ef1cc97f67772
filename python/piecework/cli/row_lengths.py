"""The options of `piecework encode` that truncate and pad rows; without them, rows are whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

import piecework as pw
from piecework.cli.notes import note
from piecework.cli.parameters import apply, option
from piecework.io.stored_lengths import active_lengths

Command = TypeVar("Command", bound=Callable[..., Any])

_PADDING = "max-length"


def length_options(command: Command) -> Command:
    """Add the options for the length of rows."""
    add = partial(option, section="Output")
    options = (
        add(
            "--max-length",
            type=click.IntRange(min=1),
            metavar="N",
            help="Truncate each row to N tokens, special tokens and --append-eod included.  "
            "[default: whole rows]",
        ),
        add(
            "--padding",
            metavar=_PADDING,
            help=f"With {_PADDING}: pad each row to --max-length tokens.  [default: no padding]",
        ),
        add(
            "--no-truncation",
            is_flag=True,
            help="Write whole rows, as by default, without a note about lengths stored in TOKENIZER.",
        ),
    )
    return apply(options, command)


def with_row_lengths(
    tokenizer: pw.Tokenizer,
    *,
    max_length: int | None,
    padding: str | None,
    no_truncation: bool,
    append_eod: str | None,
    pack: int | None,
) -> pw.Tokenizer:
    """Return the tokenizer with the truncation and padding of the options, and no other.

    Prints a note if the file of the tokenizer stores lengths and no option says what to do.
    """
    _check(max_length, padding, no_truncation, append_eod, pack)
    if max_length is not None:
        tokenizer = tokenizer.with_truncation(max_length - (append_eod is not None))
        return (
            tokenizer.without_padding() if padding is None else tokenizer.with_padding(max_length)
        )
    if not no_truncation:
        _note_stored_lengths(tokenizer)
    return tokenizer.without_truncation().without_padding()


def _check(
    max_length: int | None,
    padding: str | None,
    no_truncation: bool,
    append_eod: str | None,
    pack: int | None,
) -> None:
    if padding is not None and padding.replace("_", "-") != _PADDING:
        expected = f"{_PADDING}: rows are written before the longest one is known"
        raise pw.errors.ArgumentError("padding", repr(padding), expected)
    if padding is not None and max_length is None:
        raise pw.errors.ArgumentError("padding", message="--padding needs --max-length N")
    if no_truncation and max_length is not None:
        message = "--no-truncation cannot be combined with --max-length"
        raise pw.errors.ArgumentError("no_truncation", message=message)
    if append_eod is not None and max_length is not None and max_length < 2:
        message = f"--max-length must be at least 2 with --append-eod, not {max_length}"
        raise pw.errors.ArgumentError("max_length", message=message)
    for name, value in (("append_eod", append_eod), ("pack", pack)):
        if padding is not None and value is not None:
            message = f"--{name.replace('_', '-')} cannot be combined with --padding"
            raise pw.errors.ArgumentError(name, message=message)


def _note_stored_lengths(tokenizer: pw.Tokenizer) -> None:
    truncation, padding = active_lengths(tokenizer._core)
    stored = {"truncation": truncation, "padding": padding}
    names = [name for name, value in stored.items() if value is not None]
    if names:
        length = "N" if truncation is None else str(truncation["max_length"])
        options = f"--max-length {length}" + ("" if padding is None else f" --padding {_PADDING}")
        are = "is" if len(names) == 1 else "are"
        note(
            f"rows are whole: the {' and '.join(names)} stored in TOKENIZER {are} applied with {options}"
        )
