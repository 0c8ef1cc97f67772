"""The work of `piecework train` and `piecework train-sentencepiece`: count, learn, save, and say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, TypeVar

import piecework as pw
from piecework._support import (
    Plan,
    check_writable,
    counted,
    delete_balance_checkpoint,
    delete_count_checkpoint,
    format_size,
    is_folder_path,
    memory_budget,
)
from piecework.cli.engines import count_on_engine, engine_options
from piecework.cli.notes import note
from piecework.cli.options import COUNTING_NAMES, Reading, count_or_load, counting_options, plan_for
from piecework.cli.outputs import (
    check_tokenizer_output,
    check_trained_format,
    save_trained,
    training_log_of,
)
from piecework.cli.parameters import (
    TokenizerOutput,
    apply,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.roles import token_roles
from piecework.cli.source_counting import balanced, count_by_source, source_option
from piecework.cli.summaries import (
    Timing,
    changes_of,
    first_texts,
    model_name,
    normalized,
    pipeline_text,
    preset_hint,
    summarize,
    summary_option,
    warn_of_loss,
)
from piecework.cli.training_options import SENTENCEPIECE, given_settings
from piecework.cli.training_plan import print_plan

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
    outputs = _outputs(path, sizes)
    plan = plan_for(corpus, model, preset, reading["field"], given)
    if model != SENTENCEPIECE and plan.trainer.has_own_pipeline:
        found = f"counts of preset {plan.preset.name if plan.preset else SENTENCEPIECE}"
        problem = f"has {found}; piecework train-sentencepiece learns from them"
        raise pw.errors.ArgumentError("CORPUS", problem)
    by_source = source_option(plan.trainer, parallel, balance_rounds, sizes)
    named = token_roles(roles, plan.trainer, path)
    budget = memory_budget(counting["memory"])
    _check_self_tests(plan, sizes, by_source)
    for output in outputs.values():
        check_trained_format(plan, output)
        check_tokenizer_output(output)
    log = _training_log(training_log, path, sizes, plan)
    if dry_run:
        print_plan(corpus, plan, list(outputs.values()), sizes, budget, reading)
        return
    timing = Timing(corpus)
    texts = [] if engine else first_texts(corpus, plan, reading)
    if hint := preset_hint(plan, normalized(plan, texts)):
        note(hint)
    summary = _Summary(plan, timing, texts, as_json)

    def count(paths: Sequence[str], counting: Mapping[str, Any]) -> pw.Counts:
        counts = count_on_engine(paths, plan, reading, engine, address, master, counting)
        return counts or count_or_load(
            paths, plan.pipeline, reading, plan.sentences, counting=_counting(counting, plan)
        )

    if plan.tests and not engine:
        # The model stores sentences for self-tests, and counts have no sentences.
        learned = pw.Tokenizer.train(
            corpus,
            model=model,
            preset=preset,
            progress=not is_quiet(),
            memory=budget,
            checkpoint=counting["checkpoint"],
            **reading,
            **given,
        ).with_roles(**named)
        save_trained(learned, path)
        summary.add(learned, path)
    else:
        if by_source is None:
            counts = count(corpus, counting)
        else:
            counts = sources = count_by_source(corpus, parallel, count, counting, by_source)
            if balance_rounds is not None:
                threads = reading["num_threads"]
                checkpoint = counting["checkpoint"]
                counts = balanced(
                    sources, plan.trainer, balance_rounds, threads, budget, checkpoint
                )
        _note_memory(counts, plan, budget)
        for size, learned in _train(
            counts, plan, sizes, reading["num_threads"], budget, counting["checkpoint"], log
        ):
            learned = learned.with_roles(**{**plan.roles_in(learned.get_vocab()), **named})
            save_trained(learned, outputs[size])
            summary.add(learned, outputs[size], len(counts))
        if counting["checkpoint"] is not None:
            delete_balance_checkpoint(counting["checkpoint"], plan.trainer)
            delete_count_checkpoint(counting["checkpoint"])
    summary.finish()


def _counting(counting: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the options for counting; the state of a count is kept until learning ends.

    A number of sentences is drawn in memory, without a checkpoint.
    """
    if counting["checkpoint"] is None or plan.sentences.size:
        return {**counting, "checkpoint": None}
    return {**counting, "keep_checkpoint": True}


