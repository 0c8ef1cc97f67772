"""Definitions of benchmarks, and the jobs that they give."""

from __future__ import annotations

import argparse
import ast
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import cases
import run
import small_corpora
from cases import OURS, read_definitions
from processes import Installed
from tables import read_toml
from tests.benchmarks.made_up_records import BENCHMARKS
from vocabularies import MissingVocabularyError

DEFINITIONS = read_definitions()


# What a task calls; `flat_ids` reads the answer.
FUNCTIONS = {
    "encode": {"load", "encode", "flat_ids"},
    "lists": {"load", "lists"},
    "call": {"load_for_calls", "call"},
    "truncate": {"load_truncating", "encode_truncated", "flat_ids"},
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


# ---- definitions


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_names_only_what_exists(name: str) -> None:
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


def test_every_small_corpus_replaces_a_corpus_that_can_be_built() -> None:
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


def test_a_small_text_in_place_of_a_corpus_is_reported(
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


def test_cases_of_an_unavailable_vocabulary_are_left_out(
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
