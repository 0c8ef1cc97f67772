"""A run of learning that is killed again and again ends with the bytes of an undisturbed one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework.train import Merges, Pruning, SentencePieceTrainer
from tests.processes import POSIX

ROUNDS = int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "1"))
# Pieces of SentencePiece are learned from all lines where there are many rounds, else from half of them.
STEP = 1 if ROUNDS > 1 else 2

# Learns from counts. With a DELAY, kills itself that many seconds after it has written a checkpoint.
PROGRAM = """
import json
import os
import signal
import sys
import threading
import piecework as pw
import piecework.train.checkpoints as checkpoints

counts, folder, output, settings, delay = sys.argv[1:]
checkpoints.SECONDS_BETWEEN_WRITES = 0.0 if delay == "0.0" else 0.01
write = checkpoints.LearningCheckpoint.write

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def write_and_be_killed(checkpoint):
    write(checkpoint)
    if checkpoint.file.path.exists():
        threading.Timer(float(delay), kill).start() if float(delay) else kill()

if delay:
    checkpoints.LearningCheckpoint.write = write_and_be_killed
tok = pw.Tokenizer.train_from_counts(
    pw.Counts.load(counts), checkpoint=folder or None, **eval(settings, vars(pw.train))
)
tok.save(output)
"""


@pytest.fixture(scope="module")
def counts_of_pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Counts of 100,000 distinct words, or fewer, for each pipeline, as files."""
    folder = tmp_path_factory.mktemp("counts")
    draw = random.Random(1)
    syllables = ["".join(draw.choices("bcdfghklmnprstvz", k=2)) + vowel for vowel in "aeiou" * 9]
    lines = [
        " ".join("".join(draw.choices(syllables, k=4)) for _ in range(10)) for _ in range(12_000)
    ]
    paths = {}
    for preset, step in (
        ("bert-uncased", 1),
        ("whitespace", 1),
        ("o200k-superwords", 2),
        ("sentencepiece", STEP),
    ):
        paths[preset] = folder / f"{preset}.tsv"
        pw.count_texts(lines[::step], preset=preset).save(paths[preset])
    # Each run sorts all suffixes first, so SentencePiece has a part of the corpus.
    (folder / "part.txt").write_text("\n".join(lines[:: 3 * STEP]))
    trainer = SentencePieceTrainer()
    counts = pw.count_files(
        folder / "part.txt", preset=trainer.pipeline, sentences=trainer.sentences
    )
    paths["spm"] = folder / "spm.tsv"
    counts.save(paths["spm"])
    paths["spm-superwords"] = folder / "spm-superwords.tsv"
    pw.count_texts(lines[::4], preset="llama-superwords").save(paths["spm-superwords"])
    return paths


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("bert-uncased", {"learner": Merges("frequency"), "vocab_size": 20_000}),
        ("bert-uncased", {"learner": Pruning(seed_vocab_size=80_000), "vocab_size": 20_000}),
        # All of these entries are learned, so the last report of progress comes whatever the time since
        # the one before it: on a fast machine, the checkpoint is written there.
        ("whitespace", {"model": "bpe", "preset": "whitespace", "vocab_size": 15_000}),
        ("o200k-superwords", {"model": "byte-bpe", "transition": 5_000, "vocab_size": 7_000}),
        ("sentencepiece", {"model": "unigram", "vocab_size": 6_000, "seed_vocab_size": 1_000_000}),
        ("sentencepiece", {"model": "unigram", "vocab_size": 6_000, "learner": Pruning()}),
        (
            "spm",
            {"model": "sentencepiece", "vocab_size": 2_000, "seed_sentencepiece_size": 50_000},
        ),
        ("spm", {"model": "sentencepiece", "model_type": "bpe", "vocab_size": 4_000}),
        ("spm-superwords", {"preset": "llama-superwords", "vocab_size": 3_000}),
    ],
)
def test_a_killed_run_ends_with_the_same_bytes(
    counts_of_pipelines: dict[str, Path], tmp_path: Path, preset: str, settings: dict[str, object]
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(counts_of_pipelines[preset])]
    suffix = ".model" if preset.startswith("spm") else ".json"
    expected = tmp_path / f"expected{suffix}"
    subprocess.run([*command, "", str(expected), repr(settings), ""], check=True)
    draw = random.Random(2)
    for number in range(ROUNDS):
        folder, output = tmp_path / f"state-{number}", tmp_path / f"{number}{suffix}"
        arguments = [*command, str(folder), str(output), repr(settings)]
        # First as soon as there is a checkpoint, then a random time after one. Fast machines may end before.
        for delay in (0.0, 0.3 * draw.random(), 0.3 * draw.random()):
            process = subprocess.run([*arguments, str(delay)], check=False)
            assert process.returncode == -signal.SIGKILL or (delay and output.exists())
        # Then at random times of the whole run.
        patience = 0.3
        while not output.exists():
            process = subprocess.Popen([*arguments, ""])
            try:
                process.wait(timeout=patience * (1 + draw.random()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                patience *= 1.15
        assert output.read_bytes() == expected.read_bytes()