def _check_self_tests(plan: Plan, sizes: Sequence[int], by_source: str | None) -> None:
    """Raise for sentences that the model shall store where there are several sizes, or counts by source."""
    if not plan.tests:
        return
    if sizes:
        message = (
            "several sizes do not support --self-test-sample-size; give one size, or leave it out"
        )
        raise pw.errors.ArgumentError("vocab_size", message=message)
    if by_source is not None:
        problem = f"= does not support {by_source}, which learns from counts; leave one of them out"
        raise pw.errors.ArgumentError("self_test_sample_size", problem)


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
        message = "--output - does not support several sizes; give a path, one file for each size"
        raise pw.errors.ArgumentError("output", message=message)
    if "{size}" not in path:
        root, suffix = os.path.splitext(path)
        root, suffix = (path.rstrip("/"), "/") if is_folder_path(path) else (root, suffix)
        path = f"{root}-{{size}}{suffix}"
    return {
        size: path.replace("{size}", f"{size // 1000}k" if size % 1000 == 0 else str(size))
        for size in sizes
    }


def _training_log(wanted: bool, path: str, sizes: tuple[int, ...], plan: Plan) -> str | None:
    """Return the file for the merges, None if the user wants none; raise if it cannot be written."""
    if not wanted:
        return None
    if path == "-" or sizes or plan.tests:
        found = "- as output" if path == "-" else "several sizes" if sizes else "a self-test"
        message = f"--training-log needs one tokenizer in a file or folder, not {found}"
        raise pw.errors.ArgumentError("training_log", message=message)
    log = training_log_of(path)
    check_writable(log)
    return log


def _note_memory(counts: pw.Counts, plan: Plan, budget: int) -> None:
    needed = pw.train.estimated_memory(counts, plan.trainer)
    budgeted = f"of a budget of {format_size(budget)} (--memory)"
    note(f"learning: about {format_size(needed)} of memory, {budgeted}")


class _Summary:
    """Says what was trained, what it does to the first texts of the corpus, and what comes next."""

    def __init__(self, plan: Plan, timing: Timing, texts: Sequence[str], as_json: bool) -> None:
        self._plan = plan
        self._timing = timing
        self._texts = texts
        self._as_json = as_json
        self._found: pw.analysis.RoundTrip | None = None
        self._path = "-"

    def add(self, learned: pw.Tokenizer, path: str, distinct_words: int | None = None) -> None:
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
            "next": self._next(),
        }
        line = f"trained {counted(entries, 'entry')} from {words} {self._timing}{saved}"
        summarize([line], data, as_json=self._as_json, err=path == "-")
        if self._found is not None:
            warn_of_loss(self._found, path)

    def finish(self) -> None:
        """Print what the pipeline does, and the next command."""
        if self._as_json:
            return
        note(pipeline_text(self._plan, self._found))
        if self._found is not None and self._found.is_lossless:
            note(f"decoding the first texts: {self._found.lost_text}; {self._found.spacing_text}")
        if following := self._next():
            note(f"next: {following}")

    def _next(self) -> str | None:
        if self._path == "-":
            return None
        return f"piecework encode {quote(self._path)} FILE -o ids.txt"


def _train(
    counts: pw.Counts,
    plan: Plan,
    sizes: tuple[int, ...],
    num_threads: int | None,
    memory: int,
    checkpoint: str | None,
    training_log: str | None,
) -> Iterator[tuple[int | None, pw.Tokenizer]]:
    """Yield the tokenizer of each size, or of the size of the trainer."""
    options: dict[str, Any] = {
        "progress": not is_quiet(),
        "num_threads": num_threads,
        "memory": memory,
        "checkpoint": checkpoint,
    }
    specs: dict[int | None, pw.TokenizerSpec] = {}
    if sizes:
        if not plan.trainer.learns_together:
            note("these vocabularies do not nest: each size is learned separately")
        for size, spec in pw.train.learn_specs(
            counts, plan.trainer, sizes, plan.preset, **options
        ).items():
            specs[size] = spec
    else:
        specs[None] = pw.train.learn_spec(
            counts, plan.trainer, plan.preset, training_log=training_log, **options
        )
    for key, spec in specs.items():
        yield key, pw.Tokenizer.from_spec(spec)
