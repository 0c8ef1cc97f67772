"""The result of `choose`: figures of each size and learner, the verdict, tables and a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil, floor, log2
from typing import TypeAlias

from piecework._internal.validation import counted
from piecework.analysis.blocks import Block, Grid, Paragraph, PlainData
from piecework.analysis.charts import Chart
from piecework.analysis.displayed import Displayed
from piecework.analysis.drawing import Point, line_chart, linear_ticks
from piecework.analysis.metrics import FEWEST_TEXTS
from piecework.analysis.readable import escape_controls, joined, percent, percentage, with_margin
from piecework.analysis.round_trip import RoundTrip

MORE_TEXT = 10
"""A conclusion must hold for this many times the training text."""
_TREND = (1 - MORE_TEXT**-0.5) / (2**0.5 - 1)
"""The change from all of the training text to so much more, in changes from half of it to all of it.

It assumes that what a share lacks of its limit shrinks as the square root of the text grows.
"""

_TOKEN_COLUMNS = (
    *("entries", "learner", "tokens per word", "tokens per byte", "more tokens %"),
    "a thousand more save %",
)
_LOSS_COLUMNS = (
    *("tokenizer", "family", "entries", "tokens per byte"),
    *("characters %", "words %", "spaces %"),
)

Interval: TypeAlias = "tuple[float, float] | None"


@dataclass(frozen=True)
class Estimate(PlainData):
    """A share of tokens with its 95 % interval over documents, and the share with half of the training text.

    >>> Estimate(0.02, (0.018, 0.022), of_half=0.017).interval
    (0.018, 0.022)

    `interval` is None for fewer than 10 documents, and `of_half` if half of the text is not enough to learn.
    """

    _computed = ("range",)

    share: float
    interval: Interval
    of_half: float | None

    @property
    def range(self) -> Interval:
        """The interval, extended by the trend: what ten times the training text can make of the share.

        >>> low, high = Estimate(0.02, (0.018, 0.022), of_half=0.017).range
        >>> round(low, 3), round(high, 3)
        (0.018, 0.027)

        None if one of them is unknown. The change from half of the training text to all of it is taken to
        shrink as the square root of the text grows; so ten times the text adds 1.65 times that change.
        """
        if self.interval is None or self.of_half is None:
            return None
        trend = _TREND * (self.share - self.of_half)
        return self.interval[0] + min(trend, 0), self.interval[1] + max(trend, 0)


@dataclass(frozen=True)
class Candidate(PlainData):
    """One learner with one vocabulary size, measured on the documents held out.

    >>> import piecework as pw
    >>> texts = [f"the cat sat on mat {number}, the dogs sat on logs" for number in range(300)]
    >>> found = pw.analysis.choose(texts, [60, 80], preset="bert-cased", learners=["frequency"])
    >>> [(one.vocab_size, one.learner, one.entries) for one in found.candidates]
    [(60, 'frequency', 60), (80, 'frequency', 80)]

    - `entries` is the size of the learned vocabulary, which can be below `vocab_size`.
    - `tokens_per_word` and `tokens_per_byte` count an unknown word as one token for each of its bytes, and a
      byte of the original text. Words are runs without whitespace.
    - `more` is how many more tokens it needs than the learner with the fewest at this size.
    - `gain` is the share of the tokens that a thousand entries save on the way to the next size; None at the
      largest size, and if the next size has no more entries.
    - `unknown_share` is the share of the bytes that unknown tokens cover. `single_token_rate` is the share of
      the distinct words that are one token.
    - `rare_share` is the share of the entries, special tokens excluded, that the training text uses fewer
      than `min_uses` times.
    - `embedding_share` is entries times width, divided by the parameters of the model; None without these.
    - `parity` is the most tokens per byte of a source divided by the fewest; None without several sources.
    """

    learner: str
    vocab_size: int
    entries: int
    tokens: int
    tokens_per_word: float
    word_interval: Interval
    tokens_per_byte: float
    byte_interval: Interval
    more: Estimate
    gain: Estimate | None
    unknown_share: float
    single_token_rate: float
    rare_share: float
    embedding_share: float | None
    parity: float | None


@dataclass(frozen=True)
class Loss(PlainData):
    """Tokens per byte of the original text of one tokenizer, and what the first 1,000 documents lose.

    >>> lossy = RoundTrip(texts=1, chars=8, lost_chars=2)
    >>> Loss("a.json", "WordPiece", 100, 0.25, None, lossy).round_trip.lost_share
    0.25
    """

    name: str
    family: str
    entries: int
    tokens_per_byte: float
    interval: Interval
    round_trip: RoundTrip


@dataclass(frozen=True)
class Choice(Displayed):
    """Sizes and learners compared on documents that no learner has seen; `choose` makes it.

    >>> import piecework as pw
    >>> texts = [f"the cat sat on mat {number}, the dogs sat on logs" for number in range(300)]
    >>> found = pw.analysis.choose(texts, [60, 80], preset="bert-cased", learners=["frequency"])
    >>> found.verdict
    'Only frequency was measured; ...'
    >>> found.documents, found.held_out, found.pays_to, found.stops_at
    (300, 30, 80, None)

    `candidates` are ordered by size, then as the learners were given. `losses` has the pipeline of the
    candidates with the fewest tokens at the largest size, then the other tokenizers, which are not ranked.
    `str` returns the tables as text.
    """

    _computed = ("verdict", "fewest", "pays_to", "stops_at")

    model: str
    preset: str
    sources: tuple[str, ...]
    documents: int
    held_out: int
    words: int
    bytes: int
    replacements: int
    min_uses: int
    least_gain: float
    candidates: tuple[Candidate, ...]
    losses: tuple[Loss, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes, in order."""
        return tuple(dict.fromkeys(one.vocab_size for one in self.candidates))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners, in the order given."""
        return tuple(dict.fromkeys(one.learner for one in self.candidates))

    # ---- the verdict

    @property
    def fewest(self) -> tuple[tuple[str, ...], ...]:
        """For each size, the learner with the fewest tokens, and those that cannot be told from it."""
        return tuple(
            tuple(one.learner for one in self._of_size(size) if not _is_above(one.more, 0.0))
            for size in self.sizes
        )

    @property
    def pays_to(self) -> int:
        """The largest size up to which a thousand more entries save more than `least_gain`, beyond doubt."""
        pays = self._pays()
        return self.sizes[pays.index(next(one for one in pays if one is not True))]

    @property
    def stops_at(self) -> int | None:
        """The first size from which a thousand more entries save less than `least_gain`, beyond doubt.

        None if no size is known to be one. Sizes between `pays_to` and `stops_at` cannot be told.
        """
        pays = self._pays()
        told = max((at + 1 for at, one in enumerate(pays) if one), default=0)
        return self.sizes[pays.index(False, told)] if False in pays[told:] else None

    def _pays(self) -> list[bool | None]:
        """Return whether the step after each size pays, None if it cannot be told; the last has no step."""
        found: list[bool | None] = []
        for (size, _), (small, large) in zip(
            pairwise(self.sizes), pairwise(self.fewest), strict=True
        ):
            gains = [one.gain for one in self._of_size(size) if one.learner in {*small, *large}]
            above = [gain is not None and _is_above(gain, self.least_gain) for gain in gains]
            below = [gain is not None and _is_below(gain, self.least_gain) for gain in gains]
            found.append(True if all(above) else False if all(below) else None)
        return [*found, None]

    def _of_size(self, size: int) -> list[Candidate]:
        return [one for one in self.candidates if one.vocab_size == size]

    @property
    def verdict(self) -> str:
        """Which learner takes the fewest tokens, where more entries stop paying, and what cannot be told."""
        if self.held_out < FEWEST_TEXTS:
            found = counted(self.held_out, "held-out document")
            return (
                f"Not measured: {found} give no interval, so nothing can be told apart; hold out "
                f"{FEWEST_TEXTS} or more."
            )
        return f"{self._who()}; {self._where()}."

    def _who(self) -> str:
        if len(self.learners) == 1:
            return f"Only {self.learners[0]} was measured"
        groups = groupby(zip(self.sizes, self.fewest, strict=True), key=lambda pair: pair[1])
        phrases = []
        for names, pairs in groups:
            sizes = [f"{size:,}" for size, _ in pairs]
            at = "every size" if len(sizes) == len(self.sizes) else f"{joined(sizes)} entries"
            if len(names) == 1:
                phrases.append(f"{names[0]} takes the fewest tokens at {at}")
            else:
                phrases.append(f"{joined(names)} cannot be told apart at {at}")
        return "; ".join(phrases)

    def _where(self) -> str:
        *steps, _ = self._pays()
        largest, least = f"{self.sizes[-1]:,}", percent(self.least_gain)
        limit = f"{least} of the tokens for each thousand entries"
        if not steps:
            return "with one size, what more entries save is not measured"
        if all(steps):
            return (
                f"more entries pay up to {largest}, the largest size: they save more than {limit}"
            )
        if self.stops_at == self.pays_to:
            return f"more than {self.pays_to:,} entries stop paying: they save less than {limit}"
        last = largest if self.stops_at is None else f"{self.stops_at:,}"
        return (
            f"whether more than {self.pays_to:,} entries save {limit} cannot be told up to {last}"
        )

    # ---- tables and chart

    def blocks(self) -> Iterator[Block]:
        """Yield the headline, the verdict and the tables."""
        yield Paragraph(self._headline())
        yield Paragraph(self.verdict)
        yield self._token_table()
        yield self._entry_table()
        yield self._loss_table()
        yield from map(Paragraph, self._legend())

    def _headline(self) -> str:
        parts = [f"{self.model} with preset {self.preset}"]
        parts.append(f"{counted(self.documents, 'document')}, {self.held_out:,} of them held out")
        parts.append(f"these have {counted(self.words, 'word')} and {counted(self.bytes, 'byte')}")
        if self.replacements:
            parts.append(f"{self.replacements:,} invalid UTF-8 sequences replaced")
        return "; ".join(parts)

    def _token_table(self) -> Grid:
        rows = tuple(
            (
                f"{one.vocab_size:,}",
                one.learner,
                _figure(one.tokens_per_word, one.word_interval),
                _figure(one.tokens_per_byte, one.byte_interval),
                with_margin(one.more.share, one.more.interval) if one.more.share else "-",
                "-" if one.gain is None else with_margin(one.gain.share, one.gain.interval),
            )
            for one in self.candidates
        )
        fewest = dict(zip(self.sizes, self.fewest, strict=True))
        marked = (
            at
            for at, one in enumerate(self.candidates)
            if len(fewest[one.vocab_size]) == 1 and one.learner in fewest[one.vocab_size]
        )
        return _grid(
            _TOKEN_COLUMNS, rows, "tokens", tuple(marked) if len(self.learners) > 1 else ()
        )

    def _entry_table(self) -> Grid:
        rare = f"used under {self.min_uses:,} times %"
        header = ["entries", "learner", "learned", "unknown %", "one-token words %", rare]
        first = self.candidates[0]
        header += [] if first.embedding_share is None else ["embedding %"]
        header += [] if first.parity is None else ["parity"]
        return _grid(header, tuple(map(self._entry_row, self.candidates)), "entries")

    def _entry_row(self, one: Candidate) -> tuple[str, ...]:
        row = [f"{one.vocab_size:,}", one.learner, f"{one.entries:,}"]
        row += [percentage(one.unknown_share, 3), percentage(one.single_token_rate)]
        row.append(percentage(one.rare_share))
        row += [] if one.embedding_share is None else [percentage(one.embedding_share)]
        row += [] if one.parity is None else [f"{one.parity:.3f}"]
        return tuple(row)

    def _loss_table(self) -> Grid:
        rows = tuple(
            (
                escape_controls(one.name),
                one.family,
                f"{one.entries:,}",
                _figure(one.tokens_per_byte, one.interval),
                percentage(one.round_trip.lost_share, 3),
                percentage(one.round_trip.changed_share),
                percentage(one.round_trip.spacing_share),
            )
            for one in self.losses
        )
        return _grid(_LOSS_COLUMNS, rows, "not ranked: characters lost, words and spaces changed")

    def _legend(self) -> Iterator[str]:
        yield (
            "An unknown word counts one token for each byte. ± is the 95 % interval over the held-out "
            f"documents, the same documents for all rows; fewer than {FEWEST_TEXTS} give none."
        )
        yield (
            "The verdict needs a difference outside of the interval that also stays there with "
            f"{MORE_TEXT} times the training text, as the trend from half of it to all of it says."
        )
        if len(self.sources) > 1:
            yield (
                "parity: the most tokens per byte of a source divided by the fewest. Sources are different "
                "texts, so compare rows only; piecework compare measures parity on translations."
            )

    @property
    def chart(self) -> Chart:
        """Tokens per word by size, a line for each learner; a notebook shows the picture.

        >>> import piecework as pw
        >>> texts = [f"the cat sat on mat {number}, the dogs sat on logs" for number in range(300)]
        >>> found = pw.analysis.choose(texts, [60, 80], preset="bert-cased", learners=["frequency"])
        >>> found.chart.to_svg()[:4]
        '<svg'
        """
        values = [one.tokens_per_word for one in self.candidates]
        ticks = _ticks_around(min(values), max(values))
        first, last = log2(self.sizes[0]), log2(self.sizes[-1])

        def x(size: int) -> float:
            return 0.5 if first == last else 0.04 + 0.92 * (log2(size) - first) / (last - first)

        def y(value: float) -> float:
            return (value - ticks[0]) / (ticks[-1] - ticks[0])

        lines = [
            [
                Point(x(one.vocab_size), y(one.tokens_per_word), _tip(one))
                for one in self.candidates
                if one.learner == learner
            ]
            for learner in self.learners
        ]
        drawing = line_chart(
            lines,
            [(x(size), f"{size:,}") for size in self.sizes],
            [(y(value), f"{value:.4g}") for value in ticks],
            "entries",
            "tokens per word",
        )
        title = "Tokens per word by vocabulary size"
        return Chart("sizes", title, self.verdict, drawing, self.learners)


def _is_above(estimate: Estimate, limit: float) -> bool:
    return estimate.range is not None and estimate.range[0] > limit


def _is_below(estimate: Estimate, limit: float) -> bool:
    return estimate.range is not None and estimate.range[1] < limit


def _grid(
    header: Sequence[str], rows: tuple[tuple[str, ...], ...], title: str, marked: Sequence[int] = ()
) -> Grid:
    """Return a table whose columns are numbers, except the columns of names."""
    numbers = tuple(name for name in header if name not in ("learner", "tokenizer", "family"))
    return Grid(tuple(header), rows, numbers=numbers, marked=tuple(marked), title=title)


def _figure(value: float, interval: Interval) -> str:
    """Return a figure with half the width of its interval, both with four decimals."""
    return f"{value:.4f}" + (f" ±{(interval[1] - interval[0]) / 2:.4f}" if interval else "")


def _tip(one: Candidate) -> dict[str, str]:
    return {
        "learner": one.learner,
        "entries": f"{one.entries:,}",
        "tokens per word": _figure(one.tokens_per_word, one.word_interval),
        "more than the fewest": percent(one.more.share),
    }


def _ticks_around(least: float, most: float) -> list[float]:
    """Return round numbers from one that is not above `least` to one that is not below `most`.

    >>> _ticks_around(1.31, 1.68)
    [1.3, 1.4, 1.5, 1.6, 1.7]
    """
    step = linear_ticks(most - least or most)[1]
    low, high = floor(least / step), ceil(most / step)
    return [round(at * step, 9) for at in range(low, max(high, low + 1) + 1)]
