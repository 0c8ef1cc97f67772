"""What a build needs and the machine lacks is named, with the package that has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts of sh")


def path_with(folder: Path, *programs: str) -> str:
    """Return a PATH with these programs, and with stand-ins for those that this machine lacks."""
    folder.mkdir()
    for name in programs:
        found = shutil.which(name)
        target = folder / name
        if found:
            target.symlink_to(found)
        else:
            target.write_text("#!/bin/sh\n")
            target.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ((), "piecework needs Rust 1.89 or newer: install it (rustup.rs)"),
        (("cargo",), "piecework needs a C linker: install gcc or clang"),
        (("cargo", "cc"), ""),
    ],
)
def test_a_build_names_what_it_lacks(tmp_path: Path, programs: tuple[str, ...], said: str) -> None:
    path = path_with(tmp_path / "bin", "sh", *programs)
    command = ["/bin/sh", str(ROOT / "tools/check_toolchain.sh"), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": path})
    assert (done.returncode, bool(done.stderr)) == (int(bool(said)), bool(said))
    assert said in done.stderr


def test_the_module_for_browsers_names_its_linker() -> None:
    script = str(ROOT / "tools/check_wasm_toolchain.sh")
    command = ["/bin/sh", script, "sh", "sh", "no-such-linker"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "make wasm needs no-such-linker: apt install " in done.stderr


def test_every_target_that_builds_checks_the_toolchain() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("wheel:", "$(VENV)/.built:", "$(VENV)/.tools:"):
        recipe = makefile.partition(f"\n{target}")[2].split("\n\n")[0]
        assert "tools/check_toolchain.sh $(PYTHON)" in recipe, target
    assert "tools/check_wasm_toolchain.sh" in makefile.partition("\n$(WASM)/.built:")[2]


def test_the_module_for_browsers_says_how_long_it_takes() -> None:
    command = ["make", "--dry-run", "--always-make", "build/wasm/.built"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    said = [line for line in done.stdout.splitlines() if line.startswith("echo ")]
    assert re.search("minutes on two cores", said[0])
    assert [line.split()[1] for line in said[1:]] == ['"1', '"2', '"3']
    assert "tools/show_build.sh build/wasm-target/build.log" in done.stdout
