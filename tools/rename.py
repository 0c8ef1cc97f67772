"""Change the names on PyPI, npm and crates.io, or the address of the repository, in every tracked file.

    python tools/rename.py --pypi NAME --npm NAME --crates NAME --repository https://github.com/OWNER/NAME

What is imported and called keeps its name, except in JavaScript, which imports by the name on npm: `import
piecework`, `use piecework::...`, the command `piecework`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "piecework"
REPOSITORY = "https://github.com/piecework/piecework"
SITE = "https://piecework.github.io/piecework/"
PARTS = ("kernels", "unicode", "regex", "core", "formats", "train")
# Each states the name of the distribution once.
OF_PYPI = {
    "pyproject.toml": r'(?m)^name = "{}"$',
    "python/piecework/_internal/extras.py": r'requires\("{}"\)',
    "tests/project/test_public_names.py": r'version\("{}"\)',
    "tools/check_wheel.py": r'"Name": "{}"',
    ".github/workflows/release.yml": r"pypi\.org/project/{}/",
}
OF_FILES = {"tools/check_release.py": r'f"{}-'}
# Commands, imports and paths in documents and tests, and the files that state the name.
OF_NPM = (
    r"(?<=npm install ){}\b(?!-)",
    r"(?<=npm view ){}\b",
    r'(?<=from "){}(?=")',
    r"(?<=node_modules/){}\b",
    r'(?<=node_modules" / "){}\b',
    r'(?<=URL\("){}(?=/)',
    r'(?<=NPM_NAME = "){}(?=")',
    r'(?<="name": "){}(?=",\n  "version")',
)
LOCKED = (".", "benchmarks/rust", "examples/server")
# Written from the manifests.
GENERATORS = ("tools/third_party.py", "tools/pypi_page.py")


def main() -> None:
    """Rename what the command line names."""
    parser = argparse.ArgumentParser(description="Change names in every tracked file.")
    parser.add_argument("--pypi", help="the name of the package on PyPI")
    parser.add_argument("--npm", help="the name of the package on npm")
    parser.add_argument("--crates", help="the name of the crate; its parts begin with it")
    parser.add_argument("--repository", help="the address of the repository on GitHub")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to change")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.repository:
        rename_repository(root, arguments.repository.rstrip("/"))
    if arguments.pypi:
        rename_package(root, arguments.pypi)
    if arguments.npm:
        rename_npm_package(root, arguments.npm)
    if arguments.crates:
        rename_crates(root, arguments.crates)
    for script in GENERATORS:
        subprocess.run([sys.executable, str(root / script)], cwd=root, check=True)


def rename_repository(root: Path, address: str) -> None:
    """Write another address of the repository, and of its site, wherever they stand."""
    owner, name = address.split("/")[-2:]
    site = f"https://{owner}.github.io/{name}/"
    for path in tracked(root):
        text = path.read_text(encoding="utf-8")
        changed = text.replace(REPOSITORY, address).replace(SITE, site)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def rename_package(root: Path, name: str) -> None:
    """Write another name of the distribution; files of a release have it with underscores."""
    for file, pattern in OF_PYPI.items():
        edit(root / file, pattern.format(NAME), name)
    for file, pattern in OF_FILES.items():
        edit(root / file, pattern.format(NAME), name.replace("-", "_"))
    replace_commands(root, rf"(pip install '?){NAME}\b(?!-)", name)


def rename_npm_package(root: Path, name: str) -> None:
    """Write another name of the package for npm wherever JavaScript installs or imports it."""
    for path in tracked(root):
        text = path.read_text(encoding="utf-8")
        changed = text
        for pattern in OF_NPM:
            changed = re.sub(pattern.format(NAME), name, changed)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def rename_crates(root: Path, name: str) -> None:
    """Write another name of each published crate; programs use them by the old names."""
    for part in PARTS:
        manifest = root / f"crates/{part}/Cargo.toml"
        rename_crate(manifest, f"{NAME}-{part}", f"{name}-{part}")
        for path in (root / "Cargo.toml", root / "crates/core/Cargo.toml"):
            add_package(path, f"{NAME}-{part}", f"{name}-{part}")
        text = (root / "Makefile").read_text(encoding="utf-8")
        text = text.replace(f"--package {NAME}-{part}", f"--package {name}-{part}")
        (root / "Makefile").write_text(text, encoding="utf-8")
    rename_crate(root / "crates/piecework/Cargo.toml", NAME, name)
    for folder in LOCKED:
        add_package(root / folder / "Cargo.toml", NAME, name)
    edit(root / "Makefile", rf"--features {NAME}/", name)
    replace_commands(root, rf"(cargo add '?){NAME}\b(?!-)", name)
    for folder in LOCKED:
        command = ["cargo", "update", "--workspace", "--quiet"]
        subprocess.run(command, cwd=root / folder, check=True)


def rename_crate(manifest: Path, old: str, new: str) -> None:
    """Give a crate another name; its library keeps the old one."""
    text = manifest.read_text(encoding="utf-8")
    text = text.replace(f'name = "{old}"', f'name = "{new}"', 1)
    library = f'[lib]\nname = "{old.replace("-", "_")}"\n'
    if "[lib]\n" in text:
        text = text.replace("[lib]\n", library, 1)
    else:
        text = re.sub(r"(?m)^\[(?!package)", f"{library}\n[", text, count=1)
    manifest.write_text(text, encoding="utf-8")


def add_package(manifest: Path, old: str, new: str) -> None:
    """Name the package of a dependency, and of its profile, in a manifest."""
    text = manifest.read_text(encoding="utf-8")
    text = re.sub(rf"(?m)^({old} = {{ )(?=path)", rf'\1package = "{new}", ', text)
    text = re.sub(rf"(?m)^{old}( = {{ opt-level)", rf"{new}\1", text)
    manifest.write_text(text, encoding="utf-8")


def replace_commands(root: Path, pattern: str, name: str) -> None:
    """Write another name into commands that install, in every document."""
    for path in tracked(root):
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(pattern, rf"\g<1>{name}", text), encoding="utf-8")


def edit(path: Path, pattern: str, name: str) -> None:
    """Replace the name in every match of a pattern; exit if there is none."""
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, lambda found: found[0].replace(NAME, name), text)
    if not count:
        sys.exit(f"{path}: found no {pattern}, which has the name")
    path.write_text(changed, encoding="utf-8")


def tracked(root: Path) -> Iterator[Path]:
    """Yield the tracked files that are text, without links."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = root / name
        if path.is_file() and not path.is_symlink() and b"\0" not in path.read_bytes()[:8000]:
            yield path


if __name__ == "__main__":
    main()
