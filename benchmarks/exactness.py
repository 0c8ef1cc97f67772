"""A wrong answer has no speed: who gave the reference's answer, and whether it is the one expected.

Ours must give the answer of the first reference, or the run ends; every engine must repeat its own. A
peer that gives another answer than any reference is marked as not exact, phase by phase. Answers to texts
that are the same everywhere are kept in `expected.json` and must come out again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cases import OURS, Record, case_of

EXPECTED = Path(__file__).parent / "expected.json"
Answer = list[Any]


class WrongAnswerError(Exception):
    """Ours, or a reference, gave another answer than it must; the message says where."""


def mark(definition: Record, records: Sequence[Record]) -> None:
    """Put `not_exact`, a list of phases, into the records of a definition."""
    for same_case in _grouped(records):
        for phase in _phases(same_case):
            _check_repeatable(same_case, phase)
            right = [_answer_of(same_case, name, phase) for name in definition["references"]]
            right = [answer for answer in right if answer is not None]
            ours = _answer_of(same_case, OURS, phase)
            if right and ours is not None and ours != right[0]:
                raise WrongAnswerError(
                    f"{_place(same_case[0], phase)}: ours {ours}, theirs {right[0]}"
                )
            for record in same_case:
                if right and phase in record["phases"] and _answer(record, phase) not in right:
                    record.setdefault("not_exact", []).append(phase)


def check_expected(records: Iterable[Record]) -> list[str]:
    """Compare our answers with those kept; return the places that nothing is kept for."""
    kept = read_expected()
    unknown: dict[str, None] = {}
    for place, key, answer in _our_answers(records):
        if key not in kept:
            unknown[place] = None
        elif kept[key] != answer:
            raise WrongAnswerError(f"{place}: found {answer}, expected {kept[key]}")
    return list(unknown)


def keep_expected(records: Iterable[Record]) -> None:
    """Add our answers, which are a reference's too, to those kept."""
    found = {key: answer for _, key, answer in _our_answers(records)}
    kept = dict(sorted({**read_expected(), **found}.items()))
    lines = [f"{json.dumps(key)}: {json.dumps(answer)}" for key, answer in kept.items()]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_expected() -> dict[str, Answer]:
    """Return what is kept: "vocabulary, kind of answer, fingerprint of the text" -> [tokens, answer]."""
    if not EXPECTED.exists():
        return {}
    kept: dict[str, Answer] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return kept


def _grouped(records: Sequence[Record]) -> Iterable[list[Record]]:
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in records:
        if "phases" in record:
            groups[case_of(record)].append(record)
    return groups.values()


def _phases(records: Sequence[Record]) -> list[str]:
    names = (name for record in records for name in record["phases"])
    return [name for name in dict.fromkeys(names) if _any_answer(records, name)]


def _any_answer(records: Sequence[Record], phase: str) -> bool:
    return any("answer" in record["phases"].get(phase, {}) for record in records)


def _answer(record: Record, phase: str) -> str | None:
    answer: str | None = record["phases"].get(phase, {}).get("answer")
    return answer


def _answer_of(records: Sequence[Record], engine: str, phase: str) -> str | None:
    found = (_answer(record, phase) for record in records if record["engine"] == engine)
    return next((answer for answer in found if answer is not None), None)


def _check_repeatable(records: Sequence[Record], phase: str) -> None:
    first: dict[str, Any] = {}
    for record in records:
        answer = _answer(record, phase)
        if answer is not None and first.setdefault(record["engine"], answer) != answer:
            raise WrongAnswerError(
                f"{_place(record, phase)}: {record['engine']} changed its answer"
            )


def _our_answers(records: Iterable[Record]) -> Iterable[tuple[str, str, Answer]]:
    for record in records:
        if record["engine"] == OURS:
            for name, phase in record["phases"].items():
                if "input" in phase:
                    key = f"{record['vocabulary']}, {phase['kind']}, {phase['input']}"
                    yield _place(record, name), key, [phase["tokens"], phase["answer"]]


def _place(record: Record, phase: str) -> str:
    return ", ".join([*(str(part) for part in case_of(record) if part is not None), phase])
