"""Call everything from eight threads in random order, and check that memory stays flat.

    python -m tests.faults.soak --seconds 600

Threads share the tokenizers. Each result is compared with the first of its kind, exceptions included. The
resident memory is sampled once a second; its median over the last third of the time may exceed that of the
middle third by a few megabytes.
"""

from __future__ import annotations

import argparse
import gc
import mmap
import os
import pickle
import random
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import piecework as pw
from tests.conftest import trim_memory
from tests.faults.writers import CHAT, TEXTS, tok

THREADS = 8
MAX_GROWTH = 16 << 20
"""The memory that the last third of a run may take beyond the middle one, in bytes."""

LONG = " ".join(TEXTS) * 20


def actions(folder: Path) -> dict[str, Callable[[pw.Tokenizer], Any]]:
    """Return calls that give the same result, or raise the same error, each time."""

    def saved(one: pw.Tokenizer) -> Any:
        path = folder / f"{threading.get_ident()}.json"
        one.save(path)
        return pw.Tokenizer.load(path).fingerprint

    def cached(one: pw.Tokenizer) -> Any:
        path = folder / f"{threading.get_ident()}.pwc"
        one.save(path)
        return pw.Tokenizer.load(path).encode(TEXTS[1]).ids

    def streamed(one: pw.Tokenizer) -> Any:
        stream = one.decode_stream()
        return "".join(stream.feed(one.encode(TEXTS[2] * 9, add_special_tokens=False).ids))

    def written(one: pw.Tokenizer) -> Any:
        path = folder / f"{threading.get_ident()}.npy"
        pw.encode_files(one, folder / "in.txt", path, format="npy", num_threads=2)
        return list(pw.export.read_ids(path))

    def trained(one: pw.Tokenizer) -> Any:
        return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=55).fingerprint

    return {
        "encode": lambda one: one.encode(LONG).ids,
        "offsets": lambda one: one.encode(TEXTS[2]).offsets,
        "batch": lambda one: one.encode_batch(TEXTS, num_threads=3).to_lists(),
        "decode": lambda one: one.decode(one.encode(LONG).ids),
        "count": lambda one: pw.count_texts(TEXTS, num_threads=2).most_common(5),
        "chat": lambda one: one.apply_chat_template(CHAT, tokenize=False),
        "pickle": lambda one: pickle.loads(pickle.dumps(one)).fingerprint,
        "save": saved,
        "cache": cached,
        "stream": streamed,
        "files": written,
        "train": trained,
        "surrogate": lambda one: one.encode("\ud800"),
        "wrong id": lambda one: one.decode([1 << 31]),
        "wrong type": lambda one: one.encode_batch(["a", 1]),  # type: ignore[list-item]
        "damaged": lambda one: pw.Tokenizer.from_str(one.to_str()[:-9]),
        "missing": lambda one: pw.Tokenizer.load(folder / "none.json"),
        "template": lambda one: one.apply_chat_template(CHAT, chat_template="{{ x.y }}"),
    }


def outcome(action: Callable[[pw.Tokenizer], Any], one: pw.Tokenizer) -> Any:
    """Return the result of a call, or the text of its error of `piecework.errors`."""
    try:
        return action(one)
    except pw.PieceworkError as error:
        if isinstance(error, pw.errors.InternalError):
            raise
        return type(error).__name__, str(error)


def resident() -> int:
    """Return the resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * mmap.PAGESIZE


def soak(
    seconds: float, most: int = sys.maxsize, threads: int = THREADS, seed: int = 1
) -> tuple[Counter[str], list[int]]:
    """Run for a time, or until each thread has made `most` calls.

    Returns the number of calls of each kind and the samples of memory.

    Raises `AssertionError` for a call whose result differs from its first one.
    """
    warnings.simplefilter("ignore")
    tokenizers = [tok(), tok("byte-bpe"), tok("sentencepiece")]
    calls: Counter[str] = Counter()
    samples: list[int] = []
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.txt").write_text("\n".join(TEXTS))
        kinds = actions(folder)
        first = {
            (kind, at): outcome(action, one)
            for kind, action in kinds.items()
            for at, one in enumerate(tokenizers)
        }
        end = monotonic() + seconds

        def work(number: int) -> None:
            draw = random.Random(seed * threads + number)
            for _ in range(most):
                if monotonic() > end or wrong:
                    return
                kind, at = draw.choice(list(kinds)), draw.randrange(len(tokenizers))
                found = outcome(kinds[kind], tokenizers[at])
                if found != first[kind, at]:
                    wrong.append(f"{kind} of {tokenizers[at]!r}: {found!r:.300}")
                calls[kind] += 1

        def guarded(number: int) -> None:
            try:
                work(number)
            except BaseException as error:
                wrong.append(repr(error))
                raise

        running = [threading.Thread(target=guarded, args=(n,)) for n in range(threads)]
        for thread in running:
            thread.start()
        while any(thread.is_alive() for thread in running):
            running[0].join(timeout=1.0)
            gc.collect()
            trim_memory()
            samples.append(resident())
            if not running[0].is_alive():
                for thread in running:
                    thread.join()
    assert not wrong, wrong[0]
    return calls, samples


def growth(samples: list[int]) -> int:
    """Return by how much the median of the last third exceeds that of the middle one, in bytes."""
    third = len(samples) // 3
    return int(median(samples[2 * third :]) - median(samples[third : 2 * third]))


def main() -> int:
    """Run from the command line; return 1 if memory grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    calls, samples = soak(arguments.seconds, seed=arguments.seed)
    third = len(samples) // 3
    parts = [samples[:third], samples[third : 2 * third], samples[2 * third :]]
    shown = ", ".join(f"{int(median(part)) >> 10} KiB" for part in parts if part)
    print(f"{sum(calls.values())} calls in {THREADS} threads, medians of the thirds: {shown}")
    print(f"peak {max(samples) >> 10} KiB, {len(os.listdir('/proc/self/task'))} threads left")
    print(", ".join(f"{kind} {count}" for kind, count in calls.most_common()))
    return int(growth(samples) > MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
