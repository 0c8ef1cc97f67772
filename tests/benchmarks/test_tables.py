"""Compare the answers of engines, and print tables of their times."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

import exactness
import run
from cases import OURS
from machine import instruction_sets, machine
from records import read_record, write_record
from report import answers, details, report
from tables import read_toml
from tests.benchmarks.made_up_records import BENCHMARKS, made_up


def result_of(*records: dict[str, Any]) -> dict[str, Any]:
    return {"date": "2026-01-02", "machine": machine(), "records": list(records)}


def cells(text: str, first: str) -> list[str]:
    """Return the cells of the row that begins so."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| {first}")]
    return [cell.strip() for cell in row.strip("|").split("|")]


# ---- answers


def test_piecework_must_answer_as_the_first_reference() -> None:
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


def test_answers_are_stored_and_must_be_repeated(
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


def test_stored_answers_belong_to_vocabularies_that_exist() -> None:
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


def test_a_peer_that_failed_is_listed_with_its_message() -> None:
    failed = made_up("tokie", 1, failed="no such file") | {"phases": {}}
    del failed["phases"]
    found = report(result_of(made_up(OURS, 0.01), failed))
    assert "tokie failed: no such file" in found
    assert cells(found, "byte-level")[4] == "-"


def test_the_table_names_a_small_text_in_place_of_a_corpus() -> None:
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


def test_the_table_shows_threads_as_multiples_of_one_thread() -> None:
    records = [
        made_up(OURS, 1 / threads, definition="threads", threads=threads) for threads in (1, 2)
    ]
    assert cells(report(result_of(*records)), OURS) == [OURS, "1", "2", "2.00", "-", "500 / 1.8"]


def test_the_table_shows_short_times_in_their_units() -> None:
    common = {"definition": "short", "task": "short", "vocabulary": "gpt2", "engine_version": "1"}
    records = [
        {**common, "engine": engine, "phases": {"warm": {"s": seconds}}}
        for engine, seconds in ((OURS, 5e-7), ("gigatoken", 6e-7), ("tokenizers", 2e-5))
    ]
    row = cells(report(result_of(*records)), "gpt2")
    assert row == ["gpt2", "-", "20", "gigatoken 0.6", "0.5", "1.20", "0.5"]


def test_the_table_shows_the_slowest_hostile_text() -> None:
    times = {"english": 0.001, "letter": 0.002, "marks": 0.005}
    phases = {name: {"s": seconds, "bytes": 1_000_000} for name, seconds in times.items()}
    record = made_up(OURS, 1, definition="hostile", task="hostile") | {"phases": phases}
    assert cells(report(result_of(record)), "gpt2")[2:] == ["1", "marks 5", "5.00", "10"]


def test_the_table_shows_the_time_and_memory_of_training() -> None:
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


def test_stored_records_are_printed_as_tables() -> None:
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
