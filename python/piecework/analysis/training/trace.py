"""What a learner did, as data, text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from piecework._internal.validation import counted
from piecework.analysis.blocks import Block, Grid, Heading, Paragraph, Tokens
from piecework.analysis.displayed import LINES, Displayed
from piecework.analysis.training.steps import (
    Splits,
    TrainingLattice,
    TrainingMerge,
    TrainingStep,
    apply_merge,
)
from piecework.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class TrainingTrace(Displayed):
    """The state before the first step of a learner, the chosen steps, and the vocabulary at the end.

    >>> import piecework as pw
    >>> example = pw.analysis.training_example("hugs")
    >>> trace = pw.analysis.explain_training(example.counts, example.trainer, steps="1-2")
    >>> trace.alphabet
    ('##g', '##n', '##s', '##u', 'b', 'h', 'p')
    >>> [(step.winner.token, str(step.winner.score)) for step in trace.steps]
    [('##gs', '1/20'), ('hu', '1/36')]

    - `words` are the distinct words of the corpus with their counts.
    - `splits` are their symbols before the first merge; empty for learners that merge no pairs.
    - `seeds` are the first pieces or entries of learners that remove some, with their scores or counts.
    - `steps` are the chosen ones of `step_count` steps.
    - `vocab` has the entries in id order; `scores` are the scores of Unigram pieces, empty otherwise.
    - `lattice` is the lattice of the chosen word with the final pieces, None without a word.
    - `note` says that nothing was pruned, because all seeds fit into the vocabulary; None otherwise.
    - `stopped_early` is the reason why the vocabulary is smaller than required, None if it is not.

    `str` returns the trace as text, and `to_dict` as JSON data.
    """

    learner: str
    words: tuple[tuple[str, int], ...]
    special_tokens: tuple[str, ...]
    alphabet: tuple[str, ...]
    splits: Splits = ()
    seeds: tuple[tuple[str, float], ...] = ()
    steps: tuple[TrainingStep, ...]
    step_count: int
    vocab: tuple[str, ...]
    scores: tuple[float, ...] = ()
    lattice: TrainingLattice | None = None
    stopped_early: str | None = None
    note: str | None = None

    def vocab_after(self, number: int) -> tuple[str, ...]:
        """Return the vocabulary after a merge that is one of `steps`, in id order; after 0, before step 1.

        >>> import piecework as pw
        >>> example = pw.analysis.training_example("hugs")
        >>> trace = pw.analysis.explain_training(example.counts, example.trainer, steps="1")
        >>> trace.vocab_after(0)[-2:], trace.vocab_after(1)[-2:]
        (('h', 'p'), ('p', '##gs'))

        Raises `ArgumentError` for a step that is not a merge or not in `steps`.
        """
        for step in self.steps:
            if isinstance(step, TrainingMerge) and step.number == max(number, 1):
                return self.vocab[: step.vocab_size - (number == 0 and step.is_new)]
        raise ArgumentError("number", f"must be a number of a merge in steps, not {number}")

    def splits_after(self, number: int) -> Splits:
        """Return the symbols and the count of each word after a merge; after 0, `splits`.

        >>> import piecework as pw
        >>> example = pw.analysis.training_example("hugs")
        >>> trace = pw.analysis.explain_training(example.counts, example.trainer, steps="1-2")
        >>> for symbols, count in trace.splits_after(2):
        ...     print(*symbols, count)
        hu ##g 10
        p ##u ##g 5
        p ##u ##n 12
        b ##u ##n 4
        hu ##gs 5

        Raises `ArgumentError` unless all merges up to this one are in `steps`.
        """
        made = [s for s in self.steps if isinstance(s, TrainingMerge) and s.number <= number]
        if number < 0 or len(made) != number:
            raise ArgumentError(
                "number",
                f"{number}: the merges up to it must all be in steps, such as '1-{max(number, 1)}'",
            )
        splits = [(list(symbols), count) for symbols, count in self.splits]
        for step in made:
            splits = [(apply_merge(symbols, step.winner), count) for symbols, count in splits]
        return tuple((tuple(symbols), count) for symbols, count in splits)

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as JSON data: a fraction as a number, and beside it as text.

        After a merge, the vocabulary is the first `vocab_size` entries of `vocab`.

        >>> import piecework as pw
        >>> example = pw.analysis.training_example("hugs")
        >>> found = pw.analysis.explain_training(example.counts, example.trainer, steps="1").to_dict()
        >>> found["steps"][0]["winner"]["score"], found["steps"][0]["winner"]["score_fraction"]
        (0.05, '1/20')
        """
        found = super().to_dict()
        for step, data in zip(self.steps, found["steps"], strict=True):
            data["kind"] = type(step).__name__
        return found

    def blocks(self, lines: int = LINES) -> Iterator[Block]:
        """Yield what the trace shows, at most `lines` lines of each list.

        >>> import piecework as pw
        >>> example = pw.analysis.training_example("hugs")
        >>> trace = pw.analysis.explain_training(example.counts, example.trainer, steps="1")
        >>> print(str(trace).split("best pairs (of 6)")[1].split("changed words")[0], end="")
        <BLANKLINE>
           pair     count  left  right  score  as decimal  merged
        >  ##g ##s      5    20      5   1/20        0.05  ##gs
           h ##u       15    15     36   1/36   0.0277778  hu
           ##u ##g     20    36     20   1/36   0.0277778  ##ug
           p ##u       17    17     36   1/36   0.0277778  pu
           ##u ##n     16    36     16   1/36   0.0277778  ##un
           b ##u        4     4     36   1/36   0.0277778  bu
        """
        yield Heading(f"training: {self.learner}", 1)
        total = sum(count for _, count in self.words)
        yield Heading(f"word counts ({len(self.words):,} distinct, {total:,} in all)")
        yield _counted("word", self.words, lines)
        if self.special_tokens:
            yield Heading(f"special tokens ({len(self.special_tokens):,})")
            yield Paragraph(" ".join(self.special_tokens))
        if self.alphabet:
            yield Heading(f"alphabet ({len(self.alphabet):,})")
            yield Paragraph(" ".join(self.alphabet))
        if self.splits:
            yield Heading(f"splits ({len(self.splits):,})")
            splits = tuple((Tokens.of(symbols), count) for symbols, count in self.splits)
            yield _counted("symbols", splits, lines)
        if self.seeds:
            yield Heading(f"seeds ({len(self.seeds):,})")
            yield _scored(self.seeds, lines)
        if self.note:
            yield Paragraph(self.note)
        for step in self.steps:
            yield from step.blocks()
            if isinstance(step, TrainingMerge):
                yield Paragraph(self._vocabulary_so_far(step.vocab_size, lines))
        yield Heading("result", 1)
        if self.step_count > len(self.steps):
            yield Paragraph(f"{len(self.steps):,} of {counted(self.step_count, 'step')} are shown")
        if self.stopped_early:
            yield Paragraph(f"stopped early: {self.stopped_early}")
        if self.scores:
            pairs = zip(self.vocab, self.scores, strict=True)
            learned = (pair for pair in pairs if pair[0] not in self.special_tokens)
            scored = sorted(learned, key=lambda pair: -pair[1])
            yield Heading(f"scores ({len(scored):,})")
            yield _scored(tuple(scored), lines)
        if self.lattice is not None:
            yield from self.lattice.blocks()
        yield Heading(f"vocabulary ({len(self.vocab):,})")
        yield Paragraph(" ".join(self.vocab))

    def _vocabulary_so_far(self, size: int, most: int) -> str:
        """Return a line with the last learned entries of a vocabulary."""
        fixed = {*self.special_tokens, *self.alphabet}
        learned = [entry for entry in self.vocab[:size] if entry not in fixed]
        more = "... " if len(learned) > most else ""
        # SentencePiece puts the alphabet behind the merges.
        size += len(set(self.alphabet) - set(self.vocab[:size]))
        return f"vocabulary ({size:,}): alphabet, {more}{' '.join(learned[-most:])}"


