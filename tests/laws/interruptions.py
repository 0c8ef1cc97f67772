"""Runs that are interrupted after any merge, and continue."""

from __future__ import annotations

from hypothesis import strategies as st

import piecework as pw
from piecework._internal._core import LearningLog
from piecework.errors import TrainingError
from piecework.train import SentencePieceTrainer
from tests.laws.counting import compared


def continues_after_any_merge(
    trainer: SentencePieceTrainer, counts: pw.Counts, data: st.DataObject
) -> None:
    """Compare the pieces and merges of a continued run with those of a whole one, if the counts suffice."""
    log = LearningLog()
    try:
        expected = trainer._run(counts, 1, progress=None, log=log)
    except TrainingError:
        return
    merges = log.merges()
    made = data.draw(st.integers(0, len(merges[0])))
    again = LearningLog(merges=tuple(column[:made] for column in merges))
    assert trainer._run(counts, 1, progress=None, log=again).pieces == expected.pieces
    assert [column.tolist() for column in again.merges()] == [c.tolist() for c in merges]
    compared()
