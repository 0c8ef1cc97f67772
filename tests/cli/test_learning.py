"""`piecework train`: memory budgets, several sizes and checkpoints."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import piecework as pw
from tests.conftest import Run
from tests.processes import POSIX, heed_signals
from tests.processes import run_command as run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("hug hugs hugging bug bugs pug pugs bugging gnu gnus\n" * 7)
    return path


def test_the_estimate_and_the_budget_are_printed(corpus: Path) -> None:
    done = run(
        "train", corpus, "--vocab-size", 40, "--memory", "1GB", "-o", "a.json", cwd=corpus.parent
    )
    assert done.returncode == 0, done.stderr
    assert "learning: about 48" in done.stderr
    assert "MB of memory, of a budget of 1 GB (--memory)\n" in done.stderr


def test_an_invalid_budget_is_an_error_of_the_option(corpus: Path) -> None:
    done = run("train", corpus, "--memory", "much", "-o", "a.json", cwd=corpus.parent)
    assert done.returncode != 0
    assert "--memory" in done.stderr
    assert "512MB" in done.stderr


@pytest.mark.parametrize("model", ["wordpiece", "unigram"])
@pytest.mark.parametrize(
    ("output", "names"),
    [
        ("t-{size}.json", ["t-24.json", "t-1k.json"]),
        ("t.json", ["t-24.json", "t-1k.json"]),
        ("folder/", ["folder-24", "folder-1k"]),
    ],
)
def test_several_sizes_write_one_tokenizer_each(
    corpus: Path, output: str, names: list[str], model: str
) -> None:
    sizes = "24,25" if model == "unigram" else "24,1k"
    names = [name.replace("1k", "25") for name in names] if model == "unigram" else names
    options = (
        ["--model", model, "--min-frequency", 1] if model == "wordpiece" else ["--model", model]
    )
    done = run("train", corpus, *options, "--vocab-size", sizes, "-o", output, cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    assert ("do not nest" in done.stderr) == (model == "unigram")
    for size, name in zip(sizes.split(","), names, strict=True):
        one = run(
            "train", corpus, *options, "--vocab-size", size, "-o", "one.json", cwd=corpus.parent
        )
        assert one.returncode == 0, one.stderr
        made = pw.Tokenizer.load(corpus.parent / name)
        assert made == pw.Tokenizer.load(corpus.parent / "one.json")


def test_several_sizes_cannot_go_to_stdout(corpus: Path) -> None:
    done = run("train", corpus, "--vocab-size", "24,25", "-o", "-", cwd=corpus.parent)
    assert done.returncode != 0
    assert "one file for each size" in done.stderr


@pytest.mark.parametrize("sizes", ["8k,8000", "x", "8k,", "k"])
def test_invalid_sizes_are_errors_of_the_option(corpus: Path, sizes: str) -> None:
    done = run("train", corpus, "--vocab-size", sizes, "-o", "a.json", cwd=corpus.parent)
    assert done.returncode == 2
    assert "--vocab-size" in done.stderr


@POSIX
@pytest.mark.parametrize("stop", ["SIGTERM", "SIGINT"])
def test_a_run_that_is_stopped_continues_to_the_same_bytes(tmp_path: Path, stop: str) -> None:
    draw = random.Random(2)
    words = ["".join(draw.choices("abcdefgh", k=12)) for _ in range(40_000)]
    (tmp_path / "corpus.txt").write_text("\n".join(words))
    arguments = ["train", "corpus.txt", "--vocab-size", "20000", "--min-frequency", "1"]
    expected = run(*arguments, "-o", "expected.json", cwd=tmp_path)
    assert expected.returncode == 0, expected.stderr
    resumed = [*arguments, "--checkpoint", "state", "-o", "out.json"]
    command = [sys.executable, "-m", "piecework", *resumed]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals
    )
    assert process.stderr is not None
    while "learning: about" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(getattr(signal, stop))
    process.communicate()
    interrupted = process.returncode != 0
    if interrupted:
        assert not (tmp_path / "out.json").exists()
        again = run(*resumed, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
    assert (tmp_path / "out.json").read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert os.listdir(tmp_path / "state") == [] if (tmp_path / "state").exists() else True


# ---- roles


def test_a_role_is_saved_in_the_folder(corpus: Path) -> None:
    special = ["--special-token", "[UNK]", "--special-token", "<end>"]
    options = [*special, "--role", "eos=<end>", "--role", "pad_token=<end>"]
    for sizes, folder in (("20", "out"), ("20,21", "out-21")):
        options_of_size = [*options, "--vocab-size", sizes]
        done = run("train", corpus, *options_of_size, "-o", "out/", cwd=corpus.parent)
        assert done.returncode == 0, done.stderr
        tok = pw.Tokenizer.load(corpus.parent / folder)
        assert (tok.eos_token, tok.pad_token, tok.unk_token) == ("<end>", "<end>", "[UNK]")


def test_a_role_replaces_that_of_the_preset(corpus: Path) -> None:
    options = ["--model", "byte-bpe", "--vocab-size", 270]
    done = run("train", corpus, *options, "-o", "preset/", cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    assert pw.Tokenizer.load(corpus.parent / "preset").eos_token == "<|endoftext|>"
    for token in ("<|endoftext|>", "<end>"):
        options += ["--special-token", token]
    done = run("train", corpus, *options, "--role", "eos=<end>", "-o", "own/", cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    tok = pw.Tokenizer.load(corpus.parent / "own")
    assert (tok.eos_token, tok.bos_token) == ("<end>", "<|endoftext|>")


@pytest.mark.parametrize(
    ("role", "output", "message"),
    [
        (
            "eof=[SEP]",
            "out/",
            "--role: must be unk|bos|eos|sep|pad|cls|mask=TOKEN, not 'eof=[SEP]'",
        ),
        ("eos", "out/", "--role: must be unk|bos|eos|sep|pad|cls|mask=TOKEN, not 'eos'"),
        (
            "eos=<x>",
            "out/",
            "--role: must be a special token, not 'eos=<x>'",
        ),
        (
            "eos=[SEP]",
            "out.json",
            "--role: needs a folder such as -o NAME/, not the file out.json",
        ),
    ],
)
def test_a_role_that_cannot_be_saved_is_refused_before_the_corpus_is_read(
    role: str, output: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "corpus.txt").write_bytes(b"\0" * 64)  # which no reader accepts
    done = run("train", "corpus.txt", "--role", role, "-o", output, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_options_of_spm_train_may_have_underscores(tmp_path: Path, cli: Run) -> None:
    corpus, model = tmp_path / "corpus.txt", tmp_path / "m.model"
    corpus.write_text("hug_pug hugs\n" * 9)
    options = ["--vocab_size=20", "--model_type", "char", "--no-hard_vocab_limit"]
    symbols = ["--user-defined-symbol", "hug_pug", "--normalization_rule_name=nmt_nfkc_cf"]
    code, _, error = cli("train-sentencepiece", str(corpus), *options, *symbols, "-o", str(model))
    assert code == 0, error
    assert "hug_pug" in pw.Tokenizer.load(model).get_vocab()
    code, _, error = cli("train-sentencepiece", str(corpus), "--vocab_siz=9", "-o", str(model))
    assert code == 2
    assert "No such option '--vocab-siz'; did you mean '--vocab-size'?" in error


# ---- the length of a model


def test_transformers_truncates_to_the_length_of_the_folder(corpus: Path) -> None:
    transformers = pytest.importorskip("transformers")
    options = ("--vocab-size", 40, "--min-frequency", 1, "--model-max-length", 6)
    done = run("train", corpus, *options, "-o", "bert/", cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    folder = corpus.parent / "bert"
    tok = pw.Tokenizer.load(folder)
    assert tok.model_max_length == 6
    other = transformers.AutoTokenizer.from_pretrained(str(folder))
    assert other.model_max_length == 6
    text = "hug hugs hugging bug bugs pug"
    assert len(other(text)["input_ids"]) > 6
    assert other(text, truncation=True)["input_ids"] == tok.with_truncation().encode(text).ids
    assert len(other(text, truncation=True)["input_ids"]) == 6


def test_every_size_and_model_gets_the_length(corpus: Path) -> None:
    options = ("--min-frequency", 1, "--vocab-size", "24,25", "--model-max-length", 7)
    done = run("train", corpus, *options, "-o", "out-{size}/", cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    options = ("--vocab-size", 30, "--model-max-length", 7)
    done = run("train-sentencepiece", corpus, *options, "-o", "spm/", cwd=corpus.parent)
    assert done.returncode == 0, done.stderr
    for name in ("out-24", "out-25", "spm"):
        assert pw.Tokenizer.load(corpus.parent / name).model_max_length == 7
