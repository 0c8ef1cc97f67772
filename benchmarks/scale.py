"""Measure what each stage costs for a gigabyte, and compute runs of any size from that.

python benchmarks/scale.py measure build/benchmarks/corpora/english.txt -o benchmarks/scale.json
python benchmarks/scale.py run --terabytes 1 --workers 64

`measure` counts growing prefixes of each file with one thread, in CPU seconds, and fits Heaps' law: a text of
n words has K * n ** beta distinct ones. It measures merging, learning and encoding on the same counts. `run`
computes a run on a cluster from the figures of `measure`: nothing is executed.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import piecework as pw
from piecework.integrations.distributed import counts_of_table, counts_table, merge_counts

RECORD = Path(__file__).parent / "scale.json"
MB = 1_000_000
FIRST_PREFIX = 1 * MB
MERGE_FAN_IN = 8


class Heaps(NamedTuple):
    """Heaps' law: `k * words ** beta` distinct words; `error` is the largest relative error of the fit."""

    k: float
    beta: float
    error: float

    def distinct(self, words: float) -> float:
        """Return the number of distinct words of a text with a number of words."""
        return min(words, self.k * words**self.beta)


def heaps_fit(words: Sequence[int], distinct: Sequence[int]) -> Heaps:
    """Fit Heaps' law by least squares on logarithms.

    >>> fit = heaps_fit([100, 10_000, 1_000_000], [30, 300, 3000])
    >>> round(fit.k, 3), round(fit.beta, 3), round(fit.error, 3)
    (3.0, 0.5, 0.0)
    """
    beta, log_k = np.polyfit(np.log(words), np.log(distinct), 1)
    fit = Heaps(float(np.exp(log_k)), float(beta), 0.0)
    errors = [abs(fit.k * n**fit.beta / d - 1) for n, d in zip(words, distinct, strict=True)]
    return fit._replace(error=max(errors))


def cpu_seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the CPU seconds of this process that it took."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def prefixes(path: Path) -> list[bytes]:
    """Return prefixes of a file that end at line ends, each twice as long as the one before."""
    data = path.read_bytes()
    sizes = [FIRST_PREFIX << step for step in range(40) if FIRST_PREFIX << step < len(data)]
    return [data[: data.rfind(b"\n", 0, size) + 1] for size in sizes] + [data]


