"""Messages of commands that say what to do next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("low lower\nnew newer\n" * 5)
    pw.Tokenizer.train("corpus.txt", model="byte-bpe", vocab_size=262).save("tok.json")
    return tmp_path


def with_special_tokens(number: int) -> pw.Tokenizer:
    tokens = [f"<{at}>" for at in range(number)]
    return (
        pw.Tokenizer.load("tok.json")
        .without_added_tokens(["<|endoftext|>"])
        .with_added_tokens(tokens, special=True)
    )


def test_an_unknown_end_of_document_lists_the_special_tokens(cli: Run, folder: Path) -> None:
    code, _, errors = cli("encode", "tok.json", "corpus.txt", "--append-eod", "<|endofdoc|>")
    assert code == 2
    assert errors == (
        "piecework: error: --append-eod: must be a token of the vocabulary, not '<|endofdoc|>'; its "
        "special tokens are '<|endoftext|>'\n"
    )
    with_special_tokens(10).save("ten.json")
    errors = cli("encode", "ten.json", "corpus.txt", "--append-eod", "<s>", "--out-dir", "out")[2]
    assert "its special tokens are '<0>', '<1>', " in errors
    assert errors.endswith("'<7>' and 2 more\n")
    plain = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    with pytest.raises(pw.errors.ArgumentError, match="it has no special tokens"):
        pw.encode_files(plain, "corpus.txt", "ids.txt", append_eod="<s>")


@pytest.mark.parametrize("text", ["hello world", "hello", "How are you?"])
def test_a_text_in_place_of_a_file_is_shown_the_way_through_stdin(
    cli: Run, folder: Path, text: str
) -> None:
    for options in ([], ["--out-dir", "out"]):
        code, _, errors = cli("encode", "tok.json", text, *options)
        assert code == 2
        quoted = f"'{text}'" if text != "hello" else text
        command = f"echo {quoted} | piecework encode tok.json -"
        assert errors == (
            f"piecework: error: {text}: there is no such file; for a text: {command}\n"
        )
    assert not Path("out").exists()


@pytest.mark.parametrize("path", ["missing.txt", "no/such/folder", "s3x://a b", "*.md"])
def test_other_missing_files_are_not_texts(cli: Run, folder: Path, path: str) -> None:
    code, _, errors = cli("encode", "tok.json", path, "-o", "ids.txt")
    assert code == 2
    assert "for a text" not in errors


def test_files_whose_names_look_like_texts_are_encoded(cli: Run, folder: Path) -> None:
    for name in ("two words", "corpus"):
        Path(name).write_text("low\n")
        assert cli("encode", "tok.json", name, "-o", "ids.txt")[0] == 0
    assert cli("encode", "tok.json", "tw* words", "-o", "ids.txt")[0] == 0


def test_an_interrupted_folder_names_resume(
    cli: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("piecework.export.encode_corpus", interrupted)
    code, _, errors = cli("encode", "tok.json", "corpus.txt", "--out-dir", "ids")
    assert code == 130
    assert errors.splitlines() == [
        "the same command with --resume keeps the finished shards in ids and continues",
        "piecework: interrupted",
    ]
    assert cli("encode", "tok.json", "corpus.txt", "--out-dir", "ids", "-q")[2] == (
        "piecework: interrupted\n"
    )
