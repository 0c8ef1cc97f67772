"""Ray on a cluster of two nodes: counts, vocabularies and ids are those of one process, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray

import piecework as pw
from piecework.distributed import ray as on_ray
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
    InvalidUtf8Error,
    TrainingWarning,
)
from tests.distributed.laws import KillsOnce, columns, pipeline_of, unchanged

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")


@pytest.fixture(scope="module")
def connected(cluster: Any) -> Iterator[Any]:
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()


def test_counts_equal_those_of_one_process(corpus: list[Path], connected: Any) -> None:
    assert len(ray.nodes()) == 2
    for pipeline in ("bert-uncased", "gpt2"):
        expected = pw.count_files(corpus, pipeline=pipeline)
        for task_bytes in (1, 9000, 1 << 30):
            counts = on_ray.count_files(corpus, pipeline=pipeline, task_bytes=task_bytes)
            assert columns(counts) == columns(expected)
            assert counts == expected


def test_options_equal_those_of_one_process(corpus: list[Path], connected: Any) -> None:
    options = {"sample": 0.5, "seed": 3, "max_word_length": 5, "first_source": 7}
    expected = pw.count_files(corpus, **options)
    assert columns(on_ray.count_files(corpus, task_bytes=1, **options)) == columns(expected)


@pytest.mark.parametrize("ties", ["first-seen", "smallest-strings"])
def test_vocabulary_equals_that_of_one_process(
    ties: str, corpus: list[Path], connected: Any
) -> None:
    expected = pw.Tokenizer.train(corpus, vocab_size=400, ties=ties)
    counts = on_ray.count_files(corpus, task_bytes=1)
    learned = pw.Tokenizer.train_from_counts(counts, vocab_size=400, ties=ties)
    assert learned.to_json() == expected.to_json()


def test_replacements_are_warned_of_once(corpus: list[Path], connected: Any) -> None:
    with pytest.warns(TrainingWarning, match="2 invalid UTF-8 sequences were") as caught:
        on_ray.count_files(corpus, task_bytes=1)
    assert len(caught) == 1


def test_a_killed_worker_loses_and_doubles_nothing(
    corpus: list[Path], connected: Any, tmp_path: Path
) -> None:
    marker = tmp_path / "killed"
    files = corpus[:6]
    counts = on_ray.count_files(files, pipeline=pipeline_of(KillsOnce(marker, "hug")), task_bytes=1)
    assert marker.exists()
    expected = pw.count_files(files, pipeline=pipeline_of(unchanged))
    assert columns(counts) == columns(expected)


def test_a_killed_worker_writes_the_same_files(
    corpus: list[Path], connected: Any, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.train(corpus[0], vocab_size=300)
    marker = tmp_path / "killed"
    killer = tok.with_normalizer(pw.spec.CustomNormalizer(KillsOnce(marker, "hug"), "normalize"))
    same = tok.with_normalizer(pw.spec.CustomNormalizer(unchanged, "normalize"))
    for format in ("parquet", "npy", "megatron"):
        marker.unlink(missing_ok=True)
        done = on_ray.encode_files(killer, corpus[:6], tmp_path / format, format=format)
        assert marker.exists()
        made = sorted(path for path in (tmp_path / format).iterdir())
        for file in done:
            again = tmp_path / "again" / format / Path(file.output).name
            again.parent.mkdir(parents=True, exist_ok=True)
            pw.encode_files(same, file.input, again, format=format)
        expected = sorted((tmp_path / "again" / format).iterdir())
        assert [path.name for path in made] == [path.name for path in expected]
        assert [path.read_bytes() for path in made] == [path.read_bytes() for path in expected]


def test_a_dataset_is_counted_in_the_order_of_its_positions(connected: Any, tmp_path: Path) -> None:
    sources = [["hug pug", "bun"], ["pun hug", "bun bun", "Äpfel"]]
    for source, texts in enumerate(sources):
        offsets = [sum(len(text.encode()) + 1 for text in texts[:row]) for row in range(len(texts))]
        positions = [(source << 40) + offset for offset in offsets]
        pq.write_table(
            pa.table({"text": texts, "at": positions}), tmp_path / f"{source}.parquet", 1
        )
    dataset = ray.data.read_parquet(str(tmp_path)).random_shuffle(seed=1)
    counts = on_ray.count_dataset(dataset, position_column="at")
    expected = pw.count_texts(sources[0]) + pw.count_texts(sources[1], source=1)
    assert columns(counts) == columns(expected)
    unordered = on_ray.count_dataset(dataset)
    assert unordered == expected
    assert unordered.first is None


def test_ids_of_a_dataset_equal_those_of_one_process(
    corpus: list[Path], connected: Any, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.train(corpus, vocab_size=500).with_padding()
    texts = corpus[0].read_text().splitlines()
    dataset = ray.data.from_arrow(pa.table({"text": [*texts, None], "row": range(len(texts) + 1)}))
    on_ray.encode_dataset(dataset.repartition(5), tok).write_parquet(str(tmp_path))
    table = pq.read_table(str(tmp_path)).sort_by("row")
    assert table.column_names == ["text", "row", "ids"]
    expected = tok.with_padding(None).encode_batch(texts).to_lists()
    assert table.column("ids").to_pylist() == [*expected, None]


def test_errors_of_workers_are_raised_here(
    corpus: list[Path], connected: Any, tmp_path: Path
) -> None:
    with pytest.raises(FileError, match="missing.txt"):
        on_ray.count_files([corpus[0], tmp_path / "missing.txt"])
    with pytest.raises(InvalidUtf8Error, match="2.txt.*byte"):
        on_ray.count_files(corpus, errors="strict")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text('{"text": 1}\n')
    with pytest.raises(CorpusError, match="damaged"):
        on_ray.count_files(damaged)
    dataset = ray.data.from_arrow(pa.table({"text": [1, 2]}))
    with pytest.raises(ArgumentError, match="column 'text': found values of type int64"):
        on_ray.count_dataset(dataset)


def test_arguments_are_checked_before_tasks_start(corpus: list[Path], connected: Any) -> None:
    with pytest.raises(ArgumentError, match="stdin"):
        on_ray.count_files("-")
    with pytest.raises(ArgumentError, match="sentences: found a size of 3"):
        on_ray.count_files(corpus, sentences=pw.train.Sentences(size=3))
    with pytest.raises(ArgumentError, match="address.*connected to a Ray cluster already"):
        on_ray.count_files(corpus, address="auto")
    with pytest.raises(ArgumentError, match="format: found 'csv'"):
        on_ray.encode_files(pw.Tokenizer.train(corpus[0]), corpus, "out", format="csv")
