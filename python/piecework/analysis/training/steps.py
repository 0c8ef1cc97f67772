"""The steps of a learner as the compiled trainer reports them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from piecework.analysis.blocks import Block, Grid, Heading, Paragraph, Tokens
from piecework.analysis.word_steps import LatticeEdge, WordLattice
from piecework.reference import bpe

Score: TypeAlias = Fraction | float | int
Data: TypeAlias = Mapping[str, Any]
"""What the compiled trainer reports."""

Splits: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
"""The tokens of words, with their counts."""


def splits_of(splits: Sequence[tuple[Sequence[str], int]]) -> Splits:
    """Return reported tokens of words.

    >>> splits_of([(["h", "##u"], 2)])
    ((('h', '##u'), 2),)
    """
    return tuple((tuple(symbols), count) for symbols, count in splits)


# ---- merging


@dataclass(frozen=True)
class PairScore:
    """A pair that a learner could merge: the counts of the pair and of its parts, and its score.

    >>> pair = PairScore("##g", "##s", "##gs", count=5, left_count=20, right_count=5, score=Fraction(1, 20))
    >>> pair.formula
    '5 / (20 x 5) = 1/20'

    `score` is a fraction for "pmi", the gain in nats for "likelihood" and the count otherwise.
    """

    left: str
    right: str
    token: str
    count: int
    left_count: int
    right_count: int
    score: Score

    @classmethod
    def of(cls, data: Data) -> PairScore:
        """Return a reported pair."""
        fields = {name: value for name, value in data.items() if name != "score_fraction"}
        if "score_fraction" in data:
            fields["score"] = Fraction(data["score_fraction"])
        return cls(**fields)

    @property
    def formula(self) -> str:
        """The score as it is computed from the counts."""
        if isinstance(self.score, Fraction):
            counts = f"{self.count} / ({self.left_count} x {self.right_count})"
            return f"{counts} = {self.score}"
        return shown_score(self.score)


def apply_merge(symbols: Sequence[str], merge: PairScore) -> list[str]:
    """Replace every occurrence of a pair by its token, from left to right.

    >>> apply_merge(["a", "a", "a"], PairScore("a", "a", "aa", 2, 3, 3, score=2))
    ['aa', 'a']
    """
    return bpe.merge(symbols, (merge.left, merge.right), merge.token)


@dataclass(frozen=True)
class SplitChange:
    """A word of the corpus with its count, and its symbols before and after a step.

    >>> SplitChange(5, ("h", "##u"), ("hu",)).after
    ('hu',)
    """

    count: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    @classmethod
    def of(cls, data: Data) -> SplitChange:
        """Return a reported change."""
        return cls(data["count"], tuple(data["before"]), tuple(data["after"]))


@dataclass(frozen=True)
class TrainingMerge:
    """One merge of a WordPiece or BPE learner: the best pairs, the winner, and what changes.

    >>> import piecework as pw
    >>> example = pw.analysis.training_example("hugs")
    >>> [merge] = pw.analysis.explain_training(example.counts, example.trainer, steps="1").steps
    >>> merge.winner.token, str(merge.winner.score), merge.pairs, merge.tied
    ('##gs', '1/20', 6, 1)

    - `number` counts merges from 1.
    - `candidates` are the best of all `pairs`, the best first, so the first is the winner.
    - `first_pairs` are the first of them in the order of the corpus, as many as `candidates`.
    - `tied` is the number of pairs with the score of the winner, itself included; `reason` says how the
      winner was chosen.
    - `changes` are the first of `changed_words` distinct words that contain the pair.
    - `vocab_size` is the number of entries after the merge; `is_new` is False for a token that was one.
    - `note` corrects a published text that prints something else, None otherwise.
    """

    number: int
    winner: PairScore
    reason: str
    candidates: tuple[PairScore, ...]
    pairs: int
    tied: int
    changes: tuple[SplitChange, ...]
    changed_words: int
    vocab_size: int
    is_new: bool
    note: str | None = None
    first_pairs: tuple[PairScore, ...] = ()

    @classmethod
    def of(cls, data: Data) -> TrainingMerge:
        """Return a reported merge."""
        pairs = {
            name: tuple(map(PairScore.of, data[name])) for name in ("candidates", "first_pairs")
        }
        changes = tuple(map(SplitChange.of, data["changes"]))
        return cls(**{**data, **pairs, "winner": PairScore.of(data["winner"]), "changes": changes})

    def blocks(self) -> Iterator[Block]:
        """Yield what the step shows."""
        won = self.winner
        yield Heading(f"merge {self.number}: {won.left} {won.right} -> {won.token}", 2)
        yield Paragraph(self.reason)
        if self.note:
            yield Paragraph(f"Erratum: {self.note}")
        yield Heading(f"best pairs (of {self.pairs:,})")
        yield _pair_grid(self.candidates, self.pairs)
        yield from _changed(self.changes, self.changed_words)
        if not self.is_new:
            yield Paragraph(f"{won.token} was an entry already")


def _pair_grid(pairs: tuple[PairScore, ...], total: int) -> Grid:
    """Return a table of pairs with the columns that their kind of score has."""
    marked = (0,) if pairs else ()
    omitted = total - len(pairs)
    if all(isinstance(pair.score, int) for pair in pairs):
        rows = tuple((_pair(pair), f"{pair.count:,}", pair.token) for pair in pairs)
        return Grid(("pair", "count", "merged"), rows, ("count",), marked, omitted)
    decimal = any(isinstance(pair.score, Fraction) for pair in pairs)
    rows = tuple(
        (
            _pair(pair),
            f"{pair.count:,}",
            f"{pair.left_count:,}",
            f"{pair.right_count:,}",
            *((str(pair.score),) if decimal else ()),
            shown_score(pair.score),
            pair.token,
        )
        for pair in pairs
    )
    score = ("score", "as decimal") if decimal else ("score",)
    header = ("pair", "count", "left", "right", *score, "merged")
    return Grid(header, rows, header[1:-1], marked, omitted)


def _pair(pair: PairScore) -> str:
    return f"{pair.left} {pair.right}"


def _changed(changes: tuple[SplitChange, ...], total: int) -> Iterator[Block]:
    """Yield a table of words before and after a step, nothing if no word changed."""
    if not total:
        return
    yield Heading(f"changed words ({total:,})")
    rows = tuple(
        (f"{change.count:,}", Tokens.of(change.before), Tokens.of(change.after))
        for change in changes
    )
    yield Grid(("count", "before", "after"), rows, ("count",), omitted=total - len(changes))


# ---- WordPiece by pruning


@dataclass(frozen=True)
class EntryLoss:
    """An entry that pruning can remove: its count as a substring, and what removing it costs in tokens.

    >>> EntryLoss("##ug", count=20, loss=0.0).loss
    0.0
    """

    entry: str
    count: int
    loss: float


@dataclass(frozen=True)
class TrainingRemoval:
    """One removal of the pruning learner: the entry with the least loss, and the words that change.

    >>> import piecework as pw
    >>> counts = pw.analysis.training_example("hugs").counts
    >>> trainer = pw.WordPieceTrainer(17, special_tokens=("[UNK]",))
    >>> first = pw.analysis.explain_training(counts, trainer, steps="1").steps[0]
    >>> first.removed.entry, first.removed.loss
    ('bu', 0.0)

    `candidates` are the entries with the least loss of all `removable` ones, the least first. `put_back` is
    a removed entry that returns in place of this one, with what that saves; None outside the last rounds.
    """

    number: int
    removed: EntryLoss
    candidates: tuple[EntryLoss, ...]
    removable: int
    tied: int
    changes: tuple[SplitChange, ...]
    changed_words: int
    vocab_size: int
    put_back: EntryLoss | None = None

    @classmethod
    def of(cls, data: Data) -> TrainingRemoval:
        """Return a reported removal."""
        back = data["put_back"]
        found = {
            "removed": EntryLoss(**data["removed"]),
            "candidates": tuple(EntryLoss(**one) for one in data["candidates"]),
            "changes": tuple(map(SplitChange.of, data["changes"])),
            "put_back": None if back is None else EntryLoss(**back),
        }
        return cls(**{**data, **found})

    def blocks(self) -> Iterator[Block]:
        """Yield what the step shows."""
        entry, loss = self.removed.entry, shown_score(self.removed.loss)
        title = f"removal {self.number}: {entry}"
        back = self.put_back
        yield Heading(title if back is None else f"swap {self.number}: {back.entry} for {entry}", 2)
        if back is not None:
            saved = shown_score(back.loss)
            yield Paragraph(f"{back.entry} returns: without it the corpus costs {saved} more")
        why = f"{entry} has the least loss of {self.removable:,} entries: {loss}"
        rule = f"; {self.tied:,} share it, and of these the rarest goes first, then the longest"
        yield Paragraph(why + (rule if self.tied > 1 else ""))
        yield Heading(f"least losses (of {self.removable:,})")
        rows = tuple(
            (one.entry, f"{one.count:,}", shown_score(one.loss)) for one in self.candidates
        )
        omitted = self.removable - len(rows)
        yield Grid(("entry", "count", "loss"), rows, ("count", "loss"), (0,), omitted)
        yield from _changed(self.changes, self.changed_words)
        yield Paragraph(f"vocabulary: {self.vocab_size:,} entries")


# ---- WordPiece top-down


@dataclass(frozen=True)
class TrainingThreshold:
    """One threshold of the top-down learner: the substrings that occur often enough, and whether they fit.

    >>> import piecework as pw
    >>> counts = pw.analysis.training_example("hugs").counts
    >>> trainer = pw.WordPieceTrainer(17, pw.train.TopDown(), min_frequency=1, special_tokens=("[UNK]",))
    >>> steps = pw.analysis.explain_training(counts, trainer).steps
    >>> [(step.threshold, step.selected, step.fits) for step in steps]
    [(19, 1, True), (10, 2, True), (5, 4, False), (8, 2, True), (7, 2, True), (6, 2, True)]

    The learner searches for the least threshold whose vocabulary fits, from `low` to `high`; `threshold` is
    halfway between them. `entries` are those of most count among the `selected` ones, which special tokens
    and the alphabet complete to `vocab_size`. `splits` are the first words of the corpus as this vocabulary
    splits them.
    """

    number: int
    low: int
    high: int
    threshold: int
    fits: bool
    entries: tuple[tuple[str, int], ...]
    selected: int
    vocab_size: int
    splits: Splits

    @classmethod
    def of(cls, data: Data) -> TrainingThreshold:
        """Return a reported threshold."""
        entries = tuple((entry, count) for entry, count in data["entries"])
        return cls(**{**data, "entries": entries, "splits": splits_of(data["splits"])})

    def blocks(self) -> Iterator[Block]:
        """Yield what the step shows."""
        yield Heading(f"threshold {self.number}: {self.threshold:,} occurrences", 2)
        size = f"{self.selected:,} substrings are selected, a vocabulary of {self.vocab_size:,}"
        rule = (
            "it fits, so lower thresholds follow"
            if self.fits
            else "too many, so higher ones follow"
        )
        yield Paragraph(f"{size}: {rule} (from {self.low:,} to {self.high:,})")
        yield Heading(f"entries by count ({self.selected:,})")
        rows = tuple((entry, f"{count:,}") for entry, count in self.entries)
        yield Grid(("entry", "count"), rows, ("count",), omitted=self.selected - len(rows))
        yield Heading("first words")
        words = tuple((f"{count:,}", Tokens.of(symbols)) for symbols, count in self.splits)
        yield Grid(("count", "symbols"), words, ("count",))


# ---- Unigram


@dataclass(frozen=True)
class PieceEstimate:
    """A piece, its expected count over all segmentations, and its new score, None if it was dropped.

    >>> PieceEstimate("hug", expected=15.0, score=-1.3).piece
    'hug'
    """

    piece: str
    expected: float
    score: float | None


@dataclass(frozen=True)
class TrainingLattice:
    """The lattice of one word at the beginning of a step of Unigram training.

    >>> import piecework as pw
    >>> counts = pw.analysis.training_example("hugs").counts
    >>> trainer = pw.UnigramTrainer(12, special_tokens=("<unk>",))
    >>> trace = pw.analysis.explain_training(counts, trainer, steps="1", word="hugs")
    >>> found = trace.steps[0].lattice
    >>> found.lattice.best
    ('hugs',)
    >>> [(edge.piece, round(p, 3)) for edge, p in zip(found.lattice.edges, found.probabilities)][:3]
    [('hugs', 0.94), ('hug', 0.028), ('h', 0.031)]

    `probabilities` has, for each edge of `lattice`, the probability that a segmentation of the word has it.
    Times the count of the word, it is what the word adds to the expected count of the piece.
    """

    word: str
    lattice: WordLattice
    probabilities: tuple[float, ...]

    @classmethod
    def of(cls, data: Data | None) -> TrainingLattice | None:
        """Return a reported lattice, None without one."""
        if data is None:
            return None
        found = data["lattice"]
        edges = tuple(LatticeEdge(**edge) for edge in found["edges"])
        lattice = WordLattice(edges, tuple(found["best"]), splits_of(found["segmentations"]))
        return cls(data["word"], lattice, tuple(data["probabilities"]))

    def blocks(self) -> Iterator[Block]:
        """Yield the edges as a table."""
        yield Heading(f"lattice of {self.word}")
        rows = tuple(
            (edge.piece, f"{edge.start}:{edge.end}", f"{edge.score:.4f}", f"{probability:.4f}")
            for edge, probability in zip(self.lattice.edges, self.probabilities, strict=True)
        )
        best = tuple(at for at, edge in enumerate(self.lattice.edges) if edge.is_best)
        yield Grid(("piece", "span", "score", "probability"), rows, ("score", "probability"), best)


@dataclass(frozen=True)
class TrainingEstimate:
    """One EM iteration of Unigram training: the log-likelihood, and the pieces with their new scores.

    >>> import piecework as pw
    >>> counts = pw.analysis.training_example("hugs").counts
    >>> trainer = pw.UnigramTrainer(12, special_tokens=("<unk>",))
    >>> first = pw.analysis.explain_training(counts, trainer, steps="1").steps[0]
    >>> first.pieces, round(first.log_likelihood, 2)
    (17, -90.68)

    `log_likelihood` is the log-likelihood of the corpus under the `pieces` pieces before the iteration, in
    nats. `estimates` are the pieces with the largest expected counts; `dropped` have a count below 0.5.
    `lattice` is the lattice of the chosen word, None without one.
    """

    number: int
    round: int
    iteration: int
    pieces: int
    log_likelihood: float
    estimates: tuple[PieceEstimate, ...]
    dropped: tuple[str, ...]
    lattice: TrainingLattice | None = None

    @classmethod
    def of(cls, data: Data) -> TrainingEstimate:
        """Return a reported iteration."""
        found = {
            "estimates": tuple(PieceEstimate(**one) for one in data["estimates"]),
            "dropped": tuple(data["dropped"]),
            "lattice": TrainingLattice.of(data["lattice"]),
        }
        return cls(**{**data, **found})

    def blocks(self) -> Iterator[Block]:
        """Yield what the step shows."""
        yield Heading(f"step {self.number}: round {self.round}, EM iteration {self.iteration}", 2)
        yield Paragraph(f"{self.pieces:,} pieces, log-likelihood {self.log_likelihood:.6g}")
        yield Heading("pieces by expected count")
        rows = tuple(
            (
                one.piece,
                f"{one.expected:.4f}",
                "dropped" if one.score is None else f"{one.score:.4f}",
            )
            for one in self.estimates
        )
        header = ("piece", "expected count", "new score")
        yield Grid(header, rows, header[1:], omitted=self.pieces - len(rows))
        if self.dropped:
            yield Paragraph(f"dropped, expected less than 0.5 times: {' '.join(self.dropped)}")
        if self.lattice is not None:
            yield from self.lattice.blocks()


@dataclass(frozen=True)
class PieceLoss:
    """A piece, its count in the best segmentations, and the log-likelihood that is lost without it.

    >>> PieceLoss("hug", count=15, loss=None, reason="a single character").reason
    'a single character'

    `loss` is None for a piece that is kept or removed for the `reason`, whatever its loss. With
    `count_exponent`, words are weighted before they are counted.
    """

    piece: str
    count: float
    loss: float | None
    reason: str


@dataclass(frozen=True)
class TrainingPruning:
    """One pruning round of Unigram training: the pieces with the least loss go.

    >>> import piecework as pw
    >>> counts = pw.analysis.training_example("course").counts
    >>> trainer = pw.UnigramTrainer(34, special_tokens=("<unk>",))
    >>> [third] = pw.analysis.explain_training(counts, trainer, steps="3").steps
    >>> third.pieces, third.removed_count
    (48, 11)

    `removed` go, the least loss first; `kept` are the next ones, which stay. `lattice` is the lattice of the
    chosen word before the round, None without one.
    """

    number: int
    round: int
    pieces: int
    removed: tuple[PieceLoss, ...]
    removed_count: int
    kept: tuple[PieceLoss, ...]
    lattice: TrainingLattice | None = None

    @classmethod
    def of(cls, data: Data) -> TrainingPruning:
        """Return a reported round."""
        lists = {
            name: tuple(PieceLoss(**one) for one in data[name]) for name in ("removed", "kept")
        }
        return cls(**{**data, **lists, "lattice": TrainingLattice.of(data["lattice"])})

    def blocks(self) -> Iterator[Block]:
        """Yield what the step shows."""
        yield Heading(f"step {self.number}: round {self.round}, pruning", 2)
        left = self.pieces - self.removed_count
        yield Paragraph(f"{self.pieces:,} pieces, {self.removed_count:,} removed, {left:,} left")
        for title, found, total in (
            ("removed, the least loss first", self.removed, self.removed_count),
            ("kept, the least loss first", self.kept, left),
        ):
            yield Heading(f"{title} ({total:,})")
            rows = tuple(
                (
                    one.piece,
                    f"{one.count:,}",
                    "" if one.loss is None else f"{one.loss:.4f}",
                    one.reason,
                )
                for one in found
            )
            header = ("piece", "count", "loss", "why")
            yield Grid(header, rows, ("count", "loss"), omitted=total - len(found))
        if self.lattice is not None:
            yield from self.lattice.blocks()


TrainingStep: TypeAlias = (
    TrainingMerge | TrainingRemoval | TrainingThreshold | TrainingEstimate | TrainingPruning
)
_KINDS: Mapping[str, type[TrainingStep]] = {
    kind.__name__: kind
    for kind in (
        TrainingMerge,
        TrainingRemoval,
        TrainingThreshold,
        TrainingEstimate,
        TrainingPruning,
    )
}


def step_of(data: Data) -> TrainingStep:
    """Return a reported step.

    >>> data = {"kind": "TrainingPruning", "number": 3, "round": 1, "pieces": 9, "removed_count": 0}
    >>> step_of({**data, "removed": [], "kept": [], "lattice": None}).pieces
    9
    """
    return _KINDS[data["kind"]].of({name: data[name] for name in data if name != "kind"})


def shown_score(score: Score) -> str:
    """Return a score with up to six digits.

    >>> shown_score(Fraction(1, 36)), shown_score(20)
    ('0.0277778', '20')
    """
    return f"{score:,}" if isinstance(score, int) else f"{float(score):.6g}"
