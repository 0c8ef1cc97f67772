"""Run the tests on an installed wheel, in one or more versions of Python.

    python tools/test_wheel.py dist
    python tools/test_wheel.py dist --python python3.10 --python python3.13 -- -k encode

Each interpreter gets an environment in build/ with the wheel and what the tests need. Without Rust on the
machine, the tests that call cargo fail; everything else needs the wheel alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ("zstd", "parquet", "test")
# What `make test-fast` runs, without the examples in docstrings, which are those of the checkout.
FAST = ["--override-ini=testpaths=tests", "-m", "not slow"]


def main() -> None:
    """Test the wheel that the command line names."""
    parser = argparse.ArgumentParser(description="Run the tests on an installed wheel.")
    parser.add_argument("folder", type=Path, help="the folder with one wheel")
    parser.add_argument("--python", action="append", help="an interpreter; repeatable")
    parser.add_argument("pytest", nargs="*", help="further options of pytest, after --")
    arguments = parser.parse_args()
    [wheel] = arguments.folder.resolve().glob("*.whl")
    interpreters = arguments.python or [sys.executable]
    found = [each for each in interpreters if starts(each)]
    failed = [each for each in found if not passes(wheel, each, arguments.pytest)]
    for interpreter in interpreters:
        if interpreter not in found:
            print(f"NOT RUN: {interpreter} is not installed, or not selected by pyenv")
    if failed:
        sys.exit(f"{wheel.name}: tests failed in {', '.join(failed)}")
    if not found:
        sys.exit(f"{wheel.name}: not tested, as no interpreter starts")


def starts(interpreter: str) -> bool:
    """Return whether an interpreter runs; pyenv also has a program for each version that is not selected."""
    if shutil.which(interpreter) is None:
        return False
    return subprocess.run([interpreter, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0


def passes(wheel: Path, interpreter: str, options: list[str]) -> bool:
    """Return whether the tests pass on the wheel in an interpreter."""
    python = environment_of(interpreter)
    for options_of_pip in ([], ["--force-reinstall", "--no-deps"]):
        run([python, "-m", "pip", "install", "--quiet", *options_of_pip, str(wheel)])
    print(f"{wheel.name} in {output([python, '--version'])}", flush=True)
    command = [python, "-m", "pytest", "--numprocesses", "logical", "--dist", "worksteal"]
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([*command, *FAST, *options], cwd=ROOT, env=kept).returncode == 0


def environment_of(interpreter: str) -> str:
    """Return the Python of an environment with what the tests need; make it the first time."""
    version = output([interpreter, "-c", "import sysconfig as s; print(s.get_config_var('SOABI'))"])
    folder = ROOT / "build/wheel-tests" / version
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    mark, requirements = folder / ".tools", ROOT / "pyproject.toml"
    if not mark.exists() or mark.stat().st_mtime < requirements.stat().st_mtime:
        print(f"Installing what the tests need into {folder} ...", flush=True)
        run([interpreter, "-m", "venv", str(folder)])
        script = str(ROOT / "tools/requirements.py")
        needed = output([sys.executable, script, *GROUPS]).splitlines()
        run([str(python), "-m", "pip", "install", "--quiet", *needed])
        mark.touch()
    return str(python)


def output(command: list[str]) -> str:
    """Return what a program prints; exit if it fails."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(command: list[str]) -> None:
    """Run a program; exit with its code if it fails."""
    if code := subprocess.run(command, cwd=ROOT).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
