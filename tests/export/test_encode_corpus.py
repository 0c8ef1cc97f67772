"""Corpora become folders of shards: what is in them, and how a run continues after an interruption."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import (
    ArgumentError,
    CorpusError,
    CorpusWarning,
    FileError,
    FormatError,
    InputTypeError,
)
from piecework.export import (
    concat_megatron,
    encode_corpus,
    long_documents,
    packing,
    read_ids,
    row_order,
)
from piecework.export import input_lines as lines_module
from piecework.export import shard_documents as documents_module
from piecework.export.shard_plan import ShardPlan
from tests.conftest import Run
from tests.cuts import PRESETS, tokenizers_with_cuts

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX files and signals")
FORMATS = list(pw.export.SHARD_FORMATS)
PACKED_FORMATS = ["npy", "arrow", "arrow-stream", "parquet", "datasets"]
Rows = list[list[int]]


def sentences(count: int, seed: int) -> list[str]:
    """Return lines of very different lengths."""
    draw = random.Random(seed)
    words = ["hug", "hugs", "hugging", "a", "cafe", "!", "internationalization", "b c"]
    lengths = [draw.choice([0, 1, 3, 10, 40, 400 * (draw.random() < 0.02)]) for _ in range(count)]
    return [" ".join(draw.choices(words, k=length)) for length in lengths]


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(sentences(300, 1), vocab_size=120)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Plain text, compressed text, an empty file, and JSON lines."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / name for name in ("a.txt", "b.txt.gz", "c.txt", "d.jsonl")]
    paths[0].write_text("\n".join(sentences(900, 2)) + "\n")
    paths[1].write_bytes(gzip.compress("\n".join(sentences(700, 3)).encode()))
    paths[2].touch()
    objects = [{"text": text, "n": index} for index, text in enumerate(sentences(800, 4))]
    paths[3].write_text("".join(json.dumps(item) + "\n" for item in objects))
    return paths


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and batches so small that a few kilobytes are many."""
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 2048)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 512)
    monkeypatch.setattr(documents_module, "BATCH_BYTES", 4096)


def texts_of(paths: list[Path]) -> list[str]:
    texts = [text for rows in pw.corpus.read_corpus(paths) for text in rows.texts]
    return [text for text in texts if text.strip()]


