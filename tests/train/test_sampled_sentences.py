"""Counting a limited number of sentences has the warnings, the progress and the sources of any counting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import CorpusWarning, TrainingWarning
from piecework.train import Counts, SentencePieceTrainer, Sentences

FIRST_TWO = Sentences(size=2, shuffle=False)
DRAWN = Sentences(size=2)
SELF_TESTS = SentencePieceTrainer("char", 20, self_test_sample_size=1)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"hug \xff pug\nhugs\nbug \xfe\n")
    return path


@pytest.mark.parametrize("sentences", [FIRST_TWO, DRAWN, Sentences()])
def test_replaced_bytes_are_counted_and_warned_of(corpus: Path, sentences: Sentences) -> None:
    with pytest.warns(TrainingWarning, match="2 invalid UTF-8 sequences were replaced by U"):
        counts = pw.count_files(corpus, sentences=sentences)
    assert counts.replacements == 2


def test_lone_surrogates_of_texts_are_counted() -> None:
    for sentences in (DRAWN, Sentences()):
        with pytest.warns(TrainingWarning, match="1 invalid UTF-8 sequence was replaced"):
            counts = pw.count_texts(["hug", "pug \ud800", "bug"], sentences=sentences)
        assert counts.replacements == 1


def test_replaced_bytes_are_warned_of_with_self_tests(corpus: Path) -> None:
    with pytest.warns(TrainingWarning, match="2 invalid UTF-8 sequences were replaced by U"):
        pw.Tokenizer.train(corpus, SELF_TESTS)


@pytest.mark.filterwarnings("ignore:2 invalid UTF-8")
def test_progress_is_in_bytes_of_the_files(corpus: Path) -> None:
    size = corpus.stat().st_size
    reports: list[tuple[int, int]] = []
    pw.count_files(corpus, sentences=DRAWN, progress=lambda *done: reports.append(done))
    assert reports[-1] == (size, size)
    reports.clear()
    pw.Tokenizer.train(corpus, SELF_TESTS, progress=lambda *done: reports.append(done))
    assert (size, size) in reports


def test_progress_is_in_texts_of_an_iterator() -> None:
    reports: list[tuple[int, int]] = []
    pw.count_texts(["hug"] * 5, sentences=DRAWN, progress=lambda *done: reports.append(done))
    assert reports == [(5, 5)]


def test_the_source_has_its_number(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("hug\n")

    def counted(first_source: int) -> Counts:
        return pw.count_files(path, sentences=DRAWN, first_source=first_source)

    assert counted(1).first.tolist() == [1 << 40]  # type: ignore[union-attr]
    assert (counted(1) + pw.count_texts(["pug"])).words == ["pug", "hug"]


def test_the_first_sentences_are_read_and_no_others() -> None:
    def texts() -> Iterator[str]:
        yield "hug"
        yield "pug"
        pytest.fail("a third text was read")

    assert FIRST_TWO.select(texts()) == ["hug", "pug"]


def test_input_skipped_before_the_last_sentence_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "hug"}\n{"text": \n' + '{"text": "pug"}\n' * 100_000)
    with pytest.warns(CorpusWarning, match=r"skipped: broken JSON: 1 \(first in .* line 2\)"):
        counts = pw.count_files(path, sentences=FIRST_TWO, on_error="skip")
    assert dict(counts) == {"hug": 1, "pug": 1}
