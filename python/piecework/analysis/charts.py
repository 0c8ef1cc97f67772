"""The charts of a comparison, as Vega-Lite through Altair. Requires `piecework[charts]`.

Names of tokenizers, sources and words are values of the data, never names of fields or parts of expressions:
no name can change what a chart computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from piecework._internal.extras import import_extra
from piecework.analysis.chart_frame import ChartFrame, Row
from piecework.analysis.compare import Comparison
from piecework.analysis.measures import ComparedSource, Lengths
from piecework.analysis.metrics import ratio
from piecework.analysis.readable_tokens import escape_controls
from piecework.analysis.text_tables import range_text, share_between
from piecework.analysis.verdict import more_tokens, rank_text
from piecework.analysis.word_differences import WordBand

LONGEST = 15
"""Lengths above this limit share one mark."""
MOST_TOKENS = 5
"""Words of more tokens share one part of a bar."""
FEWEST_WORDS = 20
"""Words of a comparison that a page draws: of fewer, one word is more than 5 % of each distribution."""
_ROW_HEIGHT, _BAR_HEIGHT = 26, 14


class Chart(NamedTuple):
    """A chart with its title and a sentence about it.

    >>> Chart("measures", "Tokens per word", "Fewer is shorter.", None).title
    'Tokens per word'

    `chart` is an `altair.Chart`, or another chart of Altair.
    """

    name: str
    title: str
    about: str
    chart: Any


def charts(comparison: Comparison) -> list[Chart]:
    """Return the charts of a comparison, to show in a notebook, to change or to save.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> try:
    ...     names = [one.name for one in pw.analysis.charts(found)]
    ... except pw.errors.MissingExtraError:  # Altair is an optional dependency
    ...     names = ["measures"]
    >>> names[0]
    'measures'

    Each chart has a parameter `focus`: the index of the tokenizer that it emphasizes, -1 for all. Charts
    about sources or boundaries are left out if the comparison has none.

    Raises `MissingExtraError` if Altair is not installed.
    """
    return list(_Charts(comparison, is_on_page=False).all())


def page_charts(comparison: Comparison) -> list[Chart]:
    """Return the charts for a page that has one legend for all of them, each as wide as its place.

    A comparison of fewer than `FEWEST_WORDS` words has none.
    """
    if comparison.words < FEWEST_WORDS:
        import_extra("altair", "charts", "charts")
        return []
    return list(_Charts(comparison, is_on_page=True).all())


class _Charts:
    """Builds the charts of one comparison."""

    def __init__(self, comparison: Comparison, *, is_on_page: bool) -> None:
        self._alt = import_extra("altair", "charts", "charts")
        self._found = comparison
        self._names = [escape_controls(one.name) for one in comparison.measures]
        self._frame = ChartFrame(self._alt, self._names, is_on_page=is_on_page)

    def all(self) -> Iterator[Chart]:
        """Yield the charts in the order of the report."""
        found = self._found
        yield Chart(
            "measures",
            "Tokens per word",
            "Over the whole corpus, with a token for each byte of unknown words. The label compares with the "
            "tokenizer that needs the fewest tokens.",
            self._measures(),
        )
        if found.sources:
            yield Chart(
                "sources",
                "Where: by source",
                "Tokens of each source, compared with the tokenizer that needs the fewest for it.",
                self._sources(),
            )
        words = found.word_differences
        if words.words:
            yield Chart(
                "splits",
                "Words by number of tokens",
                "Share of the words of the text that stay one token, or become two, three and more.",
                self._splits(),
            )
            yield Chart(
                "frequency",
                "Where: frequent and rare words",
                "Tokens per word, by how often the word occurs in the corpus.",
                self._bands(words.by_frequency, "occurrences of the word"),
            )
            yield Chart(
                "length",
                "Where: short and long words",
                "Tokens per word, by the length of the word in characters.",
                self._bands(words.by_length, "characters of the word"),
            )
        if found.gold_words is not None:
            yield Chart(
                "boundaries",
                "Boundaries and morphemes",
                f"Agreement with the boundaries of {found.gold_words:,} segmented words.",
                self._boundaries(),
            )
        yield Chart(
            "token_lengths",
            "Lengths of the tokens of the text",
            "Share of the tokens by length in characters, unknown tokens left out.",
            self._lengths([one.token_lengths for one in found.measures]),
        )
        yield Chart(
            "entry_lengths",
            "Lengths of the vocabulary entries",
            "Share of the vocabulary by length in characters.",
            self._lengths([one.entry_lengths for one in found.measures]),
        )
        yield Chart(
            "frequencies",
            "Frequencies of the tokens",
            "Share of the tokens by frequency rank of the entry. Both axes are logarithmic.",
            self._frequencies(),
        )

    def _measures(self) -> Any:
        alt = self._alt
        ranks = {one.name: one for one in self._found.ranks}
        values = [ratio(one.charged_tokens, self._found.words) for one in self._found.measures]
        rows = [
            {
                "value": value,
                "tokens": one.tokens,
                "charged": one.charged_tokens,
                "more": ranks[one.name].more,
                "rank": rank_text(ranks[one.name]),
                "unknown": one.unknown_rate,
                "label": more_tokens(ranks[one.name]) if ranks[one.name].more else "fewest",
            }
            for value, one in zip(values, self._found.measures, strict=True)
        ]
        # Room for the labels to the right of the longest bar.
        most = max(values) or 1
        x = alt.X("value:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.6 * most]))
        y = alt.Y("tokenizer:N", title=None, sort=None, axis=alt.Axis(labelLimit=150))
        base = alt.Chart(self._frame.data(rows)).encode(x=x, y=y, opacity=self._frame.opacity())
        bars = base.mark_bar(cornerRadiusEnd=3, height=16).encode(
            color=self._frame.color(legend=False),
            tooltip=[
                *self._frame.name_tips(),
                alt.Tooltip("value:Q", title="tokens per word", format=".4f"),
                alt.Tooltip("tokens:Q", title="tokens", format=",d"),
                alt.Tooltip("charged:Q", title="charged tokens", format=",d"),
                alt.Tooltip("more:Q", title="more than the fewest", format=".2~%"),
                alt.Tooltip("rank:N", title="rank"),
                alt.Tooltip("unknown:Q", title="unknown tokens", format=".2~%"),
            ],
        )
        labels = base.mark_text(align="left", dx=6).encode(text="label:N")
        return self._frame.finished(alt.layer(bars, labels), _ROW_HEIGHT * len(self._names))

    def _sources(self) -> Any:
        alt = self._alt
        rows: list[Row] = []
        for source in sorted(self._found.sources, key=spread, reverse=True):
            fewest = min(one.charged_tokens for one in source.measures)
            rows += [
                {
                    "source": escape_controls(source.name),
                    "value": _more(one.charged_tokens, fewest),
                    "tokens": one.charged_tokens,
                    "fertility": one.fertility,
                    "chars": one.chars_per_token,
                    "unknown": one.unknown_rate,
                }
                for one in source.measures
            ]
        # The order is that of the rows: a list of names would become an expression.
        axis = alt.Axis(labelLimit=130, labelPadding=14)
        encoded = alt.Chart(self._frame.data(rows)).encode(
            y=alt.Y("source:N", title=None, sort=None, axis=axis)
        )
        title = "more tokens than the fewest"
        x = alt.X("value:Q", title=title, axis=alt.Axis(format="+.0%", tickCount=5))
        ranges = encoded.mark_rule(strokeWidth=2, opacity=0.25).encode(
            x=alt.X("min(value):Q", title=title), x2="max(value):Q"
        )
        dots = encoded.mark_circle(size=110).encode(
            x=x,
            color=self._frame.color(),
            opacity=self._frame.opacity(),
            tooltip=[
                alt.Tooltip("source:N", title="source"),
                *self._frame.name_tips(),
                alt.Tooltip("value:Q", title="more than the fewest", format=".1%"),
                alt.Tooltip("tokens:Q", title="charged tokens", format=",d"),
                alt.Tooltip("fertility:Q", title="tokens per word", format=".3f"),
                alt.Tooltip("chars:Q", title="characters per token", format=".2f"),
                alt.Tooltip("unknown:Q", title="unknown tokens", format=".2~%"),
            ],
        )
        return self._frame.finished(alt.layer(ranges, dots), _ROW_HEIGHT * len(self._found.sources))

    def _splits(self) -> Any:
        alt = self._alt
        kinds = [*map(str, range(1, MOST_TOKENS)), f"{MOST_TOKENS} or more"]
        rows = []
        for name, pairs in zip(
            self._names, self._found.word_differences.tokens_per_word, strict=True
        ):
            total = sum(many for _, many in pairs)
            for number, kind in enumerate(kinds, 1):
                many = sum(
                    count
                    for tokens, count in pairs
                    if tokens == number or (number == MOST_TOKENS and tokens > number)
                )
                rows.append(
                    {"name": name, "kind": kind, "order": number, "value": ratio(many, total)}
                    | {"words": many}
                )
        chart = (
            alt.Chart(self._frame.data(rows))
            .mark_bar(height=18)
            .encode(
                x=alt.X(
                    "value:Q", stack=True, title=None, axis=alt.Axis(format=".0%", tickCount=5)
                ).scale(domain=[0, 1]),
                y=alt.Y("tokenizer:N", title=None, sort=None, axis=alt.Axis(labelLimit=150)),
                color=alt.Color(
                    "kind:O",
                    sort=kinds,
                    scale=alt.Scale(range="ordinal"),
                    legend=alt.Legend(title="tokens", orient="top", symbolType="square"),
                ),
                order="order:Q",
                opacity=self._frame.opacity(),
                tooltip=[
                    *self._frame.name_tips(),
                    alt.Tooltip("kind:N", title="tokens"),
                    alt.Tooltip("value:Q", title="share of the words", format=".1%"),
                    alt.Tooltip("words:Q", title="words", format=",d"),
                ],
            )
        )
        return self._frame.finished(chart, _ROW_HEIGHT * len(self._names))

    def _bands(self, bands: Sequence[WordBand], title: str) -> Any:
        alt = self._alt
        labels = [range_text(band.low, band.high) for band in bands]
        rows = [
            {
                "name": name,
                "band": label,
                "value": ratio(band.tokens[at], band.occurrences),
                "words": band.words,
                "occurrences": band.occurrences,
            }
            for band, label in zip(bands, labels, strict=True)
            for at, name in enumerate(self._names)
        ]
        x = alt.X(
            "band:N", title=title, sort=labels, axis=alt.Axis(labelAngle=0, labelOverlap=True)
        )
        return self._frame.lines(
            rows,
            x,
            alt.Y("value:Q", title="tokens per word"),
            [
                alt.Tooltip("band:N", title=title),
                alt.Tooltip("value:Q", title="tokens per word", format=".3f"),
                alt.Tooltip("words:Q", title="distinct words", format=",d"),
                alt.Tooltip("occurrences:Q", title="words of the text", format=",d"),
            ],
        )

    def _lengths(self, lengths: Sequence[Lengths]) -> Any:
        alt = self._alt
        labels = [*map(str, range(1, LONGEST + 1)), f"{LONGEST + 1}+"]
        rows = []
        for name, counts in zip(self._names, lengths, strict=True):
            shares = [share_between(counts, number, number) for number in range(1, LONGEST + 1)]
            shares.append(share_between(counts, LONGEST + 1, None))
            rows += [
                {"name": name, "length": label, "value": share}
                for label, share in zip(labels, shares, strict=True)
            ]
        axis = alt.Axis(labelAngle=0, labelOverlap=True)
        return self._frame.lines(
            rows,
            alt.X("length:N", title="characters", sort=labels, axis=axis),
            alt.Y("value:Q", title="share", axis=alt.Axis(format=".0%")),
            [
                alt.Tooltip("length:N", title="characters"),
                alt.Tooltip("value:Q", title="share", format=".2%"),
            ],
        )

    def _frequencies(self) -> Any:
        alt = self._alt
        rows = [
            {"name": escape_controls(one.name), "rank": rank, "value": share}
            for one in self._found.measures
            for rank, share in one.rank_frequencies
        ]
        points = [point for one in self._found.measures for point in one.rank_frequencies]
        ranks = alt.Axis(format="~s", grid=False, values=_powers([rank for rank, _ in points]))
        shares = alt.Axis(format="~%", values=_powers([share for _, share in points]))
        log = alt.Scale(type="log")
        return self._frame.lines(
            rows,
            alt.X("rank:Q", title="frequency rank", scale=log, axis=ranks),
            alt.Y("value:Q", title="share of the tokens", scale=log, axis=shares),
            [
                alt.Tooltip("rank:Q", title="rank", format=",d"),
                alt.Tooltip("value:Q", title="share of the tokens", format=".4%"),
            ],
        )

    def _boundaries(self) -> Any:
        alt = self._alt
        kinds = ("precision", "recall", "f1")
        rows = [
            {
                "name": escape_controls(one.name),
                "kind": kind.replace("f1", "F1"),
                "value": share,
            }
            for one in self._found.measures
            for kind in kinds
            if (share := getattr(one.boundaries, kind, None)) is not None
        ]
        chart = (
            alt.Chart(self._frame.data(rows))
            .mark_bar(cornerRadiusEnd=2)
            .encode(
                x=alt.X("value:Q", title=None, axis=alt.Axis(format=".0%", tickCount=5)),
                y=alt.Y("kind:N", title=None, sort=["precision", "recall", "F1"]),
                yOffset=alt.YOffset("series:N", sort=None),
                color=self._frame.color(),
                opacity=self._frame.opacity(),
                tooltip=[
                    *self._frame.name_tips(),
                    alt.Tooltip("kind:N", title="measure"),
                    alt.Tooltip("value:Q", title="value", format=".2%"),
                ],
            )
        )
        return self._frame.finished(chart, 3 * (_BAR_HEIGHT * len(self._names) + 10))


def _powers(values: Iterable[float]) -> list[float]:
    """Return the powers of ten from below the smallest value to above the largest."""
    found = sorted(values) or [1]
    return [10.0**k for k in range(floor(log10(found[0])), ceil(log10(found[-1])) + 1)]


def spread(source: ComparedSource) -> float:
    """Return how many more charged tokens the last tokenizer needs for a source, as a share of the fewest."""
    tokens = [one.charged_tokens for one in source.measures]
    return _more(max(tokens), min(tokens))


def _more(tokens: int, fewest: int) -> float:
    """Return how many more tokens these are than the fewest, as a share of those."""
    return ratio(tokens - fewest, fewest)
