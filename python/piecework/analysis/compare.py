"""Compare tokenizers on one corpus; each text is read once, and memory does not grow with the corpus.

Texts are read in batches. For each tokenizer, only the count of each id and the histogram of tokens per
text are kept. Both are sums, so the order and the batches of the texts do not change the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias

from piecework._internal.progress import show_source
from piecework._internal.validation import PathLike
from piecework.analysis.blocks import as_html
from piecework.analysis.corpus_batches import batch_of_piece
from piecework.analysis.corpus_counts import CorpusCounts
from piecework.analysis.entry_bytes import family
from piecework.analysis.gold import BoundaryScores, Gold, boundary_scores
from piecework.analysis.metrics import (
    SequenceLengths,
    frequency_at_95,
    mean_rank,
    rank_frequencies,
    ratio,
    renyi_efficiency,
    sequence_lengths,
    tail_share,
    used_share,
)
from piecework.analysis.vocabulary_report import entry_lengths, is_numeric
from piecework.corpus.batches import TextBatch, batches_of_texts
from piecework.corpus.files import read_corpus
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.rows import Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.errors import ArgumentError, CorpusError, InputTypeError
from piecework.tokenizer import Tokenizer
from piecework.train import Pipeline, count_texts
from piecework.train.counting import Progress

Lengths: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Measures:
    """The measures of one tokenizer on a corpus, defined in docs/explanation/analysis-measures.md.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> [one] = pw.analysis.compare({"characters": tok}, ["abba", "abc"]).measures
    >>> one.family, one.vocab_size, one.tokens, one.token_lengths
    ('character', 3, 7, ((1, 6),))

    Shares and rates are between 0 and 1. `token_lengths` has pairs of a length in characters and the
    number of tokens of that length; `entry_lengths` has the same for vocabulary entries.
    `rank_frequencies` has pairs of a frequency rank and the share of the tokens at that rank.
    """

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
    used_share: float
    tail_share: float
    frequency_at_95: int
    mean_rank: float
    renyi_efficiency: float
    sequence: SequenceLengths
    boundaries: BoundaryScores | None
    entry_lengths: Lengths
    token_lengths: Lengths
    rank_frequencies: tuple[tuple[int, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as dicts, lists, strings and numbers, for JSON."""
        value = asdict(self)
        if self.boundaries is not None:
            value["boundaries"] |= {
                name: getattr(self.boundaries, name) for name in ("precision", "recall", "f1")
            }
        pairs = ("entry_lengths", "token_lengths", "rank_frequencies")
        return value | {name: [list(pair) for pair in value[name]] for name in pairs}


