"""The tokens of each source, and how even they are, before and after they were evened out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from piecework.spec import Model, TokenizerSpec
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.counts import Counts
from piecework.train.learn import fit_to_memory
from piecework.train.segmenter import compiled_model, lengths
from piecework.train.source_counts import SourceCounts
from piecework.train.trainer import Trainer


@dataclass(frozen=True)
class SourceCosts:
    """The tokens of each source before and after they were evened out.

    >>> costs = SourceCosts({"en": 90, "cs": 150}, {"en": 120, "cs": 123})
    >>> round(costs.first_gini, 3), round(costs.gini, 3), f"{costs.added:+.2%}"
    (0.125, 0.006, '+1.25%')

    The tokens are those of the parallel texts. Without parallel texts, they are those of the text of each
    source, and `sizes` has the units of that text, such as bytes: the Gini coefficients are of tokens a unit.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    sizes: Mapping[str, int] | None = None

    @property
    def first_gini(self) -> float:
        """The Gini coefficient before."""
        return float(gini(self._costs(self.before)))

    @property
    def gini(self) -> float:
        """The Gini coefficient after."""
        return float(gini(self._costs(self.after)))

    @property
    def added(self) -> float:
        """The share of tokens that all sources together take more."""
        return sum(self.after.values()) / sum(self.before.values()) - 1

    def _costs(self, tokens: Mapping[str, int]) -> list[Fraction]:
        sizes = self.sizes or dict.fromkeys(tokens, 1)
        return [Fraction(number, sizes[name]) for name, number in tokens.items()]


def plain_models(
    counts: SourceCounts,
    trainer: Trainer,
    sizes: Sequence[int],
    *,
    num_threads: int | None = None,
    memory: int | str | None = None,
) -> dict[int, Model]:
    """Return the models of plain BPE, with the settings of a trainer but without its parity.

    >>> from piecework.train import BPETrainer, count_texts
    >>> counted = {name: count_texts([name * 9], preset="whitespace") for name in ("hug", "pun")}
    >>> list(plain_models(SourceCounts(counted), BPETrainer(parity=True, parity_unit="bytes"), [9, 10]))
    [9, 10]
    """
    plain = trainer._without_sources()
    merged, _ = fit_to_memory(counts.merged(), plain, memory)
    return plain.learn_models(merged, sizes, num_threads=num_threads)


def costs_of_parity(
    counts: SourceCounts,
    trainer: Trainer,
    before: Model,
    after: Model,
    *,
    num_threads: int | None = None,
) -> SourceCosts:
    """Return the tokens of each source under the models of plain BPE and of parity."""
    texts = counts.parallel or counts.sources
    unit = trainer._source_unit
    byte_level = getattr(trainer, "is_byte_level", False)
    sizes = {name: _size(text, unit, byte_level=byte_level) for name, text in texts.items()}
    return SourceCosts(
        tokens_of_texts(before, texts, num_threads),
        tokens_of_texts(after, texts, num_threads),
        sizes if unit else None,
    )


def tokens_of_texts(
    model: Model, texts: Mapping[str, Counts], num_threads: int | None
) -> dict[str, int]:
    """Return the number of tokens of each text."""
    core = compiled_model(TokenizerSpec(model))

    def tokens_of(counts: Counts) -> int:
        found = lengths(core, counts.words, num_threads)
        return sum(length * count for length, (_, count) in zip(found, counts, strict=True))

    return {name: tokens_of(counts) for name, counts in texts.items()}


def gini(costs: Sequence[int | Fraction]) -> Fraction:
    """Return the Gini coefficient exactly, so that rounds compare alike on every machine.

    >>> gini([3, 3, 3]), gini([0, 0, 0, 8])
    (Fraction(0, 1), Fraction(3, 4))
    """
    exact = sorted(map(Fraction, costs))
    number, total = len(exact), sum(exact)
    ranked = enumerate(exact, 1)
    differences = sum((2 * rank - number - 1) * cost for rank, cost in ranked)
    return Fraction(differences) / (number * (total or 1))


def _size(counts: Counts, unit: str | None, *, byte_level: bool) -> int:
    """Return the units of the text of counts, at least 1, as the learner measures them."""

    def size(word: str) -> int:
        if unit == "words":
            return 1
        if not byte_level:
            return len(word.encode()) if unit == "bytes" else len(word)
        is_continued = (0x80 <= BYTE_OF_CHARACTER.get(c, 0) < 0xC0 for c in word)
        return len(word) - (sum(is_continued) if unit == "characters" else 0)

    return max(1, sum(size(word) * count for word, count in counts))
