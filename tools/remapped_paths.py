"""Print the flags of rustc that keep the folders of this machine out of what it compiles.

    CARGO_ENCODED_RUSTFLAGS="$(python tools/remapped_paths.py)" cargo build

Messages of panics name source files. Without these flags, the names begin with the home of whoever built.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STANDARD_LIBRARY = "lib/rustlib/src/rust/library"


def main() -> None:
    """Print the flags, with those of RUSTFLAGS, as `CARGO_ENCODED_RUSTFLAGS` has them."""
    given = os.environ.get("RUSTFLAGS", "").split()
    print("\x1f".join([*given, *remapping(os.environ.get("RUSTC", "rustc"))]), end="")


def remapping(compiler: str) -> list[str]:
    """Return the flags for a compiler."""
    return [f"--remap-path-prefix={path}={name}" for path, name in places(compiler)]


def places(compiler: str) -> Iterator[tuple[str, str]]:
    """Yield the folders with sources, and what stands for each in messages of panics."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    yield str(ROOT), "piecework"
    yield str(sysroot(compiler) / Path(STANDARD_LIBRARY).parent), "rust"
    # Also before the first download, so that a second build has the same flags and compiles nothing again.
    yield str(cargo / "registry/src"), "crates"


def sysroot(compiler: str) -> Path:
    """Return the folder of a compiler's libraries."""
    return Path(output([compiler, "--print", "sysroot"]))


def output(command: list[str]) -> str:
    """Return what a program prints, "" if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return "" if done.returncode else done.stdout.strip()


if __name__ == "__main__":
    main()
