"""The work of `piecework train` and `piecework train-sentencepiece`: count, learn, save, and say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

import piecework as pw
from piecework._internal.counted import counted
from piecework._internal.memory_budget import format_size, memory_budget
from piecework.cli.engines import count_on_engine, engine_options
from piecework.cli.notes import note
from piecework.cli.options import COUNTING_NAMES, count_or_load, counting_options, plan_for
from piecework.cli.outputs import save_trained
from piecework.cli.parameters import (
    TokenizerOutput,
    apply,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.reading import Reading
from piecework.cli.roles import check_folder, token_roles
from piecework.cli.source_counting import (
    balanced,
    costs_data,
    costs_lines,
    count_by_source,
    parity_costs,
)
from piecework.cli.summaries import (
    Timing,
    changes_of,
    decoding_text,
    first_texts,
    model_name,
    normalized,
    pipeline_text,
    preset_hint,
    summarize,
    summary_option,
    warn_of_loss,
)
from piecework.cli.training_checks import Job
from piecework.cli.training_checks import training_log as log_of
from piecework.cli.training_options import SENTENCEPIECE, given_settings
from piecework.cli.training_plan import print_plan
from piecework.io.saving import is_folder_path
from piecework.train.count_checkpoint import delete_count_checkpoint
from piecework.train.source_balance import delete_balance_checkpoint
from piecework.train.trainer import traits_of

if TYPE_CHECKING:
    from piecework.analysis.round_trip import RoundTrip
    from piecework.train.plan import Plan
    from piecework.train.source_balance import SourceCosts

Function = TypeVar("Function", bound=Callable[..., Any])


def run_options(function: Function) -> Function:
    """Add the options of a training besides its settings and its corpus, for `train_tokenizer`."""
    options = (
        counting_options,
        engine_options,
        output_option(
            "File to write: .json, .model, .txt or another format by suffix; a name that ends in / is a "
            "folder for transformers; - writes a tokenizer.json to stdout.",
            type=TokenizerOutput(),
            required=True,
        ),
        option(
            "--role",
            "roles",
            section="Output",
            multiple=True,
            metavar="ROLE=TOKEN",
            help="Give a special token a role, such as eos=<|endoftext|>, in a folder for transformers; the "
            "roles are unk, bos, eos, sep, pad, cls and mask; repeatable.  [default: those of the preset]",
        ),
        option(
            "--model-max-length",
            section="Output",
            type=click.IntRange(min=1),
            metavar="N",
            help="Longest input of the model in tokens, stored in a folder for transformers, which truncates "
            "to it.  [default: no limit]",
        ),
        option(
            "--training-log",
            section="Output",
            is_flag=True,
            help="Write the merges with their counts and scores beside the tokenizer, as NAME.training.json, "
            "for `piecework explain --token`.",
        ),
        summary_option,
        option(
            "--dry-run",
            section="Output",
            is_flag=True,
            help="Check everything, print what would be read, trained and written, and stop.",
        ),
        quiet_option,
    )
    return apply(options, function)


def train_tokenizer(
    corpus: tuple[str, ...],
    model: str | None,
    preset: str | None,
    *,
    reading: Reading,
    engine: str | None,
    address: str | None,
    master: str | None,
    path: str,
    training_log: bool,
    roles: tuple[str, ...],
    model_max_length: int | None,
    as_json: bool,
    dry_run: bool,
    parallel: tuple[str, ...] = (),
    balance_rounds: int | None = None,
    **settings: Any,
) -> None:
    """Train a tokenizer with the options of a command, save it, and print a summary."""
    counting = {name: settings.pop(name) for name in COUNTING_NAMES}
    if model == SENTENCEPIECE:
        settings["seed"] = counting["seed"]  # one seed for all that is drawn
        counting["seed"] = None if counting["sample"] is None else counting["seed"]
    given = given_settings(settings)
    sizes = _sizes(given)
    plan = plan_for(
        corpus,
        reading["field"],
        preset,
        model=model,
        num_threads=reading["num_threads"],
        progress=not is_quiet(),
        memory=counting["memory"],
        checkpoint=counting["checkpoint"],
        **given,
    )
    cluster = {"engine": engine, "address": address, "master": master}
    outputs = _outputs(path, sizes)
    job = Job(
        corpus, model, preset, plan, reading, counting, cluster, outputs, parallel, balance_rounds
    )
    job.check()
    named = token_roles(roles, plan.trainer, path)
    if model_max_length is not None:
        check_folder("model_max_length", path)
    log = log_of(job, path) if training_log else None
    memory_budget(plan.memory)
    if dry_run:
        print_plan(job)
        return

    def finished(spec: pw.TokenizerSpec) -> pw.Tokenizer:
        learned = pw.Tokenizer.from_spec(spec)
        held = {**plan.roles_in(learned.get_vocab()), **named}
        return learned.with_roles(**held).with_model_max_length(model_max_length)

    _run(job, finished, log, as_json)


def _run(
    job: Job,
    finished: Callable[[pw.TokenizerSpec], pw.Tokenizer],
    log: str | None,
    as_json: bool,
) -> None:
    """Count and learn, save what `finished` makes of each specification, and print a summary."""
    plan = job.plan
    timing = Timing(job.corpus, of_text=not job.are_counts)
    texts = [] if job.cluster["engine"] else first_texts(job.corpus, plan, job.reading)
    if hint := preset_hint(plan, normalized(plan, texts)):
        note(hint)
    summary = _Summary(plan, timing, texts, as_json)
    sources, counts, costs = _counts(job)
    trained = {size: finished(spec) for size, spec in _learned(job, counts, log).items()}
    for size, learned in trained.items():
        save_trained(learned, job.outputs[size])
    measure = None
    if sources is not None and traits_of(plan.trainer).learns_by_source:
        timing.stop()
        measure = parity_costs(sources, plan, job.sizes)
    for size, learned in trained.items():
        found = measure(learned, size) if measure else costs
        summary.add(learned, job.outputs[size], len(counts), found)
    if plan.checkpoint is not None:
        delete_balance_checkpoint(plan.checkpoint, plan.trainer)
        delete_count_checkpoint(plan.checkpoint)
    summary.finish()


def _counts(job: Job) -> tuple[pw.train.SourceCounts | None, pw.Counts, SourceCosts | None]:
    """Return the counts of each source, if they are needed, the counts to learn from, and balanced costs."""

    def count(paths: Sequence[str], counting: Mapping[str, Any]) -> pw.Counts:
        if job.cluster["engine"]:
            return count_on_engine(paths, job.plan, job.reading, **job.cluster)
        # The state of a count is kept until learning ends; a number of sentences is drawn without one.
        checkpoint = None if job.plan.sentences.size else counting["checkpoint"]
        kept = {"keep_checkpoint": True} if checkpoint is not None else {}
        options = {**counting, "checkpoint": checkpoint, **kept}
        plan = job.plan
        return count_or_load(paths, plan.pipeline, job.reading, plan.sentences, options)

    if job.by_source is None:
        return None, count(job.corpus, job.counting), None
    sources = count_by_source(job.corpus, job.parallel, count, job.counting)
    if job.balance_rounds is None:
        return sources, sources, None
    return sources, *balanced(sources, job.plan, job.balance_rounds)


def _learned(
    job: Job, counts: pw.Counts, training_log: str | None
) -> Mapping[int | None, pw.TokenizerSpec]:
    """Return the specification of each size, or of the size of the trainer for None."""
    plan = job.plan
    budget = memory_budget(plan.memory)
    needed = pw.train.estimated_memory(counts, plan.trainer)
    budgeted = f"of a budget of {format_size(budget)} (--memory)"
    note(f"learning: about {format_size(needed)} of memory, {budgeted}")
    options: dict[str, Any] = {
        "progress": plan.progress,
        "num_threads": plan.num_threads,
        "memory": plan.memory,
        "checkpoint": plan.checkpoint,
    }
    if not job.sizes:
        return {None: plan.learn_from_counts(counts, training_log)}
    if not traits_of(plan.trainer).learns_together:
        note("these vocabularies do not nest: each size is learned separately")
    specs = pw.train.learn_specs(counts, plan.trainer, job.sizes, plan.preset, **options)
    return {size: specs[size] for size in job.sizes}


def _sizes(given: dict[str, Any]) -> tuple[int, ...]:
    """Return the sizes of the vocabularies, () for one; leaves the largest in the settings."""
    sizes = given.get("vocab_size")
    if not isinstance(sizes, tuple):
        return ()
    given["vocab_size"] = max(sizes)
    return sizes


def _outputs(path: str, sizes: tuple[int, ...]) -> dict[int | None, str]:
    """Return the output of each size: `{size}` in the path becomes the size, such as 8k or 30522.

    Without `{size}`, the size is appended to the name: `out.json` becomes `out-8k.json`.
    """
    if not sizes:
        return {None: path}
    if path == "-":
        message = "- does not support several sizes; give a path, one file for each size"
        raise pw.errors.ArgumentError("output", message)
    if "{size}" not in path:
        root, suffix = os.path.splitext(path)
        root, suffix = (path.rstrip("/"), "/") if is_folder_path(path) else (root, suffix)
        path = f"{root}-{{size}}{suffix}"
    return {
        size: path.replace("{size}", f"{size // 1000}k" if size % 1000 == 0 else str(size))
        for size in sizes
    }


class _Summary:
    """Says what was trained, what it does to the first texts of the corpus, and what comes next."""

    def __init__(self, plan: Plan, timing: Timing, texts: Sequence[str], as_json: bool) -> None:
        self._plan = plan
        self._timing = timing
        self._texts = texts
        self._as_json = as_json
        self._found: RoundTrip | None = None
        self._path = "-"

    def add(
        self,
        learned: pw.Tokenizer,
        path: str,
        distinct_words: int | None = None,
        costs: SourceCosts | None = None,
    ) -> None:
        """Print the figures of a tokenizer that is saved; warn if it loses text."""
        entries = learned.get_vocab_size()
        words = "sentences" if distinct_words is None else counted(distinct_words, "distinct word")
        saved = "" if path == "-" else f", saved as {path}"
        self._path = path
        self._found = pw.analysis.measure_round_trip(learned, self._texts) if self._texts else None
        preset = self._plan.preset
        data = {
            "model": model_name(self._plan),
            "preset": None if preset is None else preset.name,
            "changes": list(changes_of(self._plan.pipeline.normalizer)),
            "vocab_size": entries,
            "distinct_words": distinct_words,
            **self._timing.figures(),
            "saved": None if path == "-" else path,
            "round_trip": None if self._found is None else self._found.to_dict(),
            "sources": costs_data(costs),
            "next": self._next(),
        }
        line = f"trained {counted(entries, 'entry')} from {words} {self._timing}{saved}"
        lines = [line]
        if costs is not None:
            by_rounds = not traits_of(self._plan.trainer).learns_by_source
            lines += costs_lines(costs, by_rounds=by_rounds)
        summarize(lines, data, as_json=self._as_json, err=path == "-")
        if self._found is not None:
            warn_of_loss(self._found, path)

    def finish(self) -> None:
        """Print what the pipeline does, and the next command."""
        if self._as_json:
            return
        note(pipeline_text(self._plan, self._found))
        if self._found is not None and self._found.is_lossless:
            note(f"decoding the first texts: {self._found.lost_text}; {self._found.spacing_text}")
        elif self._found is None and (text := decoding_text(self._plan)):
            note(text)
        if following := self._next():
            note(f"next: {following}")

    def _next(self) -> str | None:
        if self._path == "-":
            return None
        return f"piecework encode {quote(self._path)} FILE -o ids.txt"
