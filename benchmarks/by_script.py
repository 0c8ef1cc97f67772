"""Measure what a token of each script costs beside an English one.

    python benchmarks/by_script.py FOLDER
    python benchmarks/by_script.py FOLDER --level avx2 --tokenizer tokenizer.json --build OLD --build NEW

FOLDER has a text for each script, `english.txt` among them. Each measurement runs in a fresh process: it
encodes the first `--kilobytes` of a text, then as many new ones, and these a second time. So every script has
seen the same number of bytes, and the second figure is the cost of words that the engine knows. A second
build is measured in turns with the first.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from cases import Record
from compare_builds import import_folder
from processes import measure
from vocabularies import SOURCES, tokenizer_file

ENGLISH = "english"
DOCUMENT_BYTES = 2_000
PHASES = {"steady": "new", "seen": "seen"}


@dataclass
class Cost:
    """What encoding one text cost: bytes and tokens of its second part, and seconds by build and phase."""

    size: int
    tokens: int
    seconds: list[dict[str, float]]

    def nanoseconds(self, build: int, phase: str) -> float:
        """Return the nanoseconds for a token."""
        return self.seconds[build][phase] / self.tokens * 1e9

    def ratio(self, phase: str) -> float:
        """Return how many times as fast as the first build the last one is."""
        return self.seconds[0][phase] / self.seconds[-1][phase]


def main() -> None:
    """Print a table for each tokenizer."""
    options = parse_options()
    texts = texts_of(options.folder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builds = [import_folder(build, folder / str(n)) for n, build in enumerate(options.build)]
        for title, tokenizer in tokenizers(options.tokenizer, folder):
            print(f"\n{title}")
            costs = {path.stem: cost(path, tokenizer, builds or [None], options) for path in texts}
            print("\n".join(table(costs)), flush=True)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="What does a token of each script cost?")
    parser.add_argument("folder", type=Path, help="of UTF-8 texts, named by their script")
    parser.add_argument(
        "--tokenizer", type=Path, action="append", help="file; repeatable; default: published ones"
    )
    parser.add_argument(
        "--build",
        type=Path,
        action="append",
        default=[],
        help="checkout or compiled module; at most two",
    )
    parser.add_argument("--level", help="kernel level, such as avx2; default: best")
    parser.add_argument(
        "--kilobytes", type=int, default=80, help="of each part of a text; default: 80"
    )
    parser.add_argument(
        "--repetitions", type=int, default=7, help="fresh processes for each; default: 7"
    )
    return parser.parse_args()


def texts_of(folder: Path) -> list[Path]:
    """Return the text of each script, English first."""
    texts = sorted(folder.glob("*.txt"), key=lambda path: (path.stem != ENGLISH, path.stem))
    if not texts or texts[0].stem != ENGLISH:
        raise SystemExit(
            f"{folder}: has no {ENGLISH}.txt, which the other scripts are compared with"
        )
    return texts


def tokenizers(files: Sequence[Path] | None, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each tokenizer."""
    for path in files or ():
        yield "/".join(path.parts[-2:]), path
    for name in () if files else SOURCES:
        yield name, tokenizer_file(name, folder)


def cost(
    text: Path, tokenizer: Path, builds: Sequence[Path | None], options: argparse.Namespace
) -> Cost:
    """Measure one text with every build in turns."""
    part = options.kilobytes * 1000
    job: Record = {"engine": "piecework", "task": "encode", "threads": 1, "decode": False}
    job |= {
        "files": {"tokenizer": str(tokenizer), "corpus": str(text)},
        "document_bytes": DOCUMENT_BYTES,
    }
    job |= {"warm_up_bytes": part, "steady_bytes": part}
    if options.level:
        job["forced_level"] = options.level
    turns = [
        [measure(job, build)["phases"] for build in builds] for _ in range(options.repetitions)
    ]
    steady = turns[0][0]["steady"]
    seconds = [
        {phase: median(turn[n][phase]["s"] for turn in turns) for phase in PHASES}
        for n in range(len(builds))
    ]
    return Cost(steady["bytes"], steady["tokens"], seconds)


def table(costs: dict[str, Cost]) -> Iterator[str]:
    """Yield a line for each script: costs of the last build, and how much faster it is than the first."""
    yield "script        bytes/token  " + "  ".join(
        f"{name + ', ns':>9}  x English  ratio" for name in PHASES.values()
    )
    for script, found in costs.items():
        columns = [f"{script:<12}  {found.size / found.tokens:11.2f}"]
        for phase in PHASES:
            own = found.nanoseconds(-1, phase)
            english = costs[ENGLISH].nanoseconds(-1, phase)
            columns.append(f"{own:9.1f}  {own / english:9.2f}  {found.ratio(phase):5.2f}")
        yield "  ".join(columns)


if __name__ == "__main__":
    main()
