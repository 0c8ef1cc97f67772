"""Cuts against morphology: a gold standard of segmented words, and how a tokenizer's cuts agree.

The file has a word and its canonical segmentation in each line, as SIGMORPHON's shared task gives
them: `strides`, a tab, `stride @@s`. Canonical morphemes need not spell the word (`subneural` is `sub
neuron al`); only words that theirs do spell have boundaries in the text, and only they are scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from piecework.analysis.entry_bytes import PLAINLY
from piecework.analysis.metrics import ratio
from piecework.corpus.files import PathLike, TextBlock, read_corpus
from piecework.encoding import Encoding
from piecework.errors import CorpusError
from piecework.tokenizer import Tokenizer

_MORPHEME_MARK = " @@"


@dataclass(frozen=True)
class Gold:
    """Words with the places of their inner boundaries, in characters; `total` counts the rest too.

    >>> Gold.of({"strides": ["stride", "s"], "subneural": ["sub", "neuron", "al"]})
    Gold(1 of 2 words)
    """

    boundaries: Mapping[str, tuple[int, ...]]
    total: int

    @classmethod
    def of(cls, segmentations: Mapping[str, Iterable[str]]) -> Gold:
        """Keep the words that their morphemes, joined, spell."""
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
    """Read a file of words and segmentations, separated by tabs; further columns are left alone.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "gold.tsv"
    >>> _ = path.write_text("strides\\tstride @@s\\t100\\n")
    >>> read_gold(path).boundaries
    {'strides': (6,)}

    The file may be compressed. Of a word that occurs again the first segmentation counts. Raises
    `FileError`, and `CorpusError` with the line for one that has no two columns.

    Source: Batsuren et al. 2022, "The SIGMORPHON 2022 Shared Task on Morpheme Segmentation".
    """
    segmentations: dict[str, list[str]] = {}
    for place, line in _lines(path):
        word, *rest = line.split("\t")
        if not word or not rest or not rest[0]:
            raise CorpusError(place, repr(line[:40]), "a word, a tab and its segmentation")
        segmentations.setdefault(word, rest[0].split(_MORPHEME_MARK))
    if not segmentations:
        raise CorpusError(str(path), "no words", "words with their segmentations")
    return Gold.of(segmentations)


@dataclass(frozen=True)
class BoundaryScores:
    """Agreement with the gold boundaries, over all words together, each word once.

    `correct` of the `predicted` boundaries are among the `actual` ones.
    """

    words: int
    correct: int
    predicted: int
    actual: int

    @property
    def precision(self) -> float:
        """Share of the predicted boundaries that are right; 0 without any."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Share of the gold boundaries that are found; 0 without any."""
        return ratio(self.correct, self.actual)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.correct, self.predicted + self.actual)


def boundary_scores(tokenizer: Tokenizer, gold: Gold) -> BoundaryScores:
    """Cut every word of a gold standard and compare the cuts with its boundaries.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "un": 1, "##hap": 2, "##py": 3}),
    ...     pre_tokenizer=pw.spec.WhitespaceSplit(),
    ... )
    >>> boundary_scores(tok, Gold.of({"unhappy": ["un", "happy"]}))
    BoundaryScores(words=1, correct=1, predicted=2, actual=1)

    Each word stands behind a space, as in running text. A cut inside a character is no boundary, and
    a word without boundaries counts: every cut in it is wrong.
    """
    correct = predicted = actual = 0
    for word, boundaries in gold.boundaries.items():
        encoding = tokenizer.encode(f" {word}", **PLAINLY)
        cuts = _cuts(encoding, len(word))
        correct += len(cuts.intersection(boundaries))
        predicted += len(cuts)
        actual += len(boundaries)
    return BoundaryScores(len(gold.boundaries), correct, predicted, actual)


def _cuts(encoding: Encoding, length: int) -> set[int]:
    """Return where a token ends and the next begins, in characters of the word behind its space."""
    spans = [span for span in encoding.offsets if span[0] < span[1]]
    starts = {start for (_, end), (start, _) in pairwise(spans) if end <= start}
    return {start - 1 for start in starts if 0 < start - 1 < length}


def _lines(path: PathLike) -> Iterator[tuple[str, str]]:
    number = 0
    for block in read_corpus(path):
        if not isinstance(block, TextBlock):
            raise CorpusError(block.name, "JSON lines", "tab-separated columns")
        for line in block.data.decode(errors="replace").removesuffix("\n").split("\n"):
            number += 1
            if line.strip():
                yield f"{block.name} line {number}", line.removesuffix("\r")