@dataclass(frozen=True)
class Comparison:
    """Figures of the corpus, and the measures of each tokenizer in the order given.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> found.texts, found.words, found.chars, found.to_dict()["measures"][0]["tokens"]
    (2, 2, 7, 7)

    `replacements` counts invalid UTF-8 sequences that were replaced by U+FFFD.
    """

    texts: int
    words: int
    chars: int
    bytes: int
    replacements: int
    gold_words: int | None
    measures: tuple[Measures, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as dicts, lists, strings and numbers, for JSON."""
        return asdict(self) | {"measures": [one.to_dict() for one in self.measures]}

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for notebooks."""
        from piecework.analysis.text_tables import blocks

        return as_html(blocks(self))


def compare(
    tokenizers: Mapping[str, Tokenizer],
    texts: Iterable[str],
    *,
    gold: Gold | None = None,
    words: Pipeline | str = "whitespace",
    num_threads: int | None = None,
    progress: Progress | None = None,
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
    text are plain text. Empty texts are skipped. `words` defines a word, the same for all tokenizers: the
    name of a preset or a `Pipeline`. `gold` adds boundary scores. `progress(done, total)` receives numbers
    of texts; total is 0 if it is unknown.

    Raises `ArgumentError`, `InputTypeError`, and `CorpusError` if there is no text.
    """
    corpus = _Corpus(tokenizers, words, num_threads)
    total = len(texts) if isinstance(texts, Sequence) else 0
    done = 0
    for batch in batches_of_texts(texts):
        corpus.add(batch)
        done += len(batch.texts)
        if progress is not None:
            progress(done, total)
    return corpus.comparison(gold)


def compare_files(
    tokenizers: Mapping[str, Tokenizer],
    paths: PathLike | Sequence[PathLike],
    *,
    gold: Gold | None = None,
    words: Pipeline | str = "whitespace",
    field: str | None = None,
    errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Measure tokenizers on files: plain text with one text a line, or a format with records.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> path = Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("abba\\nabc\\n")
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = compare_files({"characters": tok}, path)
    >>> found.texts, found.measures[0].sequence.mean
    (2, 3.5)

    `paths`, `field`, `errors` and `on_error` are those of `count_files`, the other arguments those of
    `compare`. Texts exclude the line break. `progress(done, total)` receives bytes of the files.

    Raises `FileError`, `InvalidUtf8Error`, and the errors of `compare`.
    """
    corpus = _Corpus(tokenizers, words, num_threads)
    files = corpus_files(paths)
    total_bytes = corpus_bytes(files)
    for piece in read_corpus(files, field=field, errors=errors, on_error=on_error):
        corpus.add(batch_of_piece(piece, errors))
        if progress is not None:
            show_source(progress, piece.name)
            progress(piece.file_bytes_read, total_bytes)
    return corpus.comparison(gold)


class _Corpus:
    """Accumulates the figures of the corpus and of each tokenizer, batch by batch."""

    def __init__(
        self, tokenizers: Mapping[str, Tokenizer], words: Pipeline | str, num_threads: int | None
    ) -> None:
        self._counts = {
            name: CorpusCounts(one) for name, one in _check_tokenizers(tokenizers).items()
        }
        self._count_words = partial(count_texts, pipeline=words, num_threads=num_threads)
        self._num_threads = num_threads
        self._texts = self._words = self._chars = self._bytes = self._replacements = 0

    def add(self, batch: TextBatch) -> None:
        """Add texts."""
        texts = [text for text in batch.texts if text]
        self._texts += len(texts)
        self._words += self._count_words(texts).total
        self._chars += sum(map(len, texts))
        self._bytes += sum(len(text.encode()) for text in texts)
        self._replacements += batch.replacements
        for counts in self._counts.values():
            counts.add(texts, self._num_threads)

    def comparison(self, gold: Gold | None) -> Comparison:
        """Return the measures of all texts added."""
        if not self._texts:
            raise CorpusError("corpus", "no texts", "at least one text that is not empty")
        return Comparison(
            texts=self._texts,
            words=self._words,
            chars=self._chars,
            bytes=self._bytes,
            replacements=self._replacements,
            gold_words=None if gold is None else len(gold.boundaries),
            measures=tuple(
                self._measures(name, counts, gold) for name, counts in self._counts.items()
            ),
        )

    def _measures(self, name: str, counts: CorpusCounts, gold: Gold | None) -> Measures:
        by_id, size, tokens = counts.id_counts, len(counts.entries), counts.tokens
        return Measures(
            name=name,
            family=family(counts.tokenizer.spec),
            vocab_size=size,
            numeric_tokens=sum(map(is_numeric, counts.entries)),
            tokens=tokens,
            fertility=ratio(tokens, self._words),
            chars_per_token=ratio(self._chars, tokens),
            bytes_per_token=ratio(self._bytes, tokens),
            unknown_tokens=counts.unknown_tokens,
            unknown_rate=ratio(counts.unknown_tokens, tokens),
            used_share=used_share(by_id, size),
            tail_share=tail_share(by_id, size),
            frequency_at_95=frequency_at_95(by_id, size),
            mean_rank=mean_rank(by_id, size),
            renyi_efficiency=renyi_efficiency(by_id, size),
            sequence=sequence_lengths(counts.texts_by_length),
            boundaries=None if gold is None else boundary_scores(counts.tokenizer, gold),
            entry_lengths=entry_lengths(counts.entries),
            token_lengths=counts.token_lengths(),
            rank_frequencies=rank_frequencies(by_id),
        )


def _check_tokenizers(tokenizers: Any) -> Mapping[str, Tokenizer]:
    if not isinstance(tokenizers, Mapping):
        found = type(tokenizers).__name__
        raise InputTypeError("tokenizers", found, "a mapping of names to tokenizers")
    if not tokenizers:
        raise ArgumentError("tokenizers", "none", "at least one tokenizer")
    for name, one in tokenizers.items():
        if not isinstance(one, Tokenizer):
            raise InputTypeError(f"tokenizers[{name!r}]", type(one).__name__, "a Tokenizer")
    return dict(tokenizers)
