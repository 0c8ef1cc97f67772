"""Check a wheel or an sdist: its files, its metadata, and the first lines of the README.

    python tools/check_wheel.py dist/piecework-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl
    python tools/check_wheel.py dist/piecework-0.1.0.tar.gz

The package is installed in a new virtual environment, and the README runs in a folder outside of the
checkout. A wheel is installed with a PATH that has neither cargo nor rustc. An sdist is compiled.
"""

from __future__ import annotations

import argparse
import email
import email.message
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTION = "## The first five lines"
MAX_WHEEL_BYTES = 6_000_000
IN_EVERY_WHEEL = (
    "piecework/_core.pyi",
    "piecework/py.typed",
    "piecework/_core.abi3.so",
    "piecework/playground/static/page.html",
    "piecework/playground/static/main.js",
)
RUST = ("cargo", "rustc")

# Runs Python blocks of the README in one namespace and compares what they print.
RUN_BLOCKS = """
import doctest, json, sys
namespace = {"__name__": "__main__"}
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
import piecework
assert not piecework.__file__.startswith(sys.argv[1]), f"imported from {piecework.__file__}"
for code in json.load(sys.stdin):
    if ">>>" not in code:
        exec(compile(code, "README.md", "exec"), namespace)
        continue
    test = doctest.DocTestParser().get_doctest(code, {}, "README.md", "README.md", 0)
    test.globs = namespace
    if doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed:
        sys.exit(1)
"""


def main() -> None:
    """Check the file that the command line names."""
    parser = argparse.ArgumentParser(description="Check a wheel or an sdist of piecework.")
    parser.add_argument("package", type=Path, help="a .whl or a .tar.gz")
    package = parser.parse_args().package.resolve()
    is_wheel = package.suffix == ".whl"
    problems = list(wheel_problems(package) if is_wheel else sdist_problems(package))
    if problems:
        sys.exit("\n".join(f"{package.name}: {problem}" for problem in problems))
    with tempfile.TemporaryDirectory() as folder:
        use_installed(package, Path(folder), without_rust=is_wheel)
    size = package.stat().st_size / 1e6
    print(f"{package.name}: {size:.1f} MB, installs and runs the first lines of README.md")


# ---- contents


