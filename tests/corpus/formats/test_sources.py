"""Folders of `datasets`, patterns and URLs."""

from __future__ import annotations

import functools
import gzip
import http.server
import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.corpus import corpus_files
from tests.corpus.formats.samples import (
    RECORDS,
    TABLES,
    TEXTS,
    arrow_data,
    csv_data,
    jsonl_data,
    parquet_data,
    texts,
    write,
)

fsspec = pytest.importorskip("fsspec", reason="URLs need fsspec")


# ---- datasets folders


@pytest.fixture(scope="module")
def dataset() -> Any:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    return datasets.Dataset.from_dict({"text": [f"text {n}" for n in range(100)]})


def test_a_folder_of_datasets_is_read_in_order(tmp_path: Path, dataset: Any) -> None:
    dataset.save_to_disk(tmp_path / "saved", num_shards=3)
    write(tmp_path / "saved" / "cache-1.arrow", arrow_data("stream"))  # of `Dataset.map`
    assert texts(tmp_path / "saved") == dataset["text"][:]
    assert texts(tmp_path) == dataset["text"][:]


def test_a_shuffled_dataset_is_read_in_its_order(tmp_path: Path, dataset: Any) -> None:
    shuffled = dataset.shuffle(seed=1)
    shuffled.save_to_disk(tmp_path)
    assert texts(tmp_path) == shuffled["text"][:]


def test_a_dataset_of_several_splits_needs_the_split(tmp_path: Path, dataset: Any) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.DatasetDict(train=dataset, test=dataset).save_to_disk(tmp_path)
    with pytest.raises(pw.errors.CorpusError, match=r"several splits \(train, test\).*train'"):
        texts(tmp_path)
    assert len(texts(tmp_path / "test")) == 100


@pytest.mark.parametrize(
    "state", ["{", "[]", "{}", '{"_data_files": [{"filename": "../x.arrow"}]}']
)
def test_a_damaged_state_of_a_dataset_is_rejected(tmp_path: Path, state: str) -> None:
    write(tmp_path / "dataset_info.json", "{}")
    write(tmp_path / "state.json", state)
    with pytest.raises(pw.errors.CorpusError, match=r"state\.json"):
        texts(tmp_path)


# ---- patterns


def test_a_pattern_gives_its_files_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/y.txt", "c.bin", "d.txt.gz"):
        write(tmp_path / name, name)
    monkeypatch.chdir(tmp_path)
    assert corpus_files("*.txt") == ["b.txt"]
    assert corpus_files("**/*.txt") == ["a/b/y.txt", "a/z.txt", "b.txt"]
    assert corpus_files(["?.bin", "[b]*"]) == ["c.bin", "b.txt"]
    assert texts(Path("**/y.txt")) == ["a/b/y.txt"]


def test_a_pattern_without_a_match_is_named(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.jsonl")
    for use in (texts, pw.count_files, pw.Tokenizer.train):
        with pytest.raises(
            pw.errors.FileError,
            match=r"\*\.jsonl: no file matches \(\*\* matches folders of any depth\)",
        ):
            use(pattern)


def test_a_file_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a[1].txt", "hug")) == ["hug"]


# ---- URLs


@pytest.fixture
def memory() -> Iterator[Any]:
    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def test_urls_are_read_in_every_format(memory: Any) -> None:
    made = {**RECORDS, **TABLES, "a.jsonl.gz": lambda: gzip.compress(jsonl_data())}
    for name, data in made.items():
        memory.pipe(f"/corpus/{name}", data())
        assert texts(f"memory://corpus/{name}") == TEXTS, name


def test_patterns_and_directories_of_urls_are_sorted_and_without_hidden_files(memory: Any) -> None:
    for name in ("b.txt", "a/z.txt", "a/.hidden.txt", ".git/x.txt", "c.bin"):
        memory.pipe(f"/corpus/{name}", name.encode())
    expected = ["memory:///corpus/a/z.txt", "memory:///corpus/b.txt"]
    assert [
        url.replace("memory://corpus", "memory:///corpus")
        for url in corpus_files("memory://corpus")
    ] == expected
    assert texts("memory://corpus") == ["a/z.txt", "b.txt"]
    assert texts("memory://corpus/*.txt") == ["b.txt"]
    with pytest.raises(pw.errors.FileError, match="no file matches"):
        texts("memory://corpus/*.jsonl")


def test_files_are_read_as_urls_and_through_archives(tmp_path: Path, tok: pw.Tokenizer) -> None:
    write(tmp_path / "a.txt", "hug\n")
    assert texts(f"file://{tmp_path}/a.txt") == ["hug"]
    assert texts(f"file://{tmp_path}") == ["hug"]
    pw.encode_files(tok, f"file://{tmp_path}/a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "1 2 3\n"
    fs = fsspec.filesystem("zip", fo=str(tmp_path / "a.zip"), mode="w")
    with fs.open("in/b.txt", "wb") as file:
        file.write(b"pug\n")
    fs.zip.close()
    assert texts(f"zip://in/b.txt::file://{tmp_path}/a.zip") == ["pug"]
    assert texts(f"zip://**/*.txt::file://{tmp_path}/a.zip") == ["pug"]


def test_web_addresses_are_read(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="fsspec reads web addresses with aiohttp")
    write(tmp_path / "a.txt", "hug\n")
    write(tmp_path / "b.csv.gz", gzip.compress(csv_data()))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert texts(f"{address}/a.txt?version=1") == ["hug"]
        assert texts(f"{address}/b.csv.gz") == TEXTS
        with pytest.raises(pw.errors.FileError, match=r".*none\.txt: cannot be read: no such file"):
            texts(f"{address}/none.txt")
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        (
            "memory://nowhere/a.txt",
            pw.errors.FileError,
            "memory://nowhere/a.txt: cannot be read: no such file",
        ),
        (
            "nosuch://a.txt",
            pw.errors.FileError,
            "nosuch://a.txt: cannot be read: Protocol not known: nosuch",
        ),
        ("file:///nowhere/a.parquet", pw.errors.FileError, "no such file"),
    ],
)
def test_a_url_that_cannot_be_read_is_named(url: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        texts(url)


def test_urls_without_their_extra_say_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(pw.errors.MissingExtraError, match="pip install 'fsspec>=2023.6'"):
        texts("memory://a.txt")


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs")])
@pytest.mark.parametrize("path", ["bucket/a.txt", "bucket/*.txt", "bucket/a.parquet"])
def test_a_scheme_without_its_package_names_the_package(
    monkeypatch: pytest.MonkeyPatch, scheme: str, package: str, path: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    url = f"{scheme}://{path}"
    with pytest.raises(pw.errors.MissingExtraError, match=f"nstall {package} to") as error:
        texts(url)
    assert str(error.value).startswith(f"{url}: needs another package")


def test_parquet_of_a_file_system_without_caches_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(fsspec.AbstractFileSystem):  # type: ignore[misc]
        protocol = "plain"

        def _open(
            self, path: str, mode: str, block_size: Any, autocommit: bool, cache_options: Any
        ) -> Any:
            return io.BytesIO(parquet_data())

        def info(self, path: str) -> dict[str, Any]:
            return {"name": path, "size": len(parquet_data()), "type": "file"}

    fsspec.register_implementation("plain", Plain, clobber=True)
    assert texts("plain://a.parquet") == TEXTS
