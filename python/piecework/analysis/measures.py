"""The measures of tokenizers on a corpus, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from piecework.analysis.blocks import PlainData
from piecework.analysis.gold import BoundaryScores
from piecework.analysis.metrics import SequenceLengths, TokenRank, gini, parity, ratio
from piecework.analysis.round_trip import RoundTrip
from piecework.analysis.word_differences import WordDifferences

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
    `rank_frequencies` has pairs of a frequency rank and the share of the tokens at that rank. `round_trip` is
    what the first 1,000 texts of each source lose.
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
    rank_frequencies: tuple[tuple[int, float], ...]

    @property
    def charged_tokens(self) -> int:
        """The tokens, with one token for each byte of an unknown word in place of its unknown token."""
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

    `premiums` are the charged tokens of each source divided by the first source's. `parity` is the largest
    number of charged tokens divided by the smallest, and `gini` the Gini coefficient of the numbers.
    """

    name: str
    premiums: tuple[float, ...]
    parity: float
    gini: float


@dataclass(frozen=True)
class ComparedFigures(PlainData):
    """The fields of `Comparison`: figures of the corpus, and the measures of each tokenizer.

    `document` is "blank-line" or "file" where that divides plain text into texts, as in `corpus.read_corpus`;
    None where each line, record or item is a text.
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


def _token_costs(sources: Sequence[SourceMeasures]) -> TokenCosts:
    """Return the costs of one tokenizer from its measures of all sources."""
    tokens = [one.charged_tokens for one in sources]
    premiums = tuple(ratio(one, tokens[0]) for one in tokens)
    return TokenCosts(sources[0].name, premiums, parity(tokens), gini(tokens))
