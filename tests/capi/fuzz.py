"""Call the C library at random, under AddressSanitizer, with files that `fuzz/` damages.

    python -m tests.capi.fuzz --seconds 600
    python -m tests.capi.fuzz --rounds 1 --seed 7

PIECEWORK_CAPI names the library, as in the tests. A round makes copies of each file of `fuzz/corpus`, and
runs `programs/random_calls.c` on them. The copies of a round that fails are kept.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from itertools import count
from pathlib import Path
from time import monotonic

from tests.capi.library import HEADER, PROGRAMS, ROOT, STATIC, WARNINGS, run, static_libraries
from tests.faults.damaged_files import damaged

CORPUS = sorted((ROOT / "fuzz" / "corpus").iterdir())
COPIES = 20
"""The damaged copies of a file in a round."""
CALLS = 10_000
"""The calls in a round."""


def sanitized(folder: Path) -> Path:
    """Compile the program with AddressSanitizer and the static library; return its path."""
    program = folder / "random_calls"
    flags = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover", *WARNINGS]
    files = [PROGRAMS / "random_calls.c", f"-I{HEADER.parent}", STATIC]
    done = run(["cc", *flags, *files, *static_libraries(), "-o", program])
    assert done.returncode == 0, done.stderr
    return program


def main() -> None:
    """Run rounds until the time is over; exit with an error at the first one that fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    end, kept = monotonic() + arguments.seconds, Path(tempfile.mkdtemp())
    program = sanitized(kept)
    for number in count(1):
        copies = []
        for path in CORPUS:
            (folder := kept / path.name).mkdir(exist_ok=True)
            copies += damaged(path, folder, COPIES, arguments.seed)
        command = [program, arguments.seed, CALLS, *copies]
        done = run(command, timeout=600)
        if done.stdout != "equal\n":
            sys.exit(f"{done.stderr}\nround {number}: {' '.join(map(str, command[:3]))} {kept}/*/*")
        arguments.seed += COPIES
        if number == arguments.rounds or monotonic() > end:
            print(f"{number * CALLS} calls, no failure")
            shutil.rmtree(kept)
            return


if __name__ == "__main__":
    main()
