"""What several tests share: a corpus that every machine has, and how laws are run."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from piecework._internal import _core
from piecework.cli.app import run
from tests import data

ROOT = Path(__file__).parent.parent
Run = Callable[..., tuple[int, str, str]]

# No deadline: busy machines are slow. CI uses fixed seeds; local runs explore new ones.
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
    parser.addoption(
        "--require-data",
        action="store_true",
        help="fail a test that skips, except for the reasons that tests/data.py expects",
    )


def pytest_configure(config: pytest.Config) -> None:
    _core.use_kernel_level(config.getoption("--kernel-level"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips for want of test data that are required."""
    report = yield
    if (
        item.config.getoption("--require-data")
        and report.skipped
        and not hasattr(report, "wasxfail")
    ):
        reason = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else ""
        if not data.is_expected_skip(reason):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: --require-data forbids this skip: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped, by reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[-1]) for report in skipped)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="module", autouse=True)
def bounded_caches() -> Iterator[None]:
    """Clear what the tests of a file and their helpers cached, so that memory stays bounded by file."""
    yield
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "tests":
            for cached in vars(module).values():
                if hasattr(cached, "cache_clear") and cached.__module__.startswith("tests."):
                    cached.cache_clear()
        if name.startswith("piecework.compat.tiktoken"):
            vars(module).get("_LOADED", {}).clear()
    gc.collect()
    trim_memory()


def trim_memory() -> None:
    """Give the memory back that glibc keeps after it was freed; other C libraries keep none."""
    with suppress(TypeError, AttributeError):  # of Windows, and of other C libraries
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="module", autouse=True)
def clean_root() -> Iterator[None]:
    """Fail if a file appears in the root of the repository: a test wrote a relative path."""
    before = _names_in_root()
    yield
    assert _names_in_root() <= before, (
        "a test wrote into the root; use tmp_path or monkeypatch.chdir"
    )


def _names_in_root() -> set[str]:
    """Return the names that are neither hidden nor made by builds."""
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    return names - {"build", "dist", "target"}


@pytest.fixture(scope="session")
def english_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 2 MB of English that came with Python, one paragraph a line."""
    path = tmp_path_factory.mktemp("english") / "corpus.txt"
    script = ROOT / "tools" / "quickstart_corpus.py"
    subprocess.run([sys.executable, str(script), str(path)], check=True, capture_output=True)
    return path


def choose_among_few(patch: pytest.MonkeyPatch) -> None:
    """Let `golden` choose among few texts; among all of them it takes seconds."""
    module = importlib.import_module("piecework.analysis.golden.generate")
    for name in ("candidates", "searched"):
        patch.setattr(module, name, lambda _: ())


@pytest.fixture
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `golden` choose among few texts in this test."""
    choose_among_few(monkeypatch)


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
