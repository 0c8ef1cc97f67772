"""Corpora in S3: formats, patterns, faults of objects, buckets and credentials, on a local server."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import piecework as pw
from piecework.errors import CorpusError, FileError
from tests.remote.s3_server import KEYS, S3Server, s3_server

# More than one request.
LARGE = b"hug pug bun %d\n" * 2_000_000
BLOCK_BYTES = 16 << 20


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def s3(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server with an empty bucket; the environment has its address and keys, and no other ones."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    for item in server.client.list_objects_v2(Bucket="corpus").get("Contents", ()):
        server.client.delete_object(Bucket="corpus", Key=item["Key"])
    server.fetched.clear()
    server.drops.clear()
    server.before = lambda path: None
    return server


def words(*paths: Any, **options: Any) -> dict[str, int]:
    return dict(pw.count_files(list(paths), preset="whitespace", **options).most_common())


def table(rows: int = 20_000, **more: Any) -> bytes:
    draw = random.Random(1)
    noise = ["".join(draw.choices("abcdefghijklmnop", k=200)) for _ in range(rows)]
    out = io.BytesIO()
    texts = [f"hug {number}" for number in range(rows)]
    pq.write_table(pa.table({"text": texts, "noise": noise}), out, row_group_size=rows // 4, **more)
    return out.getvalue()


def test_objects_of_every_format_are_read(s3: S3Server) -> None:
    lines = b'{"text": "hug"}\n{"text": "pug"}\n'
    rows = io.BytesIO()
    schema = pa.schema({"text": pa.string()})
    with pa.ipc.new_file(rows, schema) as writer:
        writer.write(pa.record_batch([["hug", "pug"]], schema=schema))
    made = {
        "a.txt": b"hug pug\n",
        "a.txt.gz": gzip.compress(b"hug ") + gzip.compress(b"pug\n"),
        "a.jsonl.gz": gzip.compress(lines),
        "a.csv": b"id,text\n1,hug\n2,pug\n",
        "a.arrow": rows.getvalue(),
    }
    for key, data in made.items():
        assert words(s3.put(key, data)) == {"hug": 1, "pug": 1}, key


def test_a_tokenizer_is_trained_on_a_bucket_and_encodes_an_object(
    s3: S3Server, tmp_path: Path
) -> None:
    url = s3.put("en/a.txt.gz", gzip.compress(b"hug pug hug\n" * 50))
    tok = pw.Tokenizer.train("s3://corpus/en/*.gz", vocab_size=16, preset="whitespace")
    pw.encode_files(tok, url, tmp_path / "ids.txt")
    assert len((tmp_path / "ids.txt").read_text().splitlines()) == 50


def test_patterns_and_directories_find_the_objects_of_now(s3: S3Server) -> None:
    s3.put("g/b.txt", b"hug\n")
    s3.put("g/deep/a.txt", b"pug\n")
    s3.put("g/.hidden.txt", b"x\n")
    assert words("s3://corpus/g/*.txt") == {"hug": 1, "x": 1}
    assert words("s3://corpus/g/**/*.txt") == {"hug": 1, "pug": 1, "x": 1}
    assert words("s3://corpus/g") == {"hug": 1, "pug": 1}
    # s3fs remembers listings; a changed object would not have the ETag of the listing.
    s3.put("g/b.txt", b"bun bun\n")
    s3.put("g/c.txt", b"new\n")
    assert words("s3://corpus/g/*.txt") == {"bun": 2, "new": 1, "x": 1}
    assert words("s3://corpus/g/b.txt") == {"bun": 2}
    assert words("s3://corpus/g") == {"bun": 2, "new": 1, "pug": 1}


def test_a_large_object_is_read_block_by_block(s3: S3Server) -> None:
    url = s3.put("large.txt", LARGE)
    assert words(url)["hug"] == 2_000_000
    sizes = [size for _, size in s3.fetched]
    assert sum(sizes) == len(LARGE)
    # s3fs reads a block more than the megabyte that the reader asks for.
    assert max(sizes) <= BLOCK_BYTES + (1 << 20)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_only_the_column_of_texts_is_fetched_from_parquet(s3: S3Server, compression: str) -> None:
    data = table(compression=compression, use_dictionary=False)
    url = s3.put("a.parquet", data)
    expected = pq.ParquetFile(io.BytesIO(data)).metadata
    column = sum(
        expected.row_group(group).column(0).total_compressed_size
        for group in range(expected.num_row_groups)
    )
    assert words(url)["hug"] == 20_000
    # The footer takes one request of 64 KB.
    assert column < s3.bytes_of("corpus/a.parquet") <= column + (66 << 10) < len(data) / 5
    assert len(s3.fetched) <= 2 + 4 * 3


def test_a_dropped_connection_is_tried_again(s3: S3Server) -> None:
    url = s3.put("large.txt", LARGE)
    s3.drops["corpus/large.txt"] = 2
    assert words(url)["hug"] == 2_000_000


def test_connections_that_always_drop_are_an_error_that_names_the_url(s3: S3Server) -> None:
    for key, data in {
        "a.txt": LARGE,
        "a.txt.gz": gzip.compress(LARGE),
        "a.parquet": table(),
    }.items():
        url = s3.put(key, data)
        s3.drops[f"corpus/{key}"] = 1_000
        with pytest.raises(
            FileError, match=rf"s3://corpus/{key}: cannot be read: .*(payload|content length)"
        ):
            words(url)


def test_a_file_that_drops_can_be_skipped(s3: S3Server) -> None:
    urls = [s3.put("a.txt", b"hug\n"), s3.put("b.txt", b"pug\n" * 9)]
    s3.drops["corpus/b.txt"] = 1_000
    with pytest.warns(pw.errors.CorpusWarning, match=r"first in s3://corpus/b\.txt"):
        assert words(*urls, on_error="skip") == {"hug": 1}


@pytest.mark.parametrize("key", ["a.txt", "a.parquet"])
def test_an_object_that_changes_while_it_is_read_is_an_error(s3: S3Server, key: str) -> None:
    old, new = (LARGE, LARGE[::-1]) if key == "a.txt" else (table(), table(20_004))
    url = s3.put(key, old)

    def change(path: str) -> None:
        if s3.fetched:
            s3.before = lambda path: None
            s3.put(key, new)

    s3.before = change
    with pytest.raises(
        FileError, match=rf"s3://corpus/{key}: .*the file changed while it was read; run again"
    ):
        words(url)
    assert words(url)  # a new run reads the new object


def test_truncated_data_of_an_object_is_named(s3: S3Server) -> None:
    url = s3.put("a.txt.gz", gzip.compress(LARGE)[:-9])
    with pytest.raises(CorpusError, match=r"s3://corpus/a\.txt\.gz: found truncated gzip data"):
        words(url)
    url = s3.put("a.parquet", table()[:-9])
    with pytest.raises(CorpusError, match=r"s3://corpus/a\.parquet: found damaged Parquet data"):
        words(url)


def test_a_count_continues_unless_an_object_changed(s3: S3Server, tmp_path: Path) -> None:
    s3.put("c/a.txt", b"hug hug\n")
    s3.put("c/b.txt", b"pug\n" * 3)

    class StopError(KeyboardInterrupt):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError

    def interrupted() -> None:
        with pytest.raises(StopError):
            words("s3://corpus/c", checkpoint=tmp_path, progress=stop)

    interrupted()
    assert words("s3://corpus/c", checkpoint=tmp_path) == {"pug": 3, "hug": 2}
    interrupted()
    s3.put("c/a.txt", b"pug pug\n")
    with pytest.raises(
        CorpusError, match=r"s3://corpus/c/a\.txt was added, moved or changed since"
    ):
        words("s3://corpus/c", checkpoint=tmp_path)


def test_progress_knows_the_sizes_of_objects(s3: S3Server) -> None:
    s3.put("a.txt", b"hug\n")
    calls: list[tuple[int, int]] = []
    words("s3://corpus/*.txt", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(4, 4)]


# ---- buckets and credentials


@pytest.mark.parametrize("path", ["a.txt", "*.txt", "folder", "a.parquet"])
def test_a_missing_bucket_is_named(s3: S3Server, path: str) -> None:
    with pytest.raises(FileError, match="s3://nowhere/.*: there is no bucket 'nowhere' that these"):
        words(f"s3://nowhere/{path}")


@pytest.mark.parametrize(
    ("path", "found"),
    [("none.txt", "no such file"), ("*.txt", "no file matches"), ("none", "no such file")],
)
def test_a_missing_object_is_named(s3: S3Server, path: str, found: str) -> None:
    with pytest.raises(FileError, match=found) as error:
        words(f"s3://corpus/{path}")
    assert f"s3://corpus/{path}" in str(error.value)


@pytest.mark.parametrize("path", ["a.txt", "*.txt", "folder", "a.parquet"])
def test_missing_credentials_are_named(
    s3: S3Server, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put("a.txt", b"hug\n")
    for name in KEYS:
        monkeypatch.delenv(name)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    with pytest.raises(
        FileError, match=r"s3://corpus/.*: .*locate credentials.*; put credentials for it into"
    ):
        words(f"s3://corpus/{path}")


def test_an_answer_of_403_is_named(s3: S3Server) -> None:
    url = s3.put("a.txt", b"hug\n")
    s3.forbidden.add("corpus/a.txt")
    try:
        with pytest.raises(
            FileError, match=r"s3://corpus/a\.txt: cannot be read: .*; put credentials"
        ):
            words(url)
    finally:
        s3.forbidden.clear()


def test_a_public_bucket_is_read_without_credentials(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.client.put_object(Bucket="corpus", Key="a.txt", Body=b"hug\n", ACL="public-read")
    for name in KEYS:
        monkeypatch.delenv(name)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    # fsspec reads this variable of the environment when it is imported.
    settings: dict[str, Any] = {}
    fsspec.config.set_conf_env(settings, {"FSSPEC_S3_ANON": "true"})
    monkeypatch.setitem(fsspec.config.conf, "s3", settings["s3"])
    assert words("s3://corpus/a.txt") == {"hug": 1}
