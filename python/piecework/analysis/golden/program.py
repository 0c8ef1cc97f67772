"""Run a program that answers the rows of a golden file, bounded in time and memory."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import IO, Any, NoReturn

from piecework.analysis.golden.file import GoldenRow, json_line
from piecework.errors import ArgumentError, ProgramError

MAX_OUTPUT = 32 << 20
"""The most bytes that a program may write."""
_KEPT_LINES = 5
_LINE_BYTES = 400
_SECONDS_TO_END = 5.0


def program_answers(
    program: str | Sequence[str], rows: Sequence[GoldenRow], timeout: float
) -> tuple[str, Mapping[int, Mapping[str, Any]]]:
    """Return the command and its answers by row.

    Raises `ProgramError` if it cannot be started, exits with another code than 0, takes more than `timeout`
    seconds, writes too much or anything but one answer for each row.
    """
    command = shlex.split(program) if isinstance(program, str) else list(program)
    if not command:
        raise ArgumentError("program", "is empty; pass a command")
    name = shlex.join(command)
    with tempfile.TemporaryFile() as requests:
        for row in rows:
            requests.write(json_line(row.request()).encode() + b"\n")
        requests.seek(0)
        return name, _Run(name, command, requests).answers(rows, timeout)


class _Run:
    """One run of a program: threads read its two pipes, so that neither fills up."""

    def __init__(self, name: str, command: Sequence[str], requests: IO[bytes]) -> None:
        self._name = name
        self._output = b""
        self._errors: deque[bytes] = deque(maxlen=_KEPT_LINES)
        try:
            # In a session of its own, so that the children of the program end with it.
            self._process = subprocess.Popen(
                command,
                stdin=requests,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            problem = f"cannot be started: {(error.strerror or str(error)).lower()}"
            raise ProgramError(name, problem, kind="start") from error
        reads = (self._read_output, self._read_errors)
        self._threads = [Thread(target=read, daemon=True) for read in reads]

    def answers(self, rows: Sequence[GoldenRow], timeout: float) -> dict[int, Mapping[str, Any]]:
        """Wait for the program, and read what it wrote."""
        for thread in self._threads:
            thread.start()
        try:
            code = self._process.wait(timeout)
            for thread in self._threads:
                thread.join(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._fail(f"has not ended after {timeout:g} seconds", kind="timeout")
        finally:
            self._kill()
        if len(self._output) > MAX_OUTPUT:
            self._fail(f"wrote more than {MAX_OUTPUT >> 20} MiB", kind="output")
        if code:
            self._fail(f"ended with {_code(code)}", kind="exit")
        return self._parsed(rows)

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        read: list[bytes] = []
        size = 0
        while size <= MAX_OUTPUT and (data := os.read(self._process.stdout.fileno(), 1 << 16)):
            read.append(data)
            size += len(data)
        self._output = b"".join(read)
        if size > MAX_OUTPUT:
            self._kill()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while line := self._process.stderr.readline(_LINE_BYTES):
            if line.strip():
                self._errors.append(line)

    def _kill(self) -> None:
        """End the program and its children."""
        try:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            pass  # all of them have ended
        self._process.wait(_SECONDS_TO_END)

    def _parsed(self, rows: Sequence[GoldenRow]) -> dict[int, Mapping[str, Any]]:
        known = {row.row for row in rows}
        answers: dict[int, Mapping[str, Any]] = {}
        for number, line in enumerate(filter(bytes.strip, self._output.split(b"\n")), 1):
            answer = self._answer(line, number)
            row = answer["row"]
            if row not in known or row in answers:
                what = "answers a row twice" if row in answers else "answers an unknown row"
                self._fail(f"{what}, {row!r}, in line {number}", kind="row")
            answers[row] = answer
        if missing := sorted(known - answers.keys()):
            answered = f"answered {len(answers)} of {len(known)} rows"
            self._fail(f"{answered}; row {missing[0]} has no answer", kind="row")
        return answers

    def _answer(self, line: bytes, number: int) -> Mapping[str, Any]:
        shown = line[:80].decode(errors="replace")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(f"wrote {shown!r} in line {number}, which is not JSON", kind="output")
        if not isinstance(answer, dict) or type(answer.get("row")) is not int:
            self._fail(f"wrote {shown!r} in line {number}, not an object with a row", kind="output")
        ids = answer.get("ids")
        has_ids = isinstance(ids, list) and all(type(id) is int for id in ids)
        if has_ids + ("error" in answer) + ("skip" in answer) != 1:
            expected = "expected one of ids, error and skip"
            self._fail(f"wrote {shown!r} in line {number}, {expected}", kind="output")
        return answer

    def _fail(self, problem: str, *, kind: str) -> NoReturn:
        lines = [line.decode(errors="replace").strip() for line in self._errors]
        hint = f"its last lines: {' | '.join(lines)}" if lines else ""
        raise ProgramError(self._name, problem, hint=hint, kind=kind)


def _code(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