def ids_of(tok: pw.Tokenizer, texts: list[str]) -> Rows:
    return tok.encode_batch(texts).to_lists()


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def main_files(folder: Path) -> list[Path]:
    """Return one file of each shard, in the order of the manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return [folder / shard["files"][0]["name"] for shard in manifest["shards"]]


def rows_in(path: Path) -> Rows:
    return [row for rows in read_ids(path) for row in rows]


def all_rows(folder: Path) -> Rows:
    return [row for path in main_files(folder) for row in rows_in(path)]


# ---- what is written


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shards", [None, 1, 5])
def test_shards_hold_every_document_in_corpus_order(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, form: Any, shards: int | None
) -> None:
    done = encode_corpus(tok, corpus, tmp_path / "out", format=form, shards=shards)
    expected = ids_of(tok, texts_of(corpus))
    assert all_rows(tmp_path / "out") == expected
    assert (done.documents, done.rows) == (len(expected), len(expected))
    assert done.tokens == sum(map(len, expected))
    assert done.shards == (shards or len(corpus))
    assert done.empty_lines_dropped == 900 + 700 + 800 - len(expected)


def test_each_input_is_a_shard_with_its_name(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    for path in corpus:
        shard = tmp_path / f"{path.name.split('.')[0]}.npy"
        assert rows_in(shard) == ids_of(tok, texts_of([path]))


def test_inputs_of_the_same_name_get_numbers(tok: pw.Tokenizer, tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("hug\n")
    encode_corpus(tok, [tmp_path / "x", tmp_path / "y"], tmp_path / "out", format="parquet")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["00000-a.parquet", "00001-a.parquet", "manifest.json"]


def test_names_that_would_share_a_file_get_numbers(tok: pw.Tokenizer, tmp_path: Path) -> None:
    for name in ("a.txt", "a.row_offsets.txt"):
        (tmp_path / name).write_text("hug\n")
    encode_corpus(tok, [tmp_path / "a.txt", tmp_path / "a.row_offsets.txt"], tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 5


def test_shards_have_about_equal_bytes(tok: pw.Tokenizer, tmp_path: Path) -> None:
    sizes = [9_000, 100, 41_000, 0, 30_000]
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.txt").write_text(
            "a hug of ten words is longer than the others\n" * (size // 45)
        )
    paths = [tmp_path / f"{number}.txt" for number in range(len(sizes))]
    encode_corpus(tok, paths, tmp_path / "out", shards=7)
    documents = [len(rows_in(path)) for path in main_files(tmp_path / "out")]
    assert max(documents) - min(documents) <= 2


def test_shards_of_a_corpus_with_few_documents_can_be_empty(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a hug\n")
    for form in FORMATS:
        encode_corpus(tok, tmp_path / "a.txt", tmp_path / form, format=form, shards=3)
        assert [len(rows_in(path)) for path in main_files(tmp_path / form)] == [1, 0, 0]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.integers(1, 12))
def test_every_position_belongs_to_a_shard_of_its_file(sizes: list[int], count: int) -> None:
    plan = ShardPlan(sizes, count)
    shards: list[int] = []
    for file, size in enumerate(sizes):
        found = plan.shards_of_positions(file, np.arange(size)).tolist()
        assert set(found) <= set(plan.shards_of_file(file))
        shards += found
    assert shards == sorted(shards)
    held = Counter(shards)
    assert all(abs(held[shard] - len(shards) / count) < 1 for shard in range(count))


@pytest.mark.parametrize(
    "settings", [{}, {"shuffle_seed": 7}, {"pack": 50, "strategy": "best-fit"}]
)
def test_the_number_of_threads_changes_no_byte(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, settings: Any
) -> None:
    for threads in (1, 3):
        encode_corpus(
            tok, corpus, tmp_path / str(threads), shards=4, num_threads=threads, **settings
        )
    assert content(tmp_path / "1") == content(tmp_path / "3")


def test_a_long_document_is_encoded_whole(tok: pw.Tokenizer, tmp_path: Path) -> None:
    texts = ["hug", "hugs " * 200_000, "cafe", "a hug"]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    encode_corpus(tok, tmp_path / "a.txt", tmp_path / "out", shards=2, num_threads=3)
    assert all_rows(tmp_path / "out") == ids_of(tok, texts)


TEXTS = st.text(
    st.sampled_from("      \t\n\r\x0b\x1c\x85\xa0\u2003abAB19's.,/-_Σς\u0301é한中\x00[]"),
    max_size=40,
)


@pytest.fixture(scope="module")
def cut_tokenizers() -> list[pw.Tokenizer]:
    # Runs of spaces become tokens, so that a cut inside of one changes ids.
    runs = ["a  b   a    b", "a \n\n  b \t\t a  \xa0 b", "Σας 19 911 's 'll a, b. -a /b a1 b2"]
    lines = [*sentences(300, 1), *(9 * runs)]
    return tokenizers_with_cuts(lines)


@given(data=st.data(), size=st.integers(1, 9))
def test_cutting_long_documents_changes_no_id(
    cut_tokenizers: list[pw.Tokenizer], data: st.DataObject, size: int
) -> None:
    tok = data.draw(st.sampled_from(cut_tokenizers))
    specials = [token.content for token in tok.spec.added_tokens]
    parts = st.lists(TEXTS | st.sampled_from([*specials, " "]), max_size=8)
    texts = data.draw(st.lists(parts.map("".join), min_size=1, max_size=4))
    with_special_tokens = data.draw(st.booleans())
    pieces = 0

    def encode(texts: Any, add_special_tokens: bool) -> pw.Batch:
        nonlocal pieces
        pieces += len(texts)
        return tok.encode_batch(texts, add_special_tokens=add_special_tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_documents, "LONG_CHARS", 1)
        patch.setattr(long_documents, "PIECE_CHARS", size)
        cut = long_documents.encoder_of_long(tok, encode, add_special_tokens=with_special_tokens)
        found = cut(texts).to_lists()
    assert found == tok.encode_batch(texts, add_special_tokens=with_special_tokens).to_lists()
    assert pieces >= len(texts)


@pytest.mark.parametrize("number", range(2 * len(PRESETS)))
def test_long_documents_of_these_tokenizers_are_cut(
    cut_tokenizers: list[pw.Tokenizer], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_documents, "LONG_CHARS", 100)
    monkeypatch.setattr(long_documents, "PIECE_CHARS", 30)
    tok = cut_tokenizers[number]
    calls: list[list[str]] = []

    def encode(texts: Any, add_special_tokens: bool) -> pw.Batch:
        calls.append(list(texts))
        return tok.encode_batch(texts, add_special_tokens=add_special_tokens)

    text = "a hug of a pug, " * 20
    found = long_documents.encoder_of_long(tok, encode, add_special_tokens=True)(["a", text])
    assert found.to_lists() == tok.encode_batch(["a", text]).to_lists()
    assert "".join(calls[0]) == "a" + text
    assert max(map(len, calls[0])) < 50


def test_documents_are_not_cut_where_ids_could_change(
    tok: pw.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_documents, "LONG_CHARS", 1)
    monkeypatch.setattr(long_documents, "PIECE_CHARS", 1)
    lines = sentences(300, 1)
    gpt2 = pw.Tokenizer.train_from_iterator(lines, model="byte-bpe", vocab_size=280)
    bloom = pw.spec.named_pre_tokenizer("bloom")
    others = [
        tok.with_truncation(5),
        tok.with_added_tokens([pw.spec.AddedToken("hug a")]),
        tok.with_added_tokens([pw.spec.AddedToken("hug", rstrip=True)]),
        pw.Tokenizer.train_from_iterator(lines, model="unigram", vocab_size=60),
        pw.Tokenizer.from_spec(dataclasses.replace(gpt2.spec, pre_tokenizer=bloom)),
    ]
    for other in others:
        calls: list[list[str]] = []

        def encode(
            texts: Any,
            add_special_tokens: bool,
            calls: list[list[str]] = calls,
            other: pw.Tokenizer = other,
        ) -> pw.Batch:
            calls.append(list(texts))
            return other.encode_batch(texts, add_special_tokens=add_special_tokens)

        texts = ["hug a hug a", "a hugs hug"]
        found = long_documents.encoder_of_long(other, encode, add_special_tokens=True)(texts)
        assert calls == [texts]
        assert found.to_lists() == other.encode_batch(texts).to_lists()


def test_settings_of_encode_files_apply(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"hug\n\n\xffhugs\n")
    done = encode_corpus(
        tok,
        tmp_path / "a.txt",
        tmp_path / "out",
        format="megatron",
        keep_empty=True,
        append_eod="[SEP]",
        add_special_tokens=False,
    )
    expected = pw.encode_files(
        tok,
        tmp_path / "a.txt",
        tmp_path / "one.bin",
        format="megatron",
        keep_empty=True,
        append_eod="[SEP]",
        add_special_tokens=False,
    )
    for suffix in ("bin", "idx"):
        made = tmp_path / "out" / f"a.{suffix}"
        assert made.read_bytes() == (tmp_path / f"one.{suffix}").read_bytes()
    assert (done.replacements, done.documents) == (1, 3)
    assert expected.tokens == (done.tokens,)


def test_the_manifest_has_checksums_of_another_library(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path, shards=2)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["piecework"] == pw.__version__
    assert manifest["complete"]
    assert manifest["settings"]["shards"] == 2
    stored = [file for shard in manifest["shards"] for file in shard["files"]]
    checked = [(tmp_path / file["name"], file) for file in stored]
    checked += [(path, entry) for path, entry in zip(corpus, manifest["inputs"], strict=True)]
    xxhash = pytest.importorskip("xxhash", reason="needs xxhash")
    for path, entry in checked:
        assert entry["xxh128"] == xxhash.xxh3_128_hexdigest(path.read_bytes())
        assert path.stat().st_size == entry.get("bytes", entry.get("size"))


def test_datasets_loads_the_folder(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    encode_corpus(tok, corpus[3], tmp_path, format="datasets", shards=3, keep=["n"])
    loaded = datasets.load_from_disk(str(tmp_path))
    assert loaded.column_names == ["input_ids", "n"]
    assert list(loaded["input_ids"]) == ids_of(tok, texts_of(corpus[3:]))


# ---- shuffling


def test_a_seed_shuffles_the_documents_of_each_shard(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_order, "WINDOW_TOKENS", 20_000)
    for name, seed in (("plain", None), ("one", 1), ("again", 1), ("two", 2)):
        encode_corpus(tok, corpus, tmp_path / name, shards=2, shuffle_seed=seed, format="parquet")
    shards = {
        name: [rows_in(p) for p in main_files(tmp_path / name)] for name in ("plain", "one", "two")
    }
    assert content(tmp_path / "one") == content(tmp_path / "again")
    for shard in range(2):
        plain, one, two = (shards[name][shard] for name in ("plain", "one", "two"))
        assert plain != one != two != plain
        assert sorted(plain) == sorted(one) == sorted(two)


def test_the_order_of_a_seed_is_the_same_everywhere() -> None:
    shuffle = row_order.Shuffle(5, 0)
    tok = pw.Tokenizer(pw.spec.Char({c: id for id, c in enumerate("abcdefgh")}, unk_token="a"))
    from piecework.export.encoded_lines import EncodedLines

    assert not list(shuffle.add(EncodedLines(tok.encode_batch(list("abcdefgh")))))
    (lines,) = shuffle.finish()
    draw = random.Random("5 0")
    keys = [draw.random() for _ in range(8)]
    assert lines.batch.ids.tolist() == sorted(range(8), key=keys.__getitem__)


def test_a_window_of_the_shuffle_is_bounded(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_order, "WINDOW_TOKENS", 3000)
    texts = [f"hug {'a ' * (number % 20)}" for number in range(3000)]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    encode_corpus(tok, tmp_path / "a.txt", tmp_path / "plain")
    encode_corpus(tok, tmp_path / "a.txt", tmp_path / "out", shuffle_seed=0)
    plain, shuffled = all_rows(tmp_path / "plain"), all_rows(tmp_path / "out")
    assert sorted(plain) == sorted(shuffled)
    first = shuffled[:100]
    assert not Counter(map(tuple, first)) - Counter(map(tuple, plain[:700]))


# ---- packing


def unpacked(folder: Path, form: str) -> tuple[list[Rows], Rows]:
    """Return the documents of each packed row, and the padding of each row."""
    documents: list[Rows] = []
    padding: Rows = []
    for path in main_files(folder):
        if form == "npy":
            rows = np.load(path).tolist()
            flat = np.load(path.with_name(f"{path.stem}.document_lengths.npy"))
            offsets = np.load(path.with_name(f"{path.stem}.document_offsets.npy"))
            assert (flat.dtype, offsets.dtype) == (np.int32, np.int64)
            lengths = [flat[start:end].tolist() for start, end in pairwise(offsets)]
        else:
            table = pytest.importorskip("pyarrow.dataset").dataset(
                path, format="parquet" if form == "parquet" else "ipc"
            )
            columns = table.to_table().to_pydict()
            rows = columns.get("ids", columns.get("input_ids"))
            lengths = columns["lengths"]
        for row, parts in zip(rows, lengths, strict=True):
            ends = [0, *accumulate(parts)]
            documents.append([row[start:end] for start, end in pairwise(ends)])
            padding.append(row[ends[-1] :])
    return documents, padding


@pytest.mark.parametrize("form", ["npy", "arrow", "parquet"])
@pytest.mark.parametrize("length", [1, 16, 100, 5000])
def test_concatenated_rows_hold_the_corpus_in_order(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, form: Any, length: int
) -> None:
    done = encode_corpus(tok, corpus, tmp_path, format=form, shards=1, pack=length)
    rows, padding = unpacked(tmp_path, form)
    expected = ids_of(tok, texts_of(corpus))
    flat = [id for row in rows for document in row for id in document]
    assert flat == [id for row in expected for id in row]
    assert not any(padding[:-1])
    assert all(id == tok.pad_token_id for id in padding[-1])
    assert {sum(map(len, row)) + len(rest) for row, rest in zip(rows, padding, strict=False)} == {
        length
    }
    # A document begins at the start of each part, except of the first part of a row that continues one.
    starts = {0, *accumulate(map(len, expected))}
    position = 0
    for row in rows:
        for number, document in enumerate(row):
            assert position in starts or number == 0
            position += len(document)
    assert (done.rows, done.documents) == (len(rows), len(expected))


@pytest.mark.parametrize("form", ["npy", "arrow", "parquet"])
@pytest.mark.parametrize("length", [1, 16, 500])
def test_best_fit_cuts_only_long_documents(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, form: Any, length: int
) -> None:
    encode_corpus(tok, corpus, tmp_path, format=form, shards=2, pack=length, strategy="best-fit")
    rows, padding = unpacked(tmp_path, form)
    expected = [
        tuple(row[start : start + length])
        for row in ids_of(tok, texts_of(corpus))
        for start in range(0, len(row), length)
    ]
    assert Counter(tuple(document) for row in rows for document in row) == Counter(expected)
    assert {sum(map(len, row)) + len(rest) for row, rest in zip(rows, padding, strict=False)} == {
        length
    }
    assert all(id == tok.pad_token_id for rest in padding for id in rest)


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 12))
def test_best_fit_takes_the_row_with_the_least_room(sizes: list[int], limit: int) -> None:
    starts, lengths = packing._pieces(np.array(sizes, np.int64), limit)
    assert lengths.sum() == sum(sizes)
    assert (lengths > 0).all()
    rows = packing._best_fit_rows(lengths, limit)
    room: dict[int, int] = {}
    for piece in np.argsort(-lengths, kind="stable").tolist():
        length, row = int(lengths[piece]), int(rows[piece])
        enough = [left for left in room.values() if left >= length]
        if enough:
            assert room[row] == min(enough)
        else:
            assert row == len(room)
        room[row] = room.get(row, limit) - length
    assert starts.tolist() == [0, *np.cumsum(lengths)[:-1]][: len(starts)]


def test_packing_wastes_little(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    done = encode_corpus(tok, corpus, tmp_path, shards=1, pack=1024, strategy="best-fit")
    assert done.tokens / (done.rows * 1024) > 0.98


# ---- columns


def test_kept_fields_become_columns(tok: pw.Tokenizer, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    objects = [
        {"text": "hug", "id": "x", "url": "http://a"},
        {"text": " ", "id": "dropped"},
        {"text": "hugs", "id": 7, "url": None},
        {"text": "a", "id": {"b": ["é", 1]}},
        {"text": "cafe", "id": "\ud800"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(item) + "\n" for item in objects))
    encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "out", format="parquet", keep=["id", "url"])
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["id"] == ["x", "7", '{"b": ["é", 1]}', "\ufffd"]
    assert table["url"] == ["http://a", None, None, None]
    assert table["ids"] == ids_of(tok, ["hug", "hugs", "a", "cafe"])


def write_table(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write columns in the format of the suffix."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == ".arrow":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
def test_kept_columns_of_tables(tok: pw.Tokenizer, tmp_path: Path, suffix: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    texts = ["hug", " ", "hugs", "a, b", "cafe"]
    urls = ["http://a", "http://b", 'q"', "x\ty", "http://e"]
    source = write_table(
        tmp_path / f"a.{suffix}", {"n": [0, 1, 2, 3, 4], "text": texts, "url": urls}
    )
    encode_corpus(tok, source, tmp_path / "out", format="parquet", keep=["url", "n"])
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["url"] == [urls[row] for row in (0, 2, 3, 4)]
    assert table["n"] == ["0", "2", "3", "4"]
    assert table["ids"] == ids_of(tok, [texts[row] for row in (0, 2, 3, 4)])
    with pytest.raises(CorpusError, match=rf"a\.{suffix} column 'id' must be one column.*'n'"):
        encode_corpus(tok, source, tmp_path / "bad", format="parquet", keep=["id"])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_kept_columns_have_no_values_of_skipped_rows(
    tok: pw.Tokenizer, tmp_path: Path, suffix: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    columns = {
        "text": ["hug", None, "hugs", None, "cafe"],
        "made": [datetime.date(2026, 1, day) for day in range(1, 6)],
        "tags": [["a"], ["b"], None, [], ["é"]],
    }
    source = write_table(tmp_path / f"a.{suffix}", columns)
    with pytest.warns(CorpusWarning, match="2 "):
        encode_corpus(
            tok,
            source,
            tmp_path / "out",
            format="parquet",
            keep=["made", "tags"],
            on_error="skip",
        )
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["made"] == ["2026-01-01", "2026-01-03", "2026-01-05"]
    assert table["tags"] == ['["a"]', None, '["é"]']


@pytest.mark.parametrize("form", ["arrow", "arrow-stream", "parquet", "datasets"])
def test_columns_stay_with_their_documents(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, form: Any
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    encode_corpus(tok, corpus[3], tmp_path, format=form, shards=2, keep=["n"], shuffle_seed=3)
    texts = [json.loads(line)["text"] for line in corpus[3].read_text().splitlines()]
    numbers = []
    for path in main_files(tmp_path):
        kind = "parquet" if form == "parquet" else "ipc"
        if form in ("arrow-stream", "datasets"):
            table = pytest.importorskip("pyarrow").ipc.open_stream(path.read_bytes()).read_all()
        else:
            table = dataset.dataset(path, format=kind).to_table()
        ids = table.column(0).to_pylist()
        mine = [int(number) for number in table.column("n").to_pylist()]
        assert ids == ids_of(tok, [texts[number] for number in mine])
        assert mine != sorted(mine)
        numbers += mine
    assert len(set(numbers)) == len(numbers) == len(texts_of(corpus[3:]))


# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"format": "ids"}, ArgumentError, "format must be .*, not 'ids'"),
        ({"shards": 0}, ArgumentError, "shards must be .*, not 0"),
        ({"shards": 10**6}, ArgumentError, "at most 100000"),
        ({"shuffle_seed": -1}, ArgumentError, "shuffle_seed"),
        ({"pack": 0}, ArgumentError, "pack"),
        ({"pack": 1 << 30}, ArgumentError, "pack must be at most.*, not 1073741824"),
        (
            {"pack": 8, "format": "megatron"},
            ArgumentError,
            "pack= does not support format='megatron'; use npy or arrow or arrow-stream or parquet",
        ),
        ({"strategy": "first-fit"}, ArgumentError, "strategy"),
        (
            {"keep": ["id"]},
            ArgumentError,
            "keep= does not support format='npy'; use arrow or arrow-stream or parquet or datasets",
        ),
        ({"keep": "id", "format": "arrow"}, InputTypeError, "keep"),
        ({"keep": ["id", "id"], "format": "arrow"}, ArgumentError, "distinct"),
        (
            {"keep": ["ids"], "format": "arrow"},
            ArgumentError,
            "keep= cannot contain the names of the format's own columns: ids",
        ),
        (
            {"keep": ["id"], "format": "arrow"},
            ArgumentError,
            r"keep= needs JSON lines or CSV or TSV or Parquet or Arrow IPC: .*a\.txt has no fields",
        ),
        (
            {"keep": ["id"], "format": "arrow", "pack": 8},
            ArgumentError,
            "keep= cannot be combined with pack=: a packed row has several documents",
        ),
        ({"append_eod": "no"}, ArgumentError, "append_eod"),
        ({"encoding_errors": "ignore"}, ArgumentError, "encoding_errors"),
    ],
)
def test_invalid_arguments_are_rejected_before_the_folder_is_made(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    arguments: Any,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        encode_corpus(tok, corpus, tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_sources_must_be_files_apart_from_the_folder(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug\n")
    with pytest.raises(ArgumentError, match="sources must be .*, not '-'"):
        encode_corpus(tok, "-", tmp_path / "out")
    with pytest.raises(
        ArgumentError,
        match="out_dir must not be inside of the source .*test_sources_must_be_files_apa0",
    ):
        encode_corpus(tok, tmp_path, tmp_path / "out")
    with pytest.raises(FileError, match=r"b\.txt: (found )?no such file"):
        encode_corpus(tok, tmp_path / "b.txt", tmp_path / "out")
    with pytest.raises(ArgumentError, match="sources must contain at least one path"):
        encode_corpus(tok, [], tmp_path / "out")
    source = tmp_path / "out" / "a.npy"
    source.write_text("hug\n")
    with pytest.raises(
        ArgumentError, match=r"out_dir must not contain the inputs: '.*a\.npy' is one of them"
    ):
        encode_corpus(tok, source, tmp_path / "out")


def test_a_url_is_refused_because_it_has_no_checksum(tmp_path: Path, tok: pw.Tokenizer) -> None:
    pytest.importorskip("fsspec", reason="URLs need fsspec")
    with pytest.raises(
        FileError,
        match="memory://a.txt is a URL; download it first, as the manifest records the checksum of a",
    ):
        encode_corpus(tok, "memory://a.txt", tmp_path / "out")


# ---- continuing


class StoppedError(Exception):
    """Raised by a test in place of a crash."""


def stop_after(batches: int, error: type[BaseException] = StoppedError) -> Any:
    """Return a progress function that raises after some batches."""
    seen = 0

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == batches:
            raise error

    return progress


VARIANTS: list[dict[str, Any]] = [
    {"format": "npy", "shards": 6},
    {"format": "megatron"},
    {"format": "parquet", "shards": 5, "shuffle_seed": 1},
    {"format": "datasets", "shards": 3},
    {"format": "npy", "shards": 4, "pack": 64},
    {"format": "arrow", "shards": 4, "pack": 64, "strategy": "best-fit", "shuffle_seed": 2},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v["format"])
@pytest.mark.parametrize("error", [StoppedError, KeyboardInterrupt])
def test_an_interrupted_run_continues_with_the_same_bytes(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    variant: dict[str, Any],
    error: type[BaseException],
) -> None:
    encode_corpus(tok, corpus, tmp_path / "plain", **variant)
    out = tmp_path / "out"
    for batches in (1, 9, 20):
        with pytest.raises(error):
            encode_corpus(
                tok, corpus, out, resume=True, progress=stop_after(batches, error), **variant
            )
        assert not list(out.glob(".*"))
    earlier = json.loads((out / "manifest.json").read_text())
    assert not earlier["complete"]
    times = {path: path.stat().st_mtime_ns for path in main_files(out)}
    done = encode_corpus(tok, corpus, out, resume=True, **variant)
    assert done.shards_from_earlier_runs == len(earlier["shards"]) == len(times) > 0
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert content(out) == content(tmp_path / "plain")


def test_a_finished_run_is_left_as_it_is(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    first = encode_corpus(tok, corpus, tmp_path, shards=3)
    before = content(tmp_path)
    again = encode_corpus(tok, corpus, tmp_path, shards=3, resume=True)
    assert again.shards_from_earlier_runs == 3
    assert (again.documents, again.tokens) == (first.documents, first.tokens)
    assert content(tmp_path) == before


def test_a_folder_of_an_earlier_run_needs_resume(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    with pytest.raises(
        ArgumentError,
        match=r"out_dir has .*manifest\.json of an earlier run; pass resume=True to finish it, or",
    ):
        encode_corpus(tok, corpus, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "found", "expected"),
    [
        ({"shards": 3}, "shards=4", "shards=3"),
        ({"shuffle_seed": 1}, "shuffle_seed=None", "shuffle_seed=1"),
        ({"format": "megatron"}, "format='npy'", "format='megatron'"),
        ({"add_special_tokens": False}, "add_special_tokens=True", "add_special_tokens=False"),
        ({"encoding_errors": "strict"}, "encoding_errors='replace'", "encoding_errors='strict'"),
        ({"pack": 9}, "pack=None", "pack=9"),
        ({"parse_special": {"[SEP]"}}, "parse_special=None", r"parse_special=\['\[SEP\]'\]"),
    ],
)
def test_other_settings_are_refused_and_both_are_named(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    arguments: Any,
    found: str,
    expected: str,
) -> None:
    encode_corpus(tok, corpus, tmp_path, shards=4)
    with pytest.raises(ArgumentError, match=f"it has {found}, and this run {expected}; run again"):
        encode_corpus(tok, corpus, tmp_path, resume=True, **{"shards": 4, **arguments})


def test_another_tokenizer_is_refused(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    with pytest.raises(
        ArgumentError, match=r"cannot resume from .*manifest\.json: its tokenizer is"
    ):
        encode_corpus(tok.with_truncation(5), corpus, tmp_path, resume=True)


def test_another_version_is_refused(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    encode_corpus(tok, corpus, tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace(f'"{pw.__version__}"', '"0.0.7"'))
    with pytest.raises(
        ArgumentError,
        match=rf"its version of piecework is 0\.0\.7, and that of this run {pw.__version__}",
    ):
        encode_corpus(tok, corpus, tmp_path, resume=True)


def copied(corpus: list[Path], folder: Path) -> list[Path]:
    folder.mkdir()
    return [Path(shutil.copy2(path, folder)) for path in corpus]


def test_changed_inputs_are_refused(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    paths = copied(corpus, tmp_path / "in")
    out = tmp_path / "out"
    with pytest.raises(StoppedError):
        encode_corpus(tok, paths, out, shards=6, progress=stop_after(25))
    with pytest.raises(
        CorpusError,
        match=r"cannot resume from .*manifest\.json: it has 4 inputs, and this run 3; run again with",
    ):
        encode_corpus(tok, paths[:3], out, shards=6, resume=True)
    with pytest.raises(
        CorpusError,
        match=r"cannot resume from .*manifest\.json: it has the input .*a\.txt where this run has",
    ):
        encode_corpus(tok, paths[::-1], out, shards=6, resume=True)
    # The time alone is no change if the content is known to be the same.
    os.utime(paths[0], (1, 1))
    os.utime(paths[3], (1, 1))
    with pytest.raises(
        CorpusError,
        match=r"d\.jsonl changed since that run, from \d+ to \d+ bytes",
    ):
        encode_corpus(tok, paths, out, shards=6, resume=True)
    shutil.copystat(corpus[3], paths[3])
    encode_corpus(tok, paths, out, shards=6, resume=True)
    text = paths[0].read_text()
    paths[0].write_text(text[::-1])
    with pytest.raises(CorpusError, match=r"a\.txt changed since that run, from \d+ to \d+ bytes"):
        encode_corpus(tok, paths, out, shards=6, resume=True)
    paths[0].write_text(text + "more")
    with pytest.raises(CorpusError, match=r"a\.txt changed since that run, from \d+ to \d+ bytes"):
        encode_corpus(tok, paths, out, shards=6, resume=True)


def test_an_input_that_changes_during_the_run_is_an_error(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    paths = copied(corpus, tmp_path / "in")

    def append(done: int, total: int) -> None:
        with paths[0].open("a") as stream:
            stream.write("more\n")

    with pytest.raises(
        CorpusError,
        match=r"a\.txt changed while it was read; inputs must stay the same during a run",
    ):
        encode_corpus(tok, paths, tmp_path / "out", progress=append)


@pytest.mark.parametrize("damage", ["cut", "bit", "missing"])
def test_a_damaged_shard_is_encoded_again(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, damage: str
) -> None:
    encode_corpus(tok, corpus, tmp_path, shards=5)
    before = content(tmp_path)
    path = main_files(tmp_path)[2]
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(data[:-2] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    done = encode_corpus(tok, corpus, tmp_path, shards=5, resume=True)
    assert done.shards_from_earlier_runs == 4
    assert content(tmp_path) == before


DAMAGE: list[Any] = [
    "",
    "{",
    "[]",
    "null",
    '{"version": 1}',
    "[" * 100_000,
    ("shards", [{}]),
    ("shards", [7]),
    ("shards", None),
    ("inputs", 5),
    ("inputs", [{}, {}, {}, {}]),
    ("settings", []),
    ("version", 3),
    ("file", "../a.npy"),
    ("file", 3),
    ("tokens", -1),
    ("tokens", "3"),
    ("name", "other"),
    ("files", []),
]


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_a_damaged_manifest_is_an_error_that_names_it(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, damage: Any
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    path = tmp_path / "manifest.json"
    if isinstance(damage, str):
        path.write_text(damage)
    else:
        key, value = damage
        manifest = json.loads(path.read_text())
        shard = manifest["shards"][0]
        target = {"file": shard["files"][0], "tokens": shard, "name": shard, "files": shard}
        target.get(key, manifest)["name" if key == "file" else key] = value
        path.write_text(json.dumps(manifest))
    with pytest.raises(
        FormatError, match=r"manifest\.json is damaged; delete the folder, or another folder"
    ):
        encode_corpus(tok, corpus, tmp_path, resume=True)


@POSIX
def test_two_processes_cannot_use_one_folder(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs file locks")
    with (tmp_path / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(
            FileError,
            match="test_two_processes_cannot_use_0 is a folder that another process is encoding to; wait",
        ):
            encode_corpus(tok, corpus, tmp_path)
    encode_corpus(tok, corpus, tmp_path)
    assert not (tmp_path / "lock").exists()


def test_leftovers_of_a_killed_process_are_removed(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path / "plain", shards=2)
    out = tmp_path / "out"
    with pytest.raises(StoppedError):
        encode_corpus(tok, corpus, out, shards=2, progress=stop_after(2))
    (out / ".0123456789abcdef.tmp").write_bytes(b"half")
    (out / "shard-00001-of-00002.npy").write_bytes(b"without a record")
    (out / "lock").touch()
    encode_corpus(tok, corpus, out, shards=2, resume=True)
    assert content(out) == content(tmp_path / "plain")


def test_other_files_of_the_folder_stay(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / ".hidden.tmp").write_text("mine")
    encode_corpus(tok, corpus, tmp_path)
    assert (tmp_path / "README.md").read_text() == (tmp_path / ".hidden.tmp").read_text() == "mine"


# ---- processes


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A tokenizer file and a corpus that takes about a second."""
    folder = tmp_path_factory.mktemp("large")
    lines = sentences(20_000, 9)
    pw.Tokenizer.train_from_iterator(lines[:300], vocab_size=120).save(folder / "tok.json")
    for name in "ab":
        (folder / f"{name}.txt").write_text("\n".join(lines * 4))
    objects = "".join(json.dumps({"text": text}) + "\n" for text in lines)
    (folder / "c.jsonl").write_text(objects * 3)
    return folder / "tok.json", [str(folder / name) for name in ("a.txt", "b.txt", "c.jsonl")]


