"""Encode a file in memory and to disk, in turns; print the rates, and the share of the rate in memory.

    python benchmarks/to_disk.py TOKENIZER FILE... [--repetitions 7] [-o record.txt]

All CPUs encode. In memory, batches of 20,000 lines are encoded and dropped. `encode_corpus` writes four npy
shards with a manifest, `encode_files` one npy file. Figures are medians without the first repetition.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import piecework as pw

LINES = 20_000


def in_memory(tok: pw.Tokenizer, lines: list[str]) -> None:
    """Encode lines in batches."""
    for start in range(0, len(lines), LINES):
        tok.encode_batch(lines[start : start + LINES])


def rates(tok: pw.Tokenizer, path: Path, repetitions: int, folder: Path) -> dict[str, float]:
    """Return the rate of each way, in MB/s."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    number = iter(range(10**6))
    ways: dict[str, Callable[[], object]] = {
        "in memory": lambda: in_memory(tok, lines),
        "encode_corpus": lambda: pw.export.encode_corpus(
            tok, path, folder / f"{next(number)}", shards=4
        ),
        "encode_files": lambda: pw.encode_files(tok, path, folder / "one.npy", format="npy"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(1 + repetitions):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)
    return {name: path.stat().st_size / 1e6 / median(times[1:]) for name, times in seconds.items()}


def main() -> None:
    """Print the rates of each file, and write them to a record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tokenizer")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    tok = pw.Tokenizer.load(arguments.tokenizer)
    printed = []
    for path in arguments.files:
        with tempfile.TemporaryDirectory() as folder:
            found = rates(tok, path, arguments.repetitions, Path(folder))
        for name, rate in found.items():
            share = rate / found["in memory"]
            printed.append(f"{path.name:20} {name:14} {rate:6.0f} MB/s {share:6.2f}")
    text = "\n".join(printed)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