def wheel_problems(package: Path) -> Iterator[str]:
    """Yield what is wrong with the name, the files and the metadata of a wheel."""
    if not re.search(r"-cp310-abi3-(manylinux|musllinux|macosx|win)", package.name):
        yield "found this file name, expected cp310-abi3 and a platform that PyPI accepts"
    if package.stat().st_size > MAX_WHEEL_BYTES:
        yield f"found {package.stat().st_size} bytes, expected at most {MAX_WHEEL_BYTES}"
    if "linux" in package.name:
        yield from manylinux_problems(package)
    with zipfile.ZipFile(package) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        yield from metadata_problems(email.message_from_bytes(wheel.read(metadata)))
        (entry_points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        if b"piecework=piecework.cli:main" not in wheel.read(entry_points).replace(b" ", b""):
            yield "entry_points.txt: the command `piecework` is missing"
    dist_info = metadata.partition("/")[0]
    required = {*IN_EVERY_WHEEL, f"{dist_info}/licenses/LICENSE"}
    yield from (f"{name} is missing" for name in sorted(required - names))
    in_git = {name.removeprefix("python/") for name in git_files("python")}
    made = {"piecework/_core.abi3.so", "piecework/_core.pyd"}
    own = {name for name in names if not name.startswith(dist_info) and not name.endswith("/")}
    yield from (f"{name} is not in git" for name in sorted(own - in_git - made))
    modules = {name for name in in_git if name.endswith(".py")}
    yield from (f"{name} is missing" for name in sorted(modules - names))


def manylinux_problems(package: Path) -> Iterator[str]:
    """Yield a problem unless auditwheel finds the tag of the file name, as it is and without a repair."""
    auditwheel = [str(Path(sys.executable).parent / "auditwheel"), "show", str(package)]
    done = subprocess.run(auditwheel, capture_output=True, text=True)
    output = " ".join(done.stdout.split())
    found = re.search(r'consistent with the following platform tag: "(\w+)"', output)
    if found is None:
        yield f"auditwheel show: found no platform tag: {output}{done.stderr}"
    elif not package.stem.endswith(found[1]):
        yield f"auditwheel show: found {found[1]}, expected the tag of the file name"


def sdist_problems(package: Path) -> Iterator[str]:
    """Yield what is wrong with the files and the metadata of an sdist."""
    with tarfile.open(package) as archive:
        members = {
            member.name.partition("/")[2]: member for member in archive if not member.isdir()
        }
        info = archive.extractfile(members["PKG-INFO"])
        assert info is not None
        yield from metadata_problems(email.message_from_bytes(info.read()))
    tracked = git_files(".")
    needed = {
        name for name in tracked if re.match(r"(crates/.*\.(rs|toml)|python/.*\.pyi?)$", name)
    }
    needed |= {"LICENSE", "README.md", "Cargo.toml", "Cargo.lock", "pyproject.toml"}
    needed |= {"python/piecework/py.typed"}
    yield from (f"{name} is missing" for name in sorted(needed - members.keys()))
    extra = members.keys() - tracked - {"PKG-INFO"}
    yield from (f"{name} is not in git" for name in sorted(extra))


def metadata_problems(metadata: email.message.Message) -> Iterator[str]:
    """Yield the fields that are missing or have another value."""
    expected = {
        "Name": "piecework",
        "Requires-Python": ">=3.10",
        "License-Expression": "Apache-2.0",
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    for field, value in expected.items():
        found = metadata.get(field, "")
        if not found.startswith(value):
            yield f"metadata field {field}: found {found!r}, expected {value!r}"
    if not any("Python :: 3.10" in each for each in metadata.get_all("Classifier", [])):
        yield "metadata field Classifier: no version of Python"
    if "# piecework" not in str(metadata.get_payload()):
        yield "metadata: the README is missing"


def git_files(folder: str) -> set[str]:
    """Return the files of the checkout that git tracks, or would track once they are added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


# ---- use


def use_installed(package: Path, folder: Path, *, without_rust: bool) -> None:
    """Install the package into a new environment and run the first lines of the README with it."""
    environment = clean_environment(folder, without_rust=without_rust)
    work = folder / "work"
    work.mkdir()
    run([str(folder / "venv/bin/pip"), "install", "--quiet", str(package)], work, environment)
    corpus = [sys.executable, str(ROOT / "tools/quickstart_corpus.py"), "corpus.txt"]
    run(corpus, work, environment)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition(f"{SECTION}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```(python|console)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    python = [code for language, code in blocks if language == "python"]
    console = [code for language, code in blocks if language == "console"]
    if not python or not console:
        sys.exit(f"README.md: found no examples in the section {SECTION[3:]!r}")
    code = [str(folder / "venv/bin/python"), "-c", RUN_BLOCKS, str(ROOT)]
    run(code, work, environment, stdin=json.dumps(python))
    for command, expected in (each for block in console for each in commands(block)):
        run_command(command, expected, work, environment)


def clean_environment(folder: Path, *, without_rust: bool) -> dict[str, str]:
    """Make a virtual environment; return variables with its PATH, without Rust if so required."""
    venv.create(folder / "venv", with_pip=True)
    # Compilers of an sdist are found on the caller's PATH.
    path = [str(folder / "venv/bin"), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    if without_rust:
        path = [without_rust_tools(each, folder / f"path-{n}") for n, each in enumerate(path)]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PYO3", "MATURIN"))
    }
    kept |= {"PATH": os.pathsep.join(path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if without_rust:
        kept = {name: value for name, value in kept.items() if "CARGO" not in name}
    found = [tool for tool in RUST if shutil.which(tool, path=kept["PATH"])]
    if without_rust and found:
        sys.exit(f"PATH: found {' and '.join(found)}, expected a PATH without Rust")
    if not without_rust and not found:
        sys.exit("PATH: found no cargo, which an sdist needs; install Rust (rustup.rs)")
    return kept


def without_rust_tools(directory: str, links: Path) -> str:
    """Return a directory of the PATH, or one with links to all its programs but those of Rust."""
    if not any(Path(directory, tool).exists() for tool in RUST):
        return directory
    links.mkdir()
    for program in Path(directory).iterdir():
        if not program.name.startswith(("cargo", "rust")):
            (links / program.name).symlink_to(program)
    return str(links)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_command(command: str, expected: str, work: Path, environment: dict[str, str]) -> None:
    """Run a shell command and compare its output; `...` stands for any text."""
    output = run(["bash", "-c", command], work, environment)
    pattern = ".*".join(map(re.escape, expected.strip().split("...")))
    if expected and not re.fullmatch(pattern, output.strip(), re.DOTALL):
        sys.exit(f"{command}\nfound {output!r}, expected {expected!r}")


def run(
    command: list[str],
    work: Path,
    environment: dict[str, str],
    *,
    stdin: str = "",
) -> str:
    """Run a program and return its output; exit with the output if it fails."""
    done = subprocess.run(
        command,
        cwd=work,
        env=environment,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])} ... failed:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
