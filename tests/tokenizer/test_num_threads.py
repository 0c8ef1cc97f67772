"""How many threads are used where nobody says: what the machine, the environment and the process allow."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

import piecework as pw
from piecework._internal.threads import default_num_threads
from tests.processes import POSIX

TOK = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
TEXTS = ["hugs pug bun, pun"] * 20_000


def used(_: int = 0) -> int:
    return default_num_threads()


def ids(_: int = 0) -> list[int]:
    return TOK.encode_batch(TEXTS, num_threads=2).ids[:50].tolist()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs CPU affinity")
def test_affinity_is_respected() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from piecework._internal.threads import default_num_threads; print(default_num_threads())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIECEWORK_NUM_THREADS", "3")
    assert default_num_threads() == 3
    for wrong in ("0", "many", "-1", "5000", "²"):
        monkeypatch.setenv("PIECEWORK_NUM_THREADS", wrong)
        with pytest.raises(pw.errors.ArgumentError, match="PIECEWORK_NUM_THREADS"):
            TOK.encode_batch(["hug"])
        assert TOK.encode_batch(["hug"], num_threads=1).to_lists() == [TOK.encode("hug").ids]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool_use_one_thread_each(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        assert pool.map(used, [0]) == [1]
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        assert list(executor.map(used, [0])) == [1]


@POSIX
def test_threads_work_before_and_after_a_fork() -> None:
    expected = ids()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(ids, range(4)) == [expected] * 4
    assert ids() == expected


def test_any_number_of_threads_gives_the_same_batch() -> None:
    one = TOK.encode_batch(TEXTS, num_threads=1)
    for num_threads in (2, 3, 7, None):
        batch = TOK.encode_batch(TEXTS, num_threads=num_threads)
        assert (batch.ids == one.ids).all()
        assert (batch.row_offsets == one.row_offsets).all()
