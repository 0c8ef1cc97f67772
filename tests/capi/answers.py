"""Requests for programs in other languages, and the answers that they must have.

A program reads lines with fields between tabs, texts in base64. It answers each with a line:

    load PATH PATTERNS SPECIAL                        the fingerprint
    row TEXT PAIR ADD PARSE TRUNCATION PADDING        ids, tokens, offsets and the decoded text, or `error`

PATTERNS and SPECIAL have items between spaces, SPECIAL a token and its id in turn. PAIR, TRUNCATION and
PADDING are `-` if a row has none.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests.capi.library import run
from tests.capi.test_ids import CASES, options_of, rows_of
from tests.differential.test_published_golden import SETS, TOOL, unpacked
from tests.project.test_conformance import spec_of

BYTES, UTF16 = "utf-8", "utf-16-le"
"""What offsets count: code units of an encoding."""
GOLDEN = sorted(SETS)
CONFORMANCE = [case["name"] for case in CASES]


@dataclass
class Job:
    source: Path
    fingerprint: str
    rows: Sequence[dict[str, Any]]


def golden_job(name: str, folder: Path) -> Job:
    """Return the rows of a published golden file. A test that misses its tokenizer skips."""
    source = unpacked(name, folder)
    if source.is_dir():  # the library reads files; a folder becomes one in Python
        pw.Tokenizer.load(source).save(folder / "saved.json")
        source = folder / "saved.json"
    file = TOOL.PUBLISHED / f"{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return Job(source, "", rows[1:])


def conformance_job(case: dict[str, Any], folder: Path) -> Job:
    tok = pw.Tokenizer.from_spec(spec_of(case))
    tok.save(folder / "tok.piecework")
    return Job(folder / "tok.piecework", tok.fingerprint, list(rows_of(tok, case["examples"])))


def jobs(folder: Path) -> dict[str, Job]:
    """Return the jobs of all conformance cases and of the golden files whose tokenizers are at hand."""
    found = {}
    for number, case in enumerate(CASES):
        (folder / str(number)).mkdir()
        found[case["name"]] = conformance_job(case, folder / str(number))
    for name in GOLDEN:
        (folder / name).mkdir()
        try:
            found[name] = golden_job(name, folder / name)
        except pytest.skip.Exception:
            continue
    return found


def answers(
    program: Sequence[object], all_jobs: dict[str, Job], **options: Any
) -> dict[str, list[str]]:
    """Run a program once for all jobs; return the lines for each."""
    lines = [line for job in all_jobs.values() for line in requests(job)]
    done = run(program, input="".join(f"{line}\n" for line in lines), **options)
    assert (done.returncode, done.stderr) == (0, "")
    answered = iter(done.stdout.splitlines())
    found = {name: [next(answered) for _ in requests(job)] for name, job in all_jobs.items()}
    assert next(answered, None) is None
    return found


def requests(job: Job) -> Iterator[str]:
    options = iter(options_of(job.source))
    settings: dict[str, list[str]] = {"--pattern": [], "--special": []}
    for option in options:
        settings[option] += [encoded(next(options)) for _ in range(1 + (option == "--special"))]
    yield "\t".join(["load", encoded(str(job.source)), *map(" ".join, settings.values())])
    for row in job.rows:
        fields = [
            encoded(row["text"]),
            encoded(row["pair"]) if "pair" in row else "-",
            str(int(row["add_special_tokens"])),
            str(int(row["parse_special"])),
            listed(row.get("truncation"), "max_length", "stride", "strategy", "side"),
            listed(row.get("padding"), "length", "id", "side"),
        ]
        yield "\t".join(["row", *fields])


def listed(settings: dict[str, Any] | None, *names: str) -> str:
    return ",".join(str(settings[name]) for name in names) if settings else "-"


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def differences(job: Job, lines: Sequence[str], unit: str) -> list[str]:
    """Name the fields that differ from what is expected."""
    found = [] if lines[0] == job.fingerprint or not job.fingerprint else ["fingerprint"]
    for row, line in zip(job.rows, lines[1:], strict=True):
        found += [f"row {row['row']}: {field}" for field in differing(row, line, unit)]
    return found


def differing(row: dict[str, Any], line: str, unit: str) -> Iterator[str]:
    fields = line.split("\t")
    if row.get("error") or len(fields) != 4:
        if not row.get("error") or line != "error":
            yield line
        return
    if [int(number) for number in fields[0].split()] != row["ids"]:
        yield "ids"
    if [b64decode(token).decode() for token in fields[1].split(" ") if fields[1]] != row["tokens"]:
        yield "tokens"
    numbers = [int(number) for number in fields[2].split()]
    spans = list(zip(numbers[::2], numbers[1::2], strict=True))
    if not all(map(spans_of(row, unit).__contains__, enumerate(spans))):
        yield "offsets"
    if b64decode(fields[3]).decode() != row.get("decoded", row["text"]):
        yield "decoded"


def spans_of(row: dict[str, Any], unit: str) -> set[tuple[int, tuple[int, int]]]:
    """Return the possible spans of each token: of a pair, in either text."""
    if unit == BYTES and "byte_offsets" in row:
        return {(at, (start, end)) for at, (start, end) in enumerate(row["byte_offsets"])}
    texts = [row[field] for field in ("text", "pair") if field in row]
    found = set()
    for text in texts:
        width = len("a".encode(unit))
        ends = [len(text[:at].encode(unit)) // width for at in range(len(text) + 1)]
        for at, (start, end) in enumerate(row["char_offsets"]):
            if end < len(ends):
                found.add((at, (ends[start], ends[end])))
    return found
