"""Costs of five languages under plain and parity-aware BPE, and under weighted sources: Gini, tokens, time.

    python benchmarks/parity.py             # 8,000 and 32,000 entries
    python benchmarks/parity.py 8000 16000  # other sizes
    python benchmarks/parity.py --large     # time and memory of 100 MB in four sources

`parallel_texts.py` writes the texts. Each vocabulary is learned from counts in a process of its own; the time
is the processor's, and the memory is what learning adds to the counts. Tokens are those of the held-out test
paragraphs. The large sources are built corpora, whose costs nobody compares.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "python"))

import piecework as pw
from corpora import corpus_folder
from parallel_texts import NAMES, texts

PRESET = "o200k"
LARGE = ("novels-english", "novels-czech", "multilingual", "code")
# Settings of byte-level BPE by the name of a row; half is half of the merges.
ROWS: dict[str, dict[str, Any]] = {
    "plain": {},
    "parity": {"parity": True},
    "parity, window of 100": {"parity": True, "parity_window": 100},
    "parity after half of the merges": {"parity": True, "global_merges": "half"},
    "parity by bytes": {"parity": True, "parity_unit": "bytes"},
    "parity by characters": {"parity": True, "parity_unit": "characters"},
    "parity by words": {"parity": True, "parity_unit": "words"},
}
# Trainer, preset and rounds of weights.
OTHER_ROWS: dict[str, tuple[Any, str, int]] = {
    "Unigram": (pw.UnigramTrainer, "metaspace", 0),
    "Unigram, 8 rounds of weights": (pw.UnigramTrainer, "metaspace", 8),
    "WordPiece by pruning": (pw.WordPieceTrainer, "whitespace", 0),
    "WordPiece by pruning, 8 rounds of weights": (pw.WordPieceTrainer, "whitespace", 8),
}


def main(arguments: Sequence[str]) -> None:
    """Print a table for each size, or the time and memory of large sources."""
    if arguments == ["--large"]:
        print("| learner | seconds | MB |\n|---|---|---|")
        for row in ("plain", "parity by bytes"):
            found = measured(f"large {row}", 32_000)
            print(f"| {row} | {found['seconds']:.2f} | {found['megabytes']:.0f} |", flush=True)
        return
    for size in [int(argument) for argument in arguments] or [8_000, 32_000]:
        print(f"{size:,} entries\n")
        print(f"| learner | Gini | parity | {' | '.join(NAMES)} | all | seconds | MB |")
        print("|---|" + "---|" * (len(NAMES) + 5))
        for row in (*ROWS, *OTHER_ROWS):
            found = measured(row, size)
            tokens = found["tokens"]
            figures = [
                f"{pw.analysis.metrics.gini(tokens):.3f}",
                f"{max(tokens) / min(tokens):.2f}",
            ]
            figures += [f"{number:,}" for number in (*tokens, sum(tokens))]
            figures += [f"{found['seconds']:.2f}", f"{found['megabytes']:.0f}"]
            print(f"| {row} | {' | '.join(figures)} |", flush=True)
        print()


def measured(row: str, size: int) -> dict[str, Any]:
    """Return what learning in a process of its own prints."""
    command = [sys.executable, __file__, "--row", row, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def learn(row: str, size: int) -> dict[str, Any]:
    """Learn a vocabulary, and return its tokens by language, the seconds and the megabytes of learning."""
    counts, trainer, preset, rounds = task(row, size)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # otherwise learning uses what counting has freed
    before, start = memory("VmRSS"), time.process_time()
    Path("/proc/self/clear_refs").write_text("5")
    if rounds:
        counts = pw.train.balance_sources(counts, trainer, rounds=rounds).counts
    spec = pw.train.learn_spec(counts, trainer, preset)
    seconds, megabytes = time.process_time() - start, (memory("VmHWM") - before) / 1e6
    tok = pw.Tokenizer.from_spec(spec)
    tokens = (
        []
        if row.startswith("large ")
        else [
            sum(map(len, tok.encode_batch(lines_of(path), add_special_tokens=False)))
            for path in texts("test").values()
        ]
    )
    return {"tokens": tokens, "seconds": seconds, "megabytes": megabytes}


def task(row: str, size: int) -> tuple[Any, Any, str, int]:
    """Return the counts of a row, its trainer, its preset and its rounds of weights."""
    if row in OTHER_ROWS:
        kind, preset, rounds = OTHER_ROWS[row]
        counts = pw.train.count_sources(texts("train"), parallel=texts("dev"), preset=preset)
        return counts if rounds else counts.merged(), kind(size), preset, rounds
    settings = dict(ROWS[row.removeprefix("large ")])
    if settings.get("global_merges") == "half":
        settings["global_merges"] = size // 2
    files = (
        {name: corpus_folder() / f"{name}.txt" for name in LARGE}
        if "large" in row
        else texts("train")
    )
    parallel = texts("dev") if "parity" in settings and "parity_unit" not in settings else None
    counts = pw.train.count_sources(files, parallel=parallel, preset=PRESET)
    trainer = pw.ByteBPETrainer(size, **settings)
    return counts if settings else counts.merged(), trainer, PRESET, 0


def lines_of(path: Path) -> list[str]:
    """Return the paragraphs of a text."""
    return path.read_text(encoding="utf-8").splitlines()


def memory(name: str) -> int:
    """Return a figure of the memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        warnings.simplefilter("ignore")
        print(json.dumps(learn(sys.argv[2], int(sys.argv[3]))))
    else:
        main(sys.argv[1:])
