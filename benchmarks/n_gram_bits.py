"""Ask only the n-gram model of every run of `language_model.py`, with three seeds: minutes, and no torch.

    python benchmarks/n_gram_bits.py > benchmarks/record/2026-11-26-n-gram-bits.txt

Prints bits per byte under the vocabulary of the baseline, and the paired differences of the others from it,
for equal text and for equal compute (the ids that the transformer is trained on). The spread is the standard
deviation over the seeds, which decide the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judging.kneser_ney import ORDER, KneserNey
from judging.matrix import Run, read_definition
from judging.recipe import Recipe
from judging.text import Text
from judging.vocabularies import Vocabulary, learn
from language_model import checksum, corpus, training_ids, words_of
from language_model_report import BASELINE, Bits, Setting, bits_of, difference, spelled

SEEDS = (1, 2, 3)


def main() -> None:
    """Print a table for each budget."""
    definition = read_definition()
    found = bits_of(list(records(definition)), "bits_per_byte")
    texts = {name: checksum(corpus(name)) for name in definition["corpora"].values()}
    print(f"Kneser-Ney, {ORDER} ids, seeds {SEEDS}, texts {texts}, recipe {definition['recipe']}")
    for budget in definition["budgets"]:
        print("\n".join(["", f"Equal {budget}", "", *table(found, budget)]))


def records(definition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a record for each run; a vocabulary is learned once for its budgets and seeds."""
    recipe = Recipe(**definition["recipe"])
    for language, name in definition["corpora"].items():
        text = words_of(corpus(name), **definition["text"])
        for size in definition["sizes"]:
            for learner in definition["learners"]:
                vocabulary = learn(learner, text, size)
                for budget in definition["budgets"]:
                    for seed in SEEDS:
                        run = Run(language, size, budget, learner, seed)
                        bits = n_gram_bits(run, text, vocabulary, recipe)
                        yield {**vars(run), "bits_per_byte": bits}


def n_gram_bits(run: Run, text: Text, vocabulary: Vocabulary, recipe: Recipe) -> float:
    """Return the bits per byte of the held-out text."""
    training, _ = training_ids(run, text, vocabulary, recipe)
    held_out = vocabulary.stream(np.concatenate([[text.line_end], text.held_out]))
    bits = KneserNey.learn(training, vocabulary.size).bits(held_out).sum()
    unknown = vocabulary.extra_bits[text.held_out].sum()
    return float((bits + unknown) / text.word_bytes[text.held_out].sum())


def table(found: Bits, budget: str) -> Iterator[str]:
    """Yield the lines of a table in Markdown: a column for each language and size."""
    settings = [setting for setting in found if setting.budget == budget]
    yield "| learner | " + " | ".join(column(setting) for setting in settings) + " |"
    yield "|---|" + "---|" * len(settings)
    for learner in sorted(found[settings[0]], key=lambda learner: learner != BASELINE):
        cells = (
            str(difference(found[setting], learner, BASELINE))
            if learner != BASELINE
            else spelled(list(found[setting][learner].values()))
            for setting in settings
        )
        yield f"| {learner} | " + " | ".join(cells) + " |"


def column(setting: Setting) -> str:
    """Return the title of a column."""
    return f"{setting.language.capitalize()}, {setting.size:,}"


if __name__ == "__main__":
    main()
