"""What `piecework train` refuses, before it reads the corpus: the dry run makes the same checks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import piecework as pw
from piecework._support import Plan, check_writable
from piecework.cli.engines import check_engine
from piecework.cli.options import (
    Reading,
    are_counts_files,
    check_counting,
    check_words,
    given_options,
)
from piecework.cli.outputs import training_log_of
from piecework.cli.source_counting import check_sources, groups_of
from piecework.cli.training_options import SENTENCEPIECE

_WITH_SELF_TESTS = {"memory", "checkpoint"}


def check_trainer(plan: Plan, model: str | None, sizes: Sequence[int]) -> None:
    """Raise for counts that another command learns from, and for sizes that no corpus can have."""
    if model != SENTENCEPIECE and plan.trainer.has_own_pipeline:
        found = f"counts of preset {plan.preset.name if plan.preset else SENTENCEPIECE}"
        problem = f"has {found}; piecework train-sentencepiece learns from them"
        raise pw.errors.ArgumentError("CORPUS", problem)
    for size in sizes or (plan.trainer.vocab_size,):
        plan.trainer.sized(size).check_before_counting()


def check_corpus(
    corpus: Sequence[str],
    parallel: Sequence[str],
    plan: Plan,
    preset: str | None,
    reading: Reading,
    counting: Mapping[str, Any],
    by_source: str | None,
    cluster: Mapping[str, str | None],
) -> None:
    """Raise for options of counting, and for files that cannot be read or have other words.

    `preset` is the one given, and `cluster` has the options of `engine_options`. Of counts files, only the
    beginnings are read.
    """
    checkpoint = counting["checkpoint"]
    if checkpoint is not None and os.path.isfile(checkpoint):
        problem = f"{checkpoint!r} is a file; give a folder for the state of the run"
        raise pw.errors.ArgumentError("checkpoint", problem)
    if plan.sentences.size:
        counting = {**counting, "checkpoint": None}  # drawn in memory; learning has a checkpoint
    check_engine(corpus, plan, reading, counting=counting, **cluster)
    if by_source is not None:
        check_sources(corpus, parallel, plan.trainer, counting, by_source)
    groups = [(corpus, counting)] if by_source is None else groups_of(corpus, parallel, counting)
    for paths, options in groups:
        if cluster["engine"] is None:
            check_counting(paths, plan, reading, options)
        check_words(paths, plan, reading, preset)


def check_self_tests(
    corpus: Sequence[str],
    plan: Plan,
    reading: Reading,
    sizes: Sequence[int],
    by_source: str | None,
    counting: Mapping[str, Any],
) -> None:
    """Raise for sentences that the model shall store where there are none, or several sizes."""
    if not plan.tests:
        return
    if sizes:
        message = (
            "several sizes do not support --self-test-sample-size; give one size, or leave it out"
        )
        raise pw.errors.ArgumentError("vocab_size", message)
    if by_source is not None:
        problem = f"does not support {by_source}, which learns from counts; leave one of them out"
        raise pw.errors.ArgumentError("self_test_sample_size", problem)
    if are_counts_files(corpus, reading["field"], plan.sentences):
        problem = "does not support counts files, which have no sentences"
        raise pw.errors.ArgumentError("self_test_sample_size", problem)
    for name in given_options(dict(counting)).keys() - _WITH_SELF_TESTS:
        problem = "does not support --self-test-sample-size, which keeps sentences of all texts"
        raise pw.errors.ArgumentError(name, problem)


def check_training_log(wanted: bool, path: str, sizes: Sequence[int], plan: Plan) -> str | None:
    """Return the file for the merges, None if the user wants none; raise if it cannot be written."""
    if not wanted:
        return None
    if not plan.trainer.merges_pairs:
        learner = plan.trainer.detail or plan.trainer.kind
        problem = f"needs merges, which --learner merges and --model bpe make; {learner} makes none"
        raise pw.errors.ArgumentError("training_log", problem)
    if path == "-" or sizes or plan.tests:
        found = "- as output" if path == "-" else "several sizes" if sizes else "a self-test"
        message = f"needs one tokenizer in a file or folder, not {found}"
        raise pw.errors.ArgumentError("training_log", message)
    log = training_log_of(path)
    check_writable(log)
    return log
