"""A law that compares nothing fails."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from tests.laws.counting import compared, compares_some


@compares_some
@given(st.integers())
def test_a_law_that_compares_some_cases_passes(number: int) -> None:
    if number >= 0:
        compared()


def test_a_law_that_compares_no_case_fails() -> None:
    @compares_some
    @given(st.integers())
    def law(number: int) -> None:
        if number != number:
            compared()

    with pytest.raises(AssertionError, match="law compared no case"):
        law()


def test_a_law_whose_assumption_never_holds_fails() -> None:
    @given(st.booleans())
    def law(_: bool) -> None:
        assume(False)

    with pytest.raises(Unsatisfiable):
        law()
