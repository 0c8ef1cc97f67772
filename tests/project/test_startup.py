"""What a program waits for: the first id needs neither numpy nor specifications, and help no numpy."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

import piecework as pw

PACKAGE = Path(pw.__file__).parents[1]

LOAD_AND_ENCODE = """
import sys
before = set(sys.modules)
import piecework as pw
tok = pw.Tokenizer.load(sys.argv[1])
assert tok.encode("hug").ids == [1], tok.encode("hug").ids
print(*set(sys.modules) - before)
batch = tok.encode_batch(["hug", "hug hug"])
assert (batch.to_lists(), len(batch), batch[1].ids) == ([[1], [0]], 2, [0]), batch
print(*set(sys.modules) - before)
"""

HEAVY = {
    "numpy",
    "click",
    "rich",
    "piecework.spec.models",
    "piecework.train",
    "piecework.analysis",
    "piecework.export",
    "piecework.cli",
}
NEW = """
import sys
import piecework as pw
print(*{name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names - {"__main__"})
"""


def test_importing_imports_no_other_package() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    arguments = [sys.executable, "-S", "-c", NEW]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["piecework"]


def test_loading_and_encoding_imports_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).save(path)
    done = subprocess.run(
        [sys.executable, "-c", LOAD_AND_ENCODE, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    one_text, batch = map(set, map(str.split, done.stdout.splitlines()))
    assert not HEAVY & one_text
    assert not HEAVY & batch


LOAD_RANKS = """
import sys
before = set(sys.modules)
import piecework as pw
tok = pw.Tokenizer.load(sys.argv[1], pattern=sys.argv[2], special_tokens={})
assert tok.encode("hug").ids == [104, 117, 103]
print(*set(sys.modules) - before)
"""


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", r"\w+|\W+"])
def test_loading_ranks_imports_nothing_heavy(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "bytes.tiktoken"
    path.write_bytes(b"".join(b64encode(bytes([id])) + b" %d\n" % id for id in range(256)))
    done = subprocess.run(
        [sys.executable, "-c", LOAD_RANKS, str(path), pattern],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(done.stdout.split())


USAGE = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from piecework.cli.app import VERBS, run
with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    for verb in VERBS:
        assert run([verb, "--help"]) == 0, verb
        assert run([verb, "--no-such-option"]) == 2, verb
    assert run(["train", "corpus.txt", "--vocab-size", "none"]) == 2
    assert run(["train", "corpus.txt", "--min-frequency", "0", "-o", "tokenizer.json"]) == 2
    assert run(["train", "--preset", "none"]) == 2
print(*{"numpy", "piecework.analysis", "piecework.vocabulary"} & set(sys.modules))
"""


def test_help_and_errors_of_usage_import_no_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", USAGE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


HELP = """
import io, sys
from contextlib import redirect_stdout
from piecework.cli.app import run
with redirect_stdout(io.StringIO()):
    assert run([sys.argv[1], "--help"]) == 0
print(len(sys.modules))
"""
MOST_MODULES = 290


@pytest.mark.parametrize("verb", ["train", "train-sentencepiece", "compare", "encode"])
def test_help_imports_few_modules(verb: str) -> None:
    """Most of the time that help takes, a fifth of a second, are imports."""
    done = subprocess.run(
        [sys.executable, "-c", HELP, verb], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < MOST_MODULES


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None  # an import of it fails
import piecework as pw
tok = pw.Tokenizer.load(sys.argv[1])
batch = tok.encode_batch(["hug", "hug hug"])
assert batch.to_lists() == [[1], [0]], batch
assert tok.count_batch(["hug", "hug hug"]) == [1, 1]
for ask in (lambda: batch.ids, lambda: batch.row_offsets):
    try:
        ask()
    except ImportError as error:
        print(error.name)
"""


def test_an_array_without_numpy_is_an_import_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).save(path)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["numpy"] * 2


def test_every_public_name_can_be_read() -> None:
    code = "import piecework as pw; print(*(getattr(pw, name) and name for name in pw.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == pw.__all__
    assert set(pw.__all__) <= set(dir(pw))


ENCODE_FILES = """
import sys
import piecework as pw
import piecework.cli.encode
pw.encode_files
print(*(name for name in sys.modules if name.startswith("piecework.train")))
"""


def test_encoding_files_imports_no_training() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENCODE_FILES], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
