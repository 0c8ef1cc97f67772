"""Checks of libraries and programs: what is compared, skipped and shown, and programs that misbehave."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.analysis import check_golden
from piecework.analysis.golden import program
from piecework.analysis.golden.file import Golden
from piecework.errors import ArgumentError, ProgramError
from tests.analysis.golden.tokenizers import few_pins, small

ECHO = """
import json, sys
import piecework as pw
tok = pw.Tokenizer.load({path!r})
for line in sys.stdin:
    row = json.loads(line)
    if row.keys() & {{"truncation", "padding"}}:
        print(json.dumps({{"row": row["row"], "skip": "no windows"}}))
        continue
    modes = {{name: row[name] for name in ("add_special_tokens", "parse_special")}}
    encoding = tok.encode(row["text"], row.get("pair"), **modes)
    ids = [{wrong} if id == 33 else id for id in encoding.ids]
    print(json.dumps({{"row": row["row"], "ids": ids, "tokens": encoding.tokens}}))
"""


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def few() -> Golden:
    """Return a golden file of three rows."""
    return replace(few_pins("char"), rows=few_pins("char").rows[:3])


def failure(script: str, timeout: float = 60.0) -> ProgramError:
    with pytest.raises(ProgramError) as raised:
        check_golden(few(), program=python(script), timeout=timeout)
    return raised.value


def test_a_program_is_compared_row_by_row(tmp_path: Path) -> None:
    path = str(tmp_path / "tokenizer.json")
    small("wordpiece").save(path)
    equal = check_golden(few_pins("wordpiece"), program=python(ECHO.format(path=path, wrong=33)))
    assert equal.is_equal
    assert list(equal.skipped) == ["no windows"]
    assert equal.rows + equal.skipped["no windows"] == len(few_pins("wordpiece").rows)
    wrong = check_golden(
        few_pins("wordpiece"), program=python(ECHO.format(path=path, wrong=99_999))
    )
    assert wrong.differences
    assert all(33 in one.row.ids and one.differs == ("ids",) for one in wrong.differences)
    assert json.loads(json.dumps(wrong.to_dict()))["is_equal"] is False


def test_errors_are_equal_to_errors_only() -> None:
    rows = few().rows
    answers = [
        {"row": 1, "error": "x"},
        {"row": 2, "ids": []},
        {"row": 3, "ids": list(rows[2].ids)},
    ]
    script = f"print({chr(10).join(map(json.dumps, answers))!r})"
    found = check_golden(few(), program=python(script))
    assert [(one.row.row, one.differs) for one in found.differences] == [
        (one.row, ("error",) if one.row == 1 else ("ids",))
        for one in sorted(rows[:2], key=lambda row: (len(row.text), row.row))
    ]
    assert "x" in str(found)


def test_a_library_is_compared_in_every_mode_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    small("bpe").save(path)
    found = check_golden(few_pins("bpe"), small("bpe"), library="tokenizers", path=path)
    assert (found.differences, found.rows, found.skipped) == ((), len(few_pins("bpe").rows), {})


def test_modes_that_a_library_lacks_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    small("sentencepiece").save(path)
    found = check_golden(
        few_pins("sentencepiece"), small("sentencepiece"), library="sentencepiece", path=path
    )
    assert found.is_equal
    assert set(found.skipped) == {
        f"sentencepiece is not called with {name}" for name in ("pair", "truncation", "padding")
    }


@pytest.mark.parametrize(
    ("script", "kind", "problem"),
    [
        ("import sys; sys.exit(3)", "exit", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "exit", "ended with signal 9"),
        ("print('hello')", "output", "wrote 'hello' in line 1, which is not JSON"),
        ("print('[' * 100000)", "output", "which is not JSON"),
        ("print('[]')", "output", "not an object with a row"),
        ('print(\'{"row": true, "ids": []}\')', "output", "not an object with a row"),
        ("print('{\"row\": 1}')", "output", "expected one of ids, error and skip"),
        ('print(\'{"row": 1, "ids": [1.5]}\')', "output", "expected one of ids, error and skip"),
        ('print(\'{"row": 1, "ids": [], "skip": "x"}\')', "output", "expected one of ids"),
        ('print(\'{"row": 9, "ids": []}\')', "row", "answers an unknown row, 9, in line 1"),
        ('print(\'{"row": 1, "ids": []}\\n\' * 2)', "row", "answers a row twice, 1, in line 2"),
        ('print(\'{"row": 1, "ids": []}\')', "row", "answered 1 of 3 rows; row 2 has no answer"),
        ("pass", "row", "answered 0 of 3 rows"),
    ],
)
def test_a_program_that_misbehaves_is_named(script: str, kind: str, problem: str) -> None:
    error = failure(script)
    assert (error.kind, error.place) == (kind, shlex.join(python(script)))
    assert problem in error.message


def test_the_last_lines_of_a_program_are_shown() -> None:
    script = "import sys\nfor n in range(99): print('line', n, file=sys.stderr)\nsys.exit(1)"
    assert failure(script).hint == "its last lines: " + " | ".join(
        f"line {number}" for number in range(94, 99)
    )


def test_a_program_that_hangs_ends_with_its_children(tmp_path: Path) -> None:
    late = tmp_path / "late"
    child = f"import time; time.sleep(3); open({str(late)!r}, 'w')"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    start = time.monotonic()
    error = failure(script, timeout=1.5)
    assert (error.kind, error.message) == ("timeout", "has not ended after 1.5 seconds")
    assert time.monotonic() - start < 20
    time.sleep(4)
    assert not late.exists()


def test_a_child_that_keeps_the_output_open_does_not_hang_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program, "_SECONDS_TO_END", 0.5)
    sleeps = "import time; time.sleep(60)"
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleeps!r}])"
    start = time.monotonic()
    assert failure(script).kind == "row"
    assert time.monotonic() - start < 20


def test_too_much_output_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MAX_OUTPUT", 1 << 20)
    error = failure("while True: print('x' * 1000)")
    assert (error.kind, error.message) == ("output", "wrote more than 1 MiB")


def test_full_pipes_block_nobody() -> None:
    script = (
        "import json, sys\n"
        "sys.stderr.write('x' * 3_000_000 + '\\n')\n"
        "print(' ' * 3_000_000)\n"
        "for line in sys.stdin:\n"
        "    sys.stderr.write('y' * 300_000)\n"
        "    print(json.dumps({'row': json.loads(line)['row'], 'skip': 'busy'}))"
    )
    assert check_golden(few(), program=python(script)).skipped == {"busy": 3}


def test_a_program_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ProgramError, match="cannot be started: no such file"):
        check_golden(few(), program="missing-program --fast")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"program": " "}, "program: is empty"),
        ({"program": "a", "library": "tokenizers"}, "program, library: cannot be combined"),
        ({"program": "true", "timeout": 0}, "timeout: must be"),
        ({}, "tokenizer: is missing"),
    ],
)
def test_wrong_arguments_are_errors(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        check_golden(few(), **settings)  # type: ignore[arg-type]


def test_a_library_needs_the_file_of_the_tokenizer() -> None:
    with pytest.raises(ArgumentError, match="path: is missing"):
        check_golden(few_pins("char"), small("char"), library="tokenizers")
