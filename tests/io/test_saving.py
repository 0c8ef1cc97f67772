"""Saving picks the format by the name of the file, and a failure leaves the old file unchanged."""

from __future__ import annotations

import errno
import typing
from contextlib import suppress
from pathlib import Path

import pytest

import piecework as pw
from piecework.io.format_detection import file_format
from piecework.io.saving import (
    TOKENIZER_FORMATS,
    save_tokenizer,
    tokenizer_bytes,
    tokenizer_format_of,
)

SUFFIXES = {
    ".json": "tokenizer.json",
    ".txt": "vocab.txt",
    ".pwc": "compiled cache",
    ".piecework": "piecework file",
}


@pytest.fixture
def wordpiece() -> pw.Tokenizer:
    return pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))


@pytest.fixture
def bpe() -> pw.Tokenizer:
    return pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),)))


@pytest.mark.parametrize(("suffix", "format"), SUFFIXES.items())
def test_suffix_selects_the_format(
    tmp_path: Path, wordpiece: pw.Tokenizer, suffix: str, format: str
) -> None:
    path = tmp_path / f"saved{suffix}"
    save_tokenizer(wordpiece, path)
    assert tokenizer_format_of(str(path)) == format
    assert file_format(path) == format
    assert pw.Tokenizer.load(path, compiled_cache=True).encode("hugs").ids == [1, 2]


def test_a_name_without_a_suffix_is_refused_with_both_spellings(
    tmp_path: Path, wordpiece: pw.Tokenizer
) -> None:
    path = str(tmp_path / "out")
    with pytest.raises(pw.errors.ArgumentError) as raised:
        wordpiece.save(path)
    spellings = f"'{path}/' for a folder, or '{path}.json' for a file"
    assert str(raised.value) == f"path: '{path}' has no suffix; write {spellings}"
    assert list(tmp_path.iterdir()) == []
    wordpiece.with_added_tokens(["[UNK]"], special=True).save(f"{path}/")
    wordpiece.with_added_tokens(["[UNK]"], special=True).save(path)  # now it is a folder
    assert (tmp_path / "out" / "tokenizer.json").exists()


def test_every_suffix_has_a_writer(wordpiece: pw.Tokenizer) -> None:
    for suffix in TOKENIZER_FORMATS:
        with suppress(pw.errors.PieceworkError):  # WordPiece has no ranks and no pieces
            assert tokenizer_bytes(wordpiece, suffix)


def test_folder_gets_the_files_of_transformers(tmp_path: Path, bpe: pw.Tokenizer) -> None:
    for folder in (str(tmp_path), f"{tmp_path}/new/"):
        save_tokenizer(bpe, folder)
        assert sorted(path.name for path in Path(folder).iterdir() if path.is_file()) == [
            "special_tokens_map.json",
            "tokenizer.json",
            "tokenizer_config.json",
        ]
        assert tokenizer_format_of(folder) == "Hugging Face folder"
        assert file_format(folder) == "tokenizer.json"


def test_merges_names_the_second_file(tmp_path: Path, bpe: pw.Tokenizer) -> None:
    save_tokenizer(bpe, tmp_path / "a", merges=tmp_path / "b")
    assert (tmp_path / "b").read_text().endswith("h u\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "a.jsonn",
            r"path: 'a\.jsonn' has no suffix of a tokenizer format; give a name that ends in ",
        ),
        ("missing/folder/", "path: the parent folder of '.*' does not exist"),
    ],
)
def test_unusable_name_is_an_error_before_anything_is_written(
    tmp_path: Path, wordpiece: pw.Tokenizer, name: str, message: str
) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=message):
        save_tokenizer(wordpiece, f"{tmp_path}/{name}")
    assert not any(tmp_path.iterdir())


def test_a_format_that_cannot_contain_the_tokenizer_leaves_the_old_file(
    tmp_path: Path, wordpiece: pw.Tokenizer
) -> None:
    path = tmp_path / "old.tiktoken"
    path.write_text("old")
    with pytest.raises(pw.errors.PieceworkError):
        save_tokenizer(wordpiece, path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_of_a_later_layout_is_refused(tmp_path: Path, wordpiece: pw.Tokenizer) -> None:
    path = tmp_path / "later.piecework"
    wordpiece.save(path)
    path.write_bytes(path.read_bytes().replace(b'{"piecework":1,', b'{"piecework":12,', 1))
    with pytest.raises(pw.errors.FormatError, match=r"a later version; update piecework$"):
        pw.Tokenizer.load(path)


def test_an_invalid_path_is_a_typed_error(wordpiece: pw.Tokenizer) -> None:
    with pytest.raises(pw.errors.InputTypeError, match="path: must be .*, not int"):
        save_tokenizer(wordpiece, typing.cast("typing.Any", 3))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_raises_a_file_error(bpe: pw.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(
        pw.errors.FileError, match="/dev/full: cannot be written: no space left on device"
    ):
        bpe.save("/dev/full")
    with pytest.raises(
        pw.errors.FileError, match="/dev/full: cannot be written: no space left on device"
    ):
        bpe.save(tmp_path / "vocab.json", merges="/dev/full")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_files_of_a_folder(
    wordpiece: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        pw.errors.FileError, match="tokenizer.json: cannot be written: no space left on device"
    ):
        wordpiece.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b.json", "\ud800.json", "\0/", "\ud800/"])
def test_a_path_that_no_file_can_have_is_named(bpe: pw.Tokenizer, name: str) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="^path: (must be|has) "):
        bpe.save(name)
    with pytest.raises(pw.errors.ArgumentError, match="^merges: (must be|has) "):
        bpe.save("vocab.json", merges=name)
