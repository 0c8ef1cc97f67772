"""The laws that Ray and Spark share: the results of one process, byte for byte."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
    InvalidUtf8Error,
    TrainingWarning,
)

# The smallest tasks: one file each. The largest: all files in one task.
TASK_BYTES = (1, 9000, 1 << 30)


def columns(counts: pw.Counts) -> tuple[list[str], list[int], list[int] | None, int]:
    """Return all that counts contain, in order."""
    first = counts.first
    positions = None if first is None else first.tolist()
    return counts.words, counts.counts.tolist(), positions, counts.replacements


class KillsOnce:
    """A function that kills its process at the first text with a word, once for a marker file.

    Custom stages pickle by reference, so that workers must be able to import this module.
    """

    def __init__(self, marker: Path, word: str) -> None:
        self.marker = marker
        self.word = word

    def __call__(self, text: str) -> str:
        if self.word in text:
            try:
                os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return text
            os.kill(os.getpid(), signal.SIGKILL)
        return text


def unchanged(text: str) -> str:
    """Return the text."""
    return text


def pipeline_of(function: Callable[[str], str]) -> pw.train.Pipeline:
    """Return a pipeline with a custom normalizer, which the pipelines of other functions equal by name."""
    return pw.train.Pipeline(
        pw.spec.CustomNormalizer(function, name="normalize"), pw.spec.WhitespaceSplit()
    )


class FileLaws:
    """Tests of the functions of files in a module; a subclass names the module and connects to the engine."""

    engine: ClassVar[Any]

    @pytest.mark.parametrize(
        "pipeline", ["bert-uncased", "gpt2", "o200k-superwords", "llama-superwords"]
    )
    def test_counts_equal_those_of_one_process(self, corpus: list[Path], pipeline: str) -> None:
        expected = pw.count_files(corpus, preset=pipeline)
        for task_bytes in TASK_BYTES:
            counts = self.engine.count_files(corpus, preset=pipeline, task_bytes=task_bytes)
            assert columns(counts) == columns(expected)
            assert counts == expected

    def test_options_equal_those_of_one_process(self, corpus: list[Path]) -> None:
        options: dict[str, Any] = {
            "sample": 0.5,
            "seed": 3,
            "max_word_length": 5,
            "first_source": 7,
        }
        counts = self.engine.count_files(corpus, task_bytes=1, **options)
        assert columns(counts) == columns(pw.count_files(corpus, **options))

    @pytest.mark.parametrize("ties", ["first-seen", "smallest-strings"])
    def test_vocabulary_equals_that_of_one_process(self, corpus: list[Path], ties: str) -> None:
        learner = pw.train.Merges(ties=ties)
        expected = pw.Tokenizer.train(corpus, vocab_size=400, learner=learner)
        counts = self.engine.count_files(corpus, task_bytes=1)
        learned = pw.Tokenizer.train_from_counts(counts, vocab_size=400, learner=learner)
        assert learned.to_str() == expected.to_str()

    def test_sources_are_counted_as_in_one_process(self, corpus: list[Path]) -> None:
        halves = {"one": corpus[:2], "two": corpus[2:4]}
        expected = pw.train.count_sources(halves, preset="gpt2")
        counts = pw.train.SourceCounts(
            {
                name: self.engine.count_files(files, preset="gpt2", task_bytes=1)
                for name, files in halves.items()
            }
        )
        assert counts == expected
        trainer = pw.ByteBPETrainer(vocab_size=400, parity=True, parity_unit="bytes")
        learned, of_one_process = (
            pw.Tokenizer.train_from_counts(one, trainer).to_str() for one in (counts, expected)
        )
        assert learned == of_one_process

    def test_replacements_are_warned_of_once(self, corpus: list[Path]) -> None:
        with pytest.warns(TrainingWarning, match="2 invalid UTF-8 sequences were") as caught:
            self.engine.count_files(corpus, task_bytes=1)
        assert len([one for one in caught if one.category is TrainingWarning]) == 1

    def test_a_killed_worker_loses_and_doubles_nothing(
        self, corpus: list[Path], tmp_path: Path
    ) -> None:
        marker, files = tmp_path / "killed", corpus[:6]
        pipeline = pipeline_of(KillsOnce(marker, "hug"))
        counts = self.engine.count_files(files, preset=pipeline, task_bytes=1)
        assert marker.exists()
        expected = pw.count_files(files, preset=pipeline_of(unchanged))
        assert columns(counts) == columns(expected)

    @pytest.mark.parametrize("format", ["parquet", "npy", "megatron"])
    def test_a_killed_worker_writes_the_same_files(
        self, corpus: list[Path], tmp_path: Path, format: str
    ) -> None:
        tok = pw.Tokenizer.train(corpus[0], vocab_size=300)
        marker, out, again = tmp_path / "killed", tmp_path / "out", tmp_path / "again"
        killer, same = (
            tok.with_normalizer(pw.spec.CustomNormalizer(function, "normalize"))
            for function in (KillsOnce(marker, "hug"), unchanged)
        )
        done = self.engine.encode_files(killer, corpus[:6], out, format=format)
        assert marker.exists()
        assert [Path(file.input) for file in done] == corpus[:6]
        again.mkdir()
        for file in done:
            target = again / Path(file.output).name
            encoded = pw.encode_files(same, file.input, target, format=format)
            assert file[2:] == (encoded.lines_written, encoded.tokens[0], encoded.replacements)
        assert content(out) == content(again)

    def test_errors_of_workers_are_raised_here(self, corpus: list[Path], tmp_path: Path) -> None:
        count_files = self.engine.count_files
        with pytest.raises(FileError, match="missing.txt"):
            count_files([corpus[0], tmp_path / "missing.txt"])
        with pytest.raises(InvalidUtf8Error, match="2.txt.*byte"):
            count_files(corpus, encoding_errors="strict")
        damaged = tmp_path / "damaged.jsonl"
        damaged.write_text('{"text": 1}\n')
        with pytest.raises(CorpusError, match="damaged"):
            count_files(damaged)

    def test_arguments_are_checked_before_tasks_start(self, corpus: list[Path]) -> None:
        with pytest.raises(ArgumentError, match="stdin"):
            self.engine.count_files("-")
        with pytest.raises(ArgumentError, match="sentences: must be all sentences on a cluster"):
            self.engine.count_files(corpus, sentences=pw.train.Sentences(size=3))
        with pytest.raises(ArgumentError, match="format: must be .*, not 'csv'"):
            self.engine.encode_files(pw.Tokenizer.train(corpus[0]), corpus, "out", format="csv")


def content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file of a folder by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
