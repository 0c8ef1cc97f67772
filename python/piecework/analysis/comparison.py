"""The result of `compare`: the measures of tokenizers as data, in sentences and in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from piecework._internal.validation import counted
from piecework.analysis.alignment import UNKNOWN
from piecework.analysis.blocks import Block, Grid, Paragraph, PlainData
from piecework.analysis.displayed import Displayed
from piecework.analysis.gold import BoundaryScores
from piecework.analysis.metrics import (
    FEWEST_TEXTS,
    RENYI_ORDER,
    TAIL_BELOW,
    SequenceLengths,
    TokenRank,
    gini,
    parity,
    ratio,
)
from piecework.analysis.readable import (
    escape_controls,
    joined,
    percent,
    percentage,
    show_whitespace,
    with_margin,
)
from piecework.analysis.round_trip import RoundTrip
from piecework.analysis.word_differences import WordDifferences, WordGroup, pieces
from piecework.corpus.rows import DOCUMENTS

Lengths: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of a length in characters and a number."""


@dataclass(frozen=True)
class Measures(PlainData):
    """The measures of one tokenizer on a corpus, defined in docs/explanation/analysis-measures.md.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> [one] = pw.analysis.compare({"characters": tok}, ["abba", "abc"]).measures
    >>> one.family, one.vocab_size, one.tokens, one.token_lengths
    ('character', 3, 7, ((1, 6),))

    Shares and rates are between 0 and 1. `unknown_bytes` are the bytes of the text that unknown tokens
    cover, or that a model without an unknown token leaves out. `token_lengths` has pairs of a length in
    characters and the number of tokens of that length; `entry_lengths` has the same for vocabulary entries.
    `single_token_rate` is the share of the distinct words that are one token, and not the unknown one.
    `round_trip` is what the first 1,000 texts of each source lose.
    """

    _computed = ("charged_tokens", "is_lossless")

    name: str
    family: str
    vocab_size: int
    numeric_tokens: int
    tokens: int
    fertility: float
    chars_per_token: float
    bytes_per_token: float
    unknown_tokens: int
    unknown_rate: float
    unknown_bytes: int
    single_token_rate: float
    used_share: float
    tail_share: float
    frequency_at_95: int
    mean_rank: float
    renyi_efficiency: float
    sequence: SequenceLengths
    boundaries: BoundaryScores | None
    round_trip: RoundTrip
    entry_lengths: Lengths
    token_lengths: Lengths

    @property
    def charged_tokens(self) -> int:
        """The tokens, with one token for each byte of an unknown word instead of its unknown token."""
        return self.tokens - self.unknown_tokens + self.unknown_bytes

    @property
    def is_lossless(self) -> bool:
        """Whether the text has no unknown tokens, and its first texts lose no characters."""
        return not self.unknown_tokens and self.round_trip.is_lossless


@dataclass(frozen=True)
class SourceMeasures:
    """What one tokenizer needs for one source of the corpus.

    >>> one = SourceMeasures(
    ...     "a", tokens=6, charged_tokens=9, fertility=1.5, chars_per_token=2.5, unknown_rate=0.2,
    ...     single_token_rate=0.5,
    ... )
    >>> one.charged_tokens
    9
    """

    name: str
    tokens: int
    charged_tokens: int
    fertility: float
    chars_per_token: float
    unknown_rate: float
    single_token_rate: float


@dataclass(frozen=True)
class ComparedSource:
    """A named part of the corpus, such as a language or a domain, with the measures of each tokenizer.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, {"de": ["ab"], "fr": ["ba bb", "a"]})
    >>> [(source.name, source.words, source.measures[0].tokens) for source in found.sources]
    [('de', 1, 2), ('fr', 3, 6)]
    """

    name: str
    texts: int
    words: int
    chars: int
    bytes: int
    measures: tuple[SourceMeasures, ...]


@dataclass(frozen=True)
class TokenCosts:
    """How evenly the tokens of one tokenizer are spread over sources that are translations of each other.

    >>> TokenCosts("a", premiums=(1.0, 2.5), parity=2.5, gini=0.214).premiums
    (1.0, 2.5)

    `premiums` are the charged tokens of each source divided by the first one's. `parity` is the largest
    number of charged tokens divided by the smallest, and `gini` the Gini coefficient of the numbers.
    """

    name: str
    premiums: tuple[float, ...]
    parity: float
    gini: float


