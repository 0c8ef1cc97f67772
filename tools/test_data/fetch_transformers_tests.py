"""Fetch transformers' tests of its tokenizers from its source distribution.

python tools/test_data/fetch_transformers_tests.py build/transformers-tests

Nothing of the distribution is built. `tests/integrations/transformers_suite.py` runs the tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from fetch import HERE, download_sdists, unpacked, write_folder

FILES = (
    "test_tokenization_common.py",
    "test_tokenizers_backend_mixin.py",
    "test_sentencepiece_backend_mixin.py",
)
# The distribution lacks the text that its tests read; any English text serves.
SAMPLE_TEXT = "This sentence stands for a sample text of several lines.\n" * 20


def main(arguments: list[str]) -> int:
    """Write the tests into the folder named; return the exit code."""
    return write_folder("fetch_transformers_tests.py", arguments, fill)


def fill(archives: Path, folder: Path) -> None:
    """Copy the tests from the source distribution and write the text that they read."""
    download_sdists(HERE / "transformers_sdist.txt", archives)
    source = unpacked(archives, "transformers") / "tests"
    # transformers looks for the folder named `tests` above its files.
    tests = folder / "tests"
    (tests / "fixtures").mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(source / name, tests / name)
    (tests / "__init__.py").touch()
    (tests / "fixtures" / "sample_text.txt").write_text(SAMPLE_TEXT, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
