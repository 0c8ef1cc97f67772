"""The benchmarks: definitions that hold together, answers that are compared, tables that count right."""

from __future__ import annotations

import argparse
import ast
import io
import json
import platform
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework import _core

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import build_corpora  # noqa: E402
import cases  # noqa: E402
import compare_builds  # noqa: E402
import exactness  # noqa: E402
import run  # noqa: E402
import small_corpora  # noqa: E402
import worker  # noqa: E402
from cases import OURS, read_definitions  # noqa: E402
from corpora import documents  # noqa: E402
from extract import text_of  # noqa: E402
from machine import instruction_sets, machine  # noqa: E402
from measuring import ids_phase  # noqa: E402
from processes import Installed  # noqa: E402
from records import read_record, write_record  # noqa: E402
from report import answers, details, report  # noqa: E402
from tables import read_toml  # noqa: E402
from vocabularies import MissingVocabularyError  # noqa: E402

DEFINITIONS = read_definitions()
# What a task calls; `flat_ids` reads the answer.
FUNCTIONS = {
    "encode": {"load", "encode", "flat_ids"},
    "lists": {"load", "lists"},
    "call": {"load_for_calls", "call"},
    "spans": {"load", "encode", "flat_ids", "spans", "read_spans"},
    "short": {"load", "encode_one", "encode", "flat_ids"},
    "start": {"start"},
    "hostile": {"load", "encode", "flat_ids"},
    "train": {"train"},
}
# What an engine needs for an input other than `str`.
INPUT_FUNCTIONS = {"buffer": {"buffer", "encode_buffer"}, "file": {"file_source", "encode_file"}}


