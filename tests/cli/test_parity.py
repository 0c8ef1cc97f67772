"""`piecework train --parity`: each CORPUS argument is a language."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework.train import ByteBPETrainer, count_sources
from tests.train.test_source_balance import LITTLE, MUCH
from tests.train.test_source_counts import CZECH, ENGLISH

TRAIN = ("train", "en.txt", "cs.txt", "--preset", "gpt2", "--vocab-size", "330")
PARALLEL = ("--parallel", "en-dev.txt", "--parallel", "cs-dev.txt")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "piecework", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, texts, times in (("en", ENGLISH, 20), ("cs", CZECH, 2)):
        for file, lines in ((f"{name}.txt", texts * times), (f"{name}-dev.txt", texts)):
            (tmp_path / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_the_tokenizer_is_that_of_the_library(folder: Path) -> None:
    options = ("--parity", *PARALLEL, "--parity-window", "20", "--checkpoint", "state")
    done = run(*TRAIN, *options, "-o", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    counts = count_sources(
        {name: folder / f"{name}.txt" for name in ("en", "cs")},
        parallel={name: folder / f"{name}-dev.txt" for name in ("en", "cs")},
        preset="gpt2",
    )
    trainer = ByteBPETrainer(vocab_size=330, parity=True, parity_window=20)
    expected = pw.Tokenizer.train_from_counts(counts, trainer)
    assert pw.Tokenizer.load(folder / "out.json").spec.model == expected.spec.model
    assert not (folder / "state").exists()


def test_counts_files_are_languages(folder: Path) -> None:
    for name in ("en", "cs"):
        made = run("count", f"{name}.txt", "--preset", "gpt2", "-o", f"{name}.tsv", cwd=folder)
        assert made.returncode == 0, made.stderr
    files = run(*TRAIN, "--parity", *PARALLEL, "-o", "files.json", cwd=folder)
    settings = ("--model", "byte-bpe", "--vocab-size", "330", "--parity", *PARALLEL)
    counts = run("train", "en.tsv", "cs.tsv", *settings, "-o", "counts.json", cwd=folder)
    assert (files.returncode, counts.returncode) == (0, 0), files.stderr + counts.stderr
    assert (folder / "files.json").read_bytes() == (folder / "counts.json").read_bytes()


def test_languages_are_weighed_for_any_model(folder: Path) -> None:
    write_languages(folder)
    settings = ("--model", "unigram", "--vocab-size", "300", *PARALLEL, "--balance-rounds", "3")
    done = run("train", "en.txt", "cs.txt", *settings, "-o", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "weights: en.txt 0." in done.stderr
    counts = count_sources(
        {name: folder / f"{name}.txt" for name in ("en", "cs")},
        parallel={name: folder / f"{name}-dev.txt" for name in ("en", "cs")},
        preset="sentencepiece",
    )
    trainer = pw.UnigramTrainer(vocab_size=300)
    balanced = pw.train.balance_sources(counts, trainer, rounds=3)
    assert f"{balanced.first_gini:.3f} before, {balanced.gini:.3f} after" in done.stderr
    expected = pw.Tokenizer.train_from_counts(balanced.counts, trainer)
    assert pw.Tokenizer.load(folder / "out.json").spec.model == expected.spec.model


def write_languages(folder: Path) -> None:
    """Write two languages, of which one has much more text."""
    for name, texts, first in (("en", MUCH, 40), ("cs", LITTLE, 220)):
        for file, lines in ((f"{name}.txt", texts[first:]), (f"{name}-dev.txt", texts[:40])):
            (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_rounds_of_sentencepiece_are_those_of_the_library(folder: Path) -> None:
    write_languages(folder)
    settings = ("--vocab-size", "300", *PARALLEL, "--balance-rounds", "2", "--checkpoint", "state")
    done = run("train-sentencepiece", "en.txt", "cs.txt", *settings, "-o", "out.model", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "state").exists()
    trainer = pw.train.SentencePieceTrainer(vocab_size=300)
    counts = count_sources(
        {name: folder / f"{name}.txt" for name in ("en", "cs")},
        parallel={name: folder / f"{name}-dev.txt" for name in ("en", "cs")},
        preset=trainer.pipeline,
    )
    balanced = pw.train.balance_sources(counts, trainer, rounds=2)
    assert balanced.gini < balanced.first_gini / 2
    assert f"{balanced.first_gini:.3f} before, {balanced.gini:.3f} after" in done.stderr
    expected = pw.Tokenizer.train_from_counts(balanced.counts, trainer)
    assert pw.Tokenizer.load(folder / "out.model").get_vocab() == expected.get_vocab()


def test_rounds_and_self_tests_are_refused_together(folder: Path) -> None:
    settings = (*PARALLEL, "--balance-rounds", "2", "--self-test-sample-size", "3")
    done = run("train-sentencepiece", "en.txt", "cs.txt", *settings, "-o", "out.model", cwd=folder)
    assert done.returncode != 0
    expected = "--self-test-sample-size does not support --balance-rounds, which learns from counts"
    assert expected in " ".join(done.stderr.split())


def test_several_sizes_are_not_weighed(folder: Path) -> None:
    arguments = [*TRAIN[:-1], "300,330", *PARALLEL, "--balance-rounds", "2"]
    done = run(*arguments, "-o", "t-{size}.json", cwd=folder)
    assert done.returncode != 0
    assert "--balance-rounds needs one size of the vocabulary" in done.stderr


def test_several_sizes_come_from_one_run(folder: Path) -> None:
    arguments = [*TRAIN[:-1], "300,330", "--parity", *PARALLEL]
    done = run(*arguments, "-o", "t-{size}.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    small, large = (
        pw.Tokenizer.load(folder / f"t-{size}.json").spec.model.merges for size in (300, 330)
    )
    assert large[: len(small)] == small


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*PARALLEL], "--parallel en-dev.txt needs --balance-rounds, or --parity for BPE"),
        (["--parity", *PARALLEL, "--balance-rounds", "2"], "cannot be combined with --parity"),
        (["--balance-rounds", "2"], "need sources and a parallel text for each"),
        (["--balance-rounds", "0"], "--balance-rounds"),
        (["--parity"], "have no parallel texts: give a text in each language"),
        (["--parity", *PARALLEL[:2]], "--parallel has 1 files, and CORPUS 2 arguments"),
        (["--parity", *PARALLEL, "cs.txt"], "CORPUS has cs.txt twice; give each language once"),
        (
            ["--parity", *PARALLEL, "--source-weights", "1,2"],
            "--source-weights does not support --parity",
        ),
        (["--parity-window", "9"], "--parity-window"),
    ],
)
def test_wrong_uses_say_what_to_do(folder: Path, arguments: list[str], message: str) -> None:
    done = run(*TRAIN, *arguments, "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert not (folder / "out.json").exists()


def test_merged_counts_have_lost_the_languages(folder: Path) -> None:
    made = run("count", "en.txt", "cs.txt", "--preset", "gpt2", "-o", "all.tsv", cwd=folder)
    assert made.returncode == 0, made.stderr
    settings = ("--model", "byte-bpe", "--vocab-size", "330", "--parity")
    done = run("train", "all.tsv", *settings, "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    expected = "merged counts have lost the languages: count each one by itself"
    assert expected in " ".join(done.stderr.split())


def test_a_vocabulary_too_small_for_the_alphabet_is_refused(folder: Path) -> None:
    done = run(*TRAIN[:-1], "200", "--parity", *PARALLEL, "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    assert "at least 257" in done.stderr


def test_a_language_without_text_is_named(folder: Path) -> None:
    (folder / "cs.txt").write_text("", encoding="utf-8")
    done = run(*TRAIN, "--parity", *PARALLEL, "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    assert "cs.txt" in done.stderr
    assert "has no words" in done.stderr
