"""Compare Ray or Spark on this machine with one process on the same CPUs.

python benchmarks/engine_overhead.py ray build/benchmarks/corpora/english.txt

The corpus is divided into files at line ends. The first count of an engine starts its workers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import piecework as pw


def seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the wall seconds that it took."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def connect(engine: str, cpus: int) -> None:
    """Start a cluster on this machine."""
    if engine == "ray":
        import ray

        ray.init("local", num_cpus=cpus, log_to_driver=False, logging_level="ERROR")
        return
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cpus}]")
    builder.config("spark.ui.enabled", "false").getOrCreate()


def divide(corpus: Path, folder: Path, files: int) -> list[Path]:
    """Write the corpus into files that end at line ends."""
    data = corpus.read_bytes()
    bounds = [data.find(b"\n", len(data) * file // files) + 1 for file in range(1, files)]
    bounds = [0, *bounds, len(data)]
    paths = [folder / f"{file}.txt" for file in range(files)]
    for path, start, end in zip(paths, bounds, bounds[1:], strict=False):
        path.write_bytes(data[start:end])
    return paths


def main() -> None:
    """Print the seconds of each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=["ray", "spark"])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--files", type=int, default=8)
    given = parser.parse_args()
    on_engine = import_module(f"piecework.integrations.distributed.{given.engine}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = divide(given.corpus, folder, given.files)
        _, start = seconds(lambda: connect(given.engine, given.cpus))
        print(f"start {given.engine}: {start:.1f} s")
        for attempt in ("first", "second", "third"):
            one, alone = seconds(lambda: pw.count_files(paths, num_threads=given.cpus))
            counts, engine = seconds(lambda: on_engine.count_files(paths, task_bytes=1))
            assert counts == one
            print(
                f"count, {attempt} time: one process {alone:.1f} s, {given.engine} {engine:.1f} s"
            )
        tok = pw.Tokenizer.train_from_counts(one, vocab_size=30_000, progress=False)
        _, alone = seconds(
            lambda: [
                pw.encode_files(tok, path, folder / "o.npy", format="npy", num_threads=given.cpus)
                for path in paths
            ]
        )
        _, engine = seconds(
            lambda: on_engine.encode_files(tok, paths, folder / "out", format="npy")
        )
        print(f"encode: one process {alone:.1f} s, {given.engine} {engine:.1f} s")


if __name__ == "__main__":
    main()
