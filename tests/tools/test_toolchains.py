"""What a build needs and the machine lacks is named, with the package that has it."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts of sh")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


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


def unselected(folder: Path) -> str:
    """Return a program like the one that pyenv has for an installed Python that is not selected."""
    shim = folder / "python3.10"
    shim.write_text("#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    return str(shim)


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


def test_a_build_names_a_python_that_pyenv_does_not_select(tmp_path: Path) -> None:
    command = ["/bin/sh", str(ROOT / "tools/check_toolchain.sh"), unselected(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "python3.10 does not start: name another one (make PYTHON=python3.12 ...)\n"
    )
    assert len(done.stderr.splitlines()) == 1


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


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the Makefile in a folder, without the test data that the environment names."""
    environment = {k: v for k, v in os.environ.items() if k != "PIECEWORK_DATA"}
    command = ["make", "-C", str(folder), "-f", str(ROOT / "Makefile"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@needs_make
def test_a_wheel_has_the_profile_of_published_wheels_and_a_build_the_flags_of_pip() -> None:
    assert "build --profile release" in make(ROOT, "--dry-run", "wheel").stdout
    assert "build --profile quick" in make(ROOT, "--dry-run", "wheel", "PROFILE=quick").stdout
    printed = make(ROOT, "--dry-run", "--always-make", "build").stdout
    [build] = [line for line in printed.splitlines() if "maturin develop" in line]
    assert build.endswith("--profile quick")
    assert "RUSTFLAGS" not in build


@needs_make
def test_a_target_without_its_data_names_the_target_that_fetches_them(tmp_path: Path) -> None:
    done = make(tmp_path, "bench-rust")
    assert done.returncode == 2
    assert "make bench-rust needs published vocabularies and corpora: make test-data" in done.stderr


def test_a_python_that_pyenv_does_not_select_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    starts = importlib.import_module("test_wheel").starts
    assert starts(sys.executable)
    assert not starts(unselected(tmp_path))
    assert not starts(str(tmp_path / "python3.12"))


@needs_make
def test_the_module_for_browsers_says_how_long_it_takes() -> None:
    done = make(ROOT, "--dry-run", "--always-make", "build/wasm/.built")
    said = [line for line in done.stdout.splitlines() if line.startswith("echo ")]
    assert re.search("minutes on two cores", said[0])
    assert [line.split()[1] for line in said[1:]] == ['"1', '"2', '"3']
    assert "tools/show_build.sh build/wasm-target/build.log" in done.stdout
