"""Measure one engine in a process of its own, and compare two builds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import compare_builds
import piecework as pw
import worker
from cases import OURS
from measuring import ids_phase
from piecework._internal import _core
from tests.benchmarks.made_up_records import BENCHMARKS, made_up

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
        ("truncate", {**SIZES, "max_length": 16}, ["cold", "steady"]),
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


def test_an_engine_that_is_not_installed_has_its_own_exit_code(
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


# ---- costs by script


def test_scripts_are_compared_with_english(job_files: dict[str, str], tmp_path: Path) -> None:
    for script, word in (("english", "small text "), ("greek", "μικρό κείμενο ")):
        (tmp_path / f"{script}.txt").write_text((word * 20 + "\n") * 60, encoding="utf-8")
    command = [sys.executable, str(BENCHMARKS / "by_script.py"), str(tmp_path), "--kilobytes", "4"]
    command += ["--repetitions", "1", "--tokenizer", job_files["tokenizer"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {row[0]: row for line in done.stdout.splitlines() if len(row := line.split()) == 8}
    assert rows["english"][3] == rows["english"][6] == "1.00"
    # Letters without an entry: each of the two words, 26 bytes with their spaces, is one token.
    assert float(rows["greek"][1]) == pytest.approx(13, rel=0.1)