@dataclass(frozen=True)
class Comparison(Displayed):
    """Figures of the corpus, and the measures of each tokenizer in the order given.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> found.texts, found.words, found.chars, found.to_dict()["measures"][0]["tokens"]
    (2, 2, 7, 7)

    `replacements` counts invalid UTF-8 sequences that were replaced by U+FFFD. `sources` are the named parts
    of the corpus, empty if it has none. `ranks` are the tokenizers by charged tokens: unknown words cost one
    token for each of their bytes. `word_differences` has the words that are split differently. `document` is
    "blank-line" or "file" where that divides plain text into texts, as in `corpus.read_corpus`; None where
    each line, record or item is a text. `str` returns the tables as text.
    """

    _computed = ("token_costs",)

    texts: int
    words: int
    chars: int
    bytes: int
    replacements: int
    gold_words: int | None
    measures: tuple[Measures, ...]
    ranks: tuple[TokenRank, ...]
    sources: tuple[ComparedSource, ...]
    word_differences: WordDifferences
    document: str | None = None

    @property
    def token_costs(self) -> tuple[TokenCosts, ...]:
        """How evenly tokens are spread over a parallel text: sources with the same number of texts.

        Empty unless there are two sources or more, and all have as many texts.
        """
        if len(self.sources) < 2 or len({source.texts for source in self.sources}) > 1:
            return ()
        by_tokenizer = zip(*(source.measures for source in self.sources), strict=True)
        return tuple(map(_token_costs, by_tokenizer))

    def blocks(self) -> Iterator[Block]:
        """Yield the headline, the verdict and the tables without the lengths.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> [first, *_] = pw.analysis.compare({"characters": tok}, ["abba", "abc"]).blocks()
        >>> first.text
        '2 texts, 2 words, 7 characters, 7 bytes'
        """
        measures, *others = tables(self)
        yield from map(Paragraph, (headline(self), *verdict(self)))
        yield measures
        yield from map(Paragraph, _LEGEND)
        yield from others[:-1]
        yield from word_tables(self)


def _token_costs(sources: Sequence[SourceMeasures]) -> TokenCosts:
    """Return the costs of one tokenizer from its measures of all sources."""
    tokens = [one.charged_tokens for one in sources]
    premiums = tuple(ratio(one, tokens[0]) for one in tokens)
    return TokenCosts(sources[0].name, premiums, parity(tokens), gini(tokens))


# ---- sentences

_NAMED_IN_SENTENCE = 3
"""Of more tokenizers than these and the first, the sentence names the second and the last."""


def verdict(comparison: Comparison) -> Iterator[str]:
    """Yield who needs the fewest tokens, what the texts leave open, and what unknown words and texts lose.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}), normalizer=pw.spec.Lowercase())
    >>> for sentence in verdict(pw.analysis.compare({"characters": tok}, ["abbA", "é"])):
    ...     print(sentence)
    characters needs 6 tokens: 3.000 per word.
    Unknown words count one token for each byte: with characters, 1 unknown token of 2 bytes.
    What the texts lose: with characters, case in 50.0 % of the words and 1 of 5 characters.
    """
    yield _fewest(comparison)
    yield from _open(comparison)
    unknown = [one for one in comparison.measures if one.unknown_bytes]
    if unknown:
        yield f"Unknown words count one token for each byte: {_by_phrase(unknown, _unknown)}."
    yield _losses(comparison)


def _fewest(comparison: Comparison) -> str:
    first, *others = comparison.ranks
    tokens = f"{first.charged_tokens:,}"
    per_word = f"{ratio(first.charged_tokens, comparison.words):.3f} per word"
    if not others:
        return f"{_name(first)} needs {tokens} tokens: {per_word}."
    if others[-1].charged_tokens == first.charged_tokens:
        return f"All tokenizers need the same number of tokens: {tokens}."
    if not first.charged_tokens:
        return f"{_name(first)} needs no tokens."
    named = others if len(others) <= _NAMED_IN_SENTENCE else (others[0], others[-1])
    more = "; ".join(f"{_name(one)} needs {more_tokens(one)}" for one in named)
    return f"{_name(first)} needs the fewest tokens: {tokens}, or {per_word}; {more}."


