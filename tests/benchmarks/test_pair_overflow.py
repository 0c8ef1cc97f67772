"""The script about pair counts beyond 32 bits: with few words all trainers agree, and ours with many, too."""

from __future__ import annotations

import doctest

import pytest

import pair_overflow
import piecework as pw
from pair_overflow import FREQUENT, RARE, RARE_COUNT, TRAINERS


def test_doctests_pass() -> None:
    assert doctest.testmod(pair_overflow).failed == 0


def test_all_trainers_begin_alike_with_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_overflow, "RARE_COUNT", 2)
    for name, learned in TRAINERS.items():
        found = learned(20)
        # ##a ##b and ##b ##a occur equally often.
        assert found == ["ab", "abab", "abababab"] or found[0] in ("##ab", "##ba"), name


@pytest.mark.parametrize("fed", [1_070_000, 1_080_000, 2**52])
def test_ours_learn_the_same_beyond_32_bits(fed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = pw.Counts([FREQUENT, RARE], [fed, RARE_COUNT])
    monkeypatch.setattr(pw, "count_texts", lambda *_, **__: counts)
    assert TRAINERS["piecework BPETrainer"](fed) == ["ab", "abab", "abababab"]
    assert TRAINERS["piecework WordPieceTrainer"](fed) == ["##ab", "##abab", "##abababab"]


def test_more_characters_than_64_bits_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = pw.Counts([FREQUENT], [2**53])
    monkeypatch.setattr(pw, "count_texts", lambda *_, **__: counts)
    for name in ("piecework BPETrainer", "piecework WordPieceTrainer"):
        with pytest.raises(pw.errors.TrainingError, match="counts: must be a sum within 64 bits"):
            TRAINERS[name](1)
