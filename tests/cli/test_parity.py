"""`piecework train --parity`: each CORPUS argument is a language."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import piecework as pw
from piecework.analysis.metrics import gini
from piecework.analysis.readable_tokens import text_of_bytes
from piecework.train import ByteBPETrainer, count_sources
from tests.processes import run_command as run
from tests.train.test_source_balance import LITTLE, MUCH
from tests.train.test_source_counts import CZECH, ENGLISH

TRAIN = ("train", "en.txt", "cs.txt", "--preset", "gpt2", "--vocab-size", "330")
PARALLEL = ("--parallel", "en-dev.txt", "--parallel", "cs-dev.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, texts, times in (("en", ENGLISH, 20), ("cs", CZECH, 2)):
        for file, lines in ((f"{name}.txt", texts * times), (f"{name}-dev.txt", texts)):
            (tmp_path / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_the_tokenizer_equals_that_of_the_library(folder: Path) -> None:
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


def test_parity_from_counts_files_equals_parity_from_texts(folder: Path) -> None:
    for name in ("en", "cs"):
        made = run("count", f"{name}.txt", "--preset", "gpt2", "-o", f"{name}.tsv", cwd=folder)
        assert made.returncode == 0, made.stderr
    files = run(*TRAIN, "--parity", *PARALLEL, "-o", "files.json", cwd=folder)
    settings = ("--model", "byte-bpe", "--vocab-size", "330", "--parity", *PARALLEL)
    counts = run("train", "en.tsv", "cs.tsv", *settings, "-o", "counts.json", cwd=folder)
    assert (files.returncode, counts.returncode) == (0, 0), files.stderr + counts.stderr
    assert (folder / "files.json").read_bytes() == (folder / "counts.json").read_bytes()


def test_sources_are_balanced_for_models_without_parity(folder: Path) -> None:
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


def test_rounds_of_sentencepiece_equal_those_of_the_library(folder: Path) -> None:
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
    expected = (
        "--self-test-sample-size: does not support --balance-rounds, which learns from counts"
    )
    assert expected in " ".join(done.stderr.split())


def test_several_sizes_are_not_weighed(folder: Path) -> None:
    arguments = [*TRAIN[:-1], "300,330", *PARALLEL, "--balance-rounds", "2"]
    done = run(*arguments, "-o", "t-{size}.json", cwd=folder)
    assert done.returncode != 0
    assert "--balance-rounds: needs one size of the vocabulary" in done.stderr


def test_several_sizes_come_from_one_run(folder: Path) -> None:
    arguments = [*TRAIN[:-1], "300,330", "--parity", *PARALLEL]
    done = run(*arguments, "-o", "t-{size}.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    small, large = (
        pw.Tokenizer.load(folder / f"t-{size}.json").spec.model.merges for size in (300, 330)
    )
    assert large[: len(small)] == small


def costs_of(tokenizer: pw.Tokenizer, folder: Path) -> list[int]:
    """Return the tokens of the parallel texts, encoded line by line with their ends."""
    texts = [(folder / f"{name}-dev.txt").read_text(encoding="utf-8") for name in ("en", "cs")]
    return [sum(map(len, tokenizer.encode_batch(text.splitlines(True)))) for text in texts]


@pytest.mark.parametrize("size", ["330", "300,330"])
def test_the_summary_says_what_parity_did(folder: Path, size: str) -> None:
    arguments = [*TRAIN[:-1], size, "--parity", *PARALLEL, "-o", "t.json", "--json"]
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    sizes = size.split(",")
    for line, one in zip(done.stdout.splitlines(), sizes, strict=True):
        summary = json.loads(line)
        fair = pw.Tokenizer.load(folder / summary["saved"])
        files = [folder / "en.txt", folder / "cs.txt"]
        plain = pw.Tokenizer.train(files, model="byte-bpe", preset="gpt2", vocab_size=int(one))
        before, after = costs_of(plain, folder), costs_of(fair, folder)
        found = summary["sources"]
        assert found["tokens_before"] == dict(zip(("en.txt", "cs.txt"), before, strict=True))
        assert found["tokens_after"] == dict(zip(("en.txt", "cs.txt"), after, strict=True))
        assert found["gini_before"] == pytest.approx(gini(before))
        assert found["gini_after"] == pytest.approx(gini(after))
        assert found["added_share"] == pytest.approx(sum(after) / sum(before) - 1)
        assert found["gini_after"] < found["gini_before"]
    errors = run(*arguments[:-1], cwd=folder).stderr
    tokens = f"en.txt {before[0]} -> {after[0]}, cs.txt {before[1]} -> {after[1]}"
    assert f"tokens of the parallel texts, without parity -> with it: {tokens}\n" in errors
    ginis = f"{gini(before):.3f} before, {gini(after):.3f} after"
    added = f"{100 * (sum(after) / sum(before) - 1):+.1f} % tokens in all"
    assert f"Gini coefficient of the tokens: {ginis}; {added}\n" in errors


@pytest.mark.parametrize("unit", ["bytes", "characters", "words"])
@pytest.mark.parametrize("model", [("byte-bpe", "gpt2"), ("bpe", "metaspace")])
def test_without_parallel_texts_the_texts_are_measured_by_their_unit(
    folder: Path, unit: str, model: tuple[str, str]
) -> None:
    options = (
        "--model",
        model[0],
        "--preset",
        model[1],
        "--parity",
        "--parity-unit",
        unit,
        "--json",
    )
    arguments = ("train", "en.txt", "cs.txt", "--vocab-size", "330", *options, "-o", "t.json")
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["sources"]
    tok = pw.Tokenizer.load(folder / "t.json")
    shares = []
    for name in ("en.txt", "cs.txt"):
        counts = pw.count_files(folder / name, preset=model[1])
        texts = {
            word: text_of_bytes(word) if model[0] == "byte-bpe" else word for word, _ in counts
        }
        sizes = {
            "bytes": lambda text: len(text.encode()),
            "characters": len,
            "words": lambda text: 1,
        }
        size = sum(sizes[unit](texts[word]) * count for word, count in counts)
        shares.append(found["tokens_after"][name] / size)
    whole = [(folder / f"{name}.txt").read_text(encoding="utf-8") for name in ("en", "cs")]
    tokens = [
        sum(map(len, tok.encode_batch(text.splitlines(model[0] == "byte-bpe")))) for text in whole
    ]
    assert list(found["tokens_after"].values()) == tokens
    assert found["gini_after"] == pytest.approx(gini(shares))


def test_the_summary_says_what_rounds_did(folder: Path) -> None:
    write_languages(folder)
    settings = ("--model", "unigram", "--vocab-size", "300", *PARALLEL, "--balance-rounds", "2")
    done = run("train", "en.txt", "cs.txt", *settings, "-o", "t.json", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    counts = count_sources(
        {name: folder / f"{name}.txt" for name in ("en", "cs")},
        parallel={name: folder / f"{name}-dev.txt" for name in ("en", "cs")},
        preset="sentencepiece",
    )
    balanced = pw.train.balance_sources(counts, pw.UnigramTrainer(vocab_size=300), rounds=2)
    found = json.loads(done.stdout)["sources"]
    assert list(found["tokens_before"].values()) == list(balanced.first_costs.values())
    assert list(found["tokens_after"].values()) == list(balanced.costs.values())
    assert (found["gini_before"], found["gini_after"]) == (balanced.first_gini, balanced.gini)


def test_the_plan_has_parity_rounds_and_parallel_texts(folder: Path) -> None:
    plan = run(*TRAIN, "--parity", *PARALLEL, "-o", "t.json", "--dry-run", cwd=folder)
    assert plan.returncode == 0, plan.stderr
    assert "settings       parity=True\n" in plan.stdout
    assert re.search(
        r"^parallel       2 files, [\d.]+ \w+: en-dev.txt, cs-dev.txt$", plan.stdout, re.M
    )
    rounds = run(
        *TRAIN, *PARALLEL, "--balance-rounds", "3", "-o", "t.json", "--dry-run", cwd=folder
    )
    assert "settings       balance_rounds=3\n" in rounds.stdout
    assert not (folder / "t.json").exists()


def test_a_plan_shows_words_as_text(folder: Path) -> None:
    (folder / "uk.txt").write_text("“ Що це?\tТак\n", encoding="utf-8")
    plan = run("train", "uk.txt", "--preset", "gpt2", "-o", "t.json", "--dry-run", cwd=folder)
    assert "its words      “  ␣Що  ␣це  ?  ⇥  Так\n" in plan.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*PARALLEL], "--parallel: 'en-dev.txt' needs --balance-rounds, or --parity for BPE"),
        (
            ["--parity", *PARALLEL, "--balance-rounds", "2"],
            "--balance-rounds, --parity: cannot be combined",
        ),
        (
            ["--balance-rounds", "2"],
            "--balance-rounds: needs --parallel FILE for each CORPUS argument",
        ),
        (["--balance-rounds", "0"], "--balance-rounds"),
        (
            ["--parity"],
            "--parity: needs --parallel FILE for each CORPUS argument, a text that says",
        ),
        (["--parity", *PARALLEL[:2]], "--parallel: has 1 files, and CORPUS 2 arguments"),
        (["--parity", *PARALLEL, "cs.txt"], "CORPUS: has cs.txt twice; give each language once"),
        (
            ["--parity", *PARALLEL, "--source-weights", "1,2"],
            "--source-weights: does not support --parity",
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