def functions_of(engine: str) -> set[str]:
    """Return the functions of an engine, which need not be installed."""
    tree = ast.parse((BENCHMARKS / "engines" / f"{engine}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def made_up(engine: str, seconds: float, answer: str = "right", **other: Any) -> dict[str, Any]:
    """Return a record of a megabyte encoded."""
    phase = {"s": seconds, "bytes": 1_000_000, "tokens": 9, "kind": "ids", "input": "text"}
    return {
        "definition": "gpt2-encode",
        "task": "encode",
        "vocabulary": "gpt2",
        "corpus": "english",
        "threads": 1,
        "engine": engine,
        "engine_version": "1.0",
        "repetition": 0,
        "phases": {"cold": {**phase, "answer": answer}, "steady": {**phase, "answer": answer}},
        **other,
    }


def result_of(*records: dict[str, Any]) -> dict[str, Any]:
    return {"date": "2026-01-02", "machine": machine(), "records": list(records)}


def cells(text: str, first: str) -> list[str]:
    """Return the cells of the row that begins so."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| {first}")]
    return [cell.strip() for cell in row.strip("|").split("|")]


# ---- definitions


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_names_only_what_there_is(name: str) -> None:
    definition = DEFINITIONS[name]
    assert set(definition["references"]) <= set(definition["engines"])
    assert definition["engines"][0] == OURS
    assert (BENCHMARKS / "tasks" / f"{definition['task']}.py").is_file()
    assert set(definition.get("corpora", ())) <= set(read_toml(BENCHMARKS / "corpora.toml"))
    vocabularies = read_toml(BENCHMARKS / "vocabularies.toml")
    assert set(definition.get("vocabularies", ())) <= set(vocabularies)
    assert set(definition["sizes"]) == set(definition["smoke"])
    inputs = definition.get("inputs", ["str"])
    assert inputs[0] == "str"
    assert set(inputs) <= {*INPUT_FUNCTIONS, "str"}
    for name, corpora in definition.get("input_corpora", {}).items():
        assert name in inputs
        assert set(corpora) <= set(definition["corpora"])
    for engine in definition["engines"]:
        assert FUNCTIONS[definition["task"]] | {"version"} <= functions_of(engine), engine


@pytest.mark.parametrize(
    "path", sorted((BENCHMARKS / "engines").glob("*.py")), ids=lambda p: p.stem
)
def test_an_engine_has_a_function_for_every_input(path: Path) -> None:
    constants = ast.unparse(ast.parse(path.read_text()))
    for name, functions in INPUT_FUNCTIONS.items():
        is_listed = "INPUTS" in constants and f"'{name}'" in constants.split("INPUTS")[1]
        assert is_listed == (functions <= functions_of(path.stem)), name


def test_every_small_corpus_stands_in_for_one_that_can_be_built() -> None:
    assert set(small_corpora._MAKERS) == set(read_toml(BENCHMARKS / "corpora.toml"))


# ---- what is run


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> cases.Choice:
    """A choice of what to run on a machine where every engine is installed and no corpus is built."""
    monkeypatch.setattr(cases, "installed", lambda engine: Installed(True, ("frequency",)))
    monkeypatch.setattr(cases, "tokenizer_file", lambda name, folder: folder / f"{name}.json")
    monkeypatch.setattr(cases, "small_corpus", lambda name, folder: folder / f"small-{name}.txt")
    monkeypatch.setattr(cases, "built_corpus", lambda name: None)
    notes: list[str] = []
    return cases.Choice(tmp_path, notes.append)


def test_jobs_are_every_case_times_every_engine(everything: cases.Choice) -> None:
    definition = DEFINITIONS["threads"]
    jobs = list(cases.jobs_of(definition, everything))
    assert [(job["threads"], job["engine"]) for job in jobs] == [
        (threads, engine) for threads in (1, 2) for engine in definition["engines"]
    ]
    assert {job["steady_bytes"] for job in jobs} == {56_000_000}
    assert {job["decode"] for job in jobs} == {False}
    [trained] = cases.jobs_of(DEFINITIONS["wordpiece-train"] | {"engines": [OURS]}, everything)
    assert trained["score"] == "frequency"
    assert "threads" not in trained


def inputs_of(jobs: list[dict[str, Any]], form: str) -> list[tuple[str, str, bool]]:
    """Return corpus, engine and whether only its answer counts, of the jobs with an input."""
    chosen = [job for job in jobs if job.get("input") == form]
    return [(job["corpus"], job["engine"], "answers_only" in job) for job in chosen]


def test_inputs_are_measured_with_the_engines_that_have_them(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = {
        OURS: ("str", "buffer", "file"),
        "gigatoken": ("str", "buffer", "file"),
        "tokie": ("str", "file"),
    }
    monkeypatch.setattr(
        cases, "installed", lambda name: Installed(True, inputs=has.get(name, ("str",)))
    )
    jobs = list(cases.jobs_of(DEFINITIONS["gpt2-encode"], everything))
    assert inputs_of(jobs, "buffer") == [
        (corpus, engine, engine == "tiktoken")
        for corpus in ("english", "prose")
        for engine in (OURS, "tiktoken", "gigatoken")
    ]
    assert inputs_of(jobs, "file") == [
        ("prose", OURS, False),
        ("prose", "tiktoken", True),
        ("prose", "gigatoken", False),
        ("prose", "tokie", False),
    ]
    without = [job for job in jobs if "input" not in job]
    definition = DEFINITIONS["gpt2-encode"]
    assert len(without) == len(definition["corpora"]) * len(definition["engines"])
    assert not any("answers_only" in job for job in without)


def test_an_input_that_ours_does_not_have_is_left_out(everything: cases.Choice) -> None:
    notes: list[str] = []
    jobs = list(cases.jobs_of(DEFINITIONS["threads"], replace(everything, say=notes.append)))
    assert not any("input" in job for job in jobs)
    assert "threads, input buffer: piecework needs pyarrow for it" in notes


def test_our_engine_is_measured_at_further_levels(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def levels(definition: str, *found: str) -> list[tuple[str, str | None]]:
        monkeypatch.setattr(cases, "installed", lambda engine: Installed(True, levels=found))
        choice = replace(everything, engines=("tiktoken",), levels=("avx2",))
        jobs = cases.jobs_of(DEFINITIONS[definition] | {"corpora": ["prose"]}, choice)
        return [(job["engine"], job.get("forced_level")) for job in jobs]

    both = [(OURS, None), (OURS, "avx2"), ("tiktoken", None)]
    assert levels("gpt2-encode", "scalar", "avx2", "avx512") == both
    assert levels("lists", "scalar", "avx2", "avx512") == both
    assert levels("gpt2-encode", "scalar", "avx2") == [(OURS, None), ("tiktoken", None)]


def test_a_small_text_in_place_of_a_corpus_is_told(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = next(cases.jobs_of(DEFINITIONS["threads"], everything))
    assert job["is_small_text"]
    monkeypatch.setattr(cases, "built_corpus", lambda name: Path("built.txt"))
    job = next(cases.jobs_of(DEFINITIONS["threads"], everything))
    assert "is_small_text" not in job
    assert job["files"]["corpus"] == "built.txt"


def test_an_engine_runs_only_the_models_it_reads(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = {"tiktoken": ("byte-bpe",)}
    monkeypatch.setattr(cases, "installed", lambda name: Installed(True, (), reads.get(name)))
    jobs = list(cases.jobs_of(DEFINITIONS["short"], everything))
    assert {job["vocabulary"] for job in jobs if job["engine"] == "tiktoken"} == {"gpt2"}


def test_a_peer_may_be_missing_and_a_reference_may_not(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_but(missing: str) -> None:
        without = {missing: Installed(False, note="no such module")}
        monkeypatch.setattr(cases, "installed", lambda name: without.get(name, Installed(True)))

    all_but("tokie")
    assert "tokie" not in {job["engine"] for job in cases.jobs_of(DEFINITIONS["lists"], everything)}
    all_but("tiktoken")
    with pytest.raises(SystemExit, match="lists: tiktoken is needed: no such module"):
        list(cases.jobs_of(DEFINITIONS["lists"], everything))


def test_a_vocabulary_that_cannot_be_had_leaves_its_cases_out(
    everything: cases.Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, folder: Path) -> Path:
        if name == "gpt2":
            raise MissingVocabularyError("offline")
        return folder / name

    monkeypatch.setattr(cases, "tokenizer_file", refuse)
    vocabularies = {job["vocabulary"] for job in cases.jobs_of(DEFINITIONS["spans"], everything)}
    assert vocabularies == {"bert-base-uncased"}


def test_records_are_named_by_the_date_and_what_was_run() -> None:
    def named(*definitions: str, record: bool) -> list[str]:
        asked = argparse.Namespace(definition=definitions, record=record, output=Path("own.json"))
        return [path.name for path in run.outputs(asked)]

    today = date.today().isoformat()
    assert named(record=True) == [f"{today}-table.json", "own.json"]
    assert named("short", record=True)[0] == f"{today}-short.json"
    assert named("short", record=False) == ["own.json"]


def test_repetitions_end_where_the_minutes_or_the_definitions_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(0, 20_000, 100))  # seconds, each time it is read
    monkeypatch.setattr(run, "monotonic", lambda: next(clock))
    monkeypatch.setattr(run, "measured", lambda job, number, options: {**job, "number": number})
    definitions = [{"name": "a", "repetitions": 9}, {"name": "b", "repetitions": 2}]
    definitions.append({"name": "c", "repetitions": 9})
    jobs = [{"definition": "a"}, {"definition": "b"}, {"definition": "c", "answers_only": True}]

    def numbers(name: str, **options: Any) -> list[int]:
        given = {"smoke": False, "repetitions": None, "minutes": None, **options}
        records = run.measure_all(definitions, jobs, argparse.Namespace(**given))
        return [record["number"] for record in records if record["definition"] == name]

    assert numbers("a") == list(range(9))
    assert numbers("b") == [0, 1]
    assert numbers("c") == [0]
    assert numbers("a", repetitions=3) == [0, 1, 2]
    assert numbers("a", smoke=True) == [0]
    assert 1 <= len(numbers("a", minutes=10)) < 4


# ---- answers


def test_ours_must_answer_as_the_first_reference_does() -> None:
    definition = {"references": ["tiktoken", "tokenizers"]}
    records = [made_up(OURS, 1), made_up("tiktoken", 1, "other"), made_up("tokenizers", 1)]
    with pytest.raises(exactness.WrongAnswerError, match=r"gpt2.*cold.*ours right, theirs other"):
        exactness.mark(definition, records)


def test_a_peer_with_an_answer_of_its_own_is_not_exact() -> None:
    definition = {"references": ["tiktoken", "tokenizers"]}
    ours, first, second, third = records = [
        made_up(OURS, 1),
        made_up("tiktoken", 1),
        made_up("tokenizers", 1, "also right"),
        made_up("iree_tokenizer", 1, "wrong"),
    ]
    exactness.mark(definition, records)
    assert third["not_exact"] == ["cold", "steady"]
    assert not any("not_exact" in record for record in (ours, first, second))


def test_an_answer_counts_where_its_time_does_not() -> None:
    definition = {"references": ["tiktoken"]}
    alone = made_up("tiktoken", 1, input="buffer", answers_only=True)
    records = [made_up(OURS, 1, input="buffer"), made_up("gigatoken", 1, "other", input="buffer")]
    exactness.mark(definition, [*records, alone])
    assert [record.get("not_exact") for record in records] == [None, ["cold", "steady"]]
    assert "tiktoken" not in details(result_of(*records, alone))
    alone["phases"]["cold"]["answer"] = "theirs"
    with pytest.raises(exactness.WrongAnswerError, match="buffer, cold: ours right, theirs theirs"):
        exactness.mark(definition, [*records, alone])


def test_an_engine_must_repeat_its_answer() -> None:
    records = [made_up("tiktoken", 1), made_up("tiktoken", 1, "another", repetition=1)]
    with pytest.raises(exactness.WrongAnswerError, match="tiktoken changed its answer"):
        exactness.mark({"references": []}, records)


def test_answers_are_kept_and_must_come_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exactness, "EXPECTED", tmp_path / "expected.json")
    records = [made_up(OURS, 1), made_up("tiktoken", 1, "not looked at")]
    assert exactness.check_expected(records) == [
        "gpt2-encode, gpt2, english, 1, cold",
        "gpt2-encode, gpt2, english, 1, steady",
    ]
    exactness.keep_expected(records)
    assert exactness.check_expected(records) == []
    with pytest.raises(exactness.WrongAnswerError, match=r"found \[9, 'wrong'\], expected \[9, 'r"):
        exactness.check_expected([made_up(OURS, 1, "wrong")])


def test_the_answers_kept_are_of_vocabularies_that_there_are() -> None:
    vocabularies = set(read_toml(BENCHMARKS / "vocabularies.toml"))
    kept = exactness.read_expected()
    assert kept
    for key, (tokens, answer) in kept.items():
        vocabulary, kind, text = key.split(", ")
        assert vocabulary in vocabularies
        assert kind in ("ids", "text", "spans")
        assert len(text) == len(answer) == 16
        assert tokens >= 0


# ---- tables


def test_the_table_compares_with_the_best_exact_peer() -> None:
    found = report(
        result_of(
            made_up(OURS, 0.01),
            made_up(OURS, 0.03, repetition=1),
            made_up(OURS, 0.02, repetition=2),
            made_up("tokenizers", 0.5),
            made_up("gigatoken", 0.025),
            made_up("iree_tokenizer", 0.001, not_exact=["cold", "steady"]),
        )
    )
    row = cells(found, "byte-level BPE, gpt2")
    assert row[1:] == [
        "english",
        "-",
        "2",
        "gigatoken 40",
        "gigatoken 40",
        "-",
        "50",
        "50",
        "-",
        "1.25",
        "1.25",
        "-",
        "300 / 130",
    ]
    assert "iree_tokenizer is not exact (cold, steady)" in found


def test_the_table_has_the_speed_of_text_seen_before() -> None:
    def with_seen(engine: str, seconds: float, seen: float) -> dict[str, Any]:
        record = made_up(engine, seconds)
        record["phases"]["seen"] = {**record["phases"]["steady"], "s": seen}
        return record

    result = result_of(with_seen(OURS, 0.01, 0.005), with_seen("gigatoken", 0.01, 0.004))
    row = cells(report(result), "byte-level BPE, gpt2")
    assert row[4:7] == ["gigatoken 100", "gigatoken 100", "gigatoken 250"]
    assert row[7:] == ["100", "100", "200", "1.00", "1.00", "0.80", "300 / 130"]
    assert answers(result).startswith(
        "gpt2-encode, gpt2, english: cold 9 tokens, steady 9 tokens, seen 9 tokens; "
    )


def test_a_peer_that_failed_is_listed_with_what_it_said() -> None:
    failed = made_up("tokie", 1, failed="no such file") | {"phases": {}}
    del failed["phases"]
    found = report(result_of(made_up(OURS, 0.01), failed))
    assert "tokie failed: no such file" in found
    assert cells(found, "byte-level")[4] == "-"


def test_the_table_says_when_a_small_text_stands_in() -> None:
    found = report(result_of(made_up(OURS, 0.01, is_small_text=True)))
    assert cells(found, "byte-level")[1] == "english (small text)"


def test_the_table_has_a_row_for_each_kernel_level() -> None:
    found = report(
        result_of(
            made_up(OURS, 0.01, level="avx512"),
            made_up(OURS, 0.02, level="avx2", forced_level="avx2"),
            made_up("tokenizers", 0.5),
        )
    )
    assert "piecework at kernel level avx512, avx2, peers at their own choice" in found
    rows = [line.split("|") for line in found.splitlines() if "| byte-level BPE, gpt2 |" in line]
    assert [(row[3].strip(), row[8].strip(), row[11].strip()) for row in rows] == [
        ("avx512", "100", "50.00"),
        ("avx2", "50", "25.00"),
    ]


def test_rows_name_the_vocabulary_where_a_definition_has_several() -> None:
    record = made_up(OURS, 0.01, definition="chat", corpus="chat")
    assert cells(report(result_of(record)), "short messages")[:2] == [
        "short messages, gpt2",
        "chat",
    ]


def test_an_input_has_rows_of_its_own_and_no_goal() -> None:
    found = report(
        result_of(
            made_up(OURS, 0.01),
            made_up("gigatoken", 0.02),
            made_up(OURS, 0.005, input="buffer"),
            made_up("gigatoken", 0.004, input="buffer"),
        )
    )
    rows = [line.split(" | ") for line in found.splitlines() if "| byte-level BPE, gpt2 |" in line]
    assert [(row[1], row[4], row[7], row[-1].strip(" |")) for row in rows] == [
        ("english", "gigatoken 50", "100", "300 / 130"),
        ("english, buffer", "gigatoken 250", "200", ""),
    ]


def test_threads_have_rows_for_every_input() -> None:
    records = [
        made_up(OURS, 1 / threads / speed, definition="threads", threads=threads, **form)
        for form, speed in (({}, 1), ({"input": "buffer"}, 2))
        for threads in (1, 2)
    ]
    found = report(result_of(*records))
    assert cells(found, f"{OURS} |") == [OURS, "1", "2", "2.00", "-", "500 / 1.8"]
    assert cells(found, f"{OURS}, buffer |") == [f"{OURS}, buffer", "2", "4", "2.00", "-", ""]


def test_threads_are_told_as_times_one_thread() -> None:
    records = [
        made_up(OURS, 1 / threads, definition="threads", threads=threads) for threads in (1, 2)
    ]
    assert cells(report(result_of(*records)), OURS) == [OURS, "1", "2", "2.00", "-", "500 / 1.8"]


def test_short_times_are_told_in_their_units() -> None:
    common = {"definition": "short", "task": "short", "vocabulary": "gpt2", "engine_version": "1"}
    records = [
        {**common, "engine": engine, "phases": {"warm": {"s": seconds}}}
        for engine, seconds in ((OURS, 5e-7), ("gigatoken", 6e-7), ("tokenizers", 2e-5))
    ]
    row = cells(report(result_of(*records)), "gpt2")
    assert row == ["gpt2", "-", "20", "gigatoken 0.6", "0.5", "1.20", "0.5"]


def test_hostile_texts_are_told_by_the_slowest() -> None:
    times = {"english": 0.001, "letter": 0.002, "marks": 0.005}
    phases = {name: {"s": seconds, "bytes": 1_000_000} for name, seconds in times.items()}
    record = made_up(OURS, 1, definition="hostile", task="hostile") | {"phases": phases}
    assert cells(report(result_of(record)), "gpt2")[2:] == ["1", "marks 5", "5.00", "10"]


def test_learning_is_told_with_what_it_takes() -> None:
    common = {"definition": "bpe-train", "task": "train", "corpus": "english", "score": "byte-bpe"}
    records = [
        {
            **common,
            "engine": engine,
            "engine_version": "1",
            "phases": {phase: {"s": seconds} for phase, seconds in phases.items()},
            "peak_mb": memory,
        }
        for engine, memory, phases in (
            (OURS, 110, {"count": 0.3, "learn": 0.5, "total": 0.8}),
            ("tokenizers", 300, {"total": 8}),
        )
    ]
    ours, peer = report(result_of(*records)).splitlines()[-2:]
    assert ours == f"| byte-bpe | {OURS} | 0.3 | 0.5 | 0.8 | 1.00 | 110 |"
    assert peer == "| byte-bpe | tokenizers | - | - | 8 | 10.00 | 300 |"


def test_details_have_a_line_an_engine_and_phase() -> None:
    result = result_of(made_up(OURS, 0.01), made_up("tiktoken", 0.1))
    lines = [line for line in details(result).splitlines() if " MB/s " in line]
    assert [line.split(",")[0] for line in lines] == [f"{OURS} 1.0", "tiktoken 1.0"] * 2
    assert answers(result) == (
        "gpt2-encode, gpt2, english: cold 9 tokens, steady 9 tokens; piecework, tiktoken"
    )


def test_the_records_kept_can_be_told_as_tables() -> None:
    for path in (BENCHMARKS / "record").glob("*.json"):
        result = read_record(path)
        assert "| piecework |" in report(result) or "ours" in report(result)
        assert details(result)


def test_a_record_is_written_and_read_as_it_was(tmp_path: Path) -> None:
    result = result_of(made_up(OURS, 0.01), made_up("tiktoken", 0.1))
    write_record(tmp_path / "new" / "record.json", result)
    assert read_record(tmp_path / "new" / "record.json") == result


def test_records_name_no_machine_and_no_path() -> None:
    assert set(machine()) == {"processor", "cores", "features", "system", "python"}
    assert platform.node() not in machine().values()
    assert (
        run.without_paths("cannot open '/home/me/a/x.model': no") == "cannot open '.../x.model': no"
    )


def test_records_and_reports_name_the_instruction_sets() -> None:
    x86 = {"flags": "fpu avx2 bmi2 avx512bw avx512_vbmi2 avx512vbmi sse4_2 avx512_new"}
    expected = ["sse4_2", "bmi2", "avx2", "avx512bw", "avx512vbmi", "avx512_vbmi2"]
    assert instruction_sets(x86, "x86_64") == expected
    assert instruction_sets({"Features": "fp asimd sve sve2"}, "aarch64") == ["neon", "sve", "sve2"]
    assert instruction_sets({}, "arm64") == ["neon"]
    assert instruction_sets({}, "x86_64") == []
    result = result_of(made_up(OURS, 0.01))
    result["machine"]["features"] = expected
    assert "(instruction sets sse4_2 bmi2 avx2 avx512bw" in report(result).splitlines()[0]


# ---- texts


def test_hostile_texts_have_the_size_asked_for_and_are_always_the_same() -> None:
    texts = worker.load("tasks", "hostile").hostile_texts(10_000)
    assert set(texts) == {"letter", "spaces", "punctuation", "marks", "cjk", "random"}
    assert all(9_990 < len(text.encode()) <= 10_000 for text in texts.values())
    assert texts == worker.load("tasks", "hostile").hostile_texts(10_000)


def test_the_made_up_text_is_the_same_everywhere(tmp_path: Path) -> None:
    text = small_corpora.small_corpus("multilingual", tmp_path).read_text(encoding="utf-8")
    assert text.count("\n") == small_corpora.MADE_UP_LINES
    assert build_corpora.sha256(text.encode())[:16] == "9a70656383a9b1b0"
    quoted = small_corpora.small_corpus("prose-languages", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(quoted.encode())[:16] == "2b3ce040819f1bd2"
    assert min(map(quoted.count, "“”„«»‘’「」")) == small_corpora.MADE_UP_LINES // 5


def test_made_up_messages_and_sources_are_the_same_everywhere(tmp_path: Path) -> None:
    text = small_corpora.small_corpus("chat", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(text.encode())[:16] == "0e5f274ac46e6102"
    sizes = [len(message.encode()) for message in text.splitlines()]
    assert len(sizes) == small_corpora.MESSAGES
    assert 20 < sorted(sizes)[len(sizes) // 2] < 300
    assert min(map(text.count, ("“", "«", "🙂", "😂", "字"))) > 0
    sources = small_corpora.small_corpus("sources", tmp_path).read_text(encoding="utf-8")
    assert build_corpora.sha256(sources.encode())[:16] == "fae931d003779ad4"
    assert "@" not in sources.replace("${", "").replace("= @_", "").replace("[@]", "")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.html", "<p>caf&eacute;</p><script>x()</script>", " café  "),
        (
            "./doc/html/src/A.html",
            '<head>A</head><body><pre><span class="annot"><span class="annottext">x :: Int\n</span>'
            '<a href="#x"><span>x</span></a></span><span> </span><span>&lt;&gt;</span> y\n</pre></body>',
            "x <> y\n",
        ),
        (
            "./cldr/common/annotations/fr.xml",
            '<annotation cp="🦮" type="tts" draft="contributed">chien d&apos;aveugle</annotation>\n'
            '<annotation cp="🦮">chien</annotation>\n<annotation cp="_" type="tts">tiret</annotation>',
            "chien d'aveugle 🦮",
        ),
        ("a.1.gz", '.\\" nothing\n.B bold\n\\fIslanted\\fR \\-x\n', "bold\nslanted -x\n"),
        ("a.py", "a < b > c  # &amp;\n", "a < b > c  # &amp;\n"),
        ("./usr/games/fortunes/a", "\x1b[1ma\x1b[0m b\n", "a b\n"),
    ],
)
def test_markup_is_taken_from_text(name: str, data: str, text: str) -> None:
    assert text_of(name, data.encode()) == text


def test_markup_is_kept_where_it_is_the_source() -> None:
    assert text_of("a.html", b"<p>&eacute;</p>", has_markup=True) == "<p>&eacute;</p>"


def test_messages_are_entries_of_quotations_and_lines_of_other_texts() -> None:
    def messages(name: str, text: str) -> list[str]:
        return list(build_corpora.fresh_messages(name, text, (10, 30), set()))

    quotations = "one\n\tline,  two\u00a0!\n%\nshort\n%% \none line, two\u00a0!\n%\n" + "long " * 7
    assert messages("./games/fortunes/a", quotations) == ["one line, two\u00a0!\n"]
    assert messages("a.mo", "“line” one\nline\x07 number two\nline \ufffd three\n") == [
        "“line” one\n"
    ]


def test_a_source_may_be_in_an_archive_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("a/B.java", "a/A.java", "a/A.class"):
            archive.writestr(name, f"class {name[2]} {{ /* a line of more than forty bytes */ }}\n")
    files = [("./lib/src.zip", packed.getvalue()), ("./doc/C.java", b"class C {}\n")]
    monkeypatch.setattr(build_corpora, "debian_archive", lambda *_: tmp_path)
    monkeypatch.setattr(build_corpora, "debian_files", lambda _: iter(files))
    source = {"package": "p", "version": "1", "sha256": "", "files": ["*.java"]}
    within = build_corpora.documents_of({**source, "zip": "/src.zip"}, set())
    assert sorted(text[6:7] for text in within) == [b"A", b"B", b"C"]
    assert [text[:8] for text in build_corpora.documents_of(source, set())] == [b"class C "]


def test_a_document_may_be_one_line(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes("één\n\n tw\ro \u2028\nthree\nfour".encode())
    assert documents(corpus, 0, 100) == ["één", " tw\ro \u2028", "three", "four"]
    assert documents(corpus, 0, 16) == ["één", " tw\ro \u2028"]


def test_text_is_read_from_compressed_formats() -> None:
    osis = zlib.compress('<div type="x-p"/>“<w lemma="1">Let</w> there be"<verse/>light”'.encode())
    once = '“Let there be"\nlight”'
    assert text_of("nt.bzz", osis + b"\0\x78\x9c?" + osis) == f"{once}\n{once}"
    r_data = b"\0\x04\0\x09\0\0\0\x03abc\0\0\x80\x09\0\0\0\x02" + "é".encode()
    assert text_of("Rdata.rdb", b"\0\0\0\x01" + zlib.compress(r_data)) == "abc\né"


def test_translations_are_read_without_the_header_and_tags() -> None:
    header = b"Content-Type: text/plain; charset=UTF-8\n"
    text = "<i>Ne</i>…".encode()
    # Two tables of lengths and offsets, at 28 and 44, then "", "No", the header and the text.
    originals = struct.pack("<4I", 0, 60, 2, 61)
    translated = struct.pack("<4I", len(header), 64, len(text), 65 + len(header))
    head = struct.pack("<7I", 0x950412DE, 0, 2, 28, 44, 0, 0)
    data = head + originals + translated + b"\0No\0" + header + b"\0" + text + b"\0"
    assert text_of("a.mo", data) == "Ne…"


def test_long_lines_of_a_corpus_are_kept_once() -> None:
    long = "word " * 20
    seen: set[str] = set()
    first = list(build_corpora.fresh_lines(f"{long}\nshort\n\n\n\nshort", seen))
    assert first == [long.rstrip() + "\n", "short\n", "\n", "short\n"]
    assert list(build_corpora.fresh_lines(long, seen)) == []


def test_documents_are_shuffled_alike_and_cut_to_size() -> None:
    documents = [bytes([97 + number]) * 1000 for number in range(20)]
    kept = build_corpora.shuffled(documents, 0.005)
    assert len(kept) == 5
    assert kept == build_corpora.shuffled(documents, None)[:5] != documents[:5]


# ---- measurements


@pytest.fixture(scope="module")
def job_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tokenizer and a corpus, as jobs name them."""
    folder = tmp_path_factory.mktemp("job")
    lines = [f"Line {number} of a small text, isn't it?" for number in range(2_000)]
    tokenizer = pw.Tokenizer.train_from_iterator(lines, vocab_size=90)
    tokenizer.save(folder / "small.json")
    (folder / "corpus.txt").write_text("\n".join(lines))
    return {"tokenizer": str(folder / "small.json"), "corpus": str(folder / "corpus.txt")}


def run_worker(**job: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "worker.py"), json.dumps(job)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def measured(**job: Any) -> dict[str, Any]:
    done = run_worker(**job)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


SIZES = {"document_bytes": 500, "warm_up_bytes": 10_000, "steady_bytes": 30_000, "threads": 1}


@pytest.mark.parametrize(
    ("task", "sizes", "phases"),
    [
        ("encode", SIZES, ["cold", "steady", "seen", "decode"]),
        ("lists", SIZES, ["cold", "steady"]),
        ("spans", SIZES, ["ids", "spans"]),
        ("short", {"rounds": 1, "threads": 1}, ["first", "warm"]),
        ("start", {"threads": 1}, ["inside", "process"]),
        (
            "hostile",
            {"text_bytes": 1_000, "threads": 1, "corpus": "english"},
            ["english", "letter", "spaces", "punctuation", "marks", "cjk", "random"],
        ),
    ],
)
def test_every_task_gives_its_phases_and_the_answer_of_tokenizers(
    task: str, sizes: dict[str, Any], phases: list[str], job_files: dict[str, str]
) -> None:
    found = {
        engine: measured(task=task, engine=engine, files=job_files, **sizes)["phases"]
        for engine in (OURS, "tokenizers")
    }
    assert list(found["tokenizers"]) == phases
    for name in phases:
        assert found[OURS][name]["s"] > 0
        assert found[OURS][name].get("answer") == found["tokenizers"][name].get("answer")


def test_texts_are_seen_a_second_time_as_new_objects(job_files: dict[str, str]) -> None:
    texts = [*worker_documents(job_files)[:5], "“Näïve” 字 😀"]
    again = worker.load("tasks", "encode").copies(texts)
    assert again == texts
    assert all(new is not old for new, old in zip(again, texts, strict=True))
    phases = measured(task="encode", engine=OURS, files=job_files, **SIZES)["phases"]
    assert list(phases) == ["cold", "steady", "seen", "decode"]
    different = {name for name in phases["seen"] if phases["seen"][name] != phases["steady"][name]}
    assert different == {"s"}
    assert phases["decode"]["tokens"] == phases["steady"]["tokens"]


def test_texts_in_a_buffer_have_the_same_ids(job_files: dict[str, str]) -> None:
    common = {"task": "encode", "engine": OURS, "files": job_files, **SIZES}
    texts, buffer = measured(**common)["phases"], measured(**common, input="buffer")["phases"]
    assert list(buffer) == ["cold", "steady", "seen"]
    for name, phase in buffer.items():
        assert {**phase, "s": 0} == {**texts[name], "s": 0}


def test_a_file_has_a_document_on_each_line(job_files: dict[str, str]) -> None:
    common = {"task": "encode", "files": job_files, "input": "file", **SIZES}
    ours = measured(**common, engine=OURS)["phases"]
    theirs = measured(**common, engine="tokenizers", answers_only=True)["phases"]
    assert list(ours) == list(theirs) == ["cold", "steady", "seen"]
    for name, phase in ours.items():
        assert {**phase, "s": 0} == {**theirs[name], "s": 0}
    lines = worker.load("tasks", "encode").one_line_each([" a\r\nb\u00a0c\n", "\n ", "d"])
    assert lines == ["a  b\u00a0c", "d"]


def test_a_forced_level_gives_the_same_answer(job_files: dict[str, str]) -> None:
    common = {"task": "encode", "engine": OURS, "files": job_files, **SIZES}
    best, forced = measured(**common), measured(**common, forced_level="scalar")
    assert (best["level"], forced["level"]) == (_core.kernel_levels()[-1], "scalar")
    for name, phase in best["phases"].items():
        assert phase["answer"] == forced["phases"][name]["answer"]


def test_a_start_from_the_cache_is_measured_too(job_files: dict[str, str]) -> None:
    found = measured(task="start", engine=OURS, files=job_files, threads=1)["phases"]
    assert list(found) == ["inside", "process", "cached"]
    assert Path(job_files["tokenizer"]).with_suffix(".pwc").exists()


def test_a_measurement_counts_tokens_and_bytes(job_files: dict[str, str]) -> None:
    found = measured(task="encode", engine=OURS, files=job_files, **SIZES)["phases"]["steady"]
    tokenizer = pw.Tokenizer.load(job_files["tokenizer"])
    texts = worker_documents(job_files)
    ids = tokenizer.encode_batch(texts, add_special_tokens=False).ids
    again = ids_phase(texts, found["s"], ids)
    assert found == again
    assert found["tokens"] == len(ids)
    assert found["bytes"] == sum(len(text.encode()) for text in texts)


def worker_documents(job_files: dict[str, str]) -> list[str]:
    from corpora import split_documents

    warm_up, steady = split_documents({**SIZES, "files": job_files})
    assert not set(warm_up) & set(steady)
    return steady


def test_training_tells_entries_and_bytes(job_files: dict[str, str]) -> None:
    found = measured(
        task="train",
        engine=OURS,
        files=job_files,
        corpus_bytes=20_000,
        score="frequency",
        vocab_size=60,
        min_frequency=2,
    )
    assert found["peak_mb"] > 0
    assert {phase["entries"] for phase in found["phases"].values()} == {60}


def test_an_engine_that_is_not_installed_is_told_by_its_exit_code(
    job_files: dict[str, str],
) -> None:
    # The stable line is installed, so the pre-release is not.
    done = run_worker(engine="tokenizers_rc", task="encode", files=job_files, **SIZES)
    assert done.returncode == worker.NOT_INSTALLED
    assert "expected a release of 1.0" in done.stderr


# ---- two builds


def test_a_checkout_is_compared_with_its_module(
    job_files: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = {"definition": "gpt2-encode", "task": "encode", "engine": OURS, "files": job_files}
    jobs = [{**job, **SIZES, "forced_level": "scalar"}]
    monkeypatch.setattr(compare_builds, "jobs_at_levels", lambda *_: jobs)

    def exit_code(limit: str) -> int:
        builds = [str(BENCHMARKS.parent), shutil.copy(_core.__file__, tmp_path)]
        options = ["--repetitions", "1", "--at-least", limit]
        monkeypatch.setattr(sys, "argv", ["compare_builds.py", *builds, *options])
        return compare_builds.main()

    assert exit_code("0.000001") == 0
    heading, *lines, mean, minimum = capsys.readouterr().out.splitlines()
    assert heading.split() == ["class", "old,", "ms", "new,", "ms", "ratio"]
    phases = [line.split(", ")[-1].split()[0] for line in lines]
    assert phases == ["cold", "steady", "seen", "decode"]
    assert all("scalar" in line for line in lines)
    assert mean.startswith("geometric mean ")
    assert minimum.startswith("minimum ")
    assert exit_code("1000000") == 1


def test_a_build_must_be_compiled(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no compiled module"):
        compare_builds.import_folder(tmp_path, tmp_path)
    with pytest.raises(SystemExit, match="no such file"):
        compare_builds.import_folder(tmp_path / "_core.abi3.so", tmp_path)


def test_builds_take_turns_and_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    answers = {"old": 9, "new": 9}

    def measure(job: dict[str, Any], name: str, path: Path) -> dict[str, Any]:
        turns.append(name)
        seconds = {"old": 0.3, "new": 0.2}[name]
        return {"phases": {"steady": {"s": seconds, "tokens": answers[name]}}}

    monkeypatch.setattr(compare_builds, "measured", measure)
    builds = {name: Path(name) for name in answers}
    pairs = compare_builds.compare([made_up(OURS, 1)], builds, 3)
    assert turns == ["old", "new", "new", "old", "old", "new"]
    assert list(compare_builds.table(pairs))[1].split()[-3:] == ["300", "200", "1.500"]
    assert compare_builds.lowest(pairs) == pytest.approx(1.5)
    answers["new"] = 8
    with pytest.raises(SystemExit, match="steady: new gives"):
        compare_builds.compare([made_up(OURS, 1)], builds, 1)
