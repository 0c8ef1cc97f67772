"""The Unicode tables of core and reference differ only where their Unicode versions do."""

from __future__ import annotations

import unicodedata

import pytest

from tests.laws.characters import CHARACTERS

# Category changes of old characters: U+166D stopped being punctuation in Unicode 12, U+1734 being
# nonspacing in 14; U+1885 and U+1886 became marks in 9.
RECLASSIFIED = {"\u166d", "\u1734", "\u1885", "\u1886"}


@pytest.mark.slow
def test_differing_characters_are_newer_than_unicode_3_2_or_were_reclassified() -> None:
    old = {c for c in CHARACTERS.disagreeing if unicodedata.ucd_3_2_0.category(c) != "Cn"}
    assert old <= RECLASSIFIED


def test_few_characters_differ_and_the_laws_draw_the_rest() -> None:
    assert len(CHARACTERS.disagreeing) < 1500  # 559 with the tables of Python 3.11
    assert len(CHARACTERS.agreed) > 200_000