def more_tokens(rank: TokenRank) -> str:
    """Return how many more tokens a tokenizer needs than the first, with the margin.

    >>> more_tokens(TokenRank("a", 110, best=2, worst=2, more=0.1, interval=(0.09, 0.11)))
    '10.0 ±1.0 % more'
    """
    if not rank.more:
        return "the same"
    return f"{with_margin(rank.more, rank.interval)} % more"


def rank_text(rank: TokenRank) -> str:
    """Return a rank, or the ranks that the texts leave open.

    >>> rank_text(TokenRank("a", 110, best=2, worst=3, more=0.1, interval=(0.09, 0.11)))
    '2-3'
    """
    return f"{rank.best}-{rank.worst}" if rank.best < rank.worst else f"{rank.best}"


def _open(comparison: Comparison) -> Iterator[str]:
    """Yield which tokenizers the texts do not tell from the first one."""
    first, *others = comparison.ranks
    if comparison.texts < FEWEST_TEXTS and others:
        yield f"Fewer than {FEWEST_TEXTS} texts give no interval: other texts can change the order."
    tied = [_name(one) for one in others if one.interval and one.more and one.interval[0] <= 0]
    if tied:
        texts = counted(comparison.texts, "text")
        yield (
            f"{texts} do not tell {joined(tied)} from {_name(first)}: the 95 % interval of the "
            "difference includes 0."
        )


def _losses(comparison: Comparison) -> str:
    measured = comparison.measures[0].round_trip.texts
    texts = "the texts" if measured == comparison.texts else f"the first {measured:,} texts"
    if not any(_loss(one) for one in comparison.measures):
        return f"No case, accents or characters are lost in {texts}."
    return f"What {texts} lose: {_by_phrase(comparison.measures, _loss)}."


def _loss(one: Measures) -> str:
    found = one.round_trip
    parts = [
        f"{kind} in {percent(ratio(words, found.words))}{'' if at else ' of the words'}"
        for at, (kind, words) in enumerate(found.changes.items())
    ]
    if found.lost_chars:
        parts.append(f"{found.lost_chars:,} of {counted(found.chars, 'character')}")
    return joined(parts) if parts else ""


def _unknown(one: Measures) -> str:
    size = counted(one.unknown_bytes, "byte")
    tokens = counted(one.unknown_tokens, "unknown token")
    return f"{tokens} of {size}" if one.unknown_tokens else f"{size} without a token"


def _by_phrase(measures: Iterable[Measures], phrase: Callable[[Measures], str]) -> str:
    """Return the names of tokenizers with their phrases, grouped by phrase."""
    names: dict[str, list[str]] = {}
    for one in measures:
        names.setdefault(phrase(one) or "nothing", []).append(_name(one))
    return "; ".join(f"with {joined(some)}, {text}" for text, some in names.items())


def _name(one: Measures | TokenRank) -> str:
    return escape_controls(one.name)


# ---- tables

_LENGTHS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 8), (9, 12), (13, None))
_GROUPS = 3
_WORDS = 9
_NAMED = 2
_BYTES_PER_TOKEN = "bytes per token"

Cell = Callable[[Measures], str]
Rows = tuple[tuple[str, Cell], ...]


def tables(comparison: Comparison) -> list[Grid]:
    """Return the tables: measures, sources and agreement if there are several, and lengths.

    Rows in which all figures are 0 are left out, and bytes per token if each character is a byte.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> tables(found)[0].rows[:2]
    (('family', 'character'), ('vocabulary', '3'))
    """
    is_ascii = comparison.bytes == comparison.chars
    rows = (
        _VOCABULARY_ROWS
        + _TOKEN_ROWS
        + _rank_rows(comparison)
        + _ROUND_TRIP_ROWS
        + tuple(row for row in _CORPUS_ROWS if not is_ascii or row[0] != _BYTES_PER_TOKEN)
    )
    lengths = tuple((range_text(*limits), _length_cell(*limits)) for limits in _LENGTHS)
    return [
        _table(
            "measures", comparison, rows, () if comparison.gold_words is None else _BOUNDARY_ROWS
        ),
        *_source_table(comparison),
        *_cost_table(comparison),
        *_agreement_table(comparison),
        _table(
            "token lengths: % of the vocabulary | % of the tokens",
            comparison,
            lengths,
        ),
    ]


