"""The merges that made a token: its ancestors in the order in which they were learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from piecework import Tokenizer
from piecework._internal.close_names import did_you_mean
from piecework.analysis.blocks import Block, Grid, Heading, Paragraph
from piecework.analysis.displayed import Displayed
from piecework.errors import ArgumentError
from piecework.spec import BPE, Char
from piecework.train import LearnedVocabulary

_LENGTH_DIFFERENCE = 2


@dataclass(frozen=True)
class LineageMerge:
    """A merge among the ancestors of a token; rank 0 was learned first.

    >>> LineageMerge(rank=0, left="u", right="g", token="ug", count=20, score=20.0).token
    'ug'

    `count` and `score` are those at training; None if only the merges of a tokenizer are known.
    """

    rank: int
    left: str
    right: str
    token: str
    count: int | None
    score: float | None


@dataclass(frozen=True)
class Lineage(Displayed):
    """The merges that made a token, in the order in which they were learned.

    >>> import piecework as pw
    >>> model = pw.spec.BPE({"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}, (("u", "g"), ("h", "ug")))
    >>> print(pw.analysis.lineage(pw.Tokenizer(model), "hug"), end="")
    lineage of hug
      rank  merge
         0  u g -> ug
         1  h ug -> hug

    A token that no merge made has none: it is a special token or a part of the alphabet.
    """

    token: str
    merges: tuple[LineageMerge, ...]

    def blocks(self, lines: int | None = None) -> Iterator[Block]:
        """Yield what the lineage shows: the last `lines` merges, all by default."""
        yield Heading(f"lineage of {self.token}")
        if not self.merges:
            yield Paragraph("no merge made it: it is a special token or a part of the alphabet")
            return
        counted = all(merge.count is not None for merge in self.merges)
        rows = tuple(_cells(merge) for merge in self.merges[-(lines or len(self.merges)) :])
        if len(rows) < len(self.merges):
            yield Paragraph(f"the last {len(rows):,} of {len(self.merges):,} merges")
        header = ("rank", "merge", "count", "score") if counted else ("rank", "merge")
        yield Grid(header, rows, ("rank", "count", "score"))


def _cells(merge: LineageMerge) -> tuple[str, ...]:
    cells = (f"{merge.rank:,}", f"{merge.left} {merge.right} -> {merge.token}")
    if merge.count is None or merge.score is None:
        return cells
    return (*cells, f"{merge.count:,}", f"{merge.score:.6g}")


def lineage(source: Tokenizer | LearnedVocabulary, token: str) -> Lineage:
    """Return the merges that made a token of a BPE tokenizer or of a training run.

    >>> import piecework as pw
    >>> example = pw.analysis.training_example("hugs")
    >>> learned = example.trainer.learn_vocabulary(example.counts)
    >>> for merge in lineage(learned, "hugs").merges:
    ...     print(merge.rank, merge.left, merge.right, merge.count, round(merge.score, 4))
    0 ##g ##s 5 0.05
    1 h ##u 15 0.0278
    2 hu ##gs 5 0.0667

    A WordPiece file has no merges. `LearnedVocabulary.load` reads them from the file that
    `piecework train --training-log` writes, and `trainer.learn_vocabulary` returns them. If several merges
    make the same token, the first counts. Raises `ArgumentError` for a token that is not in the
    vocabulary, with the nearest entry, and for a source without merges.
    """
    if isinstance(source, LearnedVocabulary):
        entries: Iterable[str] = source.entries
        merges = [
            LineageMerge(rank, one.left, one.right, one.token, one.pair_count, one.score)
            for rank, one in enumerate(source.merges)
        ]
    else:
        model = _bpe_of(source)
        entries = model.vocab
        prefix = len(model.continuing_subword_prefix or "")
        merges = [
            LineageMerge(rank, left, right, left + right[prefix:], None, None)
            for rank, (left, right) in enumerate(model.merges)
        ]
    if token not in set(entries):
        near = [one for one in entries if abs(len(one) - len(token)) <= _LENGTH_DIFFERENCE]
        problem = f"must be an entry of the vocabulary, not {token!r}"
        raise ArgumentError("token", problem, hint=did_you_mean(token, near))
    return Lineage(token, tuple(_ancestors(merges, token)))


def _bpe_of(source: object) -> BPE:
    if not isinstance(source, Tokenizer):
        problem = f"must be a Tokenizer or a LearnedVocabulary, not {type(source).__name__}"
        raise ArgumentError("source", problem)
    model = source.spec.model
    if isinstance(model, Char):
        return BPE(model.vocab, ())  # files have BPE without merges for it
    if not isinstance(model, BPE):
        expected = (
            "a BPE model, or the merges of a training run (piecework train --learner merges --training-log); "
            "pruning, the default, makes none"
        )
        raise ArgumentError("source", f"{type(model).__name__} has no merges; pass {expected}")
    return model


def _ancestors(merges: list[LineageMerge], token: str) -> list[LineageMerge]:
    """Return the first merge of a token and the first merges of its parts, in order of rank."""
    first: dict[str, LineageMerge] = {}
    for merge in merges:
        first.setdefault(merge.token, merge)
    found: dict[str, LineageMerge] = {}
    waiting = [token]
    while waiting:
        name = waiting.pop()
        if name in first and name not in found:
            found[name] = first[name]
            waiting += [first[name].left, first[name].right]
    return sorted(found.values(), key=lambda merge: merge.rank)
