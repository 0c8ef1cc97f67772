"""What several tests share: a corpus that every machine has, and how laws are run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from piecework import _core
from piecework.cli.app import run

ROOT = Path(__file__).parent.parent
Run = Callable[..., tuple[int, str, str]]

# A law is no stopwatch: on a busy machine any single example may be slow. What decides whether a change
# lands is the same each time; new examples are sought by everybody's own runs.
settings.register_profile(
    "piecework", deadline=None, print_blob=True, derandomize="CI" in os.environ
)
settings.load_profile("piecework")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kernel-level",
        choices=_core.kernel_levels(),
        default=_core.kernel_levels()[-1],
        help="the instructions that the kernels use in every test (default: the best there are)",
    )


def pytest_configure(config: pytest.Config) -> None:
    _core.use_kernel_level(config.getoption("--kernel-level"))


@pytest.fixture(scope="session")
def english_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 2 MB of English that came with Python, one paragraph a line."""
    path = tmp_path_factory.mktemp("english") / "corpus.txt"
    script = ROOT / "tools" / "quickstart_corpus.py"
    subprocess.run([sys.executable, str(script), str(path)], check=True, capture_output=True)
    return path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(params=_core.kernel_levels())
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each level of this processor in turn; that of all tests afterwards."""
    _core.use_kernel_level(request.param)
    yield request.param
    _core.use_kernel_level(request.config.getoption("--kernel-level"))
