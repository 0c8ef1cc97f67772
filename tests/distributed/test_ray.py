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
from piecework.errors import ArgumentError
from piecework.integrations.distributed import ray as on_ray
from tests.distributed.laws import FileLaws, columns

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")


@pytest.fixture(scope="module")
def connected(cluster: Any) -> Iterator[Any]:
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()


def test_the_cluster_has_two_nodes(connected: Any) -> None:
    assert len(ray.nodes()) == 2


@pytest.mark.usefixtures("connected")
class TestFiles(FileLaws):
    engine = on_ray


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
    expected = tok.without_padding().encode_batch(texts).to_lists()
    assert table.column("ids").to_pylist() == [*expected, None]


def test_a_column_without_strings_is_an_error(connected: Any) -> None:
    dataset = ray.data.from_arrow(pa.table({"text": [1, 2]}))
    with pytest.raises(
        ArgumentError, match="column 'text': must contain texts, not values of type int64"
    ):
        on_ray.count_dataset(dataset)


def test_a_connected_process_needs_no_address(corpus: list[Path], connected: Any) -> None:
    with pytest.raises(ArgumentError, match="address.*connected to a Ray cluster already"):
        on_ray.count_files(corpus, address="auto")
