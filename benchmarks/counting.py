"""Count files in fresh processes: time and peak memory by budget, and the rate of `tokenizers`.

    python benchmarks/counting.py FILE... --memory 128MB --memory 1GB [--peers-mb 100] [-o record.txt]

The memory is the highest resident set of a process above that of the same process before it counts.
`tokenizers` has no call that only counts: it trains a WordPiece vocabulary of the size of its alphabet from
the first `--peers-mb` megabytes, with its threads, and piecework counts the same text.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

OURS = """
import resource, sys, time
import pyarrow.parquet
import piecework
from piecework.train import count_files_to

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
memory, output, *files = sys.argv[1:]
before = peak()
start = time.perf_counter()
words, distinct = count_files_to(output, files, memory=memory, num_threads=2)
print(time.perf_counter() - start, peak() - before, words, distinct)
"""

PEER = """
import resource, sys, time
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
_, _, *files = sys.argv[1:]
tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
before = peak()
start = time.perf_counter()
tokenizer.train(files, trainers.WordPieceTrainer(vocab_size=1, show_progress=False))
print(time.perf_counter() - start, peak() - before, 0, 0)
"""


def measured(program: str, memory: str, files: list[str], repetitions: int) -> tuple[float, ...]:
    """Return the medians of seconds and bytes, and the numbers of words and distinct words."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program, memory, f"{folder}/counts.parquet", *files]
        for _ in range(repetitions):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs.append([float(value) for value in done.stdout.split()])
    return tuple(median(column) for column in zip(*runs, strict=True))


def first_megabytes(files: list[str], megabytes: int, folder: str) -> str:
    """Write whole lines from the start of the files to one file of about this size."""
    path = Path(folder) / "part.txt"
    left = megabytes * 1_000_000
    with path.open("wb") as part:
        for name in files:
            with open(name, "rb") as stream:
                for line in stream:
                    if left <= 0:
                        return str(path)
                    left -= part.write(line)
    return str(path)


def main() -> None:
    """Print a line for each budget, then the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--memory", action="append", default=[], help="a budget; repeatable")
    parser.add_argument("--peers-mb", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    size = sum(Path(name).stat().st_size for name in options.files)
    lines = [f"{len(options.files)} files, {size / 1e6:,.0f} MB, two threads"]
    for memory in options.memory or ["4GB"]:
        seconds, peak, words, distinct = measured(OURS, memory, options.files, options.repetitions)
        lines.append(
            f"memory {memory:>6}: {seconds:6.1f} s {size / seconds / 1e6:6.1f} MB/s, "
            f"peak {peak / 1e6:6.0f} MB, {words:,.0f} words, {distinct:,.0f} distinct"
        )
        print(lines[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        part = first_megabytes(options.files, options.peers_mb, folder)
        ours, peer = (
            measured(program, "4GB", [part], options.repetitions) for program in (OURS, PEER)
        )
        part_size = Path(part).stat().st_size / 1e6
    lines.append(
        f"first {part_size:.0f} MB: piecework {part_size / ours[0]:.1f} MB/s, {ours[1] / 1e6:.0f} MB; "
        f"tokenizers {part_size / peer[0]:.1f} MB/s, {peer[1] / 1e6:.0f} MB; ratio {peer[0] / ours[0]:.1f}"
    )
    print(lines[-1])
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
