"""Print what `piecework train --dry-run` would do: what it reads, how it trains, what it writes."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework._internal.memory_budget import format_size, memory_budget
from piecework.cli.reading import Reading, in_one_thread
from piecework.cli.summaries import model_name
from piecework.cli.training_checks import Job
from piecework.io.saving import is_folder_path

if TYPE_CHECKING:
    from piecework.train.plan import Plan

_LABEL_WIDTH = 15
_MAX_WIDTH = 100
_SHOWN_CHARS = 200
_SHOWN_WORDS = 20


def print_plan(job: Job) -> None:
    """Print the plan, whose checks were made before. Reads the first texts of the first file."""
    plan = job.plan
    files = pw.corpus.corpus_files(job.corpus)
    trainer = plan.trainer
    _print_field("corpus", _described(files))
    if job.parallel:
        _print_field("parallel", _described(pw.corpus.corpus_files(job.parallel)))
    if "-" in files:
        _print_field("first text", "not read: stdin cannot be read twice")
    elif job.are_counts:
        _print_field("first text", "none: counts files have words")
    else:
        _print_beginning(files[0], plan, job.reading)
    name = getattr(plan.preset, "name", None)
    _print_paragraph("preset", f"{name or 'none'}: {plan.pipeline}")
    learner = getattr(trainer, "learner", None)
    _print_field("model", model_name(plan) + (f" ({learner.name})" if learner else ""))
    _print_field("entries", ", ".join(f"{size:,}" for size in job.sizes) or _size(trainer))
    rounds = [f"balance_rounds={job.balance_rounds}"] if job.balance_rounds else []
    _print_paragraph("settings", ", ".join([*_changed(trainer), *rounds]) or "defaults")
    _print_field(
        "memory",
        f"at most {format_size(memory_budget(plan.memory))} for word counts; more goes to files",
    )
    for path in job.outputs.values():
        _print_field("output", f"{_format_of(path)}, {path}" + _existing(path))
    click.echo("Dry run: nothing was trained or written.")


def _described(files: Sequence[str]) -> str:
    local = [path for path in files if path != "-" and "://" not in path]
    size = f", {format_size(sum(map(os.path.getsize, local)))}" if len(local) == len(files) else ""
    names = ", ".join("stdin" if path == "-" else path for path in files[:3])
    return f"{counted(len(files), 'file')}{size}: {names}" + (", ..." if len(files) > 3 else "")


def _print_beginning(path: str, plan: Plan, reading: Reading) -> None:
    from piecework.analysis.readable import show_whitespace, text_of_bytes

    rows = next(iter(pw.corpus.read_corpus(path, **in_one_thread(reading))), None)
    text = next((text for text in rows.texts if text.strip()), None) if rows else None
    if text is None:
        _print_field("first text", f"none at the beginning of {path}")
        return
    shown = text[:_SHOWN_CHARS]
    more = " ..." if len(text) > len(shown) else ""
    words = pw.train.count_texts([shown], preset=plan.pipeline).words[:_SHOWN_WORDS]
    if plan.pipeline.is_byte_level:
        words = [show_whitespace(text_of_bytes(word)) for word in words]
    _print_paragraph("first text", shown.strip() + more)
    _print_paragraph("its words", "  ".join(words) + more)


def _size(trainer: pw.train.Trainer) -> str:
    return "all" if trainer.vocab_size is None else f"{trainer.vocab_size:,}"


def _changed(trainer: pw.train.Trainer) -> list[str]:
    """Return the settings that differ from the defaults of the trainer, as `name=value`."""
    changed = []
    for field in fields(trainer):  # type: ignore[arg-type]
        value = getattr(trainer, field.name)
        if field.name != "vocab_size" and value != field.default:
            changed.append(f"{field.name}={value!r}")
    return changed


def _format_of(path: str) -> str:
    if path == "-":
        return "a tokenizer.json to stdout"
    return "a folder" if is_folder_path(path) else f"a {os.path.splitext(path)[1]} file"


def _existing(path: str) -> str:
    return ", which replaces the present one" if path != "-" and os.path.lexists(path) else ""


def _print_field(name: str, text: str) -> None:
    click.echo(name.ljust(_LABEL_WIDTH) + text)


def _print_paragraph(name: str, text: str) -> None:
    columns = min(shutil.get_terminal_size((_MAX_WIDTH, 24)).columns, _MAX_WIDTH)
    lines = textwrap.wrap(text, max(columns - _LABEL_WIDTH, 40), break_long_words=False)
    _print_field(name, ("\n" + " " * _LABEL_WIDTH).join(lines))
