"""Encode a corpus into a folder of shards: names, sizes, order, long documents, manifest."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.export import (
    encode_corpus,
)
from piecework.export.encoded_lines import PLAIN
from piecework.export.line_encoder import LineEncoder
from piecework.export.settings import EncodeSettings
from piecework.export.shards import ShardPlan
from tests.cuts import PRESETS, tokenizers_with_cuts
from tests.export.encode_corpus.shards import (
    FORMATS,
    all_rows,
    content,
    ids_of,
    main_files,
    rows_in,
    sentences,
    texts_of,
)


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


def encoder_of(
    tok: pw.Tokenizer, long_chars: int, piece_bytes: int, **settings: Any
) -> LineEncoder:
    encoder = LineEncoder(tok, EncodeSettings(**settings), PLAIN)
    encoder.long_chars, encoder.piece_bytes = long_chars, piece_bytes
    return encoder


def encoded_texts(patch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list to which each call of `encode_batch` appends its texts."""
    calls: list[list[str]] = []
    encode_batch = pw.Tokenizer.encode_batch

    def recorded(self: pw.Tokenizer, texts: Any, **options: Any) -> pw.Batch:
        calls.append(list(texts))
        return encode_batch(self, texts, **options)

    patch.setattr(pw.Tokenizer, "encode_batch", recorded)
    return calls


@given(data=st.data(), size=st.integers(1, 9))
def test_cutting_long_documents_changes_no_id(
    cut_tokenizers: list[pw.Tokenizer], data: st.DataObject, size: int
) -> None:
    tok = data.draw(st.sampled_from(cut_tokenizers))
    specials = [token.content for token in tok.spec.added_tokens]
    parts = st.lists(TEXTS | st.sampled_from([*specials, " "]), max_size=8)
    texts = data.draw(st.lists(parts.map("".join), min_size=1, max_size=4))
    with_special_tokens = data.draw(st.booleans())
    expected = tok.encode_batch(texts, add_special_tokens=with_special_tokens).to_lists()
    with pytest.MonkeyPatch.context() as patch:
        calls = encoded_texts(patch)
        encoder = encoder_of(tok, 1, size, add_special_tokens=with_special_tokens)
        assert encoder.encode(texts).batch.to_lists() == expected
    assert sum(map(len, calls)) >= len(texts)


@pytest.mark.parametrize("number", range(2 * len(PRESETS)))
def test_long_documents_of_these_tokenizers_are_cut(
    cut_tokenizers: list[pw.Tokenizer], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = cut_tokenizers[number]
    text = "a hug of a pug, " * 20
    expected = tok.encode_batch(["a", text]).to_lists()
    calls = encoded_texts(monkeypatch)
    assert encoder_of(tok, 100, 30).encode(["a", text]).batch.to_lists() == expected
    assert "".join(calls[0]) == "a" + text
    assert max(map(len, calls[0])) < 50


def test_documents_are_not_cut_where_ids_could_change(
    tok: pw.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = sentences(300, 1)
    gpt2 = pw.Tokenizer.train_from_iterator(lines, model="byte-bpe", vocab_size=280)
    bloom = pw.spec.named_pre_tokenizer("bloom")
    others = [
        tok.with_truncation(5),
        tok.with_added_tokens([pw.spec.AddedToken("hug a")]),
        tok.with_added_tokens([pw.spec.AddedToken("hug", rstrip=True)]),
        pw.Tokenizer.train_from_iterator(lines, preset="t5", vocab_size=60),
        pw.Tokenizer.from_spec(dataclasses.replace(gpt2.spec, pre_tokenizer=bloom)),
    ]
    texts = ["hug a hug a", "a hugs hug"]
    calls = encoded_texts(monkeypatch)
    for other in others:
        calls.clear()
        found = encoder_of(other, 1, 1).encode(texts).batch.to_lists()
        assert calls == [texts]
        assert found == other.encode_batch(texts).to_lists()


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
