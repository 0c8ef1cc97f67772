"""Corpora in datasets of the Hugging Face hub, as `hf://` URLs, from a local server."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import piecework as pw
from piecework.errors import FileError
from tests.hub_server import HubServer, hub

fsspec = pytest.importorskip("fsspec", reason="URLs need fsspec")
pytest.importorskip("huggingface_hub", reason="the scheme hf:// needs huggingface_hub")

DATASET = "hf://datasets/user/name"


def table() -> bytes:
    draw = random.Random(1)
    noise = ["".join(draw.choices("abcdefghijklmnop", k=400)) for _ in range(2_000)]
    out = io.BytesIO()
    columns = {"text": ["hug pug"] * 2_000, "noise": noise}
    pq.write_table(pa.table(columns), out, row_group_size=500)
    return out.getvalue()


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return {
        "README.md": b"words that are no corpus",
        "data/train-0.jsonl.gz": gzip.compress(b'{"text": "hug"}\n{"text": "pug"}\n'),
        "data/train-1.jsonl": b'{"text": "bun"}\n',
        "data/more/a.txt": b"deep\n",
        "table/train.parquet": table(),
    }


@pytest.fixture
def server(files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    versions = {"main": files, "v1": {"data/train-0.jsonl": b'{"text": "old"}\n'}}
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with hub({"datasets/user/name": versions}) as server:
        monkeypatch.setitem(fsspec.config.conf, "hf", {"endpoint": server.url})
        yield server
    fsspec.get_filesystem_class("hf").clear_instance_cache()


def words(*paths: str, **options: Any) -> dict[str, int]:
    return dict(pw.count_files(list(paths), preset="whitespace", **options).most_common())


def test_files_of_a_dataset_are_read(server: HubServer) -> None:
    assert words(f"{DATASET}/data/train-1.jsonl") == {"bun": 1}
    assert words(f"{DATASET}/data/train-0.jsonl.gz") == {"hug": 1, "pug": 1}
    assert server.fetched == ["data/train-1.jsonl", "data/train-0.jsonl.gz"]


def test_patterns_directories_and_revisions_of_a_dataset_are_read(server: HubServer) -> None:
    assert words(f"{DATASET}/data/*.jsonl*") == {"bun": 1, "hug": 1, "pug": 1}
    assert words(f"{DATASET}/data") == {"bun": 1, "hug": 1, "pug": 1, "deep": 1}
    assert words(f"{DATASET}/data/**/*.txt") == {"deep": 1}
    assert words(f"{DATASET}@v1/data/train-0.jsonl") == {"old": 1}


def test_only_the_column_of_texts_is_fetched(server: HubServer, files: dict[str, bytes]) -> None:
    assert words(f"{DATASET}/table/train.parquet") == {"hug": 2_000, "pug": 2_000}
    assert set(server.fetched) == {"table/train.parquet"}
    assert sum(server.sizes) < len(files["table/train.parquet"]) / 5


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (
            "hf://datasets/user/none/a.txt",
            "no such file",
        ),
        (
            "hf://datasets/user/none/*.txt",
            "no such file",
        ),
        (
            f"{DATASET}/data/none.txt",
            "no such file",
        ),
        (f"{DATASET}/data/*.csv", "no file matches"),
        (
            f"{DATASET}@v9/data/train-0.jsonl",
            "no such file",
        ),
    ],
)
def test_a_file_that_the_hub_lacks_is_named(server: HubServer, url: str, found: str) -> None:
    with pytest.raises(FileError, match=found) as error:
        words(url)
    assert str(error.value).startswith((f"{url}: cannot be read: ", f"{url}: no file matches "))
