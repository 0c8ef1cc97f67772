"""A run of learning that is killed again and again ends with the bytes of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import piecework as pw
from piecework.train import SentencePieceTrainer

PROGRAM = """
import json
import sys
import piecework as pw
import piecework.train.checkpoints as checkpoints

checkpoints.SECONDS_BETWEEN_WRITES = 0.01
counts, folder, output, settings = sys.argv[1:]
tok = pw.Tokenizer.train_from_counts(
    pw.Counts.load(counts), checkpoint=folder or None, **json.loads(settings)
)
tok.save(output)
"""


@pytest.fixture(scope="module")
def counts_of_pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Counts of 100,000 distinct words for each pipeline, as files."""
    folder = tmp_path_factory.mktemp("counts")
    draw = random.Random(1)
    syllables = ["".join(draw.choices("bcdfghklmnprstvz", k=2)) + vowel for vowel in "aeiou" * 9]
    lines = [
        " ".join("".join(draw.choices(syllables, k=4)) for _ in range(10)) for _ in range(12_000)
    ]
    (folder / "corpus.txt").write_text("\n".join(lines))
    paths = {}
    for preset in ("bert-uncased", "whitespace", "sentencepiece"):
        paths[preset] = folder / f"{preset}.tsv"
        pw.count_files(folder / "corpus.txt", pipeline=preset).save(paths[preset])
    # Each run sorts all suffixes first, so SentencePiece has a third of the corpus.
    (folder / "third.txt").write_text("\n".join(lines[::3]))
    trainer = SentencePieceTrainer()
    counts = pw.count_files(
        folder / "third.txt", pipeline=trainer.pipeline, sentences=trainer.sentences
    )
    paths["spm"] = folder / "spm.tsv"
    counts.save(paths["spm"])
    return paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("bert-uncased", {"score": "frequency", "vocab_size": 20_000}),
        ("bert-uncased", {"vocab_size": 20_000, "seed_size": 80_000}),
        ("whitespace", {"model": "bpe", "preset": "whitespace", "vocab_size": 20_000}),
        ("sentencepiece", {"model": "unigram", "vocab_size": 6_000, "seed_size": 1_000_000}),
        (
            "spm",
            {"model": "sentencepiece", "vocab_size": 2_000, "seed_sentencepiece_size": 50_000},
        ),
        ("spm", {"model": "sentencepiece", "model_type": "bpe", "vocab_size": 4_000}),
    ],
)
def test_a_killed_run_ends_with_the_same_bytes(
    counts_of_pipelines: dict[str, Path], tmp_path: Path, preset: str, settings: dict[str, object]
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(counts_of_pipelines[preset])]
    suffix = ".model" if settings.get("model") == "sentencepiece" else ".json"
    expected = tmp_path / f"expected{suffix}"
    subprocess.run([*command, "", str(expected), json.dumps(settings)], check=True)
    draw = random.Random(2)
    saved = 0
    for number in range(int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "5"))):
        folder, output = tmp_path / f"state-{number}", tmp_path / f"{number}{suffix}"
        patience = 0.3
        while not output.exists():
            process = subprocess.Popen([*command, str(folder), str(output), json.dumps(settings)])
            timeout = patience * (1 + draw.random())
            if number % 2 and not any(folder.glob("learning-*")):
                # Learning can be short beside reading the counts: kill soon after the first checkpoint.
                while process.poll() is None and not any(folder.glob("learning-*")):
                    time.sleep(0.001)
                timeout = 0.05 * draw.random()
            try:
                process.wait(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                saved += any(folder.glob("learning-*"))
                patience *= 1.15
        assert output.read_bytes() == expected.read_bytes()
    assert saved, "no kill met a saved checkpoint"
