"""The charts of the site: figures from the records of benchmarks, for `assets/charts.js` to draw.

A page has an element `<div class="chart" data-chart="NAME"></div>`, which readers of the repository do not
see. In the site it holds its figures as JSON: the fields to choose by, the unit, and a row for each bar.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from sources import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from cases import OURS
from figures import Case, cases
from records import read_record

PLACE = re.compile(r'<div class="chart" data-chart="([\w-]+)"></div>')
RECORDS = ROOT / "benchmarks" / "record"
# Of a case that several records have, the first record counts: the one that the tables of the page show.
SPEED = ("2026-11-22-table", "2026-11-23-byte-level", "2026-11-23-other-classes")
TRAINING = (
    "2026-11-21-wordpiece-train",
    "2026-11-21-bpe-train",
    "2026-11-22-sentencepiece-train",
    "2026-11-21-unigram-train",
)
VOCABULARIES = {
    "bert-base-uncased": "WordPiece, bert-base-uncased",
    "gpt2": "byte-level BPE, GPT-2",
    "cl100k": "byte-level BPE, cl100k_base",
    "sentencepiece-bpe": "SentencePiece BPE, 32,000",
    "unigram": "Unigram, 32,768",
}
TEXTS = {
    "english": "English documentation",
    "multilingual": "documentation in many languages",
    "code": "source code",
    "sources": "source code of other kinds",
    "prose": "English prose",
    "prose-languages": "prose in 16 languages",
    "chat": "short messages",
}
PASSES = {
    "steady": "encode, warm caches",
    "cold": "encode, empty caches",
    "seen": "encode text seen before",
    "decode": "decode",
}
TASKS = {
    "frequency": "WordPiece, 30,000 entries",
    "byte-bpe": "byte-level BPE, 32,000 merges",
    "sentencepiece-unigram": "SentencePiece Unigram, 32,000 pieces",
    "sentencepiece-bpe": "SentencePiece BPE, 32,000 pieces",
    "unigram": "Unigram, from words",
}

# Engines by the names that readers know; others have names of their own.
NAMES = {"tokenizers": "tokenizers 0.23.3", "tokenizers_rc": "tokenizers 1.0.0-rc.3"}
Row = dict[str, Any]


def with_charts(markdown: str) -> str:
    """Return a page with the figures of its charts."""

    def chart(match: re.Match[str]) -> str:
        found = CHARTS[match[1]]()
        for row in found["rows"]:
            row["library"] = NAMES.get(row["library"], row["library"])
        data = json.dumps(found, ensure_ascii=False).replace("<", "\\u003c")
        return (
            f'<div class="chart" data-chart="{match[1]}">'
            f'<script type="application/json">{data}</script></div>'
        )

    return PLACE.sub(chart, markdown)


def encoding() -> Row:
    """Return megabytes a second by vocabulary, text and pass."""
    rows = [
        {"vocabulary": vocabulary, "text": text, "pass": PASSES[phase], **bar}
        for case, record in measured(SPEED, "encode")
        if "input" not in case.about and case.about["definition"] != "threads"
        for vocabulary in [VOCABULARIES[case.about["vocabulary"]]]
        for text in [TEXTS[case.about["corpus"]]]
        for phase in case.phases
        for bar in bars(case, record, phase, lambda engine, c=case, p=phase: c.speed(engine, p))
    ]
    rows = sorted(first_of_each(rows), key=position)
    return {"fields": ["vocabulary", "text", "pass"], "unit": "MB/s", "rows": rows}


def headline() -> Row:
    """Return what the home shows: piecework, the fastest other library, and both `tokenizers`."""
    shown = {"text": TEXTS["english"], "pass": PASSES["steady"]}
    rows = [
        {name: value for name, value in row.items() if name not in shown}
        for row in encoding()["rows"]
        if shown.items() <= row.items()
    ]
    fastest: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["value"]):
        if not row["ours"]:
            fastest[row["vocabulary"]] = row["library"]
    kept = [r for r in rows if r["library"] in (OURS, *NAMES, fastest[r["vocabulary"]])]
    return {"fields": ["vocabulary"], "unit": "MB/s", "rows": kept}


def short() -> Row:
    """Return microseconds for one short text, by vocabulary."""
    rows = [
        {"vocabulary": VOCABULARIES[case.about["vocabulary"]], **bar}
        for case, record in measured(SPEED[:1], "short")
        for bar in bars(case, record, "warm", lambda engine, c=case: times(c, engine, "warm", 1e6))
    ]
    return {"fields": ["vocabulary"], "unit": "microseconds", "rows": rows}


def start() -> Row:
    """Return milliseconds for importing a library and loading a vocabulary, by vocabulary."""
    rows = []
    for case, record in measured(SPEED[:1], "start"):
        vocabulary = {"vocabulary": VOCABULARIES[case.about["vocabulary"]]}
        for phase, name in (("inside", ""), ("cached", ", compiled cache")):
            found = bars(case, record, phase, lambda e, c=case, p=phase: times(c, e, p, 1e3))
            rows += [{**vocabulary, **bar, "library": bar["library"] + name} for bar in found]
    return {"fields": ["vocabulary"], "unit": "milliseconds", "rows": rows}


def training() -> Row:
    """Return seconds for counting and learning, and the memory where it was recorded."""
    rows = [
        {"model": TASKS[score], **bar, "memory": case.peak_mb(bar["library"])}
        for case, record in measured(TRAINING, "train")
        if (score := case.about.get("score")) in TASKS
        for bar in bars(case, record, "total", lambda engine, c=case: c.median(engine, "total"))
    ]
    return {"fields": ["model"], "unit": "seconds", "rows": rows}


CHARTS = {
    "headline": headline,
    "encoding": encoding,
    "short": short,
    "start": start,
    "training": training,
}


def measured(records: tuple[str, ...], task: str) -> Iterator[tuple[Case, str]]:
    """Yield the cases of a task with the record of each."""
    for name in records:
        for case in cases(read_record(RECORDS / f"{name}.json")["records"]):
            if case.about["task"] == task:
                yield case, name


def bars(case: Case, record: str, phase: str, value: Any) -> Iterator[Row]:
    """Yield a row for each library that gave the right answer."""
    for engine in case.engines:
        number = value(engine)
        if number is not None and engine != "python":
            row = {"library": engine, "value": float(f"{number:.3g}"), "record": record}
            yield {**row, "ours": engine.startswith(OURS)}


def times(case: Case, engine: str, phase: str, unit: float) -> float | None:
    """Return the median time in a unit."""
    seconds = case.median(engine, phase)
    return None if seconds is None else seconds * unit


def position(row: Row) -> tuple[int, ...]:
    """Return where a row stands: choices are offered in the order of the tables above."""
    names = ((VOCABULARIES, "vocabulary"), (TEXTS, "text"), (PASSES, "pass"))
    return tuple([*known.values()].index(row[field]) for known, field in names)


def first_of_each(rows: list[Row]) -> list[Row]:
    """Return the rows of the first record that has their case, for each vocabulary, text and pass."""
    records: dict[tuple[str, ...], str] = {}
    for row in rows:
        records.setdefault((row["vocabulary"], row["text"], row["pass"]), row["record"])
    return [r for r in rows if records[r["vocabulary"], r["text"], r["pass"]] == r["record"]]
