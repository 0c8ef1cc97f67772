"""A comparison as text tables: a row for each measure, a column for each tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from piecework._support import DOCUMENTS, counted
from piecework.analysis.blocks import Block, Grid, Paragraph
from piecework.analysis.measures import ComparedFigures, Measures, SourceMeasures
from piecework.analysis.metrics import RENYI_ORDER, TAIL_BELOW, ratio
from piecework.analysis.readable_tokens import escape_controls, show_whitespace
from piecework.analysis.word_differences import pieces

LONGEST = 15
"""Lengths above this limit share one row."""
_WORDS = 10
_RANKS = (1, 10, 100, 1_000, 10_000, 100_000)

Cell = Callable[[Measures], str]


def tables(comparison: ComparedFigures) -> list[Grid]:
    """Return the tables: measures, sources and agreement if there are several, lengths and frequencies.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> tables(found)[0].rows[:2]
    (('family', 'character'), ('vocabulary', '3'))
    """
    rows = (
        _VOCABULARY_ROWS
        + _CORPUS_ROWS
        + _ROUND_TRIP_ROWS
        + (("rank by tokens", _rank_by_tokens(comparison)),)
        + (_BOUNDARY_ROWS if comparison.gold_words is not None else ())
    )
    ranks = [rank for one in comparison.measures for rank, _ in one.rank_frequencies]
    lengths = [(str(length), _length_cell(length, length)) for length in range(1, LONGEST + 1)]
    lengths.append((f"{LONGEST + 1}+", _length_cell(LONGEST + 1, None)))
    return [
        _table("measures", comparison, rows),
        *_source_table(comparison),
        *_cost_table(comparison),
        *_agreement_table(comparison),
        _table(
            "token lengths: % of the vocabulary | % of the tokens",
            comparison,
            tuple(lengths),
        ),
        _table(
            "token frequencies: % of the tokens at each frequency rank",
            comparison,
            tuple((f"rank {rank:,}", _rank_cell(rank)) for rank in _RANKS if rank in ranks),
        ),
    ]


def words_table(comparison: ComparedFigures) -> list[Grid]:
    """Return a table of the words on which the tokenizers disagree most, none if there is no such word."""
    words = comparison.word_differences.most[:_WORDS]
    if not words:
        return []
    rows = tuple(
        (
            f"{show_whitespace(word.word)} ({word.count:,})",
            *("|".join(piece.text for piece in pieces(word.word, one)) for one in word.tokens),
        )
        for word in words
    )
    return [_grid("words that are split differently", comparison, rows)]


def blocks(comparison: ComparedFigures) -> Iterator[Block]:
    """Yield the headline and all tables.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> [first, *_] = blocks(pw.analysis.compare({"characters": tok}, ["abba", "abc"]))
    >>> first.text
    '2 texts, 2 words, 7 characters, 7 bytes'
    """
    measures, *others = tables(comparison)
    yield Paragraph(headline(comparison))
    yield measures
    yield from map(Paragraph, _LEGEND)
    yield from (*others, *words_table(comparison))


def headline(comparison: ComparedFigures) -> str:
    """Return the figures of the corpus in one line."""
    document = comparison.document
    what = "" if document in (None, "line") else f" ({DOCUMENTS[document]})"
    parts = [
        f"{counted(comparison.texts, 'text')}{what}, {counted(comparison.words, 'word')}, "
        f"{counted(comparison.chars, 'character')}, {counted(comparison.bytes, 'byte')}"
    ]
    if comparison.gold_words is not None:
        parts.append(f"{counted(comparison.gold_words, 'word')} of the gold standard")
    if comparison.replacements:
        parts.append(f"{comparison.replacements:,} invalid UTF-8 sequences replaced")
    return "; ".join(parts)


def share_between(lengths: tuple[tuple[int, int], ...], low: int, high: int | None) -> float:
    """Return the share of lengths from `low` to `high` characters; None means no upper limit."""
    total = sum(count for _, count in lengths)
    inside = sum(count for length, count in lengths if low <= length <= (high or length))
    return ratio(inside, total)


_VOCABULARY_ROWS: tuple[tuple[str, Cell], ...] = (
    ("family", lambda one: one.family),
    ("vocabulary", lambda one: f"{one.vocab_size:,}"),
    ("numeric tokens", lambda one: f"{one.numeric_tokens:,}"),
)
_CORPUS_ROWS: tuple[tuple[str, Cell], ...] = (
    ("tokens", lambda one: f"{one.tokens:,}"),
    ("fertility", lambda one: f"{one.fertility:.4f}"),
    ("characters per token", lambda one: f"{one.chars_per_token:.3f}"),
    ("bytes per token", lambda one: f"{one.bytes_per_token:.3f}"),
    ("unknown %", lambda one: _percent(one.unknown_rate, 3)),
    ("single-token words %", lambda one: _percent(one.single_token_rate)),
    ("used %", lambda one: _percent(one.used_share)),
    (f"tail (under {TAIL_BELOW}) %", lambda one: _percent(one.tail_share)),
    ("F95", lambda one: f"{one.frequency_at_95:,}"),
    ("mean rank %", lambda one: _percent(one.mean_rank, 2)),
    (f"Rényi {RENYI_ORDER}", lambda one: f"{one.renyi_efficiency:.4f}"),
    ("tokens per text, mean", lambda one: f"{one.sequence.mean:.2f}"),
    ("... median", lambda one: f"{one.sequence.median:,}"),
    ("... 95th percentile", lambda one: f"{one.sequence.p95:,}"),
    ("... longest", lambda one: f"{one.sequence.longest:,}"),
)
_ROUND_TRIP_ROWS: tuple[tuple[str, Cell], ...] = (
    ("characters lost %", lambda one: _percent(one.round_trip.lost_share, 3)),
    ("words normalized %", lambda one: _percent(one.round_trip.changed_share)),
    ("spaces changed %", lambda one: _percent(one.round_trip.spacing_share)),
)
_LEGEND = (
    "F95: occurrences of the entry at 95 % of the vocabulary, by frequency; more is better.",
    f"tail: entries with fewer than {TAIL_BELOW} occurrences; less is better.",
    "mean rank: frequency rank of the average token, in % of the vocabulary; more means more even use.",
    "single-token words: distinct words that are one token (STRR); more is better.",
    "Rényi: evenness of the frequencies of the entries, from 0 to 1; more is better.",
    "rank by tokens: 1 has the fewest; tokenizers that lose characters are not ranked with lossless ones.",
)
_BOUNDARY_ROWS: tuple[tuple[str, Cell], ...] = (
    ("boundary precision %", lambda one: _boundary(one, "precision")),
    ("boundary recall %", lambda one: _boundary(one, "recall")),
    ("boundary F1 %", lambda one: _boundary(one, "f1")),
)


def _rank_by_tokens(comparison: ComparedFigures) -> Cell:
    """Return the cell of the rank, which tokenizers with the same number of tokens share."""
    ranked = comparison.ranked
    tokens = [one.tokens for one in ranked]
    return lambda one: str(tokens.index(one.tokens) + 1) if one in ranked else "loses text"


def _source_table(comparison: ComparedFigures) -> list[Grid]:
    if not comparison.sources:
        return []
    rows = tuple(
        (
            escape_controls(source.name),
            *map(_source_cell, source.measures),
        )
        for source in comparison.sources
    )
    title = "sources: tokens per word | characters per token | single-token words %"
    return [_grid(title, comparison, rows)]


def _source_cell(one: SourceMeasures) -> str:
    rate = _percent(one.single_token_rate)
    return f"{one.fertility:.4f} | {one.chars_per_token:.3f} | {rate}"


def _cost_table(comparison: ComparedFigures) -> list[Grid]:
    """Return the costs of a parallel text; nothing if the sources are none."""
    costs = comparison.token_costs
    if not costs:
        return []
    premiums = zip(*(one.premiums for one in costs), strict=True)
    rows = (
        *(
            (escape_controls(source.name), *(f"{premium:.2f}" for premium in row))
            for source, row in zip(comparison.sources, premiums, strict=True)
        ),
        ("parity: most / fewest", *(f"{one.parity:.2f}" for one in costs)),
        ("Gini", *(f"{one.gini:.3f}" for one in costs)),
    )
    title = "sources as translations: tokens, as multiples of those of the first source"
    return [_grid(title, comparison, rows)]


def _agreement_table(comparison: ComparedFigures) -> list[Grid]:
    words = comparison.word_differences
    if len(comparison.measures) < 2 or not words.words:
        return []
    rows = tuple(
        (escape_controls(one.name), *map(_percent, shares))
        for one, shares in zip(comparison.measures, words.agreement, strict=True)
    )
    title = "agreement: % of the words of the text that two tokenizers split alike"
    return [_grid(title, comparison, rows)]


def _table(title: str, comparison: ComparedFigures, rows: tuple[tuple[str, Cell], ...]) -> Grid:
    measures = comparison.measures
    cells = tuple((label, *(cell(one) for one in measures)) for label, cell in rows)
    return _grid(title, comparison, cells)


def _grid(title: str, comparison: ComparedFigures, rows: tuple[tuple[str, ...], ...]) -> Grid:
    names = tuple(one.name for one in comparison.measures)
    return Grid(("", *names), rows, numbers=names, title=title)


def _length_cell(low: int, high: int | None) -> Cell:
    def cell(one: Measures) -> str:
        entries = share_between(one.entry_lengths, low, high)
        return f"{_percent(entries)} | {_percent(share_between(one.token_lengths, low, high))}"

    return cell


def _rank_cell(rank: int) -> Cell:
    return lambda one: _percent(dict(one.rank_frequencies).get(rank), 4)


def _boundary(one: Measures, kind: str) -> str:
    return _percent(getattr(one.boundaries, kind, None))


def _percent(share: float | None, places: int = 1) -> str:
    return "-" if share is None else f"{100 * share:.{places}f}"
