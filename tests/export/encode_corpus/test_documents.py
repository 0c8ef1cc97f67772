"""Shards of documents of several lines: rows, formats, order, resuming and the manifest."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError
from piecework.export import encode_corpus
from tests.export.encode_corpus.shards import (
    FORMATS,
    StoppedError,
    all_rows,
    content,
    ids_of,
    sentences,
    stop_after,
)

DOCUMENTS: list[Any] = ["blank-line", "file"]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of lines and blank lines: one of few, one compressed, one empty, one of a long document."""
    folder = tmp_path_factory.mktemp("documents")
    paths = [folder / name for name in ("a.txt", "b.txt.gz", "c.txt", "d.txt")]
    paths[0].write_bytes("\n".join(sentences(900, 5)).encode())
    paths[1].write_bytes(gzip.compress("\r\n".join(sentences(700, 6)).encode()))
    paths[2].touch()
    long = "\n".join(filter(None, sentences(500, 7)))
    paths[3].write_bytes(f"hug\n\n{long}\n\n\nhugs\n".encode())
    return paths


@pytest.fixture(scope="module")
def byte_level() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(sentences(99, 1), model="byte-bpe", vocab_size=280)


def documents_of(paths: list[Path], document: Any) -> list[str]:
    read = [text for rows in pw.corpus.read_corpus(paths, document=document) for text in rows.texts]
    return [text for text in read if text.strip()]


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shards", [None, 1, 7])
def test_a_document_is_a_row_of_one_shard(
    byte_level: pw.Tokenizer,
    paths: list[Path],
    tmp_path: Path,
    form: Any,
    document: Any,
    shards: int | None,
) -> None:
    texts = documents_of(paths, document)
    done = encode_corpus(byte_level, paths, tmp_path, format=form, document=document, shards=shards)
    rows = all_rows(tmp_path)
    assert rows == ids_of(byte_level, texts)
    assert [byte_level.decode(row) for row in rows] == texts
    assert (done.documents, done.rows) == (len(texts), len(texts))
    assert done.empty_lines_dropped == (1 if document == "file" else 0)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_threads_do_not_change_shards(
    byte_level: pw.Tokenizer, paths: list[Path], tmp_path: Path, document: Any
) -> None:
    for threads in (1, 3):
        encode_corpus(
            byte_level,
            paths,
            tmp_path / str(threads),
            document=document,
            shards=5,
            shuffle_seed=3,
            num_threads=threads,
        )
    assert content(tmp_path / "1") == content(tmp_path / "3")


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("options", [{"shards": 6}, {"pack": 64, "shards": 4}, {}], ids=str)
def test_an_interrupted_run_of_documents_continues_with_the_same_bytes(
    tok: pw.Tokenizer, paths: list[Path], tmp_path: Path, document: Any, options: Any
) -> None:
    encode_corpus(tok, paths, tmp_path / "plain", document=document, **options)
    stops = 0
    for batches in (1, 2, 4):
        try:
            encode_corpus(
                tok,
                paths,
                tmp_path / "out",
                document=document,
                resume=True,
                progress=stop_after(batches),
                **options,
            )
        except StoppedError:
            stops += 1
    assert stops
    encode_corpus(tok, paths, tmp_path / "out", document=document, resume=True, **options)
    assert content(tmp_path / "out") == content(tmp_path / "plain")


def test_the_manifest_names_the_document_and_another_is_refused(
    tok: pw.Tokenizer, paths: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, paths, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["settings"]["document"] == "line"
    message = "it has document 'line', and this run 'blank-line'; run again with the same"
    with pytest.raises(ArgumentError, match=message):
        encode_corpus(tok, paths, tmp_path, resume=True, document="blank-line")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_end_of_a_document_follows_each(
    tok: pw.Tokenizer, paths: list[Path], tmp_path: Path, document: Any
) -> None:
    encode_corpus(
        tok, paths, tmp_path, document=document, append_eod="[SEP]", add_special_tokens=False
    )
    rows = all_rows(tmp_path)
    assert len(rows) == len(documents_of(paths, document))
    end = tok.token_to_id("[SEP]")
    assert all(row[-1] == end and end not in row[:-1] for row in rows)
