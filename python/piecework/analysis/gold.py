"""Compare token boundaries with morpheme boundaries of a gold standard.

Each line of a gold file has a word, a tab and its canonical segmentation: `strides<TAB>stride @@s`, the
format of the SIGMORPHON shared task, or `strides<TAB>stride s` in a file without `@@`. Concatenated
canonical morphemes may differ from the word: `subneural` is `sub neuron al`. Only words whose morphemes
concatenate to the word have boundaries in the text, and only these are scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from piecework import Tokenizer
from piecework._internal.validation import PathLike, check_tokenizer, check_type
from piecework.analysis.blocks import PlainData
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.corpus import corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions
from piecework.errors import CorpusError
from piecework.tokenizer.encoding import Encoding

_MORPHEME_SEPARATOR = " @@"
_FORM = "a word, a tab and its morphemes, such as strides<TAB>stride @@s or strides<TAB>stride s"


@dataclass(frozen=True)
class Gold:
    """Words with their inner morpheme boundaries, as character indices.

    >>> Gold.of({"strides": ["stride", "s"], "subneural": ["sub", "neuron", "al"]})
    Gold(1 of 2 words)

    `total` also counts the words whose morphemes do not concatenate to the word.
    """

    boundaries: Mapping[str, tuple[int, ...]]
    total: int

    @classmethod
    def of(cls, segmentations: Mapping[str, Iterable[str]]) -> Gold:
        """Build a gold standard from words and their morphemes.

        >>> Gold.of({"strides": ["stride", "s"]}).boundaries
        {'strides': (6,)}
        """
        morphemes = {word: list(parts) for word, parts in segmentations.items()}
        boundaries = {
            word: tuple(accumulate(map(len, parts[:-1])))
            for word, parts in morphemes.items()
            if "".join(parts) == word
        }
        return cls(boundaries, len(morphemes))

    def __repr__(self) -> str:
        return f"Gold({len(self.boundaries):,} of {self.total:,} words)"


def read_gold(path: PathLike) -> Gold:
    """Read a file of words and segmentations, separated by tabs; further columns are ignored.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "gold.tsv"
    >>> _ = path.write_text("strides\\tstride @@s\\t100\\n")
    >>> read_gold(path).boundaries
    {'strides': (6,)}

    In a file without `@@`, spaces separate morphemes, except in a word that has spaces itself. The file may
    be compressed. If a word occurs again, its first segmentation is kept. Raises `FileError`, and
    `CorpusError` with the line number for a line without two columns, and for a file of which no word is the
    concatenation of its morphemes.

    Source: Batsuren et al. 2022, "The SIGMORPHON 2022 Shared Task on Morpheme Segmentation".
    """
    segmentations: dict[str, str] = {}
    for place, line in _lines(path):
        word, *rest = line.split("\t")
        if not word or not rest or not rest[0]:
            raise CorpusError(place, f"found {line[:40]!r}, expected {_FORM}")
        segmentations.setdefault(word, rest[0])
    if not segmentations:
        raise CorpusError(str(path), f"has no words; it needs lines of {_FORM}")
    gold = Gold.of(_morphemes(segmentations))
    if not gold.boundaries:
        word, morphemes = next(iter(segmentations.items()))
        found = f"no word that its morphemes spell; the first is {word[:40]!r}, {morphemes[:40]!r}"
        raise CorpusError(str(path), f"has {found}; it needs lines of {_FORM}")
    return gold


def _morphemes(segmentations: Mapping[str, str]) -> dict[str, list[str]]:
    """Split at the separator of the shared task, or at spaces if no segmentation has that separator."""
    if any(_MORPHEME_SEPARATOR in one for one in segmentations.values()):
        return {word: one.split(_MORPHEME_SEPARATOR) for word, one in segmentations.items()}
    return {word: [one] if " " in word else one.split() for word, one in segmentations.items()}


@dataclass(frozen=True)
class BoundaryScores(PlainData):
    """Agreement of token boundaries with gold boundaries, summed over all words, each word once.

    >>> scores = BoundaryScores(words=1, correct=1, predicted=2, actual=1)
    >>> scores.precision, scores.recall
    (0.5, 1.0)

    `predicted` counts the boundaries of the tokenizer, `actual` the boundaries of the gold standard, and
    `correct` the boundaries in both. A measure that divides by 0 is None.
    """

    _computed = ("precision", "recall", "f1")

    words: int
    correct: int
    predicted: int
    actual: int

    @property
    def precision(self) -> float | None:
        """The share of predicted boundaries that are correct; None if there are none."""
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """The share of gold boundaries that are predicted; None if there are none."""
        return self.correct / self.actual if self.actual else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if one of them is."""
        if not self.predicted or not self.actual:
            return None
        return 2 * self.correct / (self.predicted + self.actual)


def boundary_scores(tokenizer: Tokenizer, gold: Gold) -> BoundaryScores:
    """Encode every word of a gold standard and compare token boundaries with its boundaries.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "un": 1, "##hap": 2, "##py": 3}),
    ...     pre_tokenizer=pw.spec.WhitespaceSplit(),
    ... )
    >>> boundary_scores(tok, Gold.of({"unhappy": ["un", "happy"]}))
    BoundaryScores(words=1, correct=1, predicted=2, actual=1)

    Each word is encoded after a space, as in running text. A token boundary inside a character is ignored.
    In a word without gold boundaries, every token boundary is wrong. Raises `CorpusError` for a gold standard
    without words that their morphemes spell.
    """
    check_tokenizer(tokenizer)
    check_type("gold", gold, Gold, "a Gold")
    if not gold.boundaries:
        raise CorpusError("gold", "has no words that their morphemes spell")
    correct = predicted = actual = 0
    for word, boundaries in gold.boundaries.items():
        encoding = tokenizer.encode(f" {word}", **PLAIN_TEXT)
        predicted_at = _token_boundaries(encoding, len(word))
        correct += len(predicted_at.intersection(boundaries))
        predicted += len(predicted_at)
        actual += len(boundaries)
    return BoundaryScores(len(gold.boundaries), correct, predicted, actual)


def _token_boundaries(encoding: Encoding, length: int) -> set[int]:
    """Return the character indices in the word at which a token starts, except its beginning."""
    spans = [span for span in encoding.offsets if span[0] < span[1]]
    starts = {start for (_, end), (start, _) in pairwise(spans) if end <= start}
    return {start - 1 for start in starts if 0 < start - 1 < length}


def _lines(path: PathLike) -> Iterator[tuple[str, str]]:
    for rows in CorpusReader(corpus_files(path), ReadOptions.of(tables_as_lines=True)).rows():
        if not rows.are_lines:
            found = "a format with named fields, such as JSON lines"
            problem = f"has {found}; a gold standard is plain text with tab-separated columns"
            raise CorpusError(rows.name, problem)
        for number, line in zip(rows.numbers, rows.texts, strict=True):
            if line.strip():
                yield f"{rows.name} line {number}", line
