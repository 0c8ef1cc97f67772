"""Compare tokenizers on one corpus; each text is read once, and memory does not grow with the corpus.

Texts are read in batches. For each tokenizer, only the count of each id, the histogram of tokens per text
and the sums of `TokenSums` are kept, and for the corpus the counts of its words. All are sums, so the order
and the batches of the texts do not change the result, except for words of a corpus with more than 200,000
distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework._internal.types import Progress
from piecework._internal.validation import check_type
from piecework.analysis import metrics
from piecework.analysis.comparison import (
    ComparedSource,
    Comparison,
    Measures,
    SourceMeasures,
)
from piecework.analysis.corpus_counts import CorpusCounts, FrequentWords
from piecework.analysis.corpus_texts import Texts, TextSample, reading
from piecework.analysis.entry_bytes import family
from piecework.analysis.gold import Gold, boundary_scores
from piecework.analysis.metrics import TokenSums
from piecework.analysis.round_trip import measure_round_trip
from piecework.analysis.side_by_side import check_tokenizers
from piecework.analysis.vocabulary_report import entry_lengths, is_numeric
from piecework.analysis.word_differences import single_token_rate, word_differences
from piecework.corpus import Corpus, Rows
from piecework.errors import ArgumentError, CorpusError, InputTypeError
from piecework.train import Pipeline, count_texts

Numbers: TypeAlias = npt.NDArray[np.int64]


def compare(
    tokenizers: Mapping[str, Tokenizer],
    texts: Texts | Mapping[str, Texts],
    *,
    gold: Gold | None = None,
    words: Pipeline | str = "whitespace",
    num_threads: int | None = None,
    progress: Progress = None,
) -> Comparison:
    """Measure tokenizers, given by name, on texts.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}),
    ...     pre_tokenizer=pw.spec.WhitespaceSplit(),
    ... )
    >>> [one] = compare({"wordpiece": tok}, ["hug hugs", "pugs hug"]).measures
    >>> one.fertility, one.unknown_rate, one.used_share
    (1.25, 0.2, 1.0)

    Texts are encoded without special tokens, truncation, padding and dropout. Special tokens written in a
    text are plain text. Empty texts are skipped. `words` defines a word for all tokenizers: the
    name of a preset or a `Pipeline`. `gold` adds boundary scores.

    `corpus.read_corpus` reads the texts of files: `compare(tokenizers, read_corpus("corpus.txt"))`; its
    `document` decides whether a text is a line or has several. With a mapping of names to texts, such as
    languages or domains, each of these sources is also measured. `progress=True` shows a bar; a function
    receives the bytes of files read, or numbers of texts, and the total, which is 0 if it is unknown.

    Raises `ArgumentError`, `InputTypeError`, and `CorpusError` if there is no text, or none in a source.
    """
    if gold is not None:
        check_type("gold", gold, Gold, "a Gold")
    check_tokenizers(tokenizers)
    corpus = _Corpus(tokenizers, words, num_threads)
    sources = named_sources(texts)
    with reading("comparing", list(sources.values()), progress) as rows_of:
        for name, source in sources.items():
            for rows in rows_of(source):
                corpus.add(rows)
            corpus.end_source(name)
    return corpus.comparison(gold, _document_of(sources.values()))


def named_sources(texts: Texts | Mapping[str, Texts]) -> Mapping[str | None, Texts]:
    """Return the named sources of a corpus; one without a name is named None."""
    if not isinstance(texts, Mapping):
        return {None: texts}
    if not texts:
        raise ArgumentError("texts", "must have at least one name with its texts or paths")
    for name in texts:
        if not isinstance(name, str):
            raise InputTypeError("texts", f"the names of sources must be str, not {name!r}")
    return {**texts}


def _document_of(sources: Iterable[Texts]) -> str | None:
    """Return what a document of several lines is; None for lines and for sources that differ."""
    found = {one.document if isinstance(one, Corpus) else "line" for one in sources}
    return found.pop() if len(found) == 1 and "line" not in found else None


class _Corpus:
    """Accumulates the figures of the corpus and of each tokenizer, batch by batch."""

    def __init__(
        self, tokenizers: Mapping[str, Tokenizer], words: Pipeline | str, num_threads: int | None
    ) -> None:
        self._counts = {name: CorpusCounts(one) for name, one in tokenizers.items()}
        self._count_words = partial(count_texts, preset=words, num_threads=num_threads)
        self._num_threads = num_threads
        # Texts, words, characters, bytes and replacements.
        self._totals = np.zeros(5, np.int64)
        self._sums = TokenSums(len(self._counts))
        self._frequent_words = FrequentWords()
        self._source_words = FrequentWords()
        self._sources: list[ComparedSource] = []
        self._samples = [TextSample()]
        self._before = self._all_totals()

    def add(self, rows: Rows) -> None:
        """Add texts."""
        texts = list(filter(None, rows.texts))
        words = self._count_words(texts)
        self._frequent_words.add(words)
        self._source_words.add(words)
        self._samples[-1].add(texts)
        chars, size = sum(map(len, texts)), sum(len(text.encode()) for text in texts)
        self._totals += (len(texts), words.total, chars, size, rows.replacements)
        counts = self._counts.values()
        self._sums.add(np.stack([one.add_charged(texts, self._num_threads) for one in counts]))

    def end_source(self, name: str | None) -> None:
        """Assign the texts since the last call to a source; None is a corpus without sources."""
        before, self._before = self._before, self._all_totals()
        self._samples.append(TextSample())
        frequent_words, self._source_words = self._source_words.most_common(), FrequentWords()
        if name is None:
            return
        totals, by_tokenizer = map(np.subtract, self._before, before)
        texts, words, chars, size, _ = totals.tolist()
        if not texts:
            raise CorpusError(f"source {name!r}", "has no texts that are not empty")
        measures = []
        distinct = [word for word, _ in frequent_words]
        for (tokenizer, counts), (tokens, unknown, charged) in zip(
            self._counts.items(), by_tokenizer.tolist(), strict=True
        ):
            measures.append(
                SourceMeasures(
                    name=tokenizer,
                    tokens=tokens,
                    charged_tokens=charged,
                    fertility=metrics.ratio(tokens, words),
                    chars_per_token=metrics.ratio(chars, tokens),
                    unknown_rate=metrics.ratio(unknown, tokens),
                    single_token_rate=single_token_rate(
                        counts.tokenizer, distinct, self._num_threads
                    ),
                )
            )
        self._sources.append(ComparedSource(name, texts, words, chars, size, tuple(measures)))

    def _all_totals(self) -> tuple[Numbers, Numbers]:
        """Return the totals of the texts, and the tokens of each tokenizer: all, unknown and charged ones."""
        counts = self._counts.values()
        found = [(one.tokens, one.unknown_tokens, one.charged_tokens) for one in counts]
        return self._totals.copy(), np.array(found, np.int64)

    def comparison(self, gold: Gold | None, document: str | None) -> Comparison:
        """Return the measures of all texts added, which are documents of a kind."""
        texts, words, chars, size, replacements = self._totals.tolist()
        if not texts:
            raise CorpusError("corpus", "has no texts that are not empty")
        tokenizers = {name: counts.tokenizer for name, counts in self._counts.items()}
        differences = word_differences(
            tokenizers, self._frequent_words.most_common(), self._num_threads
        )
        rates = differences.single_token_rates
        return Comparison(
            texts=texts,
            words=words,
            chars=chars,
            bytes=size,
            replacements=replacements,
            gold_words=None if gold is None else len(gold.boundaries),
            measures=tuple(
                self._measures(name, counts, gold, rate)
                for (name, counts), rate in zip(self._counts.items(), rates, strict=True)
            ),
            ranks=self._sums.ranks(list(self._counts)),
            sources=tuple(self._sources),
            word_differences=differences,
            document=document,
        )

    def _measures(
        self, name: str, counts: CorpusCounts, gold: Gold | None, single_token_rate: float
    ) -> Measures:
        _, words, chars, text_bytes, _ = self._totals.tolist()
        by_id, size, tokens = counts.id_counts, len(counts.entries), counts.tokens
        return Measures(
            name=name,
            family=family(counts.tokenizer.spec),
            vocab_size=size,
            numeric_tokens=sum(map(is_numeric, counts.entries)),
            tokens=tokens,
            fertility=metrics.ratio(tokens, words),
            chars_per_token=metrics.ratio(chars, tokens),
            bytes_per_token=metrics.ratio(text_bytes, tokens),
            unknown_tokens=counts.unknown_tokens,
            unknown_rate=metrics.ratio(counts.unknown_tokens, tokens),
            unknown_bytes=counts.unknown_bytes,
            single_token_rate=single_token_rate,
            used_share=metrics.used_share(by_id, size),
            tail_share=metrics.tail_share(by_id, size),
            frequency_at_95=metrics.frequency_at_95(by_id, size),
            mean_rank=metrics.mean_rank(by_id, size),
            renyi_efficiency=metrics.renyi_efficiency(by_id, size),
            sequence=metrics.sequence_lengths(counts.texts_by_length),
            boundaries=None if gold is None else boundary_scores(counts.tokenizer, gold),
            round_trip=measure_round_trip(
                counts.tokenizer,
                chain.from_iterable(sample.texts for sample in self._samples),
                num_threads=self._num_threads,
            ),
            entry_lengths=entry_lengths(counts.entries),
            token_lengths=counts.token_lengths(),
        )
