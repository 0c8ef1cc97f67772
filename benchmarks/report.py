"""Print the tables of a recorded run.

    python benchmarks/report.py benchmarks/record/2026-11-22-table.json
    python benchmarks/report.py RECORD --details  # every engine and phase, with the spread

Figures are medians over the repetitions; ratios are of medians of the same run. Peers whose answer is not
exact have no part in "best peer"; they are listed below the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cases import OURS, label
from figures import Case, Record, cases, title
from records import read_record
from rows import TABLES, Row


def main() -> None:
    """Print the tables of the file named on the command line."""
    parser = argparse.ArgumentParser(description="Print the tables of a recorded run.")
    parser.add_argument("record", type=Path)
    parser.add_argument("--details", action="store_true", help="every engine and phase")
    options = parser.parse_args()
    result = read_record(options.record)
    print(details(result) if options.details else report(result))


def report(result: dict[str, Any]) -> str:
    """Return all tables that the record has figures for, as Markdown."""
    found = cases(result["records"])
    tables = [table(title, header, rows(found)) for title, header, rows in TABLES]
    parts = [headline(result), *filter(None, tables), remarks(found)]
    return "\n\n".join(filter(None, parts))


def details(result: dict[str, Any]) -> str:
    """Return every engine and phase: the answer's size, and the times with their spread."""
    lines = []
    for case in cases(result["records"]):
        lines.append(f"\n## {title(case)}\n")
        pairs = [(engine, phase) for phase in case.phases for engine in case.engines]
        lines += [line for pair in pairs for line in detail(case, *pair)]
    return "\n".join(lines)


def answers(result: dict[str, Any]) -> str:
    """Return a line a case: the sizes of its answers, and who gave them. Nothing of time."""
    lines = []
    for case in cases(result["records"]):
        phases = case.of(OURS)[0]["phases"] if case.of(OURS) else {}
        sizes = [f"{name} {_size(phase)}" for name, phase in phases.items() if _size(phase)]
        exact = [one for one in case.engines if case.of(one) and is_exact_throughout(case, one)]
        lines.append(f"{title(case)}: {', '.join(sizes) or 'ran'}; {', '.join(exact)}")
    return "\n".join(filter(None, [*lines, remarks(cases(result["records"]))]))


def is_exact_throughout(case: Case, engine: str) -> bool:
    """Tell whether an engine gave the right answer in every phase."""
    return all(case.is_exact(engine, phase) for phase in case.phases)


def headline(result: dict[str, Any]) -> str:
    """Return what the figures were taken with."""
    machine = result["machine"]
    measured = [one for one in result["records"] if "phases" in one]
    versions = {one["engine"]: one["engine_version"] for one in measured}
    named = ", ".join(f"{engine} {version}" for engine, version in versions.items())
    levels = ", ".join(dict.fromkeys(one["level"] for one in measured if "level" in one))
    runs = 1 + max((one.get("repetition", 0) for one in result["records"]), default=0)
    return (
        f"{result['date']}: {machine['processor']}, {machine['cores']} cores "
        f"(instruction sets {' '.join(machine['features']) or 'unknown'}), "
        f"Python {machine['python']}; "
        f"medians of up to {runs} runs; {named}"
        + (f"; {OURS} at kernel level {levels}, peers at their own choice" if levels else "")
    )


def table(title: str, header: str, rows: Sequence[Row]) -> str:
    """Return a table of Markdown; nothing without rows."""
    if not rows:
        return ""
    lines = [f"**{title}**", "", header, "|".join(["", *("---" for _ in rows[0]), ""])]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def remarks(found: Sequence[Case]) -> str:
    """Return who was not exact, and who failed, one line each."""
    lines: dict[str, None] = {}
    for case in found:
        for record in case.records:
            if "failed" in record:
                lines[f"- {title(case)}: {record['engine']} failed: {record['failed']}"] = None
            if wrong := record.get("not_exact"):
                lines[f"- {title(case)}: {label(record)} is not exact ({', '.join(wrong)})"] = None
    return "\n".join(["**Without a speed**", "", *lines]) if lines else ""


def detail(case: Case, engine: str, phase: str) -> Iterable[str]:
    """Give the line of an engine and a phase, if there is such a one."""
    seconds = sorted(case.seconds(engine, phase))
    if seconds:
        one = case.of(engine)[0]
        about = one["phases"][phase]
        line = f"{engine} {one['engine_version']}, {phase}"
        middle = seconds[len(seconds) // 2]
        speed = f"{about['bytes'] / middle / 1e6:10.1f} MB/s" if "bytes" in about else " " * 15
        spread = f"{middle:12.6f} s ({seconds[0]:.6f} to {seconds[-1]:.6f})"
        wrong = "" if case.is_exact(engine, phase) else "  not exact"
        yield f"{line:<40}{_size(about):>20}{speed}{spread}{wrong}"


def _size(phase: Record) -> str:
    """Return how many tokens or entries a phase gave; nothing where it gives neither."""
    return next((f"{phase[name]:,} {name}" for name in ("tokens", "entries") if name in phase), "")


if __name__ == "__main__":
    main()
