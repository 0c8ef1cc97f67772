"""What a server meets: tables built late, refused threads, changed arrays, asyncio, forks at any moment."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import piecework as pw
from piecework._internal._core import TextColumn
from tests.processes import POSIX

TEXTS = ["to be or not to be", "that is the question", "", "naïve café 日本語"] * 5

# Stacks of so many bytes fit an address space a few times, or never, so the system refuses the threads.
STACKS = {"some threads": 1 << 45, "every thread": 1 << 47}

# Everything that starts threads, by one thread and by several.
WITH_THREADS = """
import pathlib
import tempfile
import piecework as pw

texts = [f"to be or not to be {n} that is the question {n * 7919}" for n in range(20_000)]
LEARNERS = (
    {"model": "byte-bpe", "vocab_size": 400},
    {"model": "unigram", "vocab_size": 200},
    {"vocab_size": 200, "learner": pw.train.Pruning()},
    {"vocab_size": 60, "learner": pw.train.Merges()},
    {"vocab_size": 200, "learner": pw.train.TopDown()},
)

def results(num_threads):
    toks = [pw.Tokenizer.train_from_iterator(texts, num_threads=num_threads, **kind) for kind in LEARNERS]
    yield [tok.to_str() for tok in toks]
    batch = toks[0].encode_batch(texts, num_threads=num_threads)
    yield batch.ids.tobytes(), batch.row_offsets.tobytes()
    yield toks[0].count_batch(texts, num_threads=num_threads)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "texts.txt")
        source.write_text("\\n".join(texts))
        target = pathlib.Path(folder, "ids.npy")
        pw.encode_files(toks[0], source, target, num_threads=num_threads)
        yield target.read_bytes()

# One thread is asked for first: nothing has started a thread yet.
assert list(results(1)) == list(results(8))
print("equal")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="how a system refuses threads differs")
@pytest.mark.parametrize("refused", STACKS)
def test_refused_threads_change_no_result(refused: str) -> None:
    environment = {**os.environ, "RUST_MIN_STACK": str(STACKS[refused])}
    done = subprocess.run(
        [sys.executable, "-c", WITH_THREADS], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("equal\n", "")


def test_a_numpy_column_keeps_what_was_checked() -> None:
    values = np.array(["é".encode(), b"be"])
    column = TextColumn.of_bytes(values.view(np.uint8), values.dtype.itemsize, len(values))
    values[:] = b"\xff\xff"
    assert column.to_list() == ["é", "be"]


def ranks() -> dict[bytes, int]:
    """Return ranks of which the merge tables take long to build."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [f"{number:02x}".encode() for number in range(256)]
    tokens += [f"{number:04x}".encode() for number in range(1 << 16)]
    return {token: rank for rank, token in enumerate(tokens)}


def words(count: int) -> str:
    return " ".join(f"{number * 2654435761 % (1 << 40):010x}" for number in range(count))


def test_warm_up_changes_no_ids() -> None:
    text = words(5000)
    tok, cold = (pw.Tokenizer.from_ranks(ranks(), pattern="gpt2") for _ in range(2))
    tok.warm_up()
    expected = cold.encode(text).ids
    assert tok.encode(text).ids == expected
    copies = (copy.copy(tok), tok.with_truncation(10), tok.with_word_cache_budget(1 << 20))
    assert all(other._core.shares_tables_with(tok._core) for other in copies)
    assert pickle.loads(pickle.dumps(tok)).encode(text).ids == expected


@POSIX
def test_a_fork_while_tables_are_built_is_safe() -> None:
    text = words(5000)
    expected = pw.Tokenizer.from_ranks(ranks(), pattern="gpt2").encode(text).ids
    tok = pw.Tokenizer.from_ranks(ranks(), pattern="gpt2")
    builder = threading.Thread(target=tok.encode, args=(text,))
    builder.start()
    children: list[int] = []
    while builder.is_alive() and len(children) < 20:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            # The child has the builder's claim but not its thread.
            os._exit(0 if tok.encode(text).ids == expected else 1)
        children.append(child)
    builder.join()
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def test_many_tasks_encode_in_threads() -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=60)
    expected = tok.encode_batch(TEXTS, num_threads=1).to_lists()

    async def request() -> list[list[int]]:
        batch = await asyncio.to_thread(tok.encode_batch, TEXTS, num_threads=1)
        return batch.to_lists()

    async def serve() -> list[list[list[int]]]:
        return await asyncio.gather(*(request() for _ in range(200)))

    assert all(found == expected for found in asyncio.run(serve()))


def test_a_cancelled_task_leaves_the_tokenizer_usable() -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=60)
    expected = tok.encode(TEXTS[0]).ids
    started, finish = threading.Event(), threading.Event()

    def encode() -> list[int]:
        started.set()
        finish.wait()
        return tok.encode(TEXTS[0]).ids

    async def serve() -> list[int]:
        task = asyncio.create_task(asyncio.to_thread(encode))
        try:
            await asyncio.to_thread(started.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # The thread goes on; the loop and the tokenizer do not wait for it.
            return await asyncio.to_thread(lambda: tok.encode(TEXTS[0]).ids)
        finally:
            finish.set()

    assert asyncio.run(serve()) == expected
