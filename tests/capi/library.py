"""libpiecework, and programs that are compiled with it.

PIECEWORK_CAPI names the folder that `make capi` filled; `make test-capi` sets it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIBRARY = Path(os.environ.get("PIECEWORK_CAPI", "/nowhere"))
HEADER = ROOT / "crates" / "capi" / "include" / "piecework.h"
SHARED = LIBRARY / "lib" / "libpiecework.so"
STATIC = LIBRARY / "lib" / "libpiecework.a"
PROGRAMS = ROOT / "tests" / "capi" / "programs"

WARNINGS = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-g")
LANGUAGES = {".c": ("cc", "-std=c99", "-D_XOPEN_SOURCE=700"), ".cpp": ("c++", "-std=c++17")}
VALGRIND = ("valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full")


def is_at_hand() -> bool:
    """Whether there are a C compiler and the library."""
    return shutil.which("cc") is not None and SHARED.is_file()


def compile_program(source: Path, folder: Path, *flags: str) -> Path:
    """Compile a program in C or C++ with the flags of pkg-config; return its path."""
    program = folder / source.stem
    done = run([*LANGUAGES[source.suffix], *WARNINGS, source, *flags, *linked(), "-o", program])
    assert done.returncode == 0, done.stderr
    return program


@cache
def linked() -> tuple[str, ...]:
    """Return the flags that compile and link a program with the shared library."""
    flags = pkg_config("--cflags", "--libs")
    return (*flags, "-lpthread", f"-Wl,-rpath,{LIBRARY / 'lib'}")


def pkg_config(*arguments: str) -> list[str]:
    """Return what pkg-config says about the library."""
    command = ["pkg-config", *arguments, "piecework"]
    return subprocess.check_output(command, text=True, env=environment()).split()


def environment(**others: str) -> dict[str, str]:
    """Return an environment in which pkg-config and the loader find the library."""
    lib = LIBRARY / "lib"
    places = {"PKG_CONFIG_PATH": str(lib / "pkgconfig"), "LD_LIBRARY_PATH": str(lib)}
    return {**os.environ, **places, **others}


def static_libraries() -> list[str]:
    """Return what a program needs beside the static library."""
    return [flag for flag in pkg_config("--static", "--libs") if flag != "-lpiecework"]


def run(command: Sequence[object], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    arguments = [str(part) for part in command]
    settings: dict[str, Any] = {"text": True, "encoding": "utf-8", "errors": "replace", **options}
    return subprocess.run(arguments, capture_output=True, check=False, **settings)


def blocks(page: Path, languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of some languages."""
    fence = rf"^```({languages})\n(.*?)^```$"
    return re.findall(fence, page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run_page(
    page: Path, languages: str, folder: Path, settings: Mapping[str, str] | None = None
) -> None:
    """Run the programs and commands of a page in a folder: they print what the page shows."""
    for language, block in blocks(page, f"{languages}|sh"):
        if language != "sh":
            name = re.match(r"(?:/\*|//) (\w+\.\w+)", block)
            assert name is not None
            (folder / name[1]).write_text(block, encoding="utf-8")
            continue
        block = block.replace("/path/to/piecework", str(ROOT))
        for command, shown in re.findall(r"^\$ (.*\n)((?:[^$].*\n)*)", block, re.MULTILINE):
            if not command.startswith("make "):
                done = run(["bash", "-c", command], cwd=folder, env=settings or environment())
                assert (done.returncode, done.stdout) == (0, shown), command + done.stderr
