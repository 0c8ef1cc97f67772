"""The short form of the run that `make test-soak` does for ten minutes."""

from __future__ import annotations

from tests.faults import soak
from tests.processes import LINUX


@LINUX
def test_threads_that_call_everything_get_the_results_of_one() -> None:
    calls, samples = soak.soak(seconds=float("inf"), most=40, threads=4)
    assert sum(calls.values()) == 160
    assert samples
