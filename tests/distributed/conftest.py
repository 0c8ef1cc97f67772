"""Tests in this folder need Ray or Spark, which `make test-ray` and `make test-spark` install.

Without the engine, its tests are not collected.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ENGINES = {"ray": "test_ray*.py", "pyspark": "test_spark*.py"}
collect_ignore_glob = [glob for module, glob in ENGINES.items() if find_spec(module) is None]


def lines(words: int, seed: int) -> list[str]:
    """Return lines with many distinct words, and with words that occur equally often."""
    draw = random.Random(seed)
    vocabulary = [f"w{draw.randrange(1 << 20):x}" for _ in range(words)] + ["hug", "pug", "Äpfel"]
    return [" ".join(draw.choices(vocabulary, k=12)) for _ in range(words // 2)]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes with one CPU each, on this machine."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Text with a byte order mark, CRLF and invalid UTF-8, gzip, JSON lines, a folder."""
    folder = tmp_path_factory.mktemp("corpus")
    plain = [folder / f"{index}.txt" for index in range(6)]
    for seed, path in enumerate(plain):
        path.write_text("\n".join(lines(400, seed)) + "\n")
    plain[1].write_bytes(b"\xef\xbb\xbf" + plain[1].read_bytes().replace(b"\n", b"\r\n"))
    plain[2].write_bytes(plain[2].read_bytes() + b"bad \xff\xfe bytes\n")
    packed = folder / "packed.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(lines(500, 7)).encode()))
    objects = folder / "objects.jsonl"
    texts = lines(500, 8)
    objects.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    more = folder / "more"
    more.mkdir()
    for name in ("b", "a"):
        (more / f"{name}.txt").write_text("\n".join(lines(300, ord(name))))
    return [*plain, packed, objects, more]