def command(large: tuple[Path, list[str]], out: Path, *more: str) -> list[str]:
    tokenizer, sources = large
    start = [sys.executable, "-m", "piecework", "encode", str(tokenizer), *sources]
    return [*start, "--out-dir", str(out), "--shards", "24", "--resume", "--quiet", *more]


@POSIX
@pytest.mark.slow
def test_sigterm_keeps_finished_shards(large: tuple[Path, list[str]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(command(large, out))
    while len(list(out.glob("shard-*"))) < 8 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) in (0, 128 + signal.SIGTERM)
    names = {path.name for path in out.iterdir()}
    assert "manifest.json" in names
    assert not any(name.startswith(".") or name == "lock" for name in names)
    if process.returncode:
        assert len(json.loads((out / "manifest.json").read_text())["shards"]) >= 3
    subprocess.run(command(large, out), check=True)
    subprocess.run(command(large, tmp_path / "plain"), check=True)
    assert content(out) == content(tmp_path / "plain")


@POSIX
@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bytes(
    large: tuple[Path, list[str]], tmp_path: Path
) -> None:
    rounds = int(os.environ.get("PIECEWORK_FAULT_ROUNDS", "5"))
    draw = random.Random(rounds)
    for number in range(rounds):
        form = FORMATS[number % len(FORMATS)]
        arguments = ("--format", form, *(("--shuffle-seed", "1") if number % 2 else ()))
        plain, out = tmp_path / f"plain-{form}", tmp_path / f"{number}"
        if not plain.exists():
            begun = time.monotonic()
            subprocess.run(command(large, plain, *arguments), check=True)
            seconds = time.monotonic() - begun
        kills = 0
        while True:
            process = subprocess.Popen(command(large, out, *arguments))
            try:
                assert process.wait(timeout=seconds * (0.3 + 0.5 * draw.random() + kills / 5)) == 0
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert content(out) == content(plain), (form, kills)
        shutil.rmtree(out)


@POSIX
@pytest.mark.slow
def test_a_full_disk_is_an_error_and_the_run_continues(
    large: tuple[Path, list[str]], tmp_path: Path
) -> None:
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "from piecework.cli import main\n"
        "sys.argv[0] = 'piecework'\n"
        "main()\n"
    )
    out = tmp_path / "out"
    arguments = command(large, out)[3:]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert f"cannot write {out}: file too large" in done.stderr
    assert {path.name for path in out.iterdir()} == {"manifest.json"}
    subprocess.run(command(large, out), check=True)
    subprocess.run(command(large, tmp_path / "plain"), check=True)
    assert content(out) == content(tmp_path / "plain")


