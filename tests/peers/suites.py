"""The tests of tiktoken and of sentencepiece, over `piecework.compat` and over the libraries themselves.

`make test-peers` fetches the tests and runs this file. Every test that passes over the library must pass over
`piecework.compat`, but for those in `DIFFERENCES`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import data

FOLDER = data.ROOT / "build" / "peer-tests"
STAND_INS = Path(__file__).parent / "stand_ins"
# Of each library: the folder of its tests, and files left out: one tests a tool of the repository, the other
# compares times of threads, which a busy machine decides.
SUITES = {
    "tiktoken": ("tests", ()),
    "sentencepiece": ("test", ("gen_stubs_test.py", "gil_release_test.py")),
}
_NO_PRETOKENIZER = "a function that C++ calls for each sentence; pretokenization_delimiter is taken"
_NO_POOL = "long texts are split by encode itself; there is no pool of threads"
_PROCESSOR = "test.sentencepiece_test.TestSentencepieceProcessor."
# Tests that fail over piecework by design, with the reason.
DIFFERENCES: dict[str, dict[str, str]] = {
    "tiktoken": {},
    "sentencepiece": {
        "test.numpy_test.TestNumpyIntegration.test_numpy_memory_safety": "reads an address in C++",
        "test.numpy_test.TestNumpyIntegration.test_parallel_encode_numpy": _NO_POOL,
        f"{_PROCESSOR}test_batch": _NO_POOL,
        f"{_PROCESSOR}test_complex_regex_pretokenizer": _NO_PRETOKENIZER,
        f"{_PROCESSOR}test_convert_to_flatbuffer": "no FlatBuffers are written",
        f"{_PROCESSOR}test_decode_batch_with_unstable_len": "calls a binding of C++",
        f"{_PROCESSOR}test_encode_return_type_explicit": _NO_POOL,
        f"{_PROCESSOR}test_global_params": "there is no log whose level could be set",
        f"{_PROCESSOR}test_inconsistent_pretokenizer": _NO_PRETOKENIZER,
        f"{_PROCESSOR}test_nbest_timeout": "all segmentations are listed, whatever the time",
        f"{_PROCESSOR}test_offset_mapping": "a ValueError, where theirs is a RuntimeError",
        f"{_PROCESSOR}test_parallel": _NO_POOL,
        f"{_PROCESSOR}test_pretokenizer_exception": _NO_PRETOKENIZER,
        f"{_PROCESSOR}test_proto": "expects that immutable protos of earlier versions are refused",
        f"{_PROCESSOR}test_train_with_pretokenizer": _NO_PRETOKENIZER,
    },
}
PUBLISHED = "https://openaipublic.blob.core.windows.net"
RANK_FILES = {
    **{
        f"{PUBLISHED}/encodings/{name}.tiktoken": f"vocab/tiktoken/{name}.tiktoken"
        for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
    },
    f"{PUBLISHED}/gpt-2/encodings/main/vocab.bpe": "vocab/gpt2/vocab.bpe",
    f"{PUBLISHED}/gpt-2/encodings/main/encoder.json": "vocab/gpt2/encoder.json",
}


@pytest.fixture(scope="session")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache of tiktoken with all rank files."""
    folder = tmp_path_factory.mktemp("ranks")
    for address, name in RANK_FILES.items():
        shutil.copyfile(data.need(name), folder / hashlib.sha1(address.encode()).hexdigest())
    return folder


@pytest.mark.parametrize("library", SUITES)
def test_what_passes_over_the_library_passes_over_piecework(
    library: str, ranks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control = outcomes(library, ranks, tmp_path / "control.xml", stand_in=False)
    found = outcomes(library, ranks, tmp_path / "piecework.xml", stand_in=True)
    passed = {name for name, outcome in control.items() if outcome == "passed"}
    differing = {name for name in passed if found.get(name) != "passed"}
    with capsys.disabled():
        print(
            f"\n{library}: {len(passed)} of {len(control)} tests pass over the library, "
            f"{len(passed - differing)} of these over piecework"
        )
    assert differing == set(DIFFERENCES[library])


def outcomes(library: str, ranks: Path, report: Path, *, stand_in: bool) -> dict[str, str]:
    """Run the tests of a library in a process of their own; return the outcome of each."""
    folder = FOLDER / library
    if not folder.is_dir():
        pytest.skip("needs the tests of the libraries: run `make test-peers`")
    tests, left_out = SUITES[library]
    options = ["--quiet", "-p", "no:cacheprovider", "--rootdir", ".", "-c", os.devnull]
    paths = [str(STAND_INS)] if stand_in else []
    environment = {
        **os.environ,
        "TIKTOKEN_CACHE_DIR": str(ranks),
        "PYTHONPATH": os.pathsep.join([*paths, str(data.ROOT / "python")]),
    }
    files = [
        str(path)
        for path in sorted((folder / tests).glob("*test*.py"))
        if path.name not in left_out
    ]
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *files]
    subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
    return dict(map(outcome, ElementTree.parse(report).iter("testcase")))


def outcome(case: ElementTree.Element) -> tuple[str, str]:
    """Return the name of a test, and what it came to."""
    kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
    return f"{case.get('classname')}.{case.get('name')}", next(iter(kinds), "passed")
