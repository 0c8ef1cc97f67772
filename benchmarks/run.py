"""Run the benchmarks: definitions x engines, in turns, each measurement in a fresh process.

    python benchmarks/run.py                               # the table, to the definitions' repetitions
    python benchmarks/run.py --minutes 10 --record         # as often as ten minutes allow; keep the record
    python benchmarks/run.py --definition wordpiece-train  # one that is not of the table
    python benchmarks/run.py --smoke                       # tiny sizes, answers only

In: `definitions/*.toml`. Out: the table, and a record with `--record` or `-o`. A wrong answer of ours or
of a reference ends the run; a peer's is marked.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from time import monotonic

from cases import OURS, Choice, Record, Say, jobs_of, read_definitions
from exactness import WrongAnswerError, check_expected, keep_expected, mark
from machine import machine
from processes import FailedError, measure
from records import write_record
from report import answers, report

ENGINES = Path(__file__).parent / "engines"
RECORDS = Path(__file__).parent / "record"


def main() -> None:
    """Run what is asked for, print its tables, write the record."""
    options = parse_options()
    definitions = chosen(options)
    with tempfile.TemporaryDirectory() as folder:
        choice = Choice(
            Path(folder),
            say_once(),
            options.corpus,
            tuple(options.engine),
            tuple(options.level),
            options.smoke,
        )
        jobs = [job for definition in definitions for job in jobs_of(definition, choice)]
        records = measure_all(definitions, jobs, options)
    try:
        check(definitions, records, options)
    except WrongAnswerError as error:
        raise SystemExit(f"benchmarks: {error}") from None
    result = {"date": date.today().isoformat(), "machine": machine(), "records": records}
    print(answers(result) if options.smoke else report(result))
    for path in outputs(options):
        write_record(path, result)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare engines on the same text.")
    parser.add_argument(
        "--definition", action="append", default=[], help="run this one, by name; repeatable"
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        choices=sorted(path.stem for path in ENGINES.glob("*.py")),
        help="besides ours and the references, run this one alone; repeatable",
    )
    parser.add_argument(
        "--level",
        action="append",
        default=[],
        help="measure our engine at this kernel level too, such as avx2; repeatable",
    )
    parser.add_argument("--corpus", type=Path, help="UTF-8 text to use in place of every corpus")
    parser.add_argument("--repetitions", type=int, help="at most this many")
    parser.add_argument("--minutes", type=float, help="begin no repetition that would end later")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes; check answers only")
    parser.add_argument(
        "--expect", action="store_true", help="keep the answers as the expected ones"
    )
    parser.add_argument("--record", action="store_true", help="write to record/, named by the date")
    parser.add_argument("-o", "--output", type=Path, help="write the record here")
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[Record]:
    """Return the definitions named, else those of the table, or all of them for a smoke run."""
    found = read_definitions()
    for name in options.definition:
        if name not in found:
            raise SystemExit(f"--definition: found {name}, expected one of {', '.join(found)}")
    if options.definition:
        return [found[name] for name in options.definition]
    return [one for one in found.values() if options.smoke or "class" in one]


def measure_all(
    definitions: Sequence[Record], jobs: Sequence[Record], options: argparse.Namespace
) -> list[Record]:
    """Measure every job once a repetition, so that a slow minute falls on no engine alone."""
    wanted = {one["name"]: 1 if options.smoke else one["repetitions"] for one in definitions}
    most = min(options.repetitions or 99, max(wanted.values(), default=0))
    start = monotonic()
    records: list[Record] = []
    for number in range(most):
        begun = monotonic()
        due = [job for job in jobs if number < repetitions_of(job, wanted)]
        records += turns(due, number, options)
        took, spent = monotonic() - begun, monotonic() - start
        if options.minutes and spent + took > 60 * options.minutes:
            print(f"made {number + 1} of {most} repetitions in {spent:.0f} s", file=sys.stderr)
            break
    return records


def repetitions_of(job: Record, wanted: dict[str, int]) -> int:
    """Return how often a job runs: once if only its answer is used."""
    return 1 if job.get("answers_only") else wanted[job["definition"]]


def turns(jobs: Sequence[Record], repetition: int, options: argparse.Namespace) -> list[Record]:
    """Measure one after the other; where nothing is timed, as many at once as there are processors."""
    with ThreadPoolExecutor((os.cpu_count() or 1) if options.smoke else 1) as pool:
        return list(pool.map(lambda job: measured(job, repetition, options), jobs))


def measured(job: Record, repetition: int, options: argparse.Namespace) -> Record:
    """Measure one job; a peer may fail, which is recorded."""
    what = {name: value for name, value in job.items() if name != "files"}  # where files lay
    record = {**what, "repetition": repetition}
    if not options.smoke:
        print(" ".join(str(value) for value in what.values()), file=sys.stderr)
    try:
        return {**record, **measure(job)}
    except FailedError as error:
        if job["engine"] in (OURS, *read_definitions()[job["definition"]]["references"]):
            raise SystemExit(f"{job['engine']} failed on {job['definition']}: {error}") from None
        return {**record, "failed": without_paths(str(error))}


def without_paths(message: str) -> str:
    """Take the places of files out of a message."""
    return re.sub(r"(?:/[^\s'\":/]+)+/", ".../", message)


def check(
    definitions: Sequence[Record], records: Sequence[Record], options: argparse.Namespace
) -> None:
    """Compare the answers with each other and with those kept."""
    for definition in definitions:
        own = [record for record in records if record["definition"] == definition["name"]]
        mark(definition, own)
    if options.expect:
        keep_expected(records)
    unknown = check_expected(records)
    if unknown:
        print(f"no answer is kept for {len(unknown)} texts, as {unknown[0]}", file=sys.stderr)


def outputs(options: argparse.Namespace) -> list[Path]:
    """Return where to write the record."""
    named = options.definition[0] if len(options.definition) == 1 else "table"
    kept = RECORDS / f"{date.today().isoformat()}-{named}.json"
    return [path for path in (kept if options.record else None, options.output) if path]


def say_once() -> Say:
    """Return a function that prints a note the first time it is given."""
    said: set[str] = set()

    def say(note: str) -> None:
        if note not in said:
            said.add(note)
            print(note, file=sys.stderr)

    return say


if __name__ == "__main__":
    main()
