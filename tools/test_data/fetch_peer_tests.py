"""Fetch the tests of tiktoken and sentencepiece from their source distributions.

python tools/test_data/fetch_peer_tests.py build/peer-tests

Nothing of the distributions is built. `tests/peers/suites.py` runs the tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from fetch import HERE, download_sdists, unpacked, write_folder

# A package, the folder of its tests in it, and the folder of its test data.
FOLDERS = {
    "tiktoken": ("tests",),
    "sentencepiece": ("test", "data"),
}


def main(arguments: list[str]) -> int:
    """Write the tests into the folder named; return the exit code."""
    return write_folder("fetch_peer_tests.py", arguments, fill)


def fill(archives: Path, folder: Path) -> None:
    """Copy the tests and their data from the source distributions."""
    download_sdists(HERE / "peers_sdists.txt", archives)
    for package, names in FOLDERS.items():
        source = unpacked(archives, package)
        for name in names:
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / package / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
