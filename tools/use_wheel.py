"""Install a wheel or an sdist, run the README and a smoke test with it, and say where that was.

A package for this platform is installed in a new virtual environment; a wheel is used with a PATH that has
neither cargo nor rustc. For Linux wheels of other platforms, `tools/foreign_root.sh` unpacks packages of
Debian in build/. Those for glibc run in Debian's Python, with an emulator for another processor. Debian has
no Python for musl, so the module of a wheel for musl is loaded by musl, into a program that stands for
Python.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parent.parent
SECTION = "## The first five lines"
RUST = ("cargo", "rustc")
# The names of a processor: in wheels, in Debian; and its emulator.
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
EMULATOR = "qemu-{}-static"

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


def use(package: Path, folder: Path, interpreter: str | None = None) -> str:
    """Use a package where this machine can; return what was shown, for people.

    `interpreter` is a Python for which the wheel is, None if that is this one or one of another platform.
    """
    if package.suffix != ".whl" or interpreter or is_for_this_python(package):
        use_installed(package, folder, interpreter or sys.executable)
        return "installs, runs the first lines of README.md and the smoke test"
    found = re.search(r"(manylinux|musllinux)_[\d_]+_(\w+)\.whl$", package.name)
    if found is None:
        return "not used: it needs a machine of its platform"
    library, processor = found[1], found[2]
    if platform.machine() != processor and shutil.which(EMULATOR.format(processor)) is None:
        return f"NOT RUN: needs {EMULATOR.format(processor)} (apt install qemu-user-static)"
    if shutil.which("apt-get") is None:
        return "NOT RUN: needs Debian's packages for its platform"
    root = foreign_root(processor)
    if library == "musllinux":
        return load_by_musl(package, folder, root, processor)
    use_emulated(package, folder, root, processor)
    return (
        f"runs the first lines of README.md and the smoke test in Debian's Python for {processor}"
    )


def is_for_this_python(package: Path) -> bool:
    """Return whether pip would install a wheel here."""
    return not parse_wheel_filename(package.name)[3].isdisjoint(sys_tags())


# ---- on this platform


def use_installed(package: Path, folder: Path, interpreter: str) -> None:
    """Install the package into a new environment and run the README with it."""
    run([interpreter, "-m", "venv", str(folder / "venv")], folder, dict(os.environ))
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    environment = clean_environment(folder, programs, without_rust=package.suffix == ".whl")
    run(
        [str(programs / "python"), "-m", "pip", "install", "--quiet", str(package)],
        folder,
        environment,
    )
    run_examples([str(programs / "python")], folder, environment)


def run_examples(python: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run the README and the smoke test in a folder outside of the checkout; exit if a result differs."""
    work = folder / "work"
    work.mkdir()
    corpus = [sys.executable, str(ROOT / "tools/quickstart_corpus.py"), "corpus.txt"]
    run(corpus, work, environment)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition(f"{SECTION}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```(python|console)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    code = [code for language, code in blocks if language == "python"]
    console = [code for language, code in blocks if language == "console"]
    if not code or not console:
        sys.exit(f"README.md: found no examples in the section {SECTION[3:]!r}")
    run([*python, "-c", RUN_BLOCKS, str(ROOT)], work, environment, stdin=json.dumps(code))
    for command, expected in (each for block in console for each in commands(block)):
        run_command(command, expected, work, environment)
    run([*python, str(ROOT / "tools/smoke_test.py"), "corpus.txt"], work, environment)


def clean_environment(folder: Path, programs: Path, *, without_rust: bool) -> dict[str, str]:
    """Return variables with the programs first on the PATH, and without Rust if so required."""
    # Compilers of an sdist are found on the caller's PATH.
    path = [str(programs), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
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
    if not any(shutil.which(tool, path=directory) for tool in RUST):
        return directory
    links.mkdir()
    for program in Path(directory).iterdir():
        if not program.name.startswith(("cargo", "rust")):
            (links / program.name).symlink_to(program)
    return str(links)


# ---- on libraries of another platform


def foreign_root(processor: str) -> Path:
    """Return a folder with Debian's Python and musl for a processor; unpack it the first time."""
    name = DEBIAN_NAMES[processor]
    root = ROOT / "build" / f"{name}-root"
    run([str(ROOT / "tools/foreign_root.sh"), name, str(root)], ROOT, dict(os.environ))
    return root


def emulator(root: Path, processor: str) -> list[str]:
    """Return the command that runs programs of a processor, nothing for that of this machine."""
    own = platform.machine() == processor
    return [] if own else [EMULATOR.format(processor), "-L", str(root)]


def use_emulated(package: Path, folder: Path, root: Path, processor: str) -> None:
    """Install a wheel for glibc beside Debian's Python of a processor, and run the README with it."""
    programs, packages = folder / "bin", folder / "packages"
    programs.mkdir()
    python = [*emulator(root, processor), str(root / "usr/bin/python3")]
    write_program(programs / "python", python)
    write_program(programs / "piecework", [*python, "-m", "piecework"])
    environment = clean_environment(folder, programs, without_rust=True)
    show_version = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = run([*python, "-c", show_version], folder, environment).strip()
    accepted = [f"--platform=manylinux_2_{minor}_{processor}" for minor in range(17, 37)]
    choice = ["--only-binary=:all:", f"--python-version={version}", *accepted]
    target = ["--quiet", f"--target={packages}", *choice]
    run([sys.executable, "-m", "pip", "install", *target, str(package)], folder, environment)
    run_examples(python, folder, environment | {"PYTHONPATH": str(packages)})


def write_program(path: Path, command: list[str]) -> None:
    """Write a script that runs a command with its own arguments added."""
    path.write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n')
    path.chmod(0o755)


# ---- under musl

# Stands for Python: has its symbols, loads the module, and finds the function that Python would call.
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
%s
int main(int count, char **arguments) {
  void *module = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!module || !dlsym(module, "PyInit__core")) return fprintf(stderr, "%%s\\n", dlerror()), 1;
  return puts("loaded") < 0;
}
"""


def load_by_musl(package: Path, folder: Path, root: Path, processor: str) -> str:
    """Load the module of a wheel by musl; exit if it needs a symbol that neither musl nor Python has."""
    with zipfile.ZipFile(package) as wheel:
        module = Path(wheel.extract("piecework/_internal/_core.abi3.so", folder))
    libc = root / f"lib/ld-musl-{processor}.so.1"
    needed = symbols(module, defined=False)
    of_python = {name for name in needed if name.startswith(("Py", "_Py"))}
    if unknown := sorted(needed - of_python - symbols(libc, defined=True)):
        sys.exit(f"{package.name}: symbols that musl lacks: {', '.join(unknown)}")
    source, program = folder / "loader.c", folder / "loader"
    source.write_text(LOADER % "\n".join(f"char {name}[256];" for name in sorted(of_python)))
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", f"{processor}-linux-musl"]
    environment = dict(os.environ)
    run(
        [*zig, "-O2", "-dynamic", "-rdynamic", "-o", str(program), str(source)], folder, environment
    )
    loading = [*emulator(root, processor), str(libc), str(program), str(module)]
    assert run(loading, folder, environment) == "loaded\n"
    return f"its module loads under musl for {processor}, which has all {len(needed)} symbols"


def symbols(path: Path, *, defined: bool) -> set[str]:
    """Return the names of the symbols that a shared library defines, or those that it needs."""
    from elftools.elf.elffile import ELFFile  # of auditwheel

    with path.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        return {
            symbol.name
            for symbol in table.iter_symbols()
            if symbol.name
            and (symbol["st_shndx"] != "SHN_UNDEF") == defined
            and (defined or symbol["st_info"]["bind"] != "STB_WEAK")
        }


# ---- commands


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_command(command: str, expected: str, work: Path, environment: dict[str, str]) -> None:
    """Run a shell command and compare its output; `...` stands for any text."""
    # On Windows, another bash comes before the PATH.
    bash = shutil.which("bash", path=environment["PATH"]) or "bash"
    output = run([bash, "-c", command], work, environment)
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
