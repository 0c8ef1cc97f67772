"""Connections to Ray clusters, and workers that lack piecework or have another version."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

import piecework as pw
from piecework.cli.app import run
from piecework.errors import WorkerError
from piecework.integrations.distributed import ray as on_ray
from tests.distributed.laws import columns

DIST = Path(__file__).parent.parent.parent / "dist"
# Ray writes the path of Python unquoted into the command that starts such a worker, and tries for ever.
with_runtime_env = pytest.mark.skipif(
    " " in sys.executable, reason="Ray starts no worker with a runtime_env from a path with a space"
)


def with_python_path(cluster: Any, folder: Path) -> None:
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": str(folder)}},
    )


@pytest.fixture
def disconnected() -> Iterator[None]:
    yield
    ray.shutdown()


@with_runtime_env
@pytest.mark.usefixtures("disconnected")
def test_a_worker_without_piecework_is_named(
    cluster: Any, corpus: list[Path], tmp_path: Path
) -> None:
    with_python_path(cluster, tmp_path)
    expected = rf"worker .*: found no piecework .*, expected piecework {pw.__version__} on every"
    with pytest.raises(WorkerError, match=expected):
        on_ray.count_files(corpus[0])


@with_runtime_env
@pytest.mark.usefixtures("disconnected")
def test_a_worker_with_another_version_is_named(
    cluster: Any, corpus: list[Path], tmp_path: Path
) -> None:
    package = tmp_path / "piecework"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '0.0.0'\n")
    with_python_path(cluster, tmp_path)
    with pytest.raises(WorkerError, match=r"worker .*: found piecework 0.0.0, expected piecework"):
        on_ray.count_files(corpus[0])


def test_counting_connects_and_disconnects(cluster: Any, corpus: list[Path]) -> None:
    counts = on_ray.count_files(corpus[0], address=cluster.address)
    assert columns(counts) == columns(pw.count_files(corpus[0]))
    assert not ray.is_initialized()


def test_an_address_without_a_cluster_is_named(corpus: list[Path]) -> None:
    with pytest.raises(WorkerError, match="address '127.0.0.1:1': no Ray cluster runs there"):
        on_ray.count_files(corpus[0], address="127.0.0.1:1")


def test_the_command_trains_as_in_one_process(
    cluster: Any, corpus: list[Path], tmp_path: Path
) -> None:
    arguments = ["train", str(corpus[0]), str(corpus[3]), "--vocab-size", "300", "--score", "pmi"]
    assert run([*arguments, "-o", str(tmp_path / "one.json")]) == 0
    engine = ["--engine", "ray", "--cluster", cluster.address]
    assert run([*arguments, *engine, "-o", str(tmp_path / "ray.json")]) == 0
    assert (tmp_path / "ray.json").read_bytes() == (tmp_path / "one.json").read_bytes()


@with_runtime_env
@pytest.mark.usefixtures("disconnected")
def test_workers_use_the_wheel_that_the_driver_sends(
    cluster: Any, corpus: list[Path], tmp_path: Path
) -> None:
    wheels = [path for path in DIST.glob("*.whl") if f"-{pw.__version__}-" in path.name]
    if not wheels:
        pytest.skip("no wheel in dist/: make wheel")
    environment = {"py_modules": [str(wheels[0])], "env_vars": {"PYTHONPATH": str(tmp_path)}}
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env=environment,
    )
    counts = on_ray.count_files(corpus[0])
    assert columns(counts) == columns(pw.count_files(corpus[0]))
