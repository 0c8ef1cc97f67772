"""`piecework explain-training`: print each step of a small training run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

import piecework as pw
from piecework._internal.step_selection import Selection
from piecework.cli.explanations import check_html, explanation_options, show
from piecework.cli.options import corpus_options, count_or_load
from piecework.cli.parameters import InputFile, command, in_explanation
from piecework.cli.reading import TRAINING_EXAMPLES, Reading
from piecework.cli.training_options import (
    PRESET_MODELS,
    SENTENCEPIECE,
    TrainingCommand,
    given_settings,
    model_option,
)
from piecework.train.plan import Plan

_MODELS = (*PRESET_MODELS, SENTENCEPIECE)
_FIRST = "--model --vocab-size --example --word --steps --lines --html --preset"
_EXAMPLE = """\b
Example:
  piecework explain-training --example course --steps 1-3
  piecework explain-training corpus.txt --learner merges --score frequency --vocab-size 70 --steps all
"""


@command(cls=TrainingCommand, models=_MODELS, first=_FIRST, epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, type=InputFile())
@model_option(_MODELS)
@in_explanation(
    "--example",
    type=click.Choice(TRAINING_EXAMPLES),
    help="Train on a published example instead of CORPUS.",
)
@in_explanation(
    "--word",
    metavar="WORD",
    help="With --model unigram, print the lattice of this word of the corpus at each step.",
)
@explanation_options("Steps", "1-10")
@corpus_options()
def explain_training(
    corpus: tuple[str, ...],
    model: str | None,
    preset: str | None,
    example: str | None,
    word: str | None,
    steps: str,
    lines: int,
    as_json: bool,
    html_path: str | None,
    reading: Reading,
    **settings: Any,
) -> None:
    """Print each step of training on CORPUS.

    CORPUS should be small. Its files and the options are the same as for `piecework train`.
    """
    check_html(html_path, as_json)
    Selection.of(steps)  # raises before the work
    if (example is None) == (not corpus):
        missing = "is missing; give files with text, or --example"
        problem = "cannot be combined with --example" if corpus else missing
        raise pw.errors.ArgumentError("CORPUS", problem)
    given = given_settings(settings)
    if example is not None:
        counts, trainer = _example(example, model, preset, given)
    else:
        plan = Plan.of(model=model, preset=preset, **given)
        trainer = plan.trainer
        counts = count_or_load(corpus, plan.pipeline, reading, plan.sentences)
    trace = pw.analysis.explain_training(counts, trainer, steps=steps, top=lines, word=word)
    show(trace, as_json, html_path, lines)


def _example(
    name: str, model: str | None, preset: str | None, given: Mapping[str, Any]
) -> tuple[pw.Counts, pw.train.Trainer]:
    """Return the counts and the trainer of a built-in example; settings of the user override its own."""
    example = pw.analysis.training_example(name)
    trainer: pw.train.Trainer = example.trainer
    counts = example.counts
    if model is not None or preset is not None or given:
        names = ["vocab_size"]
        if model in (None, "wordpiece", "bpe", "byte-bpe"):
            names.append("min_frequency")
        if model in (None, "wordpiece"):
            names += ["special_tokens", "learner", "alphabet_forms"]
            preset = preset or example.preset
        settings = {name: getattr(example.trainer, name) for name in names}
        plan = Plan.of(model=model, preset=preset, **{**settings, **given})
        trainer = plan.trainer
        if example.texts:
            counts = pw.count_texts(example.texts, preset=plan.pipeline, sentences=plan.sentences)
    return counts, trainer
