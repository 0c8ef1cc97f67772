"""How tests run commands with pipes, and check messages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from tests.processes import heed_signals

SENTENCES = """\
This is the Hugging Face Course.
This chapter is about tokenization.
This section shows several tokenizer algorithms.
Hopefully, you will be able to understand how they are trained and generate tokens.
"""


PMI = (
    *("--preset", "bert-cased", "--score", "pmi", "--min-frequency", "1", "--vocab-size", "70"),
    *("--alphabet-forms", "seen"),
)


Run = Callable[..., tuple[int, str, str]]


def start(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own, with pipes."""
    command: Sequence[str] = [sys.executable, "-m", "piecework", *arguments]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    return subprocess.Popen(
        command, preexec_fn=heed_signals if os.name == "posix" else None, **pipes
    )


def piped(text: str | bytes, *arguments: str) -> tuple[int, str, str]:
    """Run a command as a process of its own with the text on stdin."""
    process = start(*arguments)
    out, err = process.communicate(text.encode() if isinstance(text, str) else text, timeout=300)
    return process.returncode, out.decode(), err.decode()


def assert_one_line(stderr: str, *parts: str) -> None:
    assert stderr.startswith("piecework: ")
    assert stderr.count("\n") == 1
    assert stderr.endswith("\n")
    for part in parts:
        assert part in stderr
