"""Instructions divided among the stages of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import by_stage
from tests.benchmarks.made_up_records import BENCHMARKS

CRATES = BENCHMARKS.parent / "crates"
MODULE = "/place/_core.abi3.so"
FILL = (MODULE, "fill")
NORMALIZE = (MODULE, "normalize")
GROW = (MODULE, "grow")
COPY = ("/lib/libc.so", "memcpy")
# `fill` finds words at 16 and has no stage at 32; `normalize` normalizes at 48; `grow` is a helper.
CALLGRIND = f"""
events: Ir

ob={MODULE}
fl=???
fn=fill
0x10 70
0x20 5
cob=/lib/libc.so
cfn=memcpy
calls=2 0x900
0x10 30

fn=normalize
0x30 100
cfn=grow
calls=1 0x40
0x30 30

fn=grow
0x40 20
cob=/lib/libc.so
cfn=memcpy
calls=1 0x900
0x40 10

ob=/lib/libc.so
fn=memcpy
0x900 40
"""
STAGES = {16: "find words", 32: None, 48: "normalize", 64: None}


def test_a_profile_is_read() -> None:
    profile = by_stage.parsed(CALLGRIND.splitlines())
    assert profile.own == {
        (FILL, 16): 70,
        (FILL, 32): 5,
        (NORMALIZE, 48): 100,
        (GROW, 64): 20,
        (COPY, 2304): 40,
    }
    assert profile.calls == {(FILL, 16, COPY): 30, (NORMALIZE, 48, GROW): 30, (GROW, 64, COPY): 10}


def test_costs_are_what_a_longer_process_has_more() -> None:
    profile = by_stage.parsed(CALLGRIND.splitlines())
    shorter = by_stage.Profile({(FILL, 16): 30}, {(FILL, 16, COPY): 10})
    longer = profile.minus(shorter)
    assert (longer.own[FILL, 16], longer.own[NORMALIZE, 48]) == (40, 100)
    assert (longer.calls[FILL, 16, COPY], longer.calls[GROW, 64, COPY]) == (20, 10)
    assert set(profile.addresses(MODULE)) == {16, 32, 48, 64}


def test_code_of_no_stage_counts_with_its_callers() -> None:
    costs = by_stage.by_stage(by_stage.parsed(CALLGRIND.splitlines()), MODULE, STAGES)
    # Of memcpy, three quarters are called where words are found, a quarter from `grow` below `normalize`.
    assert costs["find words"] == 70 + 30
    assert costs["normalize"] == 100 + 20 + 10
    # Nobody calls `fill`.
    assert costs["rest"] == 5
    assert sum(costs.values()) == 235


@pytest.mark.parametrize(
    ("frames", "stage"),
    [
        ([("classify", "crates/core/src/stages/pretokenize/scanners/classes.rs:9")], "find words"),
        ([("core::ptr::read", "/rustc/library/core/src/ptr/mod.rs:1")], None),
        (
            [
                ("core::ptr::read", "/rustc/library/core/src/ptr/mod.rs:1"),
                ("piecework_kernels::buckets::find", "/crates/kernels/src/buckets.rs:230"),
                ("append_hits", "/crates/core/src/engine/encode.rs:200"),
            ],
            "look up",
        ),
        ([("<T>::set_pending", "/crates/core/src/engine/word_cache/mod.rs:414")], "miss"),
        ([("a::encode::CachedWords::append_miss", "/crates/core/src/engine/encode.rs:1")], "miss"),
        (
            [("piecework::engine::encode::Call::words", "/crates/core/src/engine/encode.rs:1")],
            "rest",
        ),
    ],
)
def test_the_innermost_line_with_a_stage_decides(
    frames: by_stage.Frames, stage: str | None
) -> None:
    assert by_stage.stage_of(frames) == stage


def test_every_rule_names_files_and_functions_that_exist() -> None:
    sources = {
        str(path.relative_to(CRATES)): path.read_text() for path in CRATES.glob("*/src/**/*.rs")
    }
    for stage, file, functions in by_stage.RULES:
        texts = [text for path, text in sources.items() if file.search(path)]
        assert texts, (stage, file.pattern)
        names = functions.pattern.removeprefix("::(?:").removesuffix(r")\b").split("|")
        for name in names:
            assert name in (".*", r"accept\w*") or any(f"fn {name}" in text for text in texts), name


def test_costs_are_told_for_a_token(tmp_path: Path) -> None:
    english = by_stage.Row(400, 100, {**dict.fromkeys(by_stage.STAGES, 0), "segment": 5_000}, 900)
    greek = by_stage.Row(300, 50, {**dict.fromkeys(by_stage.STAGES, 0), "segment": 10_000}, 500)
    _, first, second = by_stage.table({"english": english, "greek": greek})
    assert first.split()[:4] == ["english", "4.00", "50", "1.00"]
    assert second.split()[:4] == ["greek", "6.00", "200", "4.00"]
    assert second.split()[-1] == "10"
