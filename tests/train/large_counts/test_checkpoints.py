"""Continue an interrupted count to the same counts."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piecework.corpus import plain_text
from piecework.corpus import rows as corpus_rows
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions, TextBlock, TextPosition
from piecework.corpus.text_stream import StoredBytes
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
    FormatError,
)
from piecework.spec import CustomNormalizer, WhitespaceSplit
from piecework.train import Counts, Pipeline, count_files
from piecework.train.counting import CorpusCount
from tests.processes import POSIX
from tests.train.large_counts.counted import COUNT, StoppedError, interrupted, rows, stop_after


@pytest.mark.parametrize("error", [StoppedError, KeyboardInterrupt])
@pytest.mark.parametrize("blocks", [1, 3, 5])
def test_an_interrupted_count_continues(
    corpus: list[Path], plain: Counts, tmp_path: Path, blocks: int, error: type[BaseException]
) -> None:
    state = tmp_path / "state"
    arguments = {"preset": "whitespace", "checkpoint": state, "checkpoint_seconds": 0}
    for stop in (blocks, 2):
        with pytest.raises(error):
            count_files(corpus, progress=stop_after(stop, error), **arguments)  # type: ignore[arg-type]
        assert (state / "counting.json").exists()
    blocks_read: list[int] = []
    resumed = count_files(
        corpus,
        progress=lambda done, total: blocks_read.append(done),
        **arguments,  # type: ignore[arg-type]
    )
    assert rows(resumed) == rows(plain)
    assert len(blocks_read) < 8
    assert not state.exists()


def test_ctrl_c_saves_the_state_between_two_saves(
    corpus: list[Path], plain: Counts, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        count_files(
            corpus,
            preset="whitespace",
            checkpoint=state,
            progress=stop_after(5, KeyboardInterrupt),  # type: ignore[arg-type]
        )
    saved = json.loads((state / "counting.json").read_text())
    assert sum(run[3] for run in saved["counter"]["runs"]) > 0
    assert rows(count_files(corpus, preset="whitespace", checkpoint=state)) == rows(plain)


def test_a_stage_that_is_interrupted_within_a_block_counts_nothing_twice(
    corpus: list[Path], tmp_path: Path
) -> None:
    calls = 0

    def stops(text: str) -> str:
        nonlocal calls
        calls += 1
        if calls == 12_000:
            raise KeyboardInterrupt
        return text.lower()

    pipeline = Pipeline(CustomNormalizer(stops, "lower"), WhitespaceSplit())
    paths, state = corpus[:1], tmp_path / "state"
    arguments = {"preset": pipeline, "num_threads": 1, "checkpoint": state}
    with pytest.raises(KeyboardInterrupt):
        count_files(paths, checkpoint_seconds=0, **arguments)  # type: ignore[arg-type]
    assert (state / "counting.json").exists()
    resumed = count_files(paths, **arguments)  # type: ignore[arg-type]
    assert rows(resumed) == rows(count_files(paths, preset=pipeline))


LINES = st.lists(
    st.binary(max_size=12) | st.text("ab \té\r", max_size=90).map(str.encode) | st.just(b"a" * 200),
    max_size=30,
)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data(), files=st.lists(LINES.map(b"\n".join), min_size=1, max_size=3))
def test_a_count_interrupted_at_any_block_continues_to_the_same_counts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, files: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, content in enumerate(files):
        with_mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + content
        suffix = data.draw(st.sampled_from([".txt", ".txt.gz"]))
        paths.append(folder / f"{number}{suffix}")
        stored = gzip.compress(with_mark) if suffix == ".txt.gz" else with_mark
        paths[-1].write_bytes(stored)
    options: dict[str, Any] = {
        "preset": data.draw(st.sampled_from(["whitespace", "gpt2"])),
        "num_threads": 1,
        "on_error": "skip",  # lines of control characters are no text
        "sample": data.draw(st.sampled_from([None, 0.5])),
        "first_source": data.draw(st.sampled_from([0, 3])),
    }
    state = folder / "state"
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(corpus_rows, "READ_BYTES", data.draw(st.sampled_from([7, 64])))
        patch.setattr(plain_text, "_MAX_LINE_BYTES", 150)
        expected = count_files(paths, **options)
        add = CorpusCount._add
        for _ in range(data.draw(st.integers(1, 3))):
            patch.setattr(CorpusCount, "_add", stopping_add(add, data))
            with suppress(StoppedError, KeyboardInterrupt):
                count_files(
                    paths, checkpoint=state, checkpoint_seconds=0, keep_checkpoint=True, **options
                )
        patch.setattr(CorpusCount, "_add", add)
        resumed = count_files(paths, checkpoint=state, **options)
    assert rows(resumed) == rows(expected)
    assert resumed.replacements == expected.replacements


def stopping_add(add: Any, data: st.DataObject) -> Any:
    """Return `CorpusCount._add` with an interrupt before or after some call."""
    left = data.draw(st.integers(0, 12))
    before = data.draw(st.booleans())
    # Only an interrupt saves the state once more.
    stop = data.draw(st.sampled_from([StoppedError, KeyboardInterrupt]))

    def stopping(*arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 and before:
            raise stop
        add(*arguments)
        if left < 0:
            raise stop

    return stopping


def blocks_of(path: Path, start: TextPosition | None = None) -> list[TextBlock]:
    blocks = list(CorpusReader([str(path)], ReadOptions.of()).blocks(start))
    assert all(isinstance(block, TextBlock) for block in blocks)
    return blocks  # type: ignore[return-value]


def test_a_resumed_count_enters_plain_text_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug pug bun\n" * 1_000_000)
    blocks = blocks_of(path)
    # One block of the start is read first, because it tells whether the text is compressed or binary.
    assert blocks_of(path, blocks[4].end) == blocks[5:]
    reads: list[int] = []
    read = StoredBytes.read

    def recording(self: StoredBytes, size: int = -1) -> bytes:
        data = read(self, size)
        reads.append(len(data))
        return data

    monkeypatch.setattr(StoredBytes, "read", recording)
    assert blocks_of(path, blocks[8].end) == blocks[9:]
    assert sum(reads) < len(blocks[0].data) + sum(len(b.data) for b in blocks[9:]) + (1 << 20)  # type: ignore[union-attr]
    with gzip.open(tmp_path / "a.txt.gz", "wb", 1) as stream:
        stream.write(path.read_bytes())
    packed = blocks_of(tmp_path / "a.txt.gz", blocks[4].end)
    assert [block.data for block in packed] == [block.data for block in blocks[5:]]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"preset": "bert-uncased"}, "pipeline"),
        ({"preset": "whitespace", "sample": 0.5}, "sample"),
        ({"preset": "whitespace", "max_word_length": 9}, "max_word_length"),
        ({"preset": "whitespace", "first_source": 2}, "first_source"),
        ({"preset": "whitespace", "field": "body"}, "field"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(
    corpus: list[Path], tmp_path: Path, arguments: dict[str, object], named: str
) -> None:
    interrupted(corpus, tmp_path)
    with pytest.raises(ArgumentError, match=f"a count with {named} "):
        count_files(corpus, checkpoint=tmp_path, **arguments)  # type: ignore[arg-type]


def test_a_file_that_changed_is_refused(corpus: list[Path], tmp_path: Path) -> None:
    copies = [tmp_path / path.name for path in corpus]
    for path, copy in zip(corpus, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    interrupted(copies, tmp_path / "state")
    with copies[1].open("a") as stream:
        stream.write("more\n")
    with pytest.raises(CorpusError, match=r"b\.txt was added, moved or changed"):
        count_files(copies, preset="whitespace", checkpoint=tmp_path / "state")
    with pytest.raises(CorpusError, match="4 files"):
        count_files(copies[:1], preset="whitespace", checkpoint=tmp_path / "state")


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"version": 1}', "state", "position", "progress", "run", "no run"]
)
def test_a_damaged_checkpoint_is_an_error(corpus: list[Path], tmp_path: Path, damage: str) -> None:
    path = interrupted(corpus, tmp_path)
    runs = sorted(tmp_path.glob("run-*.words"))
    if damage == "run":
        runs[0].write_bytes(runs[0].read_bytes()[:-9])
    elif damage == "no run":
        runs[0].unlink()
    elif damage == "position":
        path.write_text(json.dumps({**json.loads(path.read_text()), "text": [9, 8]}))
    elif damage == "progress":
        state = json.loads(path.read_text())
        state["counter"]["progress"][1] -= 1  # the last block would count twice
        path.write_text(json.dumps(state))
    elif damage == "state":
        path.write_text(path.read_text().replace('"progress": [', '"progress": [-1, '))
    else:
        path.write_text(damage)
    with pytest.raises((FormatError, FileError), match=str(tmp_path)):
        count_files(corpus, preset="whitespace", checkpoint=tmp_path)


def test_a_missing_run_raises_file_not_found(corpus: list[Path], tmp_path: Path) -> None:
    interrupted(corpus, tmp_path)
    missing = min(tmp_path.glob("run-*.words"))
    missing.unlink()
    with pytest.raises(FileNotFoundError, match="no such file or directory") as caught:
        count_files(corpus, preset="whitespace", checkpoint=tmp_path)
    assert isinstance(caught.value, FileError)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(missing))


def test_a_finished_count_deletes_only_its_own_files(corpus: list[Path], tmp_path: Path) -> None:
    state = tmp_path / "ck"
    state.mkdir()
    own = ["my.words", "run-a.words", "run-7.words", "sorted-000001.words.txt"]
    for name in own:
        (state / name).write_text("mine")
    for name in ("run-000000.words", "merged-000070.words", "sorted-1000000.words"):
        (state / name).write_bytes(b"")
    count_files(corpus, preset="whitespace", checkpoint=state, checkpoint_seconds=0)
    assert sorted(path.name for path in state.iterdir()) == sorted(own)
    assert {(state / name).read_text() for name in own} == {"mine"}
    for name in own:
        (state / name).unlink()
    count_files(corpus, preset="whitespace", checkpoint=state, checkpoint_seconds=0)
    assert not state.exists()


def test_stdin_has_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="stdin"):
        count_files("-", checkpoint=tmp_path)


def test_two_processes_cannot_use_one_checkpoint(corpus: list[Path], tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs file locks")
    with (tmp_path / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(FileError, match="another process"):
            count_files(corpus, preset="whitespace", checkpoint=tmp_path)


# The command line, which receives SIGTERM after its third block.
TERMINATED_COUNT = """
import os, signal, sys
from piecework.cli import main
from piecework.train.count_checkpoint import CountCheckpoint