def measure(path: Path, pipeline: str, vocab_size: int, scratch: Path) -> dict[str, Any]:
    """Measure all stages on one file; rates are for one CPU, sizes in bytes."""
    points = []
    for prefix in prefixes(path):
        part = scratch / "prefix.txt"
        part.write_bytes(prefix)
        counts, seconds = cpu_seconds(
            lambda part=part: pw.count_files(part, preset=pipeline, num_threads=1)
        )
        points.append((len(prefix), counts.total, len(counts), seconds))
    tables = [counts_table(counts)] * MERGE_FAN_IN
    merged, merging = cpu_seconds(lambda: merge_counts(tables))
    tok, learning = cpu_seconds(
        lambda: pw.Tokenizer.train_from_counts(
            counts, vocab_size=vocab_size, preset=pipeline, num_threads=1, progress=False
        )
    )
    out = scratch / "ids.npy"
    encoded, encoding = cpu_seconds(
        lambda: pw.encode_files(tok, part, out, format="npy", num_threads=1)
    )
    _, words, distinct, _ = points[-1]
    size = points[-1][0]
    fit = heaps_fit([point[1] for point in points], [point[2] for point in points])
    return {
        "corpus": path.name,
        "pipeline": pipeline,
        "bytes": size,
        "words": words,
        "distinct": distinct,
        "heaps": fit._asdict(),
        "growth": [point[:3] for point in points],
        "count_bytes_per_second": size / points[-1][3],
        "table_bytes_per_word": merged.nbytes / distinct,
        "merge_rows_per_second": MERGE_FAN_IN * distinct / merging,
        "learn_words_per_second": distinct / learning,
        "vocab_size": vocab_size,
        "encode_bytes_per_second": size / encoding,
        "tokens_per_byte": encoded.tokens[0] / size,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


class Run(NamedTuple):
    """One stage of a run: wall seconds, CPU seconds of all workers, and bytes that go over the network."""

    stage: str
    seconds: float
    cpu_seconds: float
    network: float


def simulated_run(
    figures: dict[str, Any],
    corpus_bytes: float,
    workers: int,
    *,
    task_bytes: float,
    disk: float,
    network: float,
    kept_words: float,
) -> list[Run]:
    """Compute the stages of a run; `disk` and `network` are bytes per second of one worker.

    Each worker is one CPU. Tasks run in rounds: ceil(tasks / workers) of them. A merge adds up eight tables.
    The driver receives the last table and learns with one CPU from `kept_words` of its words.
    """
    heaps = Heaps(**figures["heaps"])
    words_per_byte = figures["words"] / figures["bytes"]
    table_size = figures["table_bytes_per_word"]
    count_task = task_bytes / min(figures["count_bytes_per_second"], disk)
    tasks = math.ceil(corpus_bytes / task_bytes)
    counting = Run(
        "count",
        math.ceil(tasks / workers) * count_task,
        corpus_bytes / figures["count_bytes_per_second"],
        0,
    )
    merging = Run("merge", 0.0, 0.0, 0.0)
    tables, part_bytes = tasks, task_bytes
    while tables > 1:
        rows = MERGE_FAN_IN * heaps.distinct(part_bytes * words_per_byte)
        merges = math.ceil(tables / MERGE_FAN_IN)
        one = rows / figures["merge_rows_per_second"] + rows * table_size / network
        merging = Run(
            "merge",
            merging.seconds + math.ceil(merges / workers) * one,
            merging.cpu_seconds + merges * rows / figures["merge_rows_per_second"],
            merging.network + merges * rows * table_size,
        )
        tables, part_bytes = merges, min(corpus_bytes, part_bytes * MERGE_FAN_IN)
    distinct = heaps.distinct(corpus_bytes * words_per_byte)
    to_driver = distinct * table_size
    learned = min(distinct, kept_words)
    learning = learned / figures["learn_words_per_second"]
    encode_rate = figures["encode_bytes_per_second"]
    ids = figures["tokens_per_byte"] * 4
    rate = 1 / max(1 / encode_rate, (1 + ids) / disk)
    return [
        counting,
        merging,
        Run("to the learner", to_driver / network, 0.0, to_driver),
        Run("learn", learning, learning, 0.0),
        Run("encode", corpus_bytes / rate / workers, corpus_bytes / encode_rate, 0.0),
    ]


def print_memory(words: int, vocab_size: int) -> None:
    """Print the memory that the learner's process needs for each distinct word, in a process of its own."""

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    draw = np.random.default_rng(1)
    letters = draw.integers(97, 123, (words, 9), np.uint8)
    text = letters.tobytes().decode()
    table = pa.table(
        {
            "word": pa.array(
                [f"{text[at * 9 : at * 9 + 9]}{at % 97}" for at in range(words)], pa.large_string()
            ),
            "count": pa.array(draw.zipf(1.5, words).clip(1, 1 << 30).astype(np.uint64)),
            "first": pa.nulls(words, pa.uint64()),
        }
    )
    table = merge_counts([table])
    print(f"table: {table.nbytes / len(table):.0f} bytes a word; peak so far {peak() / 1e9:.2f} GB")
    start = peak()
    counts, seconds = cpu_seconds(lambda: counts_of_table(table))
    print(f"Counts: {(peak() - start) / words:.0f} bytes a word, {seconds:.1f} CPU seconds")
    start = peak()
    _, seconds = cpu_seconds(
        lambda: pw.Tokenizer.train_from_counts(
            counts, vocab_size=vocab_size, num_threads=1, progress=False
        )
    )
    print(f"learning: {(peak() - start) / words:.0f} bytes a word, {seconds:.1f} CPU seconds")


def print_growth(record: list[dict[str, Any]]) -> None:
    """Print the figures of each corpus."""
    for figures in record:
        heaps = Heaps(**figures["heaps"])
        print(
            f"{figures['corpus']} ({figures['pipeline']}): {figures['bytes'] / MB:.0f} MB, "
            f"{figures['words']:,} words, {figures['distinct']:,} distinct"
        )
        print(
            f"  Heaps: {heaps.k:.2f} * words ** {heaps.beta:.3f}, at most {heaps.error:.0%} wrong; "
            f"1 GB: {distinct_of(figures, 1e9):,.0f}, 1 TB: {distinct_of(figures, 1e12):,.0f}"
        )
        print(
            f"  one CPU: count {figures['count_bytes_per_second'] / MB:.0f} MB/s, "
            f"merge {figures['merge_rows_per_second'] / 1e6:.1f} M rows/s, "
            f"learn {figures['vocab_size']:,} entries from {figures['learn_words_per_second'] / 1e3:.0f} k "
            f"words/s, encode {figures['encode_bytes_per_second'] / MB:.0f} MB/s"
        )
        print(
            f"  tables: {figures['table_bytes_per_word']:.0f} bytes a word; "
            f"ids: {figures['tokens_per_byte']:.3f} tokens a byte"
        )


def distinct_of(figures: dict[str, Any], size: float) -> float:
    """Return the distinct words of a corpus of a size in bytes."""
    return Heaps(**figures["heaps"]).distinct(size * figures["words"] / figures["bytes"])


def print_run(runs: list[Run]) -> None:
    """Print the stages of a run."""
    print(f"{'stage':<16}{'wall':>12}{'CPU hours':>12}{'network GB':>12}")
    for run in runs:
        wall = f"{run.seconds / 3600:.2f} h" if run.seconds >= 3600 else f"{run.seconds:.0f} s"
        print(f"{run.stage:<16}{wall:>12}{run.cpu_seconds / 3600:>12.1f}{run.network / 1e9:>12.1f}")


def main() -> None:
    """Measure, or compute a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    measuring = verbs.add_parser("measure", help="measure the stages on text files")
    measuring.add_argument("corpora", nargs="+", type=Path)
    measuring.add_argument("--pipeline", default="bert-uncased")
    measuring.add_argument("--vocab-size", type=int, default=30_000)
    measuring.add_argument("-o", "--output", type=Path, default=RECORD)
    weighing = verbs.add_parser("memory", help="measure the memory of the learner")
    weighing.add_argument("--words", type=int, default=4_000_000)
    weighing.add_argument("--vocab-size", type=int, default=30_000)
    verbs.add_parser("growth", help="print the recorded figures")
    running = verbs.add_parser("run", help="compute a run from the recorded figures")
    running.add_argument("--corpus", default=None, help="a recorded corpus (default: the first)")
    running.add_argument("--terabytes", type=float, default=1.0)
    running.add_argument("--workers", type=int, default=64, help="CPUs of the cluster")
    running.add_argument("--task-mb", type=float, default=268.0)
    running.add_argument("--disk-mb", type=float, default=200.0, help="MB/s of one worker")
    running.add_argument("--network-mb", type=float, default=125.0, help="MB/s of one worker")
    running.add_argument("--kept-words", type=float, default=math.inf, help="words to learn from")
    given = parser.parse_args()
    if given.verb == "measure":
        scratch = given.output.parent / "scale-scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = [
                measure(path, given.pipeline, given.vocab_size, scratch) for path in given.corpora
            ]
        for path in scratch.iterdir():
            path.unlink()
        scratch.rmdir()
        given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print_growth(record)
        return
    if given.verb == "memory":
        print_memory(given.words, given.vocab_size)
        return
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if given.verb == "growth":
        print_growth(record)
        return
    named = [figures for figures in record if given.corpus in (None, figures["corpus"])]
    if not named:
        parser.error(f"--corpus: expected one of {', '.join(one['corpus'] for one in record)}")
    runs = simulated_run(
        named[0],
        given.terabytes * 1e12,
        given.workers,
        task_bytes=given.task_mb * MB,
        disk=given.disk_mb * MB,
        network=given.network_mb * MB,
        kept_words=given.kept_words,
    )
    distinct = distinct_of(named[0], given.terabytes * 1e12)
    print(
        f"{given.terabytes:g} TB like {named[0]['corpus']}, {given.workers} CPUs: "
        f"{distinct:,.0f} distinct words"
    )
    print_run(runs)


if __name__ == "__main__":
    main()
