"""The reader divides plain text into the documents of plain Python, however text is stored and read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.corpus import read_corpus
from piecework.corpus.rows import Document
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from tests.data import need

NAMES: tuple[Document, ...] = get_args(Document)
COMPRESSIONS: list[Callable[[bytes], bytes]] = [
    bytes,
    gzip.compress,
    lzma.compress,
    lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]),
    lambda data: bz2.compress(data, 1),
]
UNITS = ["a", "é", "😀", " ", "\t", "\r", "\n", "\n\n", "\r\n", "\u3000", "\x85", "\u2028"]
INVALID = [b"\xf8", b"\xe6\x97", b"\xe3\x80"]
files = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.sampled_from([*(unit.encode() for unit in UNITS), *INVALID]), max_size=40),
).map(lambda parts: parts[0] + b"".join(parts[1]))
reads = st.integers(3, 12)  # the first read has the byte order mark


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def by_line(text: str) -> list[tuple[str, int]]:
    return [(line.removesuffix("\r"), number) for number, line in enumerate(lines_of(text), 1)]


def by_blank_line(text: str) -> list[tuple[str, int]]:
    numbered = enumerate(lines_of(text), start=1)
    runs = groupby(numbered, key=lambda numbered_line: not numbered_line[1].strip())
    found = [list(run) for is_blank, run in runs if not is_blank]
    return [("\n".join(line for _, line in run).removesuffix("\r"), run[0][0]) for run in found]


def by_file(text: str) -> list[tuple[str, int]]:
    return [(text, 1)]


DEFINITIONS = {"line": by_line, "blank-line": by_blank_line, "file": by_file}


def text_of(data: bytes) -> str:
    return data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")


def with_reads_of(size: int, read: Callable[[], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("READ_BYTES", "READ_BYTES_OF_LINES"):
            patch.setattr(f"piecework.corpus.rows.{name}", size)
        return read()


def found_in(paths: list[Path], document: Document, **options: Any) -> list[tuple[str, int]]:
    corpus = read_corpus(paths, document=document, **options)
    return [pair for rows in corpus for pair in zip(rows.to_list(), rows.numbers, strict=True)]


@pytest.mark.parametrize("document", NAMES)
@given(st.lists(st.tuples(files, st.sampled_from(COMPRESSIONS)), min_size=1, max_size=3), reads)
def test_documents_equal_those_of_the_definition(
    document: Document, contents: list[tuple[bytes, Callable[[bytes], bytes]]], size: int
) -> None:
    expected = [pair for data, _ in contents for pair in DEFINITIONS[document](text_of(data))]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.txt" for number in range(len(contents))]
        for path, (data, compress) in zip(paths, contents, strict=True):
            path.write_bytes(compress(data))
        for whole_lines in (False, True):
            found = with_reads_of(
                size, lambda whole=whole_lines: found_in(paths, document, whole_lines=whole)
            )
            assert found == expected


@pytest.mark.parametrize("document", NAMES)
@given(files, reads)
def test_each_document_is_a_row_of_ids(document: Document, data: bytes, size: int) -> None:
    characters = {"[UNK]": 0} | {unit: id for id, unit in enumerate(UNITS[:7], 1)}
    tok = pw.Tokenizer(pw.spec.Char(characters))
    texts = [text for text, _ in DEFINITIONS[document](text_of(data)) if text.strip()]
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.txt", Path(folder) / "out"
        source.write_bytes(data)
        done = with_reads_of(size, lambda: pw.encode_files(tok, source, out, document=document))
        rows = [row for rows in pw.export.read_ids(out) for row in rows] if texts else []
    assert rows == [tok.encode(text).ids for text in texts]
    assert (done.lines_written, done.replacements) == (
        len(texts),
        text_of(data).count("\ufffd"),
    )


def words_of(counts: pw.Counts) -> dict[str, int]:
    """Return the counts of the words that are more than whitespace; byte-level words are decoded."""
    found = zip(counts.words, counts.counts.tolist(), strict=True)
    spaces = {character for character, byte in BYTE_OF_CHARACTER.items() if byte in b" \t\r\n"}
    return {word: count for word, count in found if not set(word) <= spaces}


@pytest.mark.parametrize("preset", ["whitespace", "gpt2"])
@given(
    st.lists(st.sampled_from([*UNITS[:9], "Hello", " world", "don't"]), max_size=40).map("".join)
)
def test_training_counts_the_words_of_all_documents(preset: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.txt"
        source.write_bytes(text.encode())
        expected = words_of(pw.count_files(source, preset=preset))
    for definition in DEFINITIONS.values():
        texts = [one for one, _ in definition(text)]
        assert words_of(pw.count_texts(texts, preset=preset)) == expected


@pytest.fixture(scope="module")
def gpt2() -> pw.Tokenizer:
    return pw.Tokenizer.load(need("vocab/gpt2/tokenizer.json.gz"))


@pytest.mark.parametrize("document", NAMES)
@given(st.lists(st.sampled_from([*UNITS, "Hello", " world", "\n\n\n"]), max_size=60).map("".join))
def test_a_lossless_tokenizer_gives_documents_back(
    gpt2: pw.Tokenizer, document: Document, text: str
) -> None:
    expected = [one for one, _ in DEFINITIONS[document](text) if one.strip()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.txt"
        source.write_bytes(text.encode())
        batch = pw.export.encode_lines(gpt2, source, document=document)
    assert [gpt2.decode(row) for row in batch.to_lists()] == expected