saves = 0
save_if_due = CountCheckpoint.save_if_due

def terminate(self, counter):
    global saves
    saves += 1
    if saves == 3:
        os.kill(os.getpid(), signal.SIGTERM)
    save_if_due(self, counter)

CountCheckpoint.save_if_due = terminate
main()
"""


@POSIX
def test_sigterm_saves_the_state(corpus: list[Path], plain: Counts, tmp_path: Path) -> None:
    state, output = tmp_path / "state", tmp_path / "c.tsv"
    arguments = [*map(str, corpus), "--checkpoint", str(state), "-o", str(output)]
    terminated = [sys.executable, "-c", TERMINATED_COUNT, *COUNT[3:], *arguments]
    assert subprocess.run(terminated).returncode == 128 + signal.SIGTERM
    assert (state / "counting.json").exists()
    assert not output.exists()
    subprocess.run([*COUNT, *arguments], check=True)
    assert rows(Counts.load(output)) == rows(plain)


def kill_at_random_times(corpus: list[Path], folder: Path, rounds: int) -> None:
    """Kill a count again and again until it ends; compare its file with an undisturbed one."""
    many = [str(path) for path in corpus] * 4
    expected = folder / "expected.tsv"
    subprocess.run([*COUNT, *many, "-o", str(expected)], check=True)
    draw = random.Random(rounds)
    for number in range(rounds):
        output = folder / f"{number}.tsv"
        saving = ["--checkpoint", str(folder / "state"), "--checkpoint-seconds", "0.05"]
        kills = 0
        while not output.exists():
            process = subprocess.Popen([*COUNT, *many, *saving, "-o", str(output)])
            try:
                process.wait(timeout=0.4 + draw.random() * (1 + kills))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert output.read_bytes() == expected.read_bytes()
        output.unlink()


def test_a_killed_count_ends_with_the_same_bytes(corpus: list[Path], tmp_path: Path) -> None:
    kill_at_random_times(corpus, tmp_path, int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "2")))
