"""The report of a comparison: what it says, as plain data, and one self-contained HTML page.

The template is `page_files/report.html`. The page has its style, its script and no address of anything else;
its policy allows both by their checksums, and neither `eval` nor requests.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from piecework._internal.extras import import_extra
from piecework._internal.validation import check_type
from piecework.analysis.blocks import plain
from piecework.analysis.charts import Chart, charts, spread
from piecework.analysis.comparison import (
    Comparison,
    Measures,
    SourceMeasures,
    group_figures,
    headline,
    more_tokens,
    rank_text,
    set_names,
    tables,
    verdict,
)
from piecework.analysis.drawing import PAGE_FILES, SERIES_COLORS
from piecework.analysis.metrics import ratio
from piecework.analysis.readable import escape_controls, percent, show_whitespace
from piecework.analysis.word_differences import DifferingWord, WordBand, WordGroup, pieces

FEWEST_WORDS = 20
"""Words of a comparison that a page draws: of fewer, one word is more than 5 % of each distribution."""
_PIECE_COLORS = 5
_WORDS_OPEN, _WORDS_OF_GROUP, _GROUPS_OPEN = 18, 3, 6
_FIRST_CHARTS = ("measures", "sources")


def html_report(comparison: Comparison) -> str:
    """Return an HTML page with the findings, charts, words and tables of a comparison.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> try:
    ...     page = html_report(found)
    ... except pw.errors.MissingExtraError:  # Jinja is an optional dependency
    ...     page = "<td>character</td>"
    >>> "<td>character</td>" in page
    True

    The page needs no network. Without scripts it shows everything; a script shows figures in a box and
    emphasizes one tokenizer in all charts.

    Raises `MissingExtraError` if Jinja is not installed.
    """
    check_type("comparison", comparison, Comparison, "a Comparison")
    jinja2 = check_report()
    content = report_content(comparison, page_charts(comparison))
    groups = content["groups"]
    shown = max(_WORDS_OPEN // (len(groups) or 1), _WORDS_OF_GROUP)
    opened = sum(len(group["most"][:shown]) for group in groups[:_GROUPS_OPEN])
    styles = ("theme.css", "chart.css", "report.css")
    environment = jinja2.Environment(
        autoescape=True,
        finalize=lambda value: escape_controls(value) if type(value) is str else value,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.from_string(_page_file("report.html"))
    page: str = template.render(
        content,
        checksum=_checksum,
        colors=SERIES_COLORS,
        first_charts=_FIRST_CHARTS,
        groups_open=_GROUPS_OPEN,
        more=sum(len(group["most"]) for group in groups) - opened,
        piece_colors=_PIECE_COLORS,
        script=f"{_page_file('charts.js')}\nstart(document.body);\n",
        shown=shown,
        style="".join(map(_page_file, styles)),
    )
    return page


def check_report() -> Any:
    """Return Jinja, which the page needs; raise `MissingExtraError` if it is not installed."""
    return import_extra("jinja2", "report", "html")


def page_charts(comparison: Comparison) -> list[Chart]:
    """Return the charts of a page; a comparison of fewer than `FEWEST_WORDS` words has none."""
    return [] if comparison.words < FEWEST_WORDS else charts(comparison)


def _page_file(name: str) -> str:
    return (PAGE_FILES / name).read_text(encoding="utf-8")


def _checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


# ---- what the page says


def report_content(comparison: Comparison, charts: Iterable[Chart]) -> dict[str, Any]:
    """Return the parts of a report as JSON data.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = report_content(pw.analysis.compare({"characters": tok}, ["abba", "ab"]), [])
    >>> found["headline"], found["tokenizers"][0]["fertility"]
    ('2 texts, 2 words, 6 characters, 6 bytes', '3.000')

    - `headline` and `findings` are sentences.
    - `tokenizers` have the figures of the cards, `tables` the strings of all tables.
    - `groups` are the words that are split differently, by which tokenizers agree. For each set of
      tokenizers that split a word alike: its name, the indices of the tokenizers, the number of tokens, and
      the pieces, each with its text, its number of tokens and whether one of them is unknown.
    - `charts` have `name`, `title`, `about` and a `drawing`; `missing` says why there are none.
    """
    return {
        "headline": headline(comparison),
        "findings": list(findings(comparison)),
        "tokenizers": [_card(one, comparison) for one in comparison.measures],
        "charts": [
            {"name": one.name, "title": one.title, "about": one.about, "drawing": one.drawing}
            for one in charts
        ],
        "missing": None
        if comparison.words >= FEWEST_WORDS
        else f"Charts are drawn for {FEWEST_WORDS} words or more; this text has {comparison.words:,}.",
        "groups": [_group(one, comparison) for one in comparison.word_differences.groups],
        "tables": plain(tables(comparison)),
    }


def findings(comparison: Comparison) -> Iterator[str]:
    """Yield sentences: what differs, by how much, and where.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> list(findings(pw.analysis.compare({"characters": tok}, ["abba", "ab"])))
    ['characters needs 6 tokens: 3.000 per word.', 'No case, accents or characters are lost in the texts.']
    """
    yield from verdict(comparison)
    if len(comparison.measures) > 1:
        yield from _differing_words(comparison)
        yield from _where(comparison)
    yield from _costs(comparison)


def _differing_words(comparison: Comparison) -> Iterator[str]:
    words = comparison.word_differences
    if not words.words:
        return
    if not words.differing_words:
        yield "All words are split alike."
        return
    share = ratio(words.differing_occurrences, words.occurrences)
    distinct = f"{words.differing_words:,} of {words.words:,} distinct words"
    yield f"{percent(share)} of the words of the text are not split alike by all: {distinct}."


def _where(comparison: Comparison) -> Iterator[str]:
    """Yield where the most of the difference between the fewest and the most tokens is."""
    if len(comparison.sources) > 1:
        source = max(comparison.sources, key=spread)
        by_tokens = sorted(source.measures, key=lambda one: one.charged_tokens)
        if spread(source):
            yield (
                f"The difference is largest in {escape_controls(source.name)}: "
                f"{_name(by_tokens[-1])} needs {percent(spread(source))} more tokens than "
                f"{_name(by_tokens[0])}."
            )
    names = [one.name for one in comparison.measures]
    least, most = (names.index(comparison.ranks[at].name) for at in (0, -1))

    def extra(band: WordBand) -> int:
        return band.tokens[most] - band.tokens[least]

    words = comparison.word_differences
    total = sum(max(0, extra(band)) for band in words.by_frequency)
    rare = [band for band in words.by_frequency if band.high is not None and band.high < 10]
    if total and rare:
        share = sum(max(0, extra(band)) for band in rare) / total
        occurrences = sum(band.occurrences for band in rare) / words.occurrences
        yield (
            f"Words that occur less than 10 times are {percent(occurrences)} of the text and "
            f"{percent(share)} of the additional tokens of {escape_controls(names[most])}."
        )


def _costs(comparison: Comparison) -> Iterator[str]:
    """Yield how evenly tokens are spread over the sources, if these can be translations of each other."""
    names = [escape_controls(source.name) for source in comparison.sources]
    for one in comparison.token_costs:
        if one.gini:
            cheapest = names[one.premiums.index(min(one.premiums))]
            costliest = names[one.premiums.index(max(one.premiums))]
            yield (
                f"If the sources are translations, {costliest} costs {one.parity:.2f} times the tokens of "
                f"{cheapest} with {escape_controls(one.name)} (Gini {one.gini:.3f})."
            )


def _card(one: Measures, comparison: Comparison) -> dict[str, Any]:
    [rank] = [rank for rank in comparison.ranks if rank.name == one.name]
    unknown = f"{one.unknown_tokens:,} ({percent(one.unknown_rate)})" if one.unknown_tokens else "0"
    figures = [
        ["vocabulary", f"{one.vocab_size:,}"],
        ["tokens", f"{one.tokens:,}"],
        ["characters per token", f"{one.chars_per_token:.2f}"],
        ["unknown", unknown],
    ]
    if one.unknown_bytes:
        figures.append(["charged tokens", f"{one.charged_tokens:,}"])
    if len(comparison.measures) > 1:
        figures.append(["rank", rank_text(rank)])
    return {
        "name": escape_controls(one.name),
        "family": one.family,
        "fertility": f"{ratio(one.charged_tokens, comparison.words):.3f}",
        "comparison": more_tokens(rank) if rank.more else "fewest tokens",
        "is_fewest": rank.charged_tokens == comparison.ranks[0].charged_tokens,
        "figures": figures + _losses(one),
    }


def _losses(one: Measures) -> list[list[str]]:
    """Return the figures of what the round trip of the first texts changes, if it does."""
    found = one.round_trip
    losses = [
        [f"words that lose {kind}", percent(ratio(words, found.words))]
        for kind, words in found.changes.items()
    ]
    if found.lost_chars:
        losses.append(["characters lost", f"{found.lost_chars:,} ({percent(found.lost_share)})"])
    return losses


def _group(group: WordGroup, comparison: Comparison) -> dict[str, Any]:
    names = set_names(group, comparison)
    return {
        "title": " / ".join(map(escape_controls, names)),
        "figures": group_figures(group, comparison),
        "most": [_word(word, group, names) for word in group.most],
    }


def _word(word: DifferingWord, group: WordGroup, names: list[str]) -> dict[str, Any]:
    return {
        "word": show_whitespace(word.word),
        "count": word.count,
        "sides": [
            {
                "name": escape_controls(name),
                "tokenizers": list(some),
                "tokens": len(word.tokens[some[0]]),
                "pieces": list(map(list, pieces(word.word, word.tokens[some[0]]))),
            }
            for name, some in zip(names, group.alike, strict=True)
        ],
    }


def _name(one: Measures | SourceMeasures) -> str:
    return escape_controls(one.name)
