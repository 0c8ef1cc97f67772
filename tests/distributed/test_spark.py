"""Spark with two tasks at a time: counts, vocabularies and ids are those of one process, byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession, Window, functions

import piecework as pw
from piecework.cli.app import run
from piecework.errors import ArgumentError, TrainingError
from piecework.integrations.distributed import spark as on_spark
from tests.distributed.laws import FileLaws, columns

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
PACKAGE = Path(pw.__file__).parent.parent
DIST = Path(__file__).parent.parent.parent / "dist"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # The last number is that of the attempts of each task.
    builder = SparkSession.builder.master("local[2,3]").config("spark.ui.enabled", "false")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.usefixtures("spark")
class TestFiles(FileLaws):
    engine = on_spark


def test_a_frame_is_counted_in_the_order_of_path_and_row(spark: SparkSession) -> None:
    sources = [["hug pug", "bun"], ["pun hug", "bun bun", "Äpfel", "hug"]]
    rows = [
        (path, row, text) for path, texts in enumerate(sources) for row, text in enumerate(texts)
    ]
    frame = spark.createDataFrame(rows, "path long, row long, text string").repartition(4, "text")
    before = Window.partitionBy("path").orderBy("row").rowsBetween(Window.unboundedPreceding, -1)
    offset = functions.coalesce(
        functions.sum(functions.octet_length("text") + 1).over(before), functions.lit(0)
    )
    frame = frame.withColumn("at", functions.shiftleft("path", 40) + offset)
    counts = on_spark.count_frame(frame.orderBy(functions.rand(1)), position_column="at")
    expected = pw.count_texts(sources[0]) + pw.count_texts(sources[1], source=1)
    assert columns(counts) == columns(expected)
    unordered = on_spark.count_frame(frame)
    assert unordered == expected
    assert unordered.first is None


def test_a_large_frame_equals_one_process(corpus: list[Path], spark: SparkSession) -> None:
    texts = [line for path in corpus[3:6] for line in path.read_text().splitlines()]
    frame = spark.createDataFrame([(text,) for text in texts] + [(None,)], "text string")
    counts = on_spark.count_frame(frame.repartition(7), preset="gpt2")
    expected = pw.count_texts(texts, preset="gpt2")
    assert counts == expected


def test_ids_of_a_frame_equal_those_of_one_process(
    corpus: list[Path], spark: SparkSession, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.train(corpus, vocab_size=500).with_padding()
    texts = corpus[0].read_text().splitlines()
    rows = [*enumerate(texts), (len(texts), None)]
    frame = spark.createDataFrame(rows, "row long, text string").repartition(5)
    on_spark.encode_frame(frame, tok).write.parquet(str(tmp_path / "out"))
    written = spark.read.parquet(str(tmp_path / "out")).orderBy("row").collect()
    expected = [*tok.without_padding().encode_batch(texts).to_lists(), None]
    assert [row.ids for row in written] == expected
    by_function = frame.withColumn("ids", on_spark.encode_udf(tok)("text")).orderBy("row").collect()
    assert [row.ids for row in by_function] == expected


def test_columns_and_sessions_that_do_not_fit_are_errors(
    corpus: list[Path], spark: SparkSession
) -> None:
    with pytest.raises(
        ArgumentError, match="column 'text': must contain texts, not values of type int64"
    ):
        on_spark.count_frame(spark.range(3).withColumnRenamed("id", "text"))
    with pytest.raises(TrainingError, match="sources below 2\\*\\*23"):
        on_spark.count_files(corpus[0], first_source=1 << 23)
    with pytest.raises(ArgumentError, match="master: does not apply"):
        on_spark.count_files(corpus, master="local")
    tok = pw.Tokenizer.train(corpus[0])
    with pytest.raises(ArgumentError, match="column 'id'"):
        on_spark.encode_frame(spark.range(3), tok, "id", ids_column="id")
    with pytest.raises(ArgumentError, match="column 'text'"):
        on_spark.encode_frame(spark.range(3), tok)


def driver(code: str, workers_import: Path) -> subprocess.CompletedProcess[str]:
    """Run a driver that imports piecework from here, with workers that import from another folder."""
    code = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n{code}"
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": str(workers_import)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize("version", [None, "0.0.0"])
def test_a_worker_without_this_version_is_named(
    version: str | None, corpus: list[Path], tmp_path: Path
) -> None:
    if version is not None:
        (tmp_path / "piecework").mkdir()
        (tmp_path / "piecework" / "__init__.py").write_text(f"__version__ = {version!r}\n")
    code = f"""
from piecework.integrations.distributed import spark
from piecework.errors import WorkerError
try:
    spark.count_files({str(corpus[0])!r}, master="local[2]")
except WorkerError as error:
    print(error)
"""
    found = driver(code, tmp_path).stdout
    assert found.startswith("worker ")
    assert f": found {'no piecework' if version is None else 'piecework 0.0.0'}" in found
    assert f"expected piecework {pw.__version__} on every worker" in found


def test_executors_use_the_wheel_as_an_archive(corpus: list[Path], tmp_path: Path) -> None:
    wheels = [path for path in DIST.glob("*.whl") if f"-{pw.__version__}-" in path.name]
    if not wheels:
        pytest.skip("no wheel in dist/: make wheel")
    archive = shutil.copy(wheels[0], tmp_path / "piecework.zip")
    code = f"""
import os, pyspark
os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local-cluster[2,1,700]").config("spark.ui.enabled", "false")
builder = builder.config("spark.executor.memory", "700m")
builder = builder.config("spark.archives", {f"{archive}#piecework"!r})
builder.config("spark.executorEnv.PYTHONPATH", "./piecework").getOrCreate()
from piecework.integrations.distributed import spark
print(spark.count_files({str(corpus[0])!r}).total)
"""
    done = driver(code, tmp_path)
    assert str(pw.count_files(corpus[0]).total) in done.stdout.split(), done.stderr


def test_a_master_that_does_not_start_is_named(corpus: list[Path], tmp_path: Path) -> None:
    code = f"""
import os
os.environ["JAVA_HOME"] = {str(tmp_path)!r}
from piecework.integrations.distributed import spark
from piecework.errors import WorkerError
try:
    spark.count_files({str(corpus[0])!r}, master="local[2]")
except WorkerError as error:
    print(error)
"""
    done = driver(code, PACKAGE)
    assert "master 'local[2]': there is no session" in done.stdout, done.stderr
    assert "apt install openjdk-17-jre-headless" in done.stdout


def test_the_command_trains_as_in_one_process(corpus: list[Path], tmp_path: Path) -> None:
    arguments = ["train", str(corpus[0]), str(corpus[3]), "--vocab-size", "300", "--score", "pmi"]
    assert run([*arguments, "-o", str(tmp_path / "one.json")]) == 0
    command = [sys.executable, "-m", "piecework", *arguments, "-o", str(tmp_path / "spark.json")]
    subprocess.run([*command, "--engine", "spark", "--cluster", "local[2]"], check=True)
    assert (tmp_path / "spark.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def test_options_of_an_engine_need_the_engine(
    corpus: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["train", str(corpus[0]), "-o", str(tmp_path / "tokenizer.json")]
    assert run([*arguments, "--cluster", "local"]) == 2
    assert "--cluster: 'local' needs --engine ray or spark" in capsys.readouterr().err
