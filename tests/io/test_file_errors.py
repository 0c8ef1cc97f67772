"""`FileError` is the exception that Python users catch: errno, strerror, filename and built-in class."""

from __future__ import annotations

import copy
import errno
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import FileError, PieceworkError
from piecework.io.atomic_files import check_writable
from tests.processes import POSIX

TOKENIZER = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}))

BUILTINS = [
    (errno.ENOENT, FileNotFoundError),
    (errno.EEXIST, FileExistsError),
    (errno.EISDIR, IsADirectoryError),
    (errno.ENOTDIR, NotADirectoryError),
    (errno.EACCES, PermissionError),
    (errno.EPERM, PermissionError),
    (errno.ENOSPC, OSError),
]


@pytest.mark.parametrize(("number", "builtin"), BUILTINS)
def test_an_error_with_an_errno_is_the_builtin_exception_for_it(
    number: int, builtin: type[OSError]
) -> None:
    error = FileError("a/b.json", "cannot be read: a reason", errno=number, hint="choose another")
    assert isinstance(error, builtin)
    assert isinstance(error, PieceworkError)
    assert (error.errno, error.filename) == (number, "a/b.json")
    assert error.strerror == os.strerror(number)
    assert (error.place, error.message) == ("a/b.json", "cannot be read: a reason")
    assert str(error) == "a/b.json: cannot be read: a reason; choose another"


def test_an_error_without_an_errno_claims_no_reason_of_the_system() -> None:
    error = FileError("<stdin>", "the stream is closed")
    assert type(error) is FileError
    assert (error.errno, error.strerror, error.filename) == (None, None, None)
    assert error.args == ("<stdin>", "the stream is closed")


@pytest.mark.parametrize("number", [None, errno.ENOENT, errno.EACCES, errno.ENOSPC])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))]
)
def test_an_error_is_copied_and_pickled_whole(
    number: int | None, copied: Callable[[FileError], FileError]
) -> None:
    error = FileError("a.json", "a reason", errno=number, hint="choose another", kind="a kind")
    twin = copied(error)
    assert type(twin) is type(error)
    assert (twin.errno, twin.filename, str(twin)) == (error.errno, error.filename, str(error))
    assert vars(twin) == vars(error)


def test_a_subclass_keeps_its_class() -> None:
    class RemoteError(FileError):
        pass

    error = RemoteError("a", "b", errno=errno.ENOENT)
    assert isinstance(error, RemoteError)
    assert isinstance(error, FileNotFoundError)


MISSING: dict[str, Callable[[Path], object]] = {
    "load": lambda path: pw.Tokenizer.load(path / "nofile.json"),
    "load a compiled cache": lambda path: pw.Tokenizer.load(path / "nofile.pwc"),
    "load a name": lambda path: pw.Tokenizer.load("nowhere-org/no-model"),
    "train": lambda path: pw.Tokenizer.train(path / "nofile.txt"),
    "train on a path with spaces": lambda path: pw.Tokenizer.train(str(path / "no file here.txt")),
    "train on a pattern": lambda path: pw.Tokenizer.train(str(path / "no*.txt")),
    "count": lambda path: pw.count_files(path / "nofile.txt"),
    "load counts": lambda path: pw.Counts.load(path / "nofile.tsv"),
    "encode files": lambda path: pw.encode_files(TOKENIZER, path / "nofile.txt", path / "out.txt"),
    "read ids": lambda path: list(pw.export.read_ids(path / "nofile.npy")),
    "read a URL": lambda path: list(pw.corpus.read_corpus(f"file://{path}/nofile.txt")),
    "save": lambda path: TOKENIZER.save(path / "none" / "tokenizer.json"),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_files_raise_file_not_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(FileNotFoundError) as caught:
        MISSING[name](tmp_path)
    error = caught.value
    assert isinstance(error, FileError)
    assert error.errno == errno.ENOENT
    assert "no" in str(error.filename)
    reasons = (
        "cannot be read: no ",
        "cannot be written: no ",
        "no file matches",
        "there is no such file",
    )
    if name == "train on a path with spaces":
        assert str(error).startswith("files: '")
        assert str(error).endswith("call train_from_iterator")
        return
    assert str(error).startswith(tuple(f"{error.place}: {reason}" for reason in reasons))
    assert error.place.endswith((".json", ".pwc", ".txt", ".tsv", ".npy", "no-model"))


def test_a_directory_in_place_of_a_file_raises_is_a_directory(tmp_path: Path) -> None:
    for use in (pw.Tokenizer.load, check_writable):
        with pytest.raises(IsADirectoryError) as caught:
            use(tmp_path)
        assert isinstance(caught.value, FileError)
        assert caught.value.filename == str(tmp_path)


def test_a_file_in_place_of_a_directory_raises_not_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as caught:
        pw.Tokenizer.load(tmp_path / "file" / "tokenizer.json")
    assert isinstance(caught.value, FileError)
    with pytest.raises(NotADirectoryError):
        TOKENIZER.save(tmp_path / "file" / "tokenizer.json")


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_raises_permission_error(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    TOKENIZER.save(path)
    path.chmod(0)
    with pytest.raises(PermissionError) as caught:
        pw.Tokenizer.load(path)
    assert isinstance(caught.value, FileError)
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, str(path))