PEAK = """
import resource, sys
import piecework as pw
from piecework.export import packing, row_order
packing.WINDOW_TOKENS = row_order.WINDOW_TOKENS = 1 << 20
tok = pw.Tokenizer.load(sys.argv[1])
settings = dict(pack=512, strategy="best-fit", shuffle_seed=1) if sys.argv[4] == "packed" else {}
pw.export.encode_corpus(tok, sys.argv[2], sys.argv[3], shards=2, num_threads=2, **settings)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KB on Linux")
@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_memory_does_not_grow_with_the_corpus(
    large: tuple[Path, list[str]], tmp_path: Path, kind: str
) -> None:
    text = Path(large[1][0]).read_text() + "\n"
    peaks = []
    for times in (3, 9):
        source = tmp_path / f"{times}.txt"
        with source.open("w") as stream:
            for _ in range(times):
                stream.write(text)
        run = [sys.executable, "-c", PEAK, str(large[0]), str(source), str(tmp_path / f"o{times}")]
        done = subprocess.run([*run, kind], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 40 << 20


# ---- Megatron


def megatron_pair(tok: pw.Tokenizer, folder: Path, name: str, texts: list[str]) -> Path:
    (folder / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    pw.encode_files(tok, folder / f"{name}.txt", folder / name, format="megatron")
    return folder / name


def test_concatenated_megatron_files_equal_those_of_one_run(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.export.megatron_concat._VALUES_AT_ONCE", 7)
    texts = [text for text in sentences(200, 5) if text]
    parts = [texts[:30], [], texts[30:31], texts[31:]]
    pairs = [
        megatron_pair(tok, tmp_path, f"part{number}", part) for number, part in enumerate(parts)
    ]
    megatron_pair(tok, tmp_path, "whole", texts)
    named = [pairs[0], pairs[1].with_suffix(".bin"), pairs[2].with_suffix(".idx"), pairs[3]]
    assert concat_megatron(named, tmp_path / "all") == len(texts)
    for suffix in (".bin", ".idx"):
        made = (tmp_path / f"all{suffix}").read_bytes()
        assert made == (tmp_path / f"whole{suffix}").read_bytes()


def test_documents_of_several_sequences_stay_together(tmp_path: Path) -> None:
    def write(name: str, lengths: list[int], documents: list[int]) -> Path:
        pointers = [2 * start for start in accumulate([0, *lengths[:-1]])]
        head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(documents))
        columns = ((lengths, "<i4"), (pointers, "<i8"), (documents, "<i8"))
        index = head + b"".join(np.array(values, kind).tobytes() for values, kind in columns)
        (tmp_path / f"{name}.idx").write_bytes(index)
        (tmp_path / f"{name}.bin").write_bytes(np.arange(sum(lengths), dtype="<u2").tobytes())
        return tmp_path / name

    concat_megatron([write("a", [2, 3, 1], [0, 2, 3]), write("b", [4, 1], [0, 2])], tmp_path / "c")
    assert rows_in(tmp_path / "c.bin") == [[0, 1], [2, 3, 4], [5], [0, 1, 2, 3], [4]]
    index = (tmp_path / "c.idx").read_bytes()
    assert np.frombuffer(index, "<i8", offset=34 + 12 * 5).tolist() == [0, 2, 3, 5]


def test_pairs_that_do_not_fit_are_refused(tok: pw.Tokenizer, tmp_path: Path) -> None:
    one = megatron_pair(tok, tmp_path, "one", ["hug", "hugs"])
    wide = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 70_000}))
    two = megatron_pair(wide, tmp_path, "two", ["aa"])
    with pytest.raises(
        CorpusError,
        match=r"two\.idx has ids of int32, and .*one\.idx uint16; inputs must have ids of one type",
    ):
        concat_megatron([one, two], tmp_path / "out")
    with pytest.raises(FileError, match="no such file"):
        concat_megatron([one, tmp_path / "three"], tmp_path / "out")
    with pytest.raises(ArgumentError, match=r"output: '.*one\.bin' is an input"):
        concat_megatron([one, one], tmp_path / "one.bin")
    for suffix in ("bin", "idx"):
        (tmp_path / f"four.{suffix}").write_text("text")
    with pytest.raises(CorpusError, match=r"four\.idx is not a complete index of Megatron-LM"):
        concat_megatron([tmp_path / "four"], tmp_path / "out")
    index = Path(f"{one}.idx")
    whole = index.read_bytes()
    for damaged, found in (
        (whole[:-8], "bytes, expected"),
        (whole + b"\0\0", "without sequence modes"),
        (whole[:46] + b"\1" + whole[47:], "has byte pointers of sequences that do not follow"),
        (
            whole[:-16] + b"\x09" + whole[-15:],
            r"one\.idx is damaged: its numbers of documents are not ascending numbers up to 2",
        ),
        (whole[:17] + b"\x07" + whole[18:], "type code 7"),
    ):
        index.write_bytes(damaged)
        with pytest.raises(CorpusError, match=found):
            concat_megatron([one], tmp_path / "out")
    index.write_bytes(whole)
    with Path(f"{one}.bin").open("ab") as stream:
        stream.write(b"\0\0")
    with pytest.raises(CorpusError, match=r"one\.bin has \d+ bytes, and \d+ according to"):
        concat_megatron([one], tmp_path / "out")
    assert not list(tmp_path.glob("out*"))


# ---- the command line


def test_the_command_writes_a_folder_and_continues(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, cli: Run
) -> None:
    tok.save(tmp_path / "tok.json")
    out = tmp_path / "out"
    start = ["encode", str(tmp_path / "tok.json"), *map(str, corpus), "--out-dir", str(out)]
    code, stdout, stderr = cli(*start, "--shards", "3")
    assert (code, stdout) == (0, "")
    assert "tokens, 3 shards" in stderr
    assert f"saved in {out}" in stderr
    code, _, stderr = cli(*start, "--shards", "3")
    assert code == 2
    assert "--out-dir has " in stderr
    assert "; pass --resume" in stderr
    code, _, stderr = cli(*start, "--shards", "3", "--resume")
    assert code == 0
    assert "3 shards (3 finished before)" in stderr
    code, _, stderr = cli(*start, "--shards", "2", "--resume")
    assert code == 2
    assert "shards" in stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shards", "2"], "--shards needs --out-dir DIR"),
        (["--resume"], "--resume needs --out-dir DIR"),
        (["--keep", "id"], "--keep needs --out-dir DIR"),
        (
            ["--out-dir", "o", "-o", "x"],
            "-o cannot be combined with --out-dir",
        ),
        (
            ["--out-dir", "o", "--parallel"],
            "--parallel cannot be combined with --out-dir; use -o per file",
        ),
        (
            ["--out-dir", "o", "--format", "jsonl"],
            (
                "--format must be one of npy, megatron, arrow, arrow-stream, parquet, "
                "datasets, not 'jsonl'"
            ),
        ),
        (
            ["--format", "datasets"],
            (
                "--format must be one of tokens, ids, jsonl, npy, arrow, arrow-stream, "
                "parquet, megatron, not 'datasets'"
            ),
        ),
        (
            ["--out-dir", "o", "--pack", "8", "--format", "megatron"],
            "--pack does not support --format megatron; use npy or arrow or arrow-stream or parquet",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tok: pw.Tokenizer,
    tmp_path: Path,
    cli: Run,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    tok.save(tmp_path / "tok.json")
    (tmp_path / "a.txt").write_text("hug\n")
    code, _, stderr = cli("encode", "tok.json", "a.txt", *arguments)
    assert code == 2
    assert message in stderr


def test_concat_on_the_command_line(tok: pw.Tokenizer, tmp_path: Path, cli: Run) -> None:
    one = megatron_pair(tok, tmp_path, "one", ["hug", "hugs"])
    code, _, stderr = cli("concat", str(one), str(one), "-o", str(tmp_path / "two"))
    assert code == 0
    assert "4 sequences of 2 datasets" in stderr
    assert rows_in(tmp_path / "two.bin") == 2 * rows_in(tmp_path / "one.bin")


def test_lines_with_errors_are_skipped_and_counted(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "hug"}\n{"text": 7}\n{"text": "a"}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl line 2"):
        encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "fail")
    with pytest.warns(CorpusWarning, match=r"a\.jsonl line 2"):
        encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "skip", on_error="skip")
    assert all_rows(tmp_path / "skip") == ids_of(tok, ["hug", "a"])
