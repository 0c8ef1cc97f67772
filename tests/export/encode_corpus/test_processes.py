"""Stop, kill and bound the process that encodes a corpus."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import piecework as pw
from tests.export.encode_corpus.shards import FORMATS, content, sentences
from tests.processes import LINUX, PEAK_MEMORY, POSIX


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A tokenizer file and a corpus that takes about a second."""
    folder = tmp_path_factory.mktemp("large")
    lines = sentences(20_000, 9)
    pw.Tokenizer.train_from_iterator(lines[:300], vocab_size=120).save(folder / "tok.json")
    for name in "ab":
        (folder / f"{name}.txt").write_text("\n".join(lines * 4))
    objects = "".join(json.dumps({"text": text}) + "\n" for text in lines)
    (folder / "c.jsonl").write_text(objects * 3)
    return folder / "tok.json", [str(folder / name) for name in ("a.txt", "b.txt", "c.jsonl")]


def command(large: tuple[Path, list[str]], out: Path, *more: str) -> list[str]:
    tokenizer, sources = large
    start = [sys.executable, "-m", "piecework", "encode", str(tokenizer), *sources]
    return [*start, "--out-dir", str(out), "--shards", "24", "--resume", "--quiet", *more]


@POSIX
@pytest.mark.slow
def test_sigterm_keeps_finished_shards(large: tuple[Path, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(command(large, out))
    while len(list(out.glob("shard-*"))) < 8 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) in (0, 128 + signal.SIGTERM)
    names = {path.name for path in out.iterdir()}
    assert "manifest.json" in names
    assert not any(name.startswith(".") or name == "lock" for name in names)
    if process.returncode:
        assert len(json.loads((out / "manifest.json").read_text())["shards"]) >= 3
    subprocess.run(command(large, out), check=True)
    subprocess.run(command(large, tmp_path / "plain"), check=True)
    assert content(out) == content(tmp_path / "plain")


@POSIX
@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bytes(
    large: tuple[Path, list[str]], tmp_path: Path
) -> None:
    rounds = int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "2"))
    draw = random.Random(rounds)
    for number in range(rounds):
        form = FORMATS[number % len(FORMATS)]
        arguments = ("--format", form, *(("--shuffle-seed", "1") if number % 2 else ()))
        plain, out = tmp_path / f"plain-{form}", tmp_path / f"{number}"
        if not plain.exists():
            begun = time.monotonic()
            subprocess.run(command(large, plain, *arguments), check=True)
            seconds = time.monotonic() - begun
        kills = 0
        while True:
            process = subprocess.Popen(command(large, out, *arguments))
            try:
                assert process.wait(timeout=seconds * (0.3 + 0.5 * draw.random() + kills / 5)) == 0
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert content(out) == content(plain), (form, kills)
        shutil.rmtree(out)


@POSIX
@pytest.mark.slow
def test_a_full_disk_is_an_error_and_the_run_continues(
    large: tuple[Path, list[str]], tmp_path: Path
) -> None:
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "from piecework.cli import main\n"
        "sys.argv[0] = 'piecework'\n"
        "main()\n"
    )
    out = tmp_path / "out"
    arguments = command(large, out)[3:]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert f"piecework: error: {out}/" in done.stderr
    assert ": cannot be written: file too large" in done.stderr
    assert {path.name for path in out.iterdir()} == {"manifest.json"}
    subprocess.run(command(large, out), check=True)
    subprocess.run(command(large, tmp_path / "plain"), check=True)
    assert content(out) == content(tmp_path / "plain")


ENCODE = """
import sys
import piecework as pw
from piecework.export import arranging
arranging.SHUFFLED_TOKENS = arranging.PACKED_TOKENS = 1 << 20
tok = pw.Tokenizer.load(sys.argv[1])
settings = dict(pack=512, strategy="best-fit", shuffle_seed=1) if sys.argv[4] == "packed" else {}
pw.export.encode_corpus(tok, sys.argv[2], sys.argv[3], shards=2, num_threads=2, **settings)
print(peak_memory())
"""


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_memory_does_not_grow_with_the_corpus(
    large: tuple[Path, list[str]], tmp_path: Path, kind: str
) -> None:
    text = Path(large[1][0]).read_text() + "\n"
    peaks = []
    for times in (3, 9):
        source = tmp_path / f"{times}.txt"
        with source.open("w") as stream:
            for _ in range(times):
                stream.write(text)
        arguments = [str(large[0]), str(source), str(tmp_path / f"o{times}"), kind]
        run = [sys.executable, "-c", PEAK_MEMORY + ENCODE, *arguments]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 40 << 20
