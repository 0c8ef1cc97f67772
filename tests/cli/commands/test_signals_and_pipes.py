"""Ctrl-C, closed pipes, and answers line by line."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.commands.streams import Run, start
from tests.processes import POSIX


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Send Ctrl-C: exit code and stderr. A process that does not stop is killed after a while."""
    process.send_signal(signal.SIGINT)
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    code = process.wait(timeout=300)
    watchdog.cancel()
    return code, err


@POSIX
def test_ctrl_c_while_reading_stdin_gives_130_and_no_file(tmp_path: Path) -> None:
    process = start("train", "-", "-o", str(tmp_path / "t.json"))
    assert process.stdin is not None
    begun, stop = threading.Event(), threading.Event()

    def feed(stream: object = process.stdin) -> None:
        with suppress(OSError, ValueError):
            while not stop.is_set():
                # More than a pipe holds: when it is written, some of it is read.
                stream.write(b"hug pug\n" * 100_000)
                begun.set()

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert begun.wait(timeout=300)
    code, err = interrupted(process)
    stop.set()
    feeder.join()
    assert (code, err) == (130, "piecework: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize(
    ("option", "value", "vocab_size"),
    [
        ("--score", "frequency", 4_000_000),
        ("--learner", "top-down", 4_000_000),
        ("--learner", "pruning", 50_000),
    ],
)
def test_ctrl_c_while_learning_gives_130_and_no_file(
    tmp_path: Path, option: str, value: str, vocab_size: int
) -> None:
    letters, rng = "abcdefghijklmnopqrstuvwxyz", random.Random(1)
    words = ["".join(rng.choices(letters, k=14)) for _ in range(300_000)]
    counts, out = tmp_path / "counts.tsv", tmp_path / "t.json"
    counts.write_text("word\tcount\n" + "".join(f"{word}\t2\n" for word in set(words)))
    options = [option, value, "--min-frequency", "1", "--vocab-size", str(vocab_size)]
    process = start("train", str(counts), *options, "-o", str(out))
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"learning: about")
    time.sleep(0.5)
    assert interrupted(process) == (130, "piecework: interrupted\n")
    assert list(tmp_path.iterdir()) == [counts]


@POSIX
def test_a_broken_pipe_ends_quietly(tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("This is the Hugging Face Course.\n" * 50_000)
    process = start("encode", tokenizer, str(tmp_path / "big.txt"))
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=300) == 141


@POSIX
@pytest.mark.parametrize(
    ("verb", "line", "answer"),
    [
        (["normalize", "--rules", "nfkc"], "ｈｕｇ\n", "hug\n"),
        (["decode", "TOKENIZER", "--keep-special-tokens"], "0 1\n", "[PAD] [UNK]\n"),
    ],
)
def test_a_line_from_a_pipe_is_answered_at_once(
    tokenizer: str, verb: list[str], line: str, answer: str
) -> None:
    process = start(*[tokenizer if word == "TOKENIZER" else word for word in verb])
    assert process.stdin is not None
    assert process.stdout is not None
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    for _ in range(2):
        process.stdin.write(line.encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == answer
    process.stdin.close()
    assert process.wait(timeout=300) == 0
    watchdog.cancel()


def test_binary_input_is_refused_by_every_command_that_reads_lines(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    archive = str(tmp_path / "a.txt")
    Path(archive).write_bytes(b"PK\x03\x04" + bytes(100))
    for arguments in (
        ["normalize", "--rules", "nfkc", archive],
        ["encode", tokenizer, archive],
        ["count", archive, "-o", str(tmp_path / "c.tsv")],
        ["train", archive, "-o", str(tmp_path / "t.json")],
        ["compare", tokenizer, "--corpus", archive],
        ["prune", tokenizer, "--keep", archive, "-o", str(tmp_path / "t.json")],
        ["convert", tokenizer, str(tmp_path / "c.json"), "--verify", archive],
        ["decode", tokenizer, archive],
    ):
        code, _, err = cli(*arguments)
        assert (code, "found a zip archive" in err) == (2, True), (arguments, err)