def word_tables(comparison: Comparison) -> list[Grid]:
    """Return a table of words for each group of tokenizers that agree, with a column for each set.

    >>> import piecework as pw
    >>> letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pairs = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> [table] = word_tables(pw.analysis.compare({"letters": letters, "pairs": pairs}, ["ab"]))
    >>> table.header, table.rows
    (('', 'letters', 'pairs'), (('ab (1)', 'a|b', 'ab'),))
    """
    groups = comparison.word_differences.groups[:_GROUPS]
    found = [_word_table(group, comparison, _WORDS // len(groups)) for group in groups]
    titles = ["words that are split differently: ", *[""] * len(found)]
    return [
        replace(one, title=title + one.title) for title, one in zip(titles, found, strict=False)
    ]


def _word_table(group: WordGroup, comparison: Comparison, most: int) -> Grid:
    rows = tuple(
        (
            f"{show_whitespace(word.word)} ({word.count:,})",
            *(
                "|".join(
                    f"{piece.text}{UNKNOWN if piece.is_unknown else ''}"
                    for piece in pieces(word.word, word.tokens[first])
                )
                for first, *_ in group.alike
            ),
        )
        for word in group.most[:most]
    )
    return Grid(("", *set_names(group, comparison)), rows, title=group_figures(group, comparison))


def group_figures(group: WordGroup, comparison: Comparison) -> str:
    """Return how many words a group has, and their share of the text."""
    share = ratio(group.occurrences, comparison.word_differences.occurrences)
    return f"{counted(group.words, 'distinct word')}, {percent(share)} of the text"


def set_names(group: WordGroup, comparison: Comparison) -> list[str]:
    """Return a name for each set of tokenizers that agree: their names, or "the others" for the largest set.

    >>> import piecework as pw
    >>> letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pairs = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> tokenizers = {"pairs": pairs, "letters": letters, "again": letters, "too": letters}
    >>> found = pw.analysis.compare(tokenizers, ["ab"])
    >>> set_names(found.word_differences.groups[0], found)
    ['pairs', 'the others']
    """
    names = [", ".join(comparison.measures[at].name for at in some) for some in group.alike]
    if len(group.alike[-1]) > _NAMED and len(group.alike[-1]) > len(group.alike[-2]):
        names[-1] = "the others"
    return names


def headline(comparison: Comparison) -> str:
    """Return the figures of the corpus in one line."""
    what = f" ({DOCUMENTS[comparison.document]})" if comparison.document else ""
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


def range_text(low: int, high: int | None) -> str:
    """Return a range of numbers; `high` is None without an upper limit.

    >>> range_text(3, 3), range_text(5, 1000), range_text(9, None)
    ('3', '5-1,000', '9+')
    """
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


_VOCABULARY_ROWS: Rows = (
    ("family", lambda one: one.family),
    ("vocabulary", lambda one: f"{one.vocab_size:,}"),
    ("numeric tokens", lambda one: f"{one.numeric_tokens:,}"),
)
_TOKEN_ROWS: Rows = (
    ("tokens", lambda one: f"{one.tokens:,}"),
    ("unknown tokens", lambda one: f"{one.unknown_tokens:,}"),
    ("unknown %", lambda one: percentage(one.unknown_rate, 3)),
)
_ROUND_TRIP_ROWS: Rows = (
    ("words that lose case %", lambda one: _words(one, one.round_trip.case_words)),
    ("... accents %", lambda one: _words(one, one.round_trip.accent_words)),
    ("... width %", lambda one: _words(one, one.round_trip.width_words)),
    ("... other characters %", lambda one: _words(one, one.round_trip.other_words)),
    ("characters lost %", lambda one: percentage(one.round_trip.lost_share, 3)),
    ("spaces changed %", lambda one: percentage(one.round_trip.spacing_share)),
)
_CORPUS_ROWS: Rows = (
    ("fertility", lambda one: f"{one.fertility:.4f}"),
    ("characters per token", lambda one: f"{one.chars_per_token:.3f}"),
    (_BYTES_PER_TOKEN, lambda one: f"{one.bytes_per_token:.3f}"),
    ("single-token words %", lambda one: percentage(one.single_token_rate)),
    ("used %", lambda one: percentage(one.used_share)),
    (f"tail (under {TAIL_BELOW}) %", lambda one: percentage(one.tail_share)),
    ("F95", lambda one: f"{one.frequency_at_95:,}"),
    ("mean rank %", lambda one: percentage(one.mean_rank, 2)),
    (f"Rényi {RENYI_ORDER}", lambda one: f"{one.renyi_efficiency:.4f}"),
    ("tokens per text, mean", lambda one: f"{one.sequence.mean:.2f}"),
    ("... median", lambda one: f"{one.sequence.median:,}"),
    ("... 95th percentile", lambda one: f"{one.sequence.p95:,}"),
    ("... longest", lambda one: f"{one.sequence.longest:,}"),
)
_LEGEND = (
    "rank: by charged tokens, which count an unknown word as one token for each of its bytes; 2-3 is a rank "
    "that the texts leave open. More tokens: than the first, with the 95 % interval of 10 texts or more.",
    "Better is more: single-token words (STRR), F95 (occurrences of the entry at 95 % of the vocabulary), "
    "mean rank and Rényi (even use of the entries). Better is less: tail (entries with fewer than "
    f"{TAIL_BELOW} occurrences).",
    f"Rows of zeros are left out. {UNKNOWN} follows an unknown token.",
)
_BOUNDARY_ROWS: Rows = (
    ("boundary precision %", lambda one: _boundary(one, "precision")),
    ("boundary recall %", lambda one: _boundary(one, "recall")),
    ("boundary F1 %", lambda one: _boundary(one, "f1")),
)


def _rank_rows(comparison: Comparison) -> Rows:
    """Return the rows of the charged tokens, and of the ranks if there are several tokenizers."""
    ranks = {one.name: one for one in comparison.ranks}

    def more(one: Measures) -> str:
        rank = ranks[one.name]
        return with_margin(rank.more, rank.interval) if rank.more else "-"

    rows: Rows = (
        ("more tokens %", more),
        ("rank", lambda one: rank_text(ranks[one.name])),
    )
    charged: tuple[str, Cell] = ("charged tokens", lambda one: f"{one.charged_tokens:,}")
    has_unknown = any(one.unknown_bytes for one in comparison.measures)
    return ((charged,) if has_unknown else ()) + (rows if len(ranks) > 1 else ())


def _source_table(comparison: Comparison) -> list[Grid]:
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
    rate = percentage(one.single_token_rate)
    return f"{one.fertility:.4f} | {one.chars_per_token:.3f} | {rate}"


def _cost_table(comparison: Comparison) -> list[Grid]:
    """Return the costs of a parallel text; nothing if there are no such sources."""
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
    title = "sources as translations: tokens, as multiples of the first source's"
    return [_grid(title, comparison, rows)]


def _agreement_table(comparison: Comparison) -> list[Grid]:
    words = comparison.word_differences
    if len(comparison.measures) < 2 or not words.words:
        return []
    names = [one.name for one in comparison.measures]
    last = len(names) - 1
    rows = tuple(
        (escape_controls(names[at]), *(map(percentage, shares[:at])), *[""] * (last - at))
        for at, shares in enumerate(words.agreement)
        if at
    )
    title = "agreement: % of the words of the text that two tokenizers split alike"
    return [Grid(("", *names[:last]), rows, numbers=tuple(names), title=title)]


def _table(title: str, comparison: Comparison, rows: Rows, always: Rows = ()) -> Grid:
    """Return a table of the rows that are not all zeros, and of the rows that are always shown."""

    def cells(rows: Rows) -> Iterator[tuple[str, ...]]:
        for label, cell in rows:
            yield label, *(cell(one) for one in comparison.measures)

    shown = [row for row in cells(rows) if not _is_zero(row[1:])]
    return _grid(title, comparison, (*shown, *cells(always)))


def _is_zero(cells: Iterable[str]) -> bool:
    return not set("".join(cells)) - set("0. |")


def _grid(title: str, comparison: Comparison, rows: tuple[tuple[str, ...], ...]) -> Grid:
    names = tuple(one.name for one in comparison.measures)
    return Grid(("", *names), rows, numbers=names, title=title)


def _length_cell(low: int, high: int | None) -> Cell:
    def cell(one: Measures) -> str:
        entries = share_between(one.entry_lengths, low, high)
        return f"{percentage(entries)} | {percentage(share_between(one.token_lengths, low, high))}"

    return cell


def _boundary(one: Measures, kind: str) -> str:
    share = getattr(one.boundaries, kind, None)
    return "-" if share is None else percentage(share)


def _words(one: Measures, words: int) -> str:
    return percentage(ratio(words, one.round_trip.words))
