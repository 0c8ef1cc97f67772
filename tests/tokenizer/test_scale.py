"""The page about scale shows what `benchmarks/scale.py` prints, and the script measures all stages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "scale.py"
PAGE = (ROOT / "docs" / "explanation" / "scale.md").read_text(encoding="utf-8")
# A command in a paragraph, and the block that shows what it prints.
SHOWN = re.findall(
    r"`python benchmarks/scale\.py ([^`]*)` prints(?: the record)?:\n\n```text\n(.*?)```",
    PAGE,
    re.DOTALL,
)


def scale(*arguments: str) -> str:
    path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(SCRIPT), *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_the_page_shows_three_commands() -> None:
    assert [command.split()[0] for command, _ in SHOWN] == ["growth", "run", "run"]


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_the_page_shows_what_the_command_prints(command: str, shown: str) -> None:
    assert scale(*command.split()) == shown


def test_a_measurement_has_all_stages(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(f"hug {n} {n % 97} pug{n % 1013}\n" for n in range(90_000)))
    record = tmp_path / "scale.json"
    scale("measure", str(corpus), "--vocab-size", "200", "-o", str(record))
    [figures] = json.loads(record.read_text())
    assert figures["words"] == 4 * 90_000
    assert [point[0] for point in figures["growth"]] == sorted(
        point[0] for point in figures["growth"]
    )
    assert 0 < figures["heaps"]["beta"] < 1
    assert all(figures[rate] > 0 for rate in figures if rate.endswith("_per_second"))
    assert set(tmp_path.iterdir()) == {corpus, record}
