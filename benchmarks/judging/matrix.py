"""The runs of a definition in their order, and the record of those that were made."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tables import read_toml

DEFINITION = Path(__file__).parents[1] / "language_model.toml"
RECORD = Path(__file__).parents[1] / "record" / "language-model.jsonl"


@dataclass(frozen=True)
class Run:
    """One cell of the matrix."""

    language: str
    size: int
    budget: str
    learner: str
    seed: int


def read_definition(smoke: bool = False) -> dict[str, Any]:
    """Read the definition, with the changes of `smoke`."""
    definition = read_toml(DEFINITION)
    changes = definition.pop("smoke")
    for name, value in (changes if smoke else {}).items():
        is_merged = name in ("text", "recipe")
        definition[name] = {**definition[name], **value} if is_merged else value
    return definition


def planned(definition: Mapping[str, Any]) -> Iterator[Run]:
    """Yield each run once: all learners first, so that each setting is complete with one seed.

    The budgets of a vocabulary and a seed follow each other: they are trained together.
    """
    of_lines, kept = definition["superwords"], definition["boundaries"]
    learners, main = definition["learners"], definition["main_learners"]
    runs = (
        Run(language, size, budget, learner, seed)
        for learners, seeds, sizes in (
            (of_lines["learners"], of_lines["seeds"], of_lines["sizes"]),
            (learners, definition["seeds"], definition["sizes"]),
            (main, definition["main_seeds"], definition["sizes"]),
            (kept["learners"], kept["seeds"], kept["sizes"]),
        )
        for seed in seeds
        for size in sizes
        for language in definition["corpora"]
        for learner in learners
        for budget in definition["budgets"]
    )
    yield from dict.fromkeys(runs)


def recipe_checksum(definition: Mapping[str, Any]) -> str:
    """Return a checksum of all that decides a result besides the run and the text."""
    told = json.dumps([definition["recipe"], definition["text"]], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def run_of(record: Mapping[str, Any]) -> Run:
    """Return the run of a record."""
    return Run(**{name: record[name] for name in Run.__dataclass_fields__})


def read_record(path: Path) -> list[dict[str, Any]]:
    """Read the records of all runs, one a line; the rest of a line that was not finished is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Append one line, in the place of one that was not finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(json.dumps(record).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def missing(
    definition: Mapping[str, Any], records: list[dict[str, Any]], checksums: Mapping[str, str]
) -> list[Run]:
    """Return the runs that have no record with this recipe and these texts, by language."""
    recipe = recipe_checksum(definition)
    made = {
        run_of(record)
        for record in records
        if (record["recipe"], record["text"]) == (recipe, checksums.get(record["language"]))
    }
    return [run for run in planned(definition) if run not in made]


def together(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Yield the runs of one vocabulary and seed, which differ by their budget."""
    for _, each in groupby(runs, lambda run: replace(run, budget="")):
        yield list(each)
