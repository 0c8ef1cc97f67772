"""Special tokens that a corpus has in its texts are counted, and those that the tokenizer adds are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.export import encode_corpus, encode_files

END = "<|endoftext|>"
LINES = [f"a hug{END}a pug", "a bug", f"{END}{END}"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def byte_bpe() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(["a hug"] * 9, model="byte-bpe", vocab_size=260)


def bert() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(["a hug pug bug"] * 9, vocab_size=40)


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({}, 3),
        ({"append_eod": END}, 3),
        ({"parse_special": True}, 3),
        ({"parse_special": [END]}, 3),
        ({"parse_special": False}, 0),
        ({"parse_special": []}, 0),
    ],
)
def test_special_tokens_in_files_are_counted(
    corpus: Path, tmp_path: Path, settings: dict[str, Any], count: int
) -> None:
    done = encode_files(byte_bpe(), corpus, tmp_path / "ids.txt", **settings)
    assert done.parsed_special == count
    ids = " ".join((tmp_path / "ids.txt").read_text().split("\n")).split()
    assert ids.count("0") == count + (3 if "append_eod" in settings else 0)


def test_special_tokens_in_files_are_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(pw.errors.SpecialTokenError):
        encode_files(byte_bpe(), corpus, tmp_path / "ids.txt", parse_special="refuse")
    with pytest.raises(pw.errors.SpecialTokenError):
        encode_corpus(byte_bpe(), corpus, tmp_path / "shards", parse_special="refuse")


def test_tokens_of_the_template_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("hug [SEP] pug\nbug [UNK] ~\n[CLS]\n")
    for settings in ({}, {"add_special_tokens": False}):
        done = encode_files(bert(), tmp_path / "in.txt", tmp_path / "ids.txt", **settings)
        assert done.parsed_special == 2


def test_padding_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("hug [SEP] pug\nbug\n")
    padded = bert().with_padding(9).with_truncation(9)
    assert encode_files(padded, tmp_path / "in.txt", tmp_path / "a.txt").parsed_special == 1


def test_special_tokens_in_shards_are_counted_and_recorded(corpus: Path, tmp_path: Path) -> None:
    done = encode_corpus(byte_bpe(), corpus, tmp_path / "ids", append_eod=END)
    assert done.parsed_special == 3
    manifest = json.loads((tmp_path / "ids" / "manifest.json").read_text())
    assert [shard["parsed_special"] for shard in manifest["shards"]] == [3]
    again = encode_corpus(byte_bpe(), corpus, tmp_path / "ids", append_eod=END, resume=True)
    assert (again.shards_from_earlier_runs, again.parsed_special) == (1, 3)


def test_special_tokens_in_long_documents_are_counted(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a hug " * 200_000 + "[SEP] pug\n")
    done = encode_corpus(bert(), tmp_path / "in.txt", tmp_path / "ids")
    assert done.parsed_special == 1


@pytest.mark.parametrize("output", [["-o", "ids.txt"], ["--out-dir", "ids"], ["-o", "-"]])
def test_the_command_says_how_many_there_are_and_the_option(
    cli: Callable[..., Any],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    byte_bpe().save("t.json")
    _, _, err = cli("encode", "t.json", str(corpus), *output)
    assert "3 special tokens <|endoftext|> in the text became ids" in err
    assert "--no-parse-special" in err
