"""Compare two builds of our engine on the same text and print how much faster the new one is.

    python benchmarks/compare_builds.py OLD NEW
    python benchmarks/compare_builds.py OLD NEW --definition gpt2-encode --level avx2 --at-least 0.93

OLD and NEW are checkouts with `python/piecework`, or compiled modules (`_core.abi3.so`). A module inside
a package runs with that package, any other with a copy of this checkout's. Each measurement runs in a
fresh process, in the order old, new, new, old, ... Both builds must give the same answers. A ratio above
1 means that the new build is faster. With `--at-least`, the exit code is 1 if a ratio is below the limit.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from cases import OURS, Choice, Record, case_of, jobs_of, read_definitions
from processes import FailedError, measure

PACKAGE = Path(__file__).parent.parent / "python" / "piecework"
TASKS = ("encode", "lists", "spans", "short", "hostile")
# The first call in a fresh process takes microseconds and varies too much to compare.
SKIPPED_PHASES = ("first",)
BEST = "best"


@dataclass
class Pair:
    """The seconds of one class, phase and kernel level with both builds, and the answer they share."""

    answer: object
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The speed of the new build divided by that of the old one."""
        return median(self.old) / median(self.new)


Pairs = dict[str, Pair]


def main() -> int:
    """Compare the builds of the command line; return the exit code."""
    options = parse_options()
    with tempfile.TemporaryDirectory() as folder:
        builds = {
            name: import_folder(getattr(options, name), Path(folder) / name)
            for name in ("old", "new")
        }
        choice = Choice(Path(folder), _note, options.corpus, is_smoke=options.smoke)
        jobs = list(jobs_at_levels(options.definition, options.level, choice))
        pairs = compare(jobs, builds, options.repetitions)
    print("\n".join(table(pairs)))
    return int(options.at_least is not None and lowest(pairs) < options.at_least)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare two builds of our engine.")
    parser.add_argument("old", type=Path, help="checkout or compiled module")
    parser.add_argument("new", type=Path, help="checkout or compiled module")
    parser.add_argument(
        "--definition",
        action="append",
        choices=list(read_definitions()),
        help="measure this one; repeatable; default: those of the table for encoding",
    )
    parser.add_argument(
        "--level", action="append", help="kernel level, such as avx2; repeatable; default: best"
    )
    parser.add_argument("--repetitions", type=int, default=7, help="of each build; default: 7")
    parser.add_argument("--at-least", type=float, help="exit with 1 if a ratio is below this")
    parser.add_argument("--corpus", type=Path, help="UTF-8 text to use in place of every corpus")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes; the figures mean nothing")
    return parser.parse_args()


def import_folder(build: Path, folder: Path) -> Path:
    """Return the folder that `import piecework` needs for a build; `folder` is used for a copy."""
    if build.is_dir():
        if not any((build / "python" / "piecework" / "_internal").glob("_core*.so")):
            raise SystemExit(
                f"{build}: no compiled module in python/piecework/_internal; build it first"
            )
        return (build / "python").resolve()
    if not build.is_file():
        raise SystemExit(f"{build}: no such file or folder")
    if (build.parent / "__init__.py").is_file():
        return build.parent.parent.parent.resolve()
    ignored = shutil.ignore_patterns("_core*.so", "__pycache__")
    copy = shutil.copytree(PACKAGE, folder / "piecework", ignore=ignored)
    shutil.copy(build, copy / "_internal" / "_core.abi3.so")
    return folder


def jobs_at_levels(
    names: Sequence[str] | None, levels: Sequence[str] | None, choice: Choice
) -> Iterable[Record]:
    """Yield the jobs of our engine alone, each at every level."""
    for definition in read_definitions().values():
        if definition["name"] in names if names else _is_usual(definition):
            alone = {**definition, "engines": [OURS], "references": [], "levels": []}
            for job in jobs_of(alone, choice):
                for level in levels or [BEST]:
                    yield job if level == BEST else {**job, "forced_level": level}


def compare(jobs: Iterable[Record], builds: dict[str, Path], repetitions: int) -> Pairs:
    """Measure every job with both builds in turns."""
    pairs: Pairs = {}
    for job in jobs:
        print(title(job), file=sys.stderr)
        for repetition in range(repetitions):
            for name in ("old", "new") if repetition % 2 == 0 else ("new", "old"):
                add(pairs, name, job, measured(job, name, builds[name]))
    return pairs


def measured(job: Record, name: str, python_path: Path) -> Record:
    """Measure one job with one build."""
    try:
        return measure(job, python_path)
    except FailedError as error:
        raise SystemExit(f"{name} failed on {title(job)}: {error}") from None


def add(pairs: Pairs, name: str, job: Record, record: Record) -> None:
    """Add the seconds of every phase; exit if the answer differs from earlier ones."""
    for phase, found in record["phases"].items():
        if phase not in SKIPPED_PHASES:
            key = f"{title(job)}, {phase}"
            answer = found.get("tokens"), found.get("answer")
            pair = pairs.setdefault(key, Pair(answer))
            if pair.answer != answer:
                raise SystemExit(f"{key}: {name} gives {answer}, expected {pair.answer}")
            getattr(pair, name).append(found["s"])


def title(job: Record) -> str:
    """Return the parts that name a job."""
    parts = [part for part in case_of(job) if part not in (None, 1)]
    return ", ".join([*map(str, parts), job.get("forced_level", BEST)])


def table(pairs: Pairs) -> Iterable[str]:
    """Yield a line for each class, then the geometric mean and the lowest ratio."""
    width = max(map(len, pairs))
    yield f"{'class':<{width}}  {'old, ms':>10}  {'new, ms':>10}  ratio"
    for key, pair in pairs.items():
        times = "  ".join(f"{1e3 * median(one):10.4g}" for one in (pair.old, pair.new))
        yield f"{key:<{width}}  {times}  {pair.ratio:5.3f}"
    logarithms = [math.log(pair.ratio) for pair in pairs.values()]
    yield f"geometric mean {math.exp(sum(logarithms) / len(logarithms)):.3f}"
    yield f"minimum {lowest(pairs):.3f}"


def lowest(pairs: Pairs) -> float:
    """Return the lowest ratio."""
    return min(pair.ratio for pair in pairs.values())


def _is_usual(definition: Record) -> bool:
    return "class" in definition and definition["task"] in TASKS


def _note(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
