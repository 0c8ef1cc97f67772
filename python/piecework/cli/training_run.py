"""The work of `piecework train` and `train-sentencepiece`: count, learn, save, and print a summary."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework._internal.memory_budget import format_size, memory_budget
from piecework._internal.validation import counted
from piecework.cli.options import (
    COUNTING_NAMES,
    check_counting,
    check_words,
    count_or_load,
    counting_options,
    plan_for,
)
from piecework.cli.outputs import (
    check_tokenizer_output,
    check_trained_format,
    note,
    save_trained,
    training_log_of,
)
from piecework.cli.parameters import (
    TokenizerOutput,
    all_of,
    in_corpus,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.reading import Reading, in_one_thread
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
from piecework.cli.training_counting import (
    CLUSTER_NAMES,
    Job,
    balanced,
    check_engine,
    check_sources,
    costs_data,
    costs_lines,
    count_by_source,
    count_on_engine,
    engine_options,
    groups_of,
    parity_costs,
)
from piecework.cli.training_options import SENTENCEPIECE, given_settings
from piecework.errors import ArgumentError
from piecework.io.atomic_files import check_writable
from piecework.io.saving import is_folder_path
from piecework.train.count_checkpoint import delete_count_checkpoint
from piecework.train.source_balance import delete_balance_checkpoint
from piecework.train.trainer import check_size, traits_of

if TYPE_CHECKING:
    from piecework.analysis.round_trip import RoundTrip
    from piecework.train.plan import Plan
    from piecework.train.source_balance import SourceCosts

ROLES = ("unk", "bos", "eos", "sep", "pad", "cls", "mask")


def check_folder(name: str, path: str) -> None:
    """Raise `ArgumentError` for an option whose value only a folder for transformers can store."""
    if not is_folder_path(path):
        raise ArgumentError(name, f"needs a folder such as -o NAME/, not the file {path}")


def token_roles(given: Sequence[str], trainer: pw.train.Trainer, path: str) -> dict[str, str]:
    """Return the arguments of `with_roles` for options such as `eos=<|endoftext|>`.

    >>> token_roles(["eos=<|endoftext|>"], pw.ByteBPETrainer(), "out/")
    {'eos_token': '<|endoftext|>'}

    Raises `ArgumentError` for an unknown role, a token that is not special, and an output without roles.
    """
    if given:
        check_folder("roles", path)
    roles = {}
    for one in given:
        role, _, token = one.partition("=")
        name = role.removesuffix("_token")
        if name not in ROLES or not token:
            raise ArgumentError("roles", f"must be {'|'.join(ROLES)}=TOKEN, not {one!r}")
        if token not in traits_of(trainer).fixed_tokens:
            problem = f"must be a special token, not {one!r}: also pass --special-token {token!r}"
            raise ArgumentError("roles", problem)
        roles[f"{name}_token"] = token
    return roles


def check_job(job: Job) -> None:
    """Raise for options in conflict, and for files that cannot be read or written.

    The beginnings of counts files are read, and nothing else of the corpus.
    """
    _check_trainer(job)
    by_source = job.by_source
    for output in job.outputs.values():
        check_trained_format(job.plan, output)
        check_tokenizer_output(output)
    _check_corpus(job, by_source)


def _check_trainer(job: Job) -> None:
    """Raise for counts that another command learns from, and for sizes that no corpus can have."""
    trainer, preset = job.plan.trainer, job.plan.preset
    if job.model != SENTENCEPIECE and traits_of(trainer).has_own_pipeline:
        found = f"counts of preset {preset.name if preset else SENTENCEPIECE}"
        problem = f"has {found}; piecework train-sentencepiece learns from them"
        raise ArgumentError("CORPUS", problem)
    for size in job.sizes or (trainer.vocab_size,):
        check_size(trainer, size)


def _check_corpus(job: Job, by_source: str | None) -> None:
    """Raise for options of counting, and for files that cannot be read or have other words."""
    plan, reading, counting = job.plan, job.reading, job.counting
    checkpoint = counting["checkpoint"]
    if checkpoint is not None and os.path.isfile(checkpoint):
        problem = f"{checkpoint!r} is a file; give a folder for the state of the run"
        raise ArgumentError("checkpoint", problem)
    if plan.sentences.size:
        counting = {**counting, "checkpoint": None}  # drawn in memory; learning has a checkpoint
    check_engine(job, counting)
    groups: Sequence[tuple[Sequence[str], Mapping[str, Any]]] = [(job.corpus, counting)]
    if by_source is not None:
        check_sources(job, counting, by_source)
        groups = groups_of(job, counting)
    for paths, options in groups:
        if job.cluster["engine"] is None:
            check_counting(paths, plan, reading, options)
        check_words(paths, plan, reading, job.preset)


def training_log(job: Job, path: str) -> str:
    """Return the file for the merges; raise if there will be none, or if it cannot be written."""
    plan = job.plan
    if not traits_of(plan.trainer).merges_pairs:
        learner = traits_of(plan.trainer).detail or plan.trainer.kind
        problem = f"needs merges, which --learner merges and --model bpe make; {learner} makes none"
        raise ArgumentError("training_log", problem)
    if path == "-" or job.sizes:
        found = "- as output" if path == "-" else "several sizes"
        raise ArgumentError("training_log", f"needs one tokenizer in a file or folder, not {found}")
    log = training_log_of(path)
    check_writable(log)
    return log


_LABEL_WIDTH = 15
_MAX_WIDTH = 100
_SHOWN_CHARS = 200
_SHOWN_WORDS = 20


def print_plan(job: Job) -> None:
    """Print the plan, whose checks were made before. Reads the first texts of the first file."""
    columns = min(shutil.get_terminal_size((_MAX_WIDTH, 24)).columns, _MAX_WIDTH)
    for name, text in _plan_fields(job):
        lines = [text]
        if name not in ("corpus", "parallel", "output"):
            lines = textwrap.wrap(text, max(columns - _LABEL_WIDTH, 40), break_long_words=False)
        click.echo(name.ljust(_LABEL_WIDTH) + ("\n" + " " * _LABEL_WIDTH).join(lines))
    click.echo("Dry run: nothing was trained or written.")


def _plan_fields(job: Job) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each field of a plan."""
    plan, trainer = job.plan, job.plan.trainer
    files = pw.corpus.corpus_files(job.corpus)
    yield "corpus", _described(files)
    if job.parallel:
        yield "parallel", _described(pw.corpus.corpus_files(job.parallel))
    if "-" in files:
        yield "first text", "not read: stdin cannot be read twice"
    elif job.are_counts:
        yield "first text", "none: counts files have words"
    else:
        yield from _beginning(files[0], plan, job.reading)
    yield "preset", f"{getattr(plan.preset, 'name', 'none')}: {plan.pipeline}"
    learner = getattr(trainer, "learner", None)
    yield "model", model_name(plan) + (f" ({learner.name})" if learner else "")
    sizes = job.sizes or (trainer.vocab_size,)
    yield "entries", ", ".join("all" if size is None else f"{size:,}" for size in sizes)
    changed = [
        f"{field.name}={getattr(trainer, field.name)!r}"
        for field in fields(trainer)  # type: ignore[arg-type]
        if field.name != "vocab_size" and getattr(trainer, field.name) != field.default
    ]
    if job.balance_rounds:
        changed.append(f"balance_rounds={job.balance_rounds}")
    yield "settings", ", ".join(changed) or "defaults"
    most = format_size(memory_budget(plan.memory))
    yield "memory", f"at most {most} for word counts; more goes to files"
    for path in job.outputs.values():
        kind = "a folder" if is_folder_path(path) else f"a {os.path.splitext(path)[1]} file"
        kind = "a tokenizer.json to stdout" if path == "-" else kind
        replaces = path != "-" and os.path.lexists(path)
        yield "output", f"{kind}, {path}" + (", which replaces the present one" if replaces else "")


