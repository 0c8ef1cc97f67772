"""What a report of a comparison says, as plain data, for a page of HTML or one that scripts build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from piecework.analysis.charts import FEWEST_WORDS, Chart, spread
from piecework.analysis.compare import Comparison
from piecework.analysis.measures import ComparedSource, Measures, SourceMeasures
from piecework.analysis.metrics import ratio
from piecework.analysis.readable_tokens import escape_controls, show_whitespace
from piecework.analysis.text_tables import headline, tables
from piecework.analysis.word_differences import DifferingWord, WordBand, pieces

_PLENTY = 0.001


def report_content(comparison: Comparison, charts: Iterable[Chart]) -> dict[str, Any]:
    """Return the parts of a report as JSON data.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = report_content(pw.analysis.compare({"characters": tok}, ["abba", "ab"]), [])
    >>> found["headline"], found["tokenizers"][0]["fertility"]
    ('2 texts, 2 words, 6 characters, 6 bytes', '3.000')

    - `headline` and `findings` are sentences.
    - `tokenizers` have the figures of the cards, `tables` the strings of all tables.
    - `words` are those that are split differently: for each tokenizer its number of tokens and its pieces,
      each with its text, its number of tokens and whether one of them is unknown.
    - `charts` have `name`, `title`, `about` and a Vega-Lite `spec`; `missing` says why there are none.
    """
    return {
        "headline": headline(comparison),
        "findings": list(findings(comparison)),
        "tokenizers": [_card(one, comparison) for one in comparison.measures],
        "charts": [
            {"name": one.name, "title": one.title, "about": one.about, "spec": one.chart.to_dict()}
            for one in charts
        ],
        "missing": _why_no_charts(comparison),
        "words": [_word(one) for one in comparison.word_differences.most],
        "tables": [
            {
                "title": table.title,
                "header": list(table.header),
                "rows": list(map(list, table.rows)),
            }
            for table in tables(comparison)
        ],
    }


def _why_no_charts(comparison: Comparison) -> str | None:
    if comparison.words >= FEWEST_WORDS:
        return None
    return f"Charts are drawn for {FEWEST_WORDS} words or more; this text has {comparison.words:,}."


def findings(comparison: Comparison) -> Iterator[str]:
    """Yield sentences: what differs, by how much, and where.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> list(findings(pw.analysis.compare({"characters": tok}, ["abba", "ab"])))
    ['characters needs 6 tokens: 3.000 per word.']
    """
    ranked = comparison.ranked
    first = ranked[0]
    if len(ranked) == 1:
        yield f"{_name(first)} needs {first.tokens:,} tokens: {first.fertility:.3f} per word."
    else:
        yield _fewest(ranked)
    if len(comparison.measures) > 1:
        yield from _not_ranked(comparison)
        yield from _differing_words(comparison)
    if len(ranked) > 1:
        yield from _where(comparison, ranked)
    yield from _costs(comparison)
    unknown = [one for one in comparison.measures if one.unknown_tokens]
    if unknown:
        rates = ", ".join(f"{_name(one)} {100 * one.unknown_rate:.2g} %" for one in unknown)
        few = " A tokenizer can need few tokens because it gives up on words."
        plenty = any(one.unknown_rate > _PLENTY for one in unknown)
        warning = few if plenty and len(comparison.measures) > 1 else ""
        yield f"Tokens that are unknown: {rates}.{warning}"


def _not_ranked(comparison: Comparison) -> Iterator[str]:
    """Yield the tokenizers that are not ranked, because they lose characters of the text."""
    lossy = [one for one in comparison.measures if not one.is_lossless]
    if lossy and len(lossy) < len(comparison.measures):
        names = ", ".join(f"{_name(one)} ({_loss(one)})" for one in lossy)
        yield f"Not ranked, because they lose text: {names}."


def _loss(one: Measures) -> str:
    if one.round_trip.is_lossless:
        return f"{one.unknown_tokens:,} unknown tokens"
    return one.round_trip.lost_text


def _fewest(ranked: Sequence[Measures]) -> str:
    first, *others = ranked
    if ranked[-1].tokens == first.tokens:
        return f"All tokenizers need the same number of tokens: {first.tokens:,}."
    more = ", ".join(
        f"{_name(one)} needs {_percent(ratio(one.tokens - first.tokens, first.tokens))} more"
        for one in others
    )
    figures = f"{first.tokens:,}, or {first.fertility:.3f} per word"
    return f"{_name(first)} needs the fewest tokens: {figures}; {more}."


def _differing_words(comparison: Comparison) -> Iterator[str]:
    words = comparison.word_differences
    if not words.words:
        return
    if not words.differing_words:
        yield "All words are split alike."
        return
    share = ratio(words.differing_occurrences, words.occurrences)
    distinct = f"{words.differing_words:,} of {words.words:,} distinct words"
    yield f"{_percent(share)} of the words of the text are not split alike by all: {distinct}."


def _where(comparison: Comparison, ranked: Sequence[Measures]) -> Iterator[str]:
    """Yield where the most of the difference between the fewest and the most tokens is."""
    if len(comparison.sources) > 1:
        sources = [_only_ranked(source, ranked) for source in comparison.sources]
        source = max(sources, key=spread)
        by_tokens = sorted(source.measures, key=lambda one: one.tokens)
        if spread(source):
            yield (
                f"The difference is largest in {escape_controls(source.name)}: "
                f"{_name(by_tokens[-1])} needs {_percent(spread(source))} more tokens than "
                f"{_name(by_tokens[0])}."
            )
    names = [one.name for one in comparison.measures]
    least, most = names.index(ranked[0].name), names.index(ranked[-1].name)

    def extra(band: WordBand) -> int:
        return band.tokens[most] - band.tokens[least]

    words = comparison.word_differences
    total = sum(max(0, extra(band)) for band in words.by_frequency)
    rare = [band for band in words.by_frequency if band.high is not None and band.high < 10]
    if total and rare:
        share = sum(max(0, extra(band)) for band in rare) / total
        occurrences = sum(band.occurrences for band in rare) / words.occurrences
        yield (
            f"Words that occur less than 10 times are {_percent(occurrences)} of the text and "
            f"{_percent(share)} of the additional tokens of {_name(ranked[-1])}."
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


def _only_ranked(source: ComparedSource, ranked: Sequence[Measures]) -> ComparedSource:
    names = {one.name for one in ranked}
    return replace(source, measures=tuple(one for one in source.measures if one.name in names))


def _card(one: Measures, comparison: Comparison) -> dict[str, Any]:
    fewest = comparison.ranked[0].tokens
    more = ratio(one.tokens - fewest, fewest)
    compared = f"+{_percent(more)}" if more else "fewest tokens"
    return {
        "name": escape_controls(one.name),
        "family": one.family,
        "fertility": f"{one.fertility:.3f}",
        "comparison": compared if one in comparison.ranked else "loses text",
        "is_fewest": one in comparison.ranked and not more,
        "figures": [
            ["vocabulary", f"{one.vocab_size:,}"],
            ["tokens", f"{one.tokens:,}"],
            ["characters per token", f"{one.chars_per_token:.2f}"],
            ["unknown", f"{100 * one.unknown_rate:.3f} %"],
        ],
    }


def _word(word: DifferingWord) -> dict[str, Any]:
    return {
        "word": show_whitespace(word.word),
        "count": word.count,
        "sides": [
            {"tokens": len(tokens), "pieces": list(map(list, pieces(word.word, tokens)))}
            for tokens in word.tokens
        ],
    }


def _name(one: Measures | SourceMeasures) -> str:
    return escape_controls(one.name)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
