"""Medians of a record, case by case: what the tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from cases import OURS, case_of, label

Record = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """All measurements that may be compared with one another."""

    records: tuple[Record, ...]

    @property
    def about(self) -> Record:
        """One of the records, for what all of them share."""
        return self.records[0]

    @property
    def engines(self) -> list[str]:
        """The engines that were measured, in the order of the definition."""
        return list(dict.fromkeys(label(record) for record in self.records))

    @property
    def peers(self) -> list[str]:
        """The engines other than ours, without the interpreter alone."""
        return [engine for engine in self.engines if engine not in (*self.ours, "python")]

    @property
    def ours(self) -> list[str]:
        """Our engine at each kernel level that was measured, the best first."""
        own = (label(record) for record in self.records if record["engine"] == OURS)
        return sorted(set(own)) or [OURS]

    @property
    def phases(self) -> list[str]:
        """The phases of the task, in their order."""
        return list(dict.fromkeys(name for one in self._measured() for name in one["phases"]))

    def of(self, engine: str) -> list[Record]:
        """Return the measurements of an engine that did not fail."""
        return [record for record in self._measured() if label(record) == engine]

    def level(self, engine: str) -> str:
        """Return the kernel level of an engine; a dash for one that chooses its own instructions."""
        return str(self.of(engine)[0].get("level", "-")) if self.of(engine) else "-"

    def is_exact(self, engine: str, phase: str) -> bool:
        """Tell whether an engine gave the right answer in a phase."""
        return all(phase not in record.get("not_exact", ()) for record in self.of(engine))

    def seconds(self, engine: str, phase: str) -> list[float]:
        """Return the seconds of every repetition."""
        return [one["phases"][phase]["s"] for one in self.of(engine) if phase in one["phases"]]

    def median(self, engine: str, phase: str) -> float | None:
        """Return the median seconds; None for a wrong answer and for none at all."""
        found = self.seconds(engine, phase)
        return median(found) if found and self.is_exact(engine, phase) else None

    def speed(self, engine: str, phase: str) -> float | None:
        """Return the median speed in megabytes a second; None as with `median`."""
        seconds = self.median(engine, phase)
        return seconds and self.of(engine)[0]["phases"][phase]["bytes"] / seconds / 1e6

    def peak_mb(self, engine: str) -> float | None:
        """Return the median of the most memory that the process took; None where it was not recorded."""
        found = [record["peak_mb"] for record in self.of(engine) if "peak_mb" in record]
        return median(found) if found else None

    def best(self, value: Callable[[str], float | None]) -> tuple[float, str] | None:
        """Return the highest of a value over the peers, and whose it is."""
        found = [(number, peer) for peer in self.peers if (number := value(peer)) is not None]
        return max(found, default=None)

    def _measured(self) -> Iterable[Record]:
        return (record for record in self.records if "phases" in record)


def cases(records: Sequence[Record]) -> list[Case]:
    """Sort records by what may be compared, without those that only have an answer."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        if not record.get("answers_only"):
            found.setdefault(case_of(record), []).append(record)
    return [Case(tuple(same)) for same in found.values()]


def title(case: Case) -> str:
    """Return the parts that name a case."""
    return ", ".join(
        f"{part} threads" if isinstance(part, int) else str(part)
        for part in case_of(case.about)
        if part not in (None, 1)
    )