def _described(files: Sequence[str]) -> str:
    local = [path for path in files if path != "-" and "://" not in path]
    size = f", {format_size(sum(map(os.path.getsize, local)))}" if len(local) == len(files) else ""
    names = ", ".join("stdin" if path == "-" else path for path in files[:3])
    return f"{counted(len(files), 'file')}{size}: {names}" + (", ..." if len(files) > 3 else "")


def _beginning(path: str, plan: Plan, reading: Reading) -> Iterator[tuple[str, str]]:
    from piecework.analysis.readable import show_whitespace, text_of_bytes

    rows = next(iter(pw.corpus.read_corpus(path, **in_one_thread(reading))), None)
    text = next((text for text in rows.texts if text.strip()), None) if rows else None
    if text is None:
        yield "first text", f"none at the beginning of {path}"
        return
    shown = text[:_SHOWN_CHARS]
    more = " ..." if len(text) > len(shown) else ""
    words = pw.train.count_texts([shown], preset=plan.pipeline).words[:_SHOWN_WORDS]
    if plan.pipeline.is_byte_level:
        words = [show_whitespace(text_of_bytes(word)) for word in words]
    yield "first text", shown.strip() + more
    yield "its words", "  ".join(words) + more


_BOUNDARY_NAMES = ("boundaries", "boundary_marker")
_OUTPUT_NAMES = ("path", "roles", "model_max_length", "training_log", "as_json", "dry_run")


