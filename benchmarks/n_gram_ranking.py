"""Test whether n-gram models of two and three ids rank learners as the transformer of the record does.

    python benchmarks/n_gram_ranking.py > benchmarks/record/2026-11-30-n-gram-bits.txt

The criterion was written before the first run, and is not to be changed after one:

- Runs come from `record/language-model.jsonl`, with learners of words: nine learners in eight cells, which
  are two languages, two sizes and two budgets. Each run is repeated by n-gram models of the same ids.
- In each cell, learners are ranked by bits per byte, as `language_model_report.py` ranks them: by paired
  differences from the baseline, over the seeds that both have.
- The statistic of a language is the mean of the rank correlations of its four cells, between the n-gram model
  and the transformer. Its p value is the share of all 362,880 orders of the nine learners that give as
  much or more; one order is applied to all four cells, because their learners are the same. It is multiplied
  by two, because two orders of the model are tested.
- A model of two or three ids holds if p is below 0.05 in both languages. Otherwise it does not rank
  learners, whatever single cells say.

The vocabularies are learned with the alphabets of the record. As a check, four ids give the recorded bits
again in the first seed of equal text; where they do not, the vocabulary has changed since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, permutations
from statistics import correlation, mean
from typing import Any

import numpy as np

from judging.kneser_ney import ORDER, KneserNey
from judging.matrix import RECORD, Run, read_definition, read_record, run_of
from judging.recipe import Recipe
from judging.text import Text
from judging.vocabularies import (
    LEARNERS,
    WORDPIECE,
    Trained,
    Vocabulary,
    learn,
    to_unigram,
    wordpiece,
)
from language_model import checksum, corpus, training_ids, words_of
from language_model_report import BASELINE, Bits, bits_of, current, level, of_learners, ranks

ORDERS = (2, 3)
LIMIT = 0.05
FORMER_FORMS = {"frequency": "start-and-seen"}
FORMER_LEARNERS: dict[str, Callable[[Text, int], Trained]] = {
    **LEARNERS,
    **{
        name: wordpiece(learner, alphabet_forms=FORMER_FORMS.get(name, "seen"))
        for name, learner in WORDPIECE.items()
    },
    "to-unigram": partial(to_unigram, alphabet_forms="seen"),
}

Records = Sequence[Mapping[str, Any]]


def main() -> None:
    """Print the correlations of each cell, the p values, and whether the criterion is met."""
    definition = read_definition()
    recorded = of_learners(current(read_record(RECORD)))
    found = list(repeated(recorded, definition))
    checked = [row for row in found if ORDER in row["orders"]]
    same = sum(abs(row["orders"][ORDER] - row["kneser_ney"]) < 1e-9 for row in checked)
    print(
        f"{len(found)} runs; {same} of {len(checked)} have the recorded bits of {ORDER} ids again"
    )
    transformer = bits_of(recorded, "bits_per_byte")
    for order in ORDERS:
        rows = [{**row, "bits": row["orders"][order]} for row in found]
        print("\n".join(["", f"{order} ids", "", *table(transformer, bits_of(rows, "bits"))]))


def repeated(recorded: Records, definition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each recorded run with the bits per byte of each order; a vocabulary is learned once."""
    recipe = Recipe(**definition["recipe"])
    key = lambda row: (row["language"], row["size"], row["learner"])  # noqa: E731
    for (language, size, learner), rows in groupby(sorted(recorded, key=key), key):
        path = corpus(definition["corpora"][language])
        text = words_of(path, **definition["text"])
        vocabulary = learn(learner, text, size, FORMER_LEARNERS)
        assert isinstance(vocabulary, Vocabulary)
        for row in rows:
            if row["text"] != checksum(path):
                sys.exit(f"n_gram_ranking.py: {path} is not the text of the record")
            run = run_of(row)
            is_checked = run.seed == 1 and run.budget == "text"
            orders = (*ORDERS, ORDER) if is_checked else ORDERS
            yield {**row, "orders": bits_of_orders(run, text, vocabulary, recipe, orders)}
        print(language, size, learner, file=sys.stderr, flush=True)


def bits_of_orders(
    run: Run, text: Text, vocabulary: Vocabulary, recipe: Recipe, orders: Sequence[int]
) -> dict[int, float]:
    """Return the bits per byte of the held-out text under a model of each order."""
    training, _ = training_ids(run, text, vocabulary, recipe)
    held_out = vocabulary.stream(np.concatenate([[text.line_end], text.held_out]))
    unknown = float(vocabulary.extra_bits[text.held_out].sum())
    size = int(text.word_bytes[text.held_out].sum())

    def bits(order: int) -> float:
        model = KneserNey.learn(training, vocabulary.size, order)
        return (float(model.bits(held_out).sum()) + unknown) / size

    return {order: bits(order) for order in orders}


def table(transformer: Bits, n_grams: Bits) -> Iterator[str]:
    """Yield the correlation of each cell, the p value of each language, and the verdict."""
    yield "| setting | rank correlation |"
    yield "|---|---|"
    by_language: dict[str, list[tuple[list[float], list[float]]]] = {}
    for setting, learners in transformer.items():
        names = sorted(learners)
        pair = tuple(
            ranks([level(bits[setting], name, BASELINE) for name in names])
            for bits in (transformer, n_grams)
        )
        by_language.setdefault(setting.language, []).append((pair[0], pair[1]))
        yield f"| {setting} | {correlation(*pair):+.2f} |"
    yield ""
    corrected = {}
    for language, cells in by_language.items():
        corrected[language] = min(len(ORDERS) * p_value(cells), 1.0)
        value = mean(correlation(*cell) for cell in cells)
        yield f"{language.capitalize()}: mean {value:+.3f}, p = {corrected[language]:.4f}"
    holds = all(p < LIMIT for p in corrected.values())
    yield f"The criterion is {'met' if holds else 'not met'}."


def p_value(cells: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Return the share of orders of the learners with a mean rank correlation as high as the cells'.

    >>> p_value([([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])]) == 1 / 6
    True
    >>> p_value([([0.0, 1.0, 2.0], [2.0, 1.0, 0.0])])
    1.0
    """
    # With equal ranks in all cells, correlations are in the order of the sums of products.
    products = np.sum([np.outer(one, other) for one, other in cells], axis=0)
    learners = len(products)
    orders = np.array(list(permutations(range(learners))))
    sums = products[np.arange(learners), orders].sum(axis=1)
    return float(np.mean(sums >= np.trace(products) - 1e-9))


if __name__ == "__main__":
    main()
