"""Counting within a memory budget, with checkpoints, samples and weights.

The result never depends on the budget, on interruptions or on threads.
"""

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
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
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
    TrainingWarning,
)
from piecework.spec import CustomNormalizer, WhitespaceSplit
from piecework.train import Counts, Pipeline, count_files, count_files_to, count_texts
from piecework.train.corpus_count import CorpusCount
from piecework.train.source_weights import weights_of_temperature

SMALLEST = "128MB"
DIRECTORY = Path(__file__).parents[1]


def numbered_words(count: int, seed: int) -> str:
    """Return lines with many distinct words, short and long."""
    draw = random.Random(seed)
    line = lambda: " ".join(f"w{draw.randrange(count):x}" for _ in range(12))  # noqa: E731
    lines = (f"{line()} internationalization{draw.randrange(count)}" for _ in range(count // 6))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files of plain text and one of JSON lines, 12 MB in all."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / f"{name}.txt" for name in "abc"]
    for seed, path in enumerate(paths):
        path.write_text(numbered_words(120_000, seed))
    texts = numbered_words(60_000, 7).splitlines()
    lines = folder / "d.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return [*paths, lines]


@pytest.fixture(scope="module")
def plain(corpus: list[Path]) -> Counts:
    """The counts without a limit that matters."""
    return count_files(corpus, preset="whitespace", memory="4GB", num_threads=1)


def rows(counts: Counts) -> list[tuple[str, int, int]]:
    assert counts.first is not None
    return list(zip(counts.words, counts.counts.tolist(), counts.first.tolist(), strict=True))


# ---- memory


@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_budget_does_not_change_the_counts(
    corpus: list[Path], plain: Counts, num_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.train.corpus_count._SHARE_OF_MAPS", 0.02)
    found = count_files(corpus, preset="whitespace", memory=SMALLEST, num_threads=num_threads)
    assert rows(found) == rows(plain)


def test_counts_are_written_as_they_would_be_saved(
    corpus: list[Path], plain: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.train.corpus_count._SHARE_OF_MAPS", 0.02)
    for name in ("counts.parquet", "counts.tsv"):
        summary = count_files_to(tmp_path / name, corpus, preset="whitespace", memory=SMALLEST)
        assert summary == (plain.total, len(plain))
        loaded = Counts.load(tmp_path / name)
        assert rows(loaded) == rows(plain)
        assert loaded.pipeline == plain.pipeline
    plain.save(tmp_path / "saved.tsv")
    assert (tmp_path / "saved.tsv").read_bytes() == (tmp_path / "counts.tsv").read_bytes()


def test_parquet_names_the_pipeline_and_the_version(corpus: list[Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    count_files_to(tmp_path / "counts.parquet", corpus[0], preset="whitespace")
    metadata = parquet.read_schema(tmp_path / "counts.parquet").metadata
    assert metadata[b"piecework.version"].decode() == pw.__version__
    assert "Whitespace" in metadata[b"piecework"].decode()


def test_scratch_files_are_deleted(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("piecework.train.corpus_count._SHARE_OF_MAPS", 0.02)
    seen: list[str] = []
    count_files(
        corpus,
        preset="whitespace",
        memory=SMALLEST,
        progress=lambda done, total: seen.extend(os.listdir(tmp_path)),
    )
    assert seen
    assert not list(tmp_path.iterdir())


PEAK = """
import resource, sys
from piecework.train import count_files_to
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
summary = count_files_to(sys.argv[1], sys.argv[2:], preset="whitespace", memory=sys.argv[1:] and "128MB")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, summary.distinct)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KB on Linux")
def test_the_peak_stays_within_the_budget(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    paths = []
    for seed in range(4):
        path = tmp_path / f"{seed}.txt"
        draw = random.Random(seed)
        path.write_text(
            "".join(f"a{draw.randrange(1 << 40):x} {draw.random()}\n" for _ in range(600_000))
        )
        paths.append(str(path))
    command = [sys.executable, "-c", PEAK, str(tmp_path / "counts.parquet"), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, distinct = map(int, done.stdout.split())
    assert distinct > 4_700_000
    assert peak < 128_000_000


@pytest.mark.parametrize("memory", ["1MB", "much", -1, 0, 1.5, "128 apples", True])
def test_an_invalid_budget_is_rejected(memory: object) -> None:
    with pytest.raises(ArgumentError, match="memory"):
        count_texts(["a"], memory=memory)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_a_disk_that_is_full_when_counts_are_saved_is_an_error_that_names_them(
    tmp_path: Path, suffix: str
) -> None:
    program = (
        "import resource, signal, sys\n"
        "from piecework.errors import FileError\n"
        "from piecework.train import count_texts\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "counts = count_texts([f'w{n}' for n in range(90_000)], preset='whitespace')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    counts.save(sys.argv[1])\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    path = tmp_path / f"counts.{suffix}"
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"cannot write {path}: file too large\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_that_names_the_file(corpus: list[Path], tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys\n"
        "import piecework.train.corpus_count as counting\n"
        "counting._SHARE_OF_MAPS = 0.02\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from piecework.errors import FileError\n"
        "from piecework.train import count_files\n"
        "try:\n"
        "    count_files(sys.argv[1:], preset='whitespace', memory='128MB')\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", program, *map(str, corpus)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "words" in done.stdout
    assert done.stdout.endswith(": file too large\n")
    assert not list(tmp_path.iterdir())


# ---- checkpoints


class StoppedError(Exception):
    """Raised by a test in place of a crash."""


def stop_after(blocks: int, error: type[BaseException]) -> object:
    """Return a progress function that raises after some blocks."""
    seen = 0

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == blocks:
            raise error

    return progress


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


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
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


def test_a_state_without_a_position_in_the_text_continues(
    corpus: list[Path], plain: Counts, tmp_path: Path
) -> None:
    path = interrupted(corpus, tmp_path)
    state = json.loads(path.read_text())
    assert len(state["text"]) == 2
    del state["text"]
    state["version"] = 1
    path.write_text(json.dumps(state))
    resumed = count_files(corpus, preset="whitespace", checkpoint=tmp_path)
    assert rows(resumed) == rows(plain)


def interrupted(corpus: list[Path], state: Path, **arguments: object) -> Path:
    """Leave a checkpoint after four blocks, and return its file."""
    with pytest.raises(StoppedError):
        count_files(
            corpus,
            preset="whitespace",
            checkpoint=state,
            checkpoint_seconds=0,
            progress=stop_after(4, StoppedError),  # type: ignore[arg-type]
            **arguments,  # type: ignore[arg-type]
        )
    return state / "counting.json"


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
    with pytest.raises(ArgumentError, match=f"a count with {named}="):
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


COUNT = [sys.executable, "-m", "piecework", "count", "--preset", "whitespace", "--quiet"]


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
    kill_at_random_times(corpus, tmp_path, int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "5")))


# ---- samples and long words


def test_a_sample_does_not_depend_on_threads_shards_or_budgets(
    corpus: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled = count_files(corpus, preset="whitespace", sample=0.1, seed=3)
    again = count_files(corpus, preset="whitespace", sample=0.1, seed=3, num_threads=1)
    assert rows(sampled) == rows(again)
    shards = [
        count_files(path, preset="whitespace", sample=0.1, seed=3, first_source=source)
        for source, path in enumerate(corpus)
    ]
    assert rows(shards[0] + shards[1] + shards[2] + shards[3]) == rows(sampled)
    other = count_files(corpus, preset="whitespace", sample=0.1, seed=4)
    assert rows(other) != rows(sampled)


def test_a_sample_has_its_share(corpus: list[Path], plain: Counts) -> None:
    sampled = count_files(corpus, preset="whitespace", sample=0.1)
    assert 0.09 < sampled.total / plain.total < 0.11


@pytest.mark.parametrize("sample", [0, -0.1, 1.5, "half", True])
def test_an_invalid_sample_is_rejected(sample: object) -> None:
    with pytest.raises(ArgumentError, match="sample"):
        count_texts(["a"], sample=sample)  # type: ignore[arg-type]


def test_long_words_are_skipped_and_counted() -> None:
    with pytest.warns(TrainingWarning, match="2 words were skipped: longer than 4 characters"):
        counts = count_texts(
            ["ééééé hugs abcdefghijklmnopqrst"], preset="whitespace", max_word_length=4
        )
    assert counts.most_common() == [("hugs", 1)]


# ---- weights


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(st.text("ab ", min_size=1, max_size=30), min_size=1, max_size=4),
    data=st.data(),
)
def test_weighted_counts_are_rounded_exact_sums(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    weight = st.one_of(st.integers(1, 9), st.sampled_from([0.5, 2.5, "1/3", "0.07"]))
    weights = data.draw(st.lists(weight, min_size=len(texts), max_size=len(texts)))
    folder = tmp_path_factory.mktemp("weights")
    paths = [folder / f"{number}.txt" for number in range(len(texts))]
    sums: Counter[str] = Counter()
    for path, text, factor in zip(paths, texts, weights, strict=True):
        path.write_text(text)
        for word in text.split():
            sums[word] += Fraction(str(factor))  # type: ignore[assignment]
    counts = count_files(paths, preset="whitespace", source_weights=weights)
    rounded = {word: int(total + Fraction(1, 2)) for word, total in sums.items()}
    assert dict(counts) == {word: count for word, count in rounded.items() if count}


def test_a_directory_has_one_weight(tmp_path: Path) -> None:
    for name in ("en/a.txt", "en/b.txt", "cs/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("hug\n")
    paths = [tmp_path / "en", tmp_path / "cs"]
    counts = count_files(paths, preset="whitespace", source_weights=[10, 1])
    assert dict(counts) == {"hug": 21}


def test_a_temperature_flattens_the_shares(tmp_path: Path) -> None:
    for name, words in (("en", 9000), ("cs", 1000)):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n" * words)
    paths = [tmp_path / "en.txt", tmp_path / "cs.txt"]
    flattened = count_files(paths, preset="whitespace", temperature=2.0)
    assert dict(flattened) == {"en": 7500, "cs": 2500}
    assert dict(count_files(paths, preset="whitespace", temperature=1)) == {
        "en": 9000,
        "cs": 1000,
    }


def test_weights_survive_an_interruption(corpus: list[Path], tmp_path: Path) -> None:
    weights = [1, 2, "1/2", 3]
    whole = count_files(corpus, preset="whitespace", source_weights=weights)
    interrupted(corpus, tmp_path, source_weights=weights)
    resumed = count_files(corpus, preset="whitespace", source_weights=weights, checkpoint=tmp_path)
    assert rows(resumed) == rows(whole)


@pytest.mark.parametrize(
    "arguments",
    [
        {"source_weights": [1]},
        {"source_weights": [1, 0]},
        {"source_weights": [1, "x"]},
        {"source_weights": [1, 1e-30]},
        {"source_weights": [1, 2], "temperature": 2},
        {"temperature": 0},
        {"temperature": -1.0},
    ],
)
def test_invalid_weights_are_rejected(tmp_path: Path, arguments: dict[str, object]) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("hug\n")
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        count_files(paths, **arguments)  # type: ignore[arg-type]


# ---- the command


def test_the_command_has_the_options(corpus: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "counts.tsv"
    options = ["--sample", "0.5", "--seed", "2", "--max-word-length", "9"]
    options += ["--memory", "200MB", "--source-weights", "1,2,1,1/2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subprocess.run([*COUNT, *map(str, corpus), *options, "-o", str(output)], check=True)
        expected = count_files(
            corpus,
            preset="whitespace",
            sample=0.5,
            seed=2,
            max_word_length=9,
            source_weights=[1, 2, 1, "1/2"],
        )
    assert rows(Counts.load(output)) == rows(expected)


def test_counts_files_take_no_counting_options(corpus: list[Path], tmp_path: Path) -> None:
    Counts(["hug"], [1]).save(tmp_path / "counts.tsv")
    command = [
        *COUNT,
        str(tmp_path / "counts.tsv"),
        "--sample",
        "0.5",
        "-o",
        str(tmp_path / "o.tsv"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--sample does not apply to counts files, only to text files" in done.stderr


@pytest.mark.parametrize("temperature", [1e-320, 1e-300, 1e-4, 0.5, 1.0, 5.0, 1e300])
@pytest.mark.parametrize("totals", [[900, 100], [500, 500], [1, 0, 2**70], [7]])
def test_every_temperature_keeps_the_sum_of_the_counts(
    totals: list[int], temperature: float
) -> None:
    numerators, denominator = weights_of_temperature(totals, temperature)
    assert min(numerators) >= 1
    sums = sum(n * total / denominator for n, total in zip(numerators, totals, strict=True))
    assert sums == pytest.approx(sum(totals), rel=1e-3)


def test_a_low_temperature_takes_the_largest_source() -> None:
    numerators, denominator = weights_of_temperature([900, 100], 1e-4)
    assert numerators == [round(denominator * 1000 / 900), 1]
