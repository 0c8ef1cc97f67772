"""Files that are not tokenizers are named for what they are, damaged ones for what their name promises."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import FormatError
from piecework.io import source_bytes

Run = Callable[..., tuple[int, str, str]]

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 499723\n"
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"
BESIDE = "expected the tokenizer file that belongs to it, such as tokenizer.json"
WEIGHTS = "weights do not contain one"


def zipped(name: str) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr(name, "content")
    return stored.getvalue()


def tarred() -> bytes:
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("tokenizer.json"))
    return stored.getvalue()


def safetensors() -> bytes:
    tensor = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    header = json.dumps({"weight": tensor}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(4)


OTHERS: list[tuple[str, bytes, str]] = [
    ("tokenizer.model", LFS, "a Git LFS pointer, expected the file: run git lfs pull"),
    ("tokenizer.json", LFS, "a Git LFS pointer, expected the file: run git lfs pull"),
    ("cl100k_base.tiktoken", LFS, "a Git LFS pointer"),
    ("spiece.model", b"/annex/objects/MD5E-s3--ab\n", "a git-annex pointer.*git annex get"),
    ("tokenizer.json", HTML, "an HTML page, such as a login or error page, expected .*again"),
    ("vocab.txt", b"\n<html><body>Not Found</body></html>", "an HTML page"),
    ("tokenizer.json", b'<?xml version="1.0"?><Error/>', "an XML document"),
    *((name, b"", "an empty file") for name in ("a", "vocab.txt", "t.json", "t.model")),
    ("vocab.txt", b" \r\n\n", "a file of blank lines"),
    ("tokenizer.zip", zipped("tokenizer.json"), "a zip archive, expected .*: unpack it first"),
    ("tokenizer.json", zipped("tokenizer.json"), "a zip archive"),
    ("model.tar", tarred(), "a tar archive, expected .*: unpack it first"),
    ("model.tar.gz", gzip.compress(tarred(), mtime=0), "a tar archive"),
    ("model.7z", b"7z\xbc\xaf\x27\x1c" + bytes(40), "a 7-Zip archive"),
    ("t.json.zst", b"\x28\xb5\x2f\xfd" + bytes(40), "Zstandard data, expected .*unpack"),
    ("t.json.xz", b"\xfd7zXZ\x00" + bytes(40), "xz data"),
    ("model.safetensors", safetensors(), f"weights in the safetensors format, .*{WEIGHTS}"),
    ("pytorch_model.bin", zipped("archive/data.pkl"), f"weights of PyTorch, .*{WEIGHTS}"),
    ("old.bin", pickle.dumps({"w": 1}), f"a pickle, such as weights of PyTorch, .*{WEIGHTS}"),
    ("a.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "a GGUF file without a tokenizer"),
    ("tf_model.h5", b"\x89HDF\r\n\x1a\n" + bytes(40), "an HDF5 file"),
    ("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(40), "a PNG image"),
    ("logo.jpg", b"\xff\xd8\xff\xe0" + bytes(40), "a JPEG image"),
    ("logo.gif", b"GIF89a" + bytes(40), "a GIF image"),
    ("paper.pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
    ("corpus.parquet", b"PAR1" + bytes(40) + b"PAR1", "a Parquet file"),
    ("noise", random.Random(1).randbytes(4000), "binary data"),
    (
        "tokenizer_config.json",
        b'{"tokenizer_class": "BertTokenizer"}',
        f"a tokenizer_con.*{BESIDE}",
    ),
    ("config.json", b'{"model_type": "bert", "vocab_size": 9}', f"the config.json of a .*{BESIDE}"),
    ("special_tokens_map.json", b'{"unk_token": "[UNK]"}', f"a special_tokens_map.json, {BESIDE}"),
    (
        "generation_config.json",
        b'{"eos_token_id": 1, "transformers_version": "4"}',
        "a generation_c",
    ),
    ("model.safetensors.index.json", b'{"metadata": {}, "weight_map": {}}', "an index of weights"),
    ("added_tokens.json", b'{"<a>": 30522}', "a JSON object but not a tokenizer"),
    (
        "a.json",
        b'{"a":1}',
        "a JSON object but not a tokenizer; load a tokenizer.json, or a vocab",
    ),
]


@pytest.mark.parametrize(("name", "data", "message"), OTHERS)
def test_a_file_that_is_not_a_tokenizer_is_named(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=f"{name}(: is|: found) {message}") as caught:
        pw.Tokenizer.load(tmp_path / name)
    assert caught.value.place == str(tmp_path / name)
    assert len(caught.value.message) < 160
    with pytest.raises(FormatError, match=f"(is|found) {message}"):
        pw.Tokenizer.from_bytes(gzip.decompress(data) if name.endswith("gz") else data)


def test_a_pointer_is_named_in_place_of_a_wrong_checksum(tmp_path: Path) -> None:
    (tmp_path / "cl100k_base.tiktoken").write_bytes(LFS)
    with pytest.raises(FormatError, match="a Git LFS pointer"):
        pw.Tokenizer.load(tmp_path / "cl100k_base.tiktoken", encoding_name="cl100k_base")


def test_large_weights_are_named_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors())
    os.truncate(path, 1 << 36)  # sparse: reading it would need 64 GiB of memory
    with pytest.raises(FormatError, match="weights in the safetensors format"):
        pw.Tokenizer.load(path)
    large = tmp_path / "tokenizer.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0})).save(large)
    monkeypatch.setattr(source_bytes, "_MAX_BYTES", 1)
    assert len(pw.Tokenizer.load(large)) == 1


BASE64_LINES = b"".join(b"AAA%c= %d\n" % (65 + at, at) for at in range(20))

DAMAGED: list[tuple[str, bytes, str]] = [
    ("tokenizer.json", b"null", "document: found null, expected an object"),
    ("tokenizer.json", b"42", "document: found 42, expected an object"),
    ("tokenizer.json", b"[]", "document: found an array, expected an object"),
    ("tokenizer.json", b"[[[[1]]]]", "document: found an array"),
    ("tokenizer.json", b'"a"', 'document: found "a"'),
    ("tokenizer.json", b"[" * 5000, "line 1, column 128: found recursion limit exceeded"),
    ("tokenizer.json.gz", gzip.compress(b"null", mtime=0), "document: found null"),
    ("tekken.json", b"[]", "found an array"),
    ("tokenizer.json", b'{"a": 0, "b": 1, "c', r"line 1, column 19: found EOF"),
    ("vocab.json", b'{"a": 0, "b": 1, "c', r"line 1, column 19: found EOF"),
    ("vocab.json", b'{"a": 0, "b": \xff}', "UTF-8"),
    ("tokenizer.json", b'{"added_tokens": 5, "model": null}', "added_tokens: found 5"),
    ("tokenizer.json", b'{"a": 1}', "a: found an unknown field"),
    *(
        ("spiece.model", b"\n\x0e\n\x05<unk>\x15\0\0"[:size], "found a field that is cut off")
        for size in range(1, 10)
    ),
    ("random.model", random.Random(2).randbytes(4000), "byte 0: found a field that is cut off"),
    ("a.gguf", b"GG", "found"),
    (
        "ranks.tiktoken",
        BASE64_LINES.replace(b" ", b"\t"),
        r'line 1: found "AAAA=.*0", expected a token',
    ),
    (
        "ranks.tiktoken",
        b"\xef\xbb\xbf" + BASE64_LINES,
        "line 1: found .*expected a token in base64",
    ),
    ("ranks.tiktoken", BASE64_LINES.decode().encode("utf-16"), "found UTF-16 text, expected UTF-8"),
    ("ranks.tiktoken", b"hello world\n", 'line 1: found "hello world", expected a token in base64'),
]


@pytest.mark.parametrize(("name", "data", "message"), DAMAGED)
def test_a_damaged_file_has_an_error_of_the_format_of_its_name(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        pw.Tokenizer.load(tmp_path / name)
    assert "vocab.txt" not in str(caught.value)
    if name.endswith(".tiktoken"):
        with pytest.raises(FormatError, match=message):
            pw.Tokenizer.load(tmp_path / name, pattern="gpt2", special_tokens={"<|end|>": 99})


def test_a_vocabulary_still_asks_for_its_merges(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1}')
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"merges: must be the path of the merges file of .*vocab\.json, which is a vocabulary of",
    ):
        pw.Tokenizer.load(tmp_path / "vocab.json")


def test_inspect_says_what_a_file_is(tmp_path: Path, cli: Run) -> None:
    (tmp_path / "tokenizer.model").write_bytes(LFS)
    code, out, err = cli("inspect", str(tmp_path / "tokenizer.model"))
    assert (code, out) == (2, "")
    assert "tokenizer.model: found a Git LFS pointer, expected the file: run git lfs pull" in err
