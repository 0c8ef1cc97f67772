"""What `piecework train` refuses, before it reads the corpus: the dry run makes the same checks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import piecework as pw
from piecework.cli.engines import check_engine
from piecework.cli.options import are_counts_files, check_counting, check_words
from piecework.cli.outputs import check_tokenizer_output, check_trained_format, training_log_of
from piecework.cli.reading import Reading
from piecework.cli.source_counting import check_sources, groups_of, source_option
from piecework.cli.training_options import SENTENCEPIECE
from piecework.io.atomic_files import check_writable
from piecework.train.trainer import check_size, traits_of

if TYPE_CHECKING:
    from piecework.train.plan import Plan


@dataclass(frozen=True)
class Job:
    """The arguments of a training: what to read, how to count and train, and where to write.

    `outputs` has the path for each of several sizes, or for None. `model` and `preset` are the ones given,
    `cluster` has the options of `engine_options`, and `counting` has `counting_options`.
    """

    corpus: Sequence[str]
    model: str | None
    preset: str | None
    plan: Plan
    reading: Reading
    counting: Mapping[str, Any]
    cluster: Mapping[str, str | None]
    outputs: Mapping[int | None, str]
    parallel: Sequence[str] = ()
    balance_rounds: int | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the vocabularies, () for one."""
        return tuple(size for size in self.outputs if size is not None)

    @property
    def are_counts(self) -> bool:
        """Whether the corpus consists of counts files."""
        return are_counts_files(self.corpus, self.reading["field"], self.plan.sentences)

    @property
    def by_source(self) -> str | None:
        """The option that needs counts by source, None without one."""
        return source_option(self.plan.trainer, self.parallel, self.balance_rounds, self.sizes)

    def check(self) -> None:
        """Raise for options in conflict, and for files that cannot be read or written.

        The beginnings of counts files are read, and nothing else of the corpus.
        """
        _check_trainer(self)
        by_source = self.by_source
        for output in self.outputs.values():
            check_trained_format(self.plan, output)
            check_tokenizer_output(output)
        _check_corpus(self, by_source)


def _check_trainer(job: Job) -> None:
    """Raise for counts that another command learns from, and for sizes that no corpus can have."""
    trainer, preset = job.plan.trainer, job.plan.preset
    if job.model != SENTENCEPIECE and traits_of(trainer).has_own_pipeline:
        found = f"counts of preset {preset.name if preset else SENTENCEPIECE}"
        problem = f"has {found}; piecework train-sentencepiece learns from them"
        raise pw.errors.ArgumentError("CORPUS", problem)
    for size in job.sizes or (trainer.vocab_size,):
        check_size(trainer, size)


def _check_corpus(job: Job, by_source: str | None) -> None:
    """Raise for options of counting, and for files that cannot be read or have other words."""
    plan, reading, counting = job.plan, job.reading, job.counting
    checkpoint = counting["checkpoint"]
    if checkpoint is not None and os.path.isfile(checkpoint):
        problem = f"{checkpoint!r} is a file; give a folder for the state of the run"
        raise pw.errors.ArgumentError("checkpoint", problem)
    if plan.sentences.size:
        counting = {**counting, "checkpoint": None}  # drawn in memory; learning has a checkpoint
    check_engine(job.corpus, plan, reading, counting=counting, **job.cluster)
    groups: Sequence[tuple[Sequence[str], Mapping[str, Any]]] = [(job.corpus, counting)]
    if by_source is not None:
        check_sources(job.corpus, job.parallel, plan.trainer, counting, by_source)
        groups = groups_of(job.corpus, job.parallel, counting)
    for paths, options in groups:
        if job.cluster["engine"] is None:
            check_counting(paths, plan, reading, options)
        check_words(paths, plan, reading, job.preset)


def training_log(job: Job, path: str) -> str:
    """Return the file for the merges; raise if there will be none, or if it cannot be written."""
    plan = job.plan
    traits = traits_of(plan.trainer)
    if not traits.merges_pairs:
        learner = traits.detail or plan.trainer.kind
        problem = f"needs merges, which --learner merges and --model bpe make; {learner} makes none"
        raise pw.errors.ArgumentError("training_log", problem)
    if path == "-" or job.sizes:
        found = "- as output" if path == "-" else "several sizes"
        message = f"needs one tokenizer in a file or folder, not {found}"
        raise pw.errors.ArgumentError("training_log", message)
    log = training_log_of(path)
    check_writable(log)
    return log