def nothing_to_prune(trace: TrainingTrace, vocab_size: int | None) -> str | None:
    """Return the sentence that all seeds of a run fit into its vocabulary, None if they do not.

    >>> import piecework as pw
    >>> trainer = pw.WordPieceTrainer(100, min_frequency=1, special_tokens=("[UNK]",))
    >>> nothing_to_prune(pw.analysis.explain_training(["hug hugs"], trainer), 100)
    'nothing to prune: 6 seeds fit into a vocabulary of 100; try a vocabulary of 12'
    """
    seeds = {seed for seed, _ in trace.seeds}
    fixed = {*trace.special_tokens, *trace.alphabet}
    if vocab_size is None or not seeds or len(fixed | seeds) > vocab_size:
        return None
    fits = "fits" if len(seeds) == 1 else "fit"
    found = f"nothing to prune: {counted(len(seeds), 'seed')} {fits} into a vocabulary of {vocab_size:,}"
    less = len(fixed) + len(seeds - fixed) // 2
    return f"{found}; try a vocabulary of {less:,}" if seeds - fixed else found


def _counted(name: str, rows: tuple[tuple[str, int], ...], lines: int) -> Grid:
    shown = tuple((text, f"{count:,}") for text, count in rows[:lines])
    return Grid((name, "count"), shown, ("count",), omitted=len(rows) - len(shown))


def _scored(rows: tuple[tuple[str, float], ...], lines: int) -> Grid:
    kind = "count" if all(isinstance(score, int) for _, score in rows) else "score"
    shown = tuple(
        (text, f"{score:,}" if kind == "count" else f"{score:.4f}") for text, score in rows[:lines]
    )
    return Grid(("entry", kind), shown, (kind,), omitted=len(rows) - len(shown))
