"""The short form of the run that `make test-soak` does for ten minutes."""

from __future__ import annotations

import os

import pytest

from tests.faults import soak


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux states resident memory")
def test_threads_that_call_everything_get_the_results_of_one() -> None:
    calls, samples = soak.soak(seconds=float("inf"), most=40, threads=4)
    assert sum(calls.values()) == 160
    assert samples
