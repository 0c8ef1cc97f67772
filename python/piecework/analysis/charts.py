"""The charts of a comparison, drawn as SVG: values with their names on hover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from piecework._internal.validation import PathLike, check_type, path_text
from piecework.analysis.comparison import (
    ComparedSource,
    Comparison,
    Lengths,
    more_tokens,
    range_text,
    rank_text,
    share_between,
)
from piecework.analysis.drawing import (
    Element,
    Mark,
    Point,
    Tip,
    band_ticks,
    line_chart,
    linear_ticks,
    middle_of,
    picture,
    row_chart,
    series_color,
)
from piecework.analysis.metrics import ratio
from piecework.analysis.readable import escape_controls, percent
from piecework.analysis.word_differences import WordBand
from piecework.errors import FileError
from piecework.io.atomic_files import atomic_stream

LONGEST = 15
"""Lengths above this limit share one mark."""
MOST_TOKENS = 5
"""Words of more tokens share one part of a bar."""


@dataclass(frozen=True)
class Chart:
    """A chart with its title and a sentence about it.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> [first, *_] = pw.analysis.charts(pw.analysis.compare({"characters": tok}, ["abba", "abc"]))
    >>> first.name, first.title, first.to_svg()[:4]
    ('measures', 'Tokens per word', '<svg')

    `names` are the tokenizers of the legend. A notebook shows the picture.
    """

    name: str
    title: str
    about: str
    drawing: Element
    names: tuple[str, ...]

    def to_svg(self) -> str:
        """Return the chart as an SVG file, with a legend."""
        legend = [(name, series_color(at)) for at, name in enumerate(self.names)]
        return picture(self.drawing, legend, self.title)

    def _repr_svg_(self) -> str:
        return self.to_svg()


def charts(comparison: Comparison) -> list[Chart]:
    """Return the charts of a comparison, to show in a notebook or to save.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> [one.name for one in pw.analysis.charts(found)][:2]
    ['measures', 'splits']

    The chart of sources is left out if the comparison has none.
    """
    check_type("comparison", comparison, Comparison, "a Comparison")
    return list(_Charts(comparison).all())


def save_plots(comparison: Comparison, directory: PathLike) -> list[Path]:
    """Write the charts of a comparison to a directory as SVG files and return their paths.

    >>> import tempfile
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> [path.name for path in save_plots(found, tempfile.mkdtemp())][:2]
    ['measures.svg', 'splits.svg']

    Each file has the name of a chart: `measures.svg`, `splits.svg`, `frequency.svg`, `length.svg`,
    `token_lengths.svg` and `entry_lengths.svg`, with named sources also `sources.svg`. The directory is
    created if it does not exist.

    Raises `FileError`.
    """
    found = charts(comparison)
    target = Path(path_text(directory, "directory"))
    with FileError.while_writing(target):
        target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{one.name}.svg" for one in found]
    for path, one in zip(paths, found, strict=True):
        with atomic_stream(str(path)) as stream:
            stream.write(one.to_svg().encode())
    return paths


class _Charts:
    """Draws the charts of one comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._found = comparison
        self._names = tuple(escape_controls(one.name) for one in comparison.measures)

    def all(self) -> Iterator[Chart]:
        """Yield the charts in the order of the report."""
        found, words = self._found, self._found.word_differences
        yield self._chart(
            "measures",
            "Tokens per word",
            "Over the whole corpus, with a token for each byte of unknown words. The label compares with the "
            "tokenizer that needs the fewest tokens.",
            self._measures(),
        )
        if found.sources:
            yield self._chart(
                "sources",
                "Where: by source",
                "Tokens of each source, compared with the tokenizer that needs the fewest for it.",
                self._sources(),
            )
        if words.words:
            yield self._chart(
                "splits",
                "Words by number of tokens",
                "Share of the words of the text that stay one token, or become two, three and more.",
                self._splits(),
            )
            yield self._chart(
                "frequency",
                "Where: frequent and rare words",
                "Tokens per word, by how often the word occurs in the corpus.",
                self._bands(words.by_frequency, "occurrences of the word"),
            )
            yield self._chart(
                "length",
                "Where: short and long words",
                "Tokens per word, by the length of the word in characters.",
                self._bands(words.by_length, "characters of the word"),
            )
        yield self._chart(
            "token_lengths",
            "Lengths of the tokens of the text",
            "Share of the tokens by length in characters, unknown tokens left out.",
            self._lengths([one.token_lengths for one in found.measures]),
        )
        yield self._chart(
            "entry_lengths",
            "Lengths of the vocabulary entries",
            "Share of the vocabulary by length in characters.",
            self._lengths([one.entry_lengths for one in found.measures]),
        )

    def _chart(self, name: str, title: str, about: str, drawing: Element) -> Chart:
        # The bars of these have the names beside them.
        names = () if name in ("measures", "splits") else self._names
        return Chart(name, title, about, drawing, names)

    def _measures(self) -> Element:
        ranks = {one.name: one for one in self._found.ranks}
        rows, most = [], 0.0
        for at, (name, one) in enumerate(zip(self._names, self._found.measures, strict=True)):
            rank, value = ranks[one.name], ratio(one.charged_tokens, self._found.words)
            most = max(most, value)
            tip = {
                "tokenizer": name,
                "tokens per word": f"{value:.4f}",
                "tokens": f"{one.tokens:,}",
                "charged tokens": f"{one.charged_tokens:,}",
                "more than the fewest": percent(rank.more),
                "rank": rank_text(rank),
                "unknown tokens": percent(one.unknown_rate),
            }
            label = more_tokens(rank) if rank.more else "fewest"
            rows.append((name, [Mark("bar", 0, value, series_color(at), at, tip=tip, label=label)]))
        # Room for the labels to the right of the longest bar.
        return row_chart(rows, 1.6 * most or 1)

    def _sources(self) -> Element:
        rows, widest = [], 0.0
        for source in sorted(self._found.sources, key=spread, reverse=True):
            fewest = min(one.charged_tokens for one in source.measures)
            name = escape_controls(source.name)
            dots = [
                Mark("dot", 0, _more(one.charged_tokens, fewest), series_color(at), at, tip=tip)
                for at, one in enumerate(source.measures)
                for tip in [
                    {
                        "source": name,
                        "tokenizer": self._names[at],
                        "more than the fewest": percent(_more(one.charged_tokens, fewest)),
                        "charged tokens": f"{one.charged_tokens:,}",
                        "tokens per word": f"{one.fertility:.3f}",
                        "characters per token": f"{one.chars_per_token:.2f}",
                        "unknown tokens": percent(one.unknown_rate),
                    }
                ]
            ]
            rows.append((name, [Mark("range", 0, spread(source), ""), *dots]))
            widest = max(widest, spread(source))
        return row_chart(rows, widest or 1, "+{:.0%}".format, "more tokens than the fewest")

    def _splits(self) -> Element:
        kinds = [*map(str, range(1, MOST_TOKENS)), f"{MOST_TOKENS} or more"]
        rows = []
        numbers = self._found.word_differences.tokens_per_word
        for at, (name, pairs) in enumerate(zip(self._names, numbers, strict=True)):
            total, start, bars = sum(many for _, many in pairs), 0.0, []
            for number, kind in enumerate(kinds, 1):
                many = sum(count for tokens, count in pairs if min(tokens, MOST_TOKENS) == number)
                tip = {"tokenizer": name, "tokens": kind, "words": f"{many:,}"}
                tip["share of the words"] = percent(ratio(many, total))
                end = start + ratio(many, total)
                bars.append(Mark("bar", start, end, f"o{number}", at, tip=tip))
                start = end
            rows.append((name, bars))
        legend = [(kind, f"o{number}") for number, kind in enumerate(kinds, 1)]
        return row_chart(rows, 1, "{:.0%}".format, legend=legend)

    def _bands(self, bands: Sequence[WordBand], title: str) -> Element:
        labels = [range_text(band.low, band.high) for band in bands]
        values = [
            [ratio(band.tokens[at], band.occurrences) for band in bands]
            for at in range(len(self._names))
        ]
        tips: list[Tip] = [
            {
                title: label,
                "distinct words": f"{band.words:,}",
                "words of the text": f"{band.occurrences:,}",
            }
            for band, label in zip(bands, labels, strict=True)
        ]
        return self._lines(values, labels, tips, title, "tokens per word", "{:g}", "{:.3f}")

    def _lengths(self, lengths: Sequence[Lengths]) -> Element:
        labels = [*map(str, range(1, LONGEST + 1)), f"{LONGEST + 1}+"]
        limits = [(number, number) for number in range(1, LONGEST + 1)] + [(LONGEST + 1, None)]
        values = [[share_between(counts, *limit) for limit in limits] for counts in lengths]
        tips: list[Tip] = [{"characters": label} for label in labels]
        return self._lines(values, labels, tips, "characters", "share", "{:.0%}", "{:.2%}")

    def _lines(
        self,
        values: Sequence[Sequence[float]],
        labels: Sequence[str],
        tips: Sequence[Tip],
        x_title: str,
        y_title: str,
        axis: str,
        figure: str,
    ) -> Element:
        """Return a chart with a line of values for each tokenizer over bands with labels."""
        most = max((value for line in values for value in line), default=0) or 1
        *_, top = ticks = linear_ticks(most)
        lines = [
            [
                Point(
                    middle_of(at, len(labels)),
                    value / top,
                    {"tokenizer": name, y_title: figure.format(value), **tip},
                )
                for at, (value, tip) in enumerate(zip(line, tips, strict=True))
            ]
            for name, line in zip(self._names, values, strict=True)
        ]
        y_ticks = [(value / top, axis.format(value)) for value in ticks]
        return line_chart(lines, band_ticks(labels), y_ticks, x_title, y_title)


def spread(source: ComparedSource) -> float:
    """Return how many more charged tokens the last tokenizer needs for a source, as a share of the fewest."""
    tokens = [one.charged_tokens for one in source.measures]
    return _more(max(tokens), min(tokens))


def _more(tokens: int, fewest: int) -> float:
    """Return how many more tokens these are than the fewest, as a share of the fewest."""
    return ratio(tokens - fewest, fewest)