run_options = all_of(
    in_corpus(
        "--boundaries",
        metavar="FILE",
        help="Lexicon with boundaries inside words, such as undoing<TAB>un do ing, which no entry crosses.",
    ),
    in_corpus(
        "--boundary-marker",
        metavar="TEXT",
        help="Marker of boundaries in the text, which is removed, such as ǀ.",
    ),
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
        "roles are unk, bos, eos, sep, pad, cls and mask; repeatable.  [default: the preset's roles]",
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
"""Adds the options of a training besides its settings and its corpus, for `train_tokenizer`."""


def train_tokenizer(
    corpus: tuple[str, ...], model: str | None, preset: str | None, reading: Reading, **options: Any
) -> None:
    """Train a tokenizer with the options of a command, save it, and print a summary."""
    counting = {name: options.pop(name) for name in COUNTING_NAMES}
    cluster = {name: options.pop(name) for name in CLUSTER_NAMES}
    output = {name: options.pop(name) for name in _OUTPUT_NAMES}
    boundaries = {name: options.pop(name) for name in _BOUNDARY_NAMES}
    sources = {name: options.pop(name) for name in ("parallel", "balance_rounds")}
    if model == SENTENCEPIECE:
        options["seed"] = counting["seed"]  # one seed for all that is drawn
        counting["seed"] = None if counting["sample"] is None else counting["seed"]
    given = given_settings(options)
    sizes = given.get("vocab_size")
    if isinstance(sizes, tuple):
        given["vocab_size"] = max(sizes)
    plan = plan_for(
        corpus,
        reading["field"],
        preset,
        model=model,
        num_threads=reading["num_threads"],
        progress=not is_quiet(),
        memory=counting["memory"],
        checkpoint=counting["checkpoint"],
        **boundaries,
        **given,
    )
    if sources["balance_rounds"] is not None and any(boundaries.values()):
        name = next(name for name, value in boundaries.items() if value)
        raise ArgumentError(name, "cannot be combined", also=["balance_rounds"])
    path, model_max_length = output["path"], output["model_max_length"]
    outputs = _outputs(path, sizes if isinstance(sizes, tuple) else ())
    job = Job(corpus, model, preset, plan, reading, counting, cluster, outputs, **sources)
    check_job(job)
    named = token_roles(output["roles"], plan.trainer, path)
    if model_max_length is not None:
        check_folder("model_max_length", path)
    log = training_log(job, path) if output["training_log"] else None
    memory_budget(plan.memory)
    if output["dry_run"]:
        print_plan(job)
        return

    def finished(spec: pw.TokenizerSpec) -> pw.Tokenizer:
        learned = pw.Tokenizer.from_spec(spec)
        held = {**plan.roles_in(learned.get_vocab()), **named}
        return learned.with_roles(**held).with_model_max_length(model_max_length)

    _run(job, finished, log, output["as_json"])


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
    measure = None
    sources, counts, costs = _counts(job)
    trained = {size: finished(spec) for size, spec in _learned(job, counts, log).items()}
    for size, learned in trained.items():
        save_trained(learned, job.outputs[size])
    if sources is not None and traits_of(plan.trainer).learns_by_source:
        timing.stop()
        measure = parity_costs(sources, plan, job.sizes)
    for size, learned in trained.items():
        path = job.outputs[size]
        costs = measure(learned, size) if measure else costs
        found = pw.analysis.measure_round_trip(learned, texts) if texts else None
        _report(job, timing, learned, found, path, len(counts), costs, as_json=as_json)
    if plan.checkpoint is not None:
        delete_balance_checkpoint(plan.checkpoint, plan.trainer)
        delete_count_checkpoint(plan.checkpoint)
    if not as_json:
        _explain_pipeline(plan, found, path)


def _counts(job: Job) -> tuple[pw.train.SourceCounts | None, pw.Counts, SourceCosts | None]:
    """Return the counts of each source, if they are needed, the counts to learn from, and balanced costs."""

    def count(paths: Sequence[str], counting: Mapping[str, Any]) -> pw.Counts:
        if engine := job.cluster["engine"]:
            return count_on_engine(paths, job, engine)
        # The state of a count is kept until learning ends; a number of sentences is drawn without one.
        checkpoint = None if job.plan.sentences.size else counting["checkpoint"]
        kept = {"keep_checkpoint": True} if checkpoint is not None else {}
        options = {**counting, "checkpoint": checkpoint, **kept}
        plan = job.plan
        return count_or_load(paths, plan.pipeline, job.reading, plan.sentences, options)

    if job.by_source is None:
        return None, count(job.corpus, job.counting), None
    sources = count_by_source(job, count)
    if job.balance_rounds is None:
        return sources, sources, None
    return sources, *balanced(sources, job.plan, job.balance_rounds)


def _learned(job: Job, counts: pw.Counts, log: str | None) -> Mapping[int | None, pw.TokenizerSpec]:
    """Return the specification of each size, or of the size of the trainer for None."""
    plan = job.plan
    counts = plan.bounded(counts)
    if counts.has_boundaries:
        found = sum(map(bool, counts.boundaries or ()))
        note(f"boundaries: inside {found:,} of {counted(len(counts), 'distinct word')}")
        plan = replace(plan, boundaries=None, boundary_marker=None)
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
        return {None: plan.learn_from_counts(counts, log)}
    if not traits_of(plan.trainer).learns_together:
        note("these vocabularies do not nest: each size is learned separately")
    specs = pw.train.learn_specs(counts, plan.trainer, job.sizes, plan.preset, **options)
    return {size: specs[size] for size in job.sizes}


def _outputs(path: str, sizes: tuple[int, ...]) -> dict[int | None, str]:
    """Return the output of each size: `{size}` in the path becomes the size, such as 8k or 30522.

    Without `{size}`, the size is appended to the name: `out.json` becomes `out-8k.json`.
    """
    if not sizes:
        return {None: path}
    if path == "-":
        message = "- does not support several sizes; give a path, one file for each size"
        raise ArgumentError("output", message)
    if "{size}" not in path:
        root, suffix = os.path.splitext(path)
        root, suffix = (path.rstrip("/"), "/") if is_folder_path(path) else (root, suffix)
        path = f"{root}-{{size}}{suffix}"
    return {
        size: path.replace("{size}", f"{size // 1000}k" if size % 1000 == 0 else str(size))
        for size in sizes
    }


def _report(
    job: Job,
    timing: Timing,
    learned: pw.Tokenizer,
    found: RoundTrip | None,
    path: str,
    distinct_words: int,
    costs: SourceCosts | None,
    *,
    as_json: bool,
) -> None:
    """Print the figures of a tokenizer that is saved; warn if it loses text, which `found` measured."""
    plan, preset, entries = job.plan, job.plan.preset, learned.get_vocab_size()
    words = counted(distinct_words, "distinct word")
    saved = "" if path == "-" else f", saved as {path}"
    lines = [f"trained {counted(entries, 'entry')} from {words} {timing}{saved}"]
    if costs is not None:
        lines += costs_lines(costs, by_rounds=not traits_of(plan.trainer).learns_by_source)
    data = {
        "model": model_name(plan),
        "preset": None if preset is None else preset.name,
        "changes": list(changes_of(plan.pipeline.normalizer)),
        "vocab_size": entries,
        "distinct_words": distinct_words,
        **timing.figures(),
        "saved": None if path == "-" else path,
        "round_trip": None if found is None else found.to_dict(),
        "sources": costs_data(costs),
        "next": _next(path),
    }
    summarize(lines, data, as_json=as_json, err=path == "-")
    if found is not None:
        warn_of_loss(found, path)


def _explain_pipeline(plan: Plan, found: RoundTrip | None, path: str) -> None:
    """Print what the pipeline does to the first texts, and the next command."""
    note(pipeline_text(plan, found))
    if found is not None and found.is_lossless:
        note(f"decoding the first texts: {found.lost_text}; {found.spacing_text}")
    elif found is None and (text := decoding_text(plan)):
        note(text)
    if following := _next(path):
        note(f"next: {following}")


def _next(path: str) -> str | None:
    return None if path == "-" else f"piecework encode {quote(path)} FILE -o ids.txt"
