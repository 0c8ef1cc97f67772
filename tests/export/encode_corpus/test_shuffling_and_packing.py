"""Shuffle the documents of a shard, and pack documents into rows."""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.export import (
    arranging,
    encode_corpus,
)
from tests.export.encode_corpus.shards import (
    Rows,
    all_rows,
    content,
    ids_of,
    main_files,
    rows_in,
    texts_of,
)

# ---- shuffling


def test_a_seed_shuffles_the_documents_of_each_shard(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arranging, "SHUFFLED_TOKENS", 20_000)
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
    shuffle = arranging.Shuffle(5, 0)
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
    monkeypatch.setattr(arranging, "SHUFFLED_TOKENS", 3000)
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
    starts, lengths = arranging._pieces(np.array(sizes, np.int64), limit)
    assert lengths.sum() == sum(sizes)
    assert (lengths > 0).all()
    rows = arranging._best_fit_rows(lengths, limit)
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
