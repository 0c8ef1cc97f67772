"""Inputs that need not end, such as devices and named pipes, are refused; pipes of a shell are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import FileError, MemoryLimitError
from piecework.io import read_file
from tests.processes import PIECEWORK

pytestmark = pytest.mark.skipif(
    not os.path.exists("/dev/zero"), reason="the system has no /dev/zero"
)

TOKENIZER = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).with_added_tokens(
    ["[UNK]"], special=True
)


@pytest.mark.parametrize("suffix", [".json", ".pwc", ".model", ".gguf"])
def test_a_symlink_to_a_device_is_not_a_tokenizer(tmp_path: Path, suffix: str) -> None:
    link = tmp_path / f"tokenizer{suffix}"
    link.symlink_to("/dev/zero")
    with pytest.raises(FileError, match=f"tokenizer{suffix}: is a device, not a"):
        pw.Tokenizer.load(link)


def test_a_setting_of_a_folder_that_is_a_device_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    TOKENIZER.save(f"{tmp_path / 'model'}/")
    (tmp_path / "model" / "additional_chat_templates").mkdir()
    template = tmp_path / "model" / "additional_chat_templates" / "tool.jinja"
    template.symlink_to("/dev/zero")
    with pytest.raises(FileError, match=r"tool\.jinja: is a device, not a chat template"):
        pw.Tokenizer.load(tmp_path / "model")
    template.unlink()
    os.mkfifo(template)
    with pytest.raises(
        FileError,
        match=r"tool\.jinja: is a named pipe or a socket, not a chat template that is a regular file",
    ):
        pw.Tokenizer.load(tmp_path / "model")


def test_a_named_pipe_is_not_a_tokenizer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tokenizer.json")
    with pytest.raises(
        FileError,
        match=r"tokenizer\.json: is a named pipe or a socket, not a tokenizer file that is a regular",
    ):
        pw.Tokenizer.load(tmp_path / "tokenizer.json")


def test_a_tokenizer_is_read_from_a_pipe_that_is_open(tmp_path: Path) -> None:
    TOKENIZER.save(tmp_path / "tokenizer.json")
    code = "import piecework as pw; print(len(pw.Tokenizer.load('/dev/stdin')))"
    data = (tmp_path / "tokenizer.json").read_bytes()
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
    assert (done.stdout, done.stderr) == (b"2\n", b"")


def test_a_pipe_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "MAX_PIPE_BYTES", 10)
    reader, writer = os.pipe()
    os.write(writer, b"x" * 11)
    os.close(writer)
    with pytest.raises(FileError, match="is a pipe with over 10 bytes, too many for"):
        read_file.file_bytes(f"/dev/fd/{reader}", "a rule file")
    os.close(reader)


@pytest.mark.parametrize(
    "name", ["zero.txt", "zero.jsonl", "zero.csv", "zero.parquet", "zero.arrow"]
)
def test_a_device_is_not_a_corpus(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    for source in (tmp_path / name, tmp_path):
        with pytest.raises(FileError, match=f"{name}: is a device, not a"):
            pw.count_files(source)
        with pytest.raises(FileError, match=f"{name}: is a device, not a"):
            pw.encode_files(TOKENIZER, source, tmp_path / "ids.bin")
    with pytest.raises(FileError, match=f"{name}: is a device, not a file of ids"):
        next(pw.export.read_ids(tmp_path / name))


def test_a_named_pipe_in_a_corpus_directory_is_refused_and_read_when_it_is_named(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(
        FileError,
        match=r"a\.txt: is a named pipe or a socket, not a text file that is a regular file",
    ):
        pw.count_files(tmp_path)
    code = f"open({str(tmp_path / 'a.txt')!r}, 'w').write('hug pug')"
    with subprocess.Popen([sys.executable, "-c", code]):
        assert pw.count_files(tmp_path / "a.txt").total == 2


def test_a_corpus_is_read_from_the_pipe_of_a_shell(tmp_path: Path) -> None:
    TOKENIZER.save(tmp_path / "tokenizer.json")
    command = f"{PIECEWORK} encode {tmp_path}/tokenizer.json <(echo hug)"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert (done.stdout, done.stderr) == (b"1\n", b"")


def test_a_file_larger_than_the_memory_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.touch()
    os.truncate(path, 1 << 42)  # sparse
    with pytest.raises(MemoryLimitError, match=r"tokenizer\.json: does not fit into memory"):
        pw.Tokenizer.load(path)
    with pytest.raises(MemoryLimitError, match=r"tokenizer\.json: does not fit into memory"):
        read_file.file_bytes(path, "a file")
