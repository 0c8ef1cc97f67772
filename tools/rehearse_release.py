"""Rehearse a release against indexes on this machine: a run that is aborted, and a second one.

    python tools/rehearse_release.py dist            # the crates, and the packages of the folder
    python tools/rehearse_release.py dist --install  # and install a wheel from the index
    python tools/rehearse_release.py --crates-only

Nothing leaves the machine; crates of others are downloaded. The crates are published from a copy of the
tracked files, in which piecework's own crates come from the local registry. The package for npm is published
if the folder has it.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

from local_index import LocalIndex

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = "rehearsal"
# crates.io takes five crates with a new name at once.
AT_ONCE = 5


def main() -> None:
    """Rehearse what the command line names."""
    parser = argparse.ArgumentParser(description="Rehearse a release on this machine.")
    parser.add_argument("folder", nargs="?", type=Path, help="the wheels and the sdist")
    parser.add_argument("--crates-only", action="store_true", help="publish no Python package")
    parser.add_argument("--install", action="store_true", help="install from the index, and run")
    arguments = parser.parse_args()
    if arguments.folder is None and not arguments.crates_only:
        parser.error("name the folder with the packages, or give --crates-only")
    if not arguments.crates_only and not arguments.folder.is_dir():
        sys.exit(f"{arguments.folder} does not exist: `make wheel sdist` writes it")
    with tempfile.TemporaryDirectory() as folder, LocalIndex(new_crates=AT_ONCE) as index:
        rehearse_crates(index, Path(folder))
        if not arguments.crates_only:
            files = sorted(arguments.folder.iterdir())
            rehearse_packages(index, [path for path in files if path.suffix != ".tgz"])
            if any(path.suffix == ".tgz" for path in files):
                rehearse_npm(index, arguments.folder, Path(folder))
            if arguments.install:
                install(index, Path(folder))
    print("the rehearsal is complete: an aborted run and a second one published each file once")


# ---- crates


def rehearse_crates(index: LocalIndex, folder: Path) -> None:
    """Publish until the registry refuses a new crate, then again; check that each crate is there once."""
    workspace = copy_of_checkout(folder / "workspace")
    depend_on_registry(workspace / "Cargo.toml")
    aborted = publish(index, workspace)
    check(aborted.returncode != 0, "the first run goes on after a refusal")
    check(len(index.versions) == AT_ONCE, f"the first run published {len(index.versions)} crates")
    print(f"crates: the first run stopped after {AT_ONCE}, as the registry takes no more new names")
    index.allow_more(100)
    done = publish(index, workspace)
    check(done.returncode == 0, done.stdout + done.stderr)
    check(done.stdout.count("skipped") == AT_ONCE, f"expected {AT_ONCE} skipped:\n{done.stdout}")
    check(all(len(found) == 1 for found in index.versions.values()), "a crate is there twice")
    for name, archive in index.archives.items():
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            names = {member.name.partition("/")[2] for member in members if member.isfile()}
        check({"LICENSE", "README.md"} <= names, f"{name} lacks its license or README")
    print(
        f"crates: the second run skipped {AT_ONCE} and published the others, each with its license"
    )


def copy_of_checkout(folder: Path) -> Path:
    """Write the tracked files into a folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def depend_on_registry(manifest: Path) -> None:
    """Make piecework's crates depend on each other through the local registry."""
    text, count = re.subn(
        r'^(piecework-\w+ = \{ path = ".+?", version = ".+?") \}$',
        rf'\1, registry = "{REGISTRY}" }}',
        manifest.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    check(count > 0, "Cargo.toml has no dependency on a crate of piecework")
    manifest.write_text(text, encoding="utf-8")


def publish(index: LocalIndex, workspace: Path) -> subprocess.CompletedProcess[str]:
    """Publish the crates to the local registry, without waiting for its limit."""
    name = REGISTRY.upper()
    environment = {
        **os.environ,
        f"CARGO_REGISTRIES_{name}_INDEX": index.crates,
        f"CARGO_REGISTRIES_{name}_TOKEN": "of-this-machine",
    }
    command = [sys.executable, str(ROOT / "tools/publish_crates.py")]
    options = ["--workspace", str(workspace), "--registry", REGISTRY, "--no-verify", "--waits", "0"]
    options += ["--wait", "0"]
    return subprocess.run([*command, *options], env=environment, capture_output=True, text=True)


# ---- packages


def rehearse_packages(index: LocalIndex, files: list[Path]) -> None:
    """Upload until the index fails, then again; a file that is there is skipped, as the workflow does."""
    index.fail_after = len(files) // 2
    check(not upload(index, files), "the first run goes on after the index failed")
    stored = len(index.files)
    print(f"packages: the first run was cut after {stored} of {len(files)} files")
    index.fail_after = None
    check(upload(index, files), "the second run failed")
    check(set(index.files) == {path.name for path in files}, "the index lacks a file")
    print(f"packages: the second run skipped {stored} and uploaded the others")


def upload(index: LocalIndex, files: list[Path]) -> bool:
    """Upload files one by one, skipping those that exist; return whether all are there."""
    where = ["--repository-url", index.python_uploads, "--username", "x", "--password", "x"]
    for path in files:
        command = [sys.executable, "-m", "twine", "upload", "--non-interactive", *where, str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode and "already exists" not in done.stdout + done.stderr:
            return False
    return True


def rehearse_npm(index: LocalIndex, folder: Path, home: Path) -> None:
    """Publish the package for npm twice; the second run skips it."""
    said = [publish_npm(index, folder, home) for _ in range(2)]
    check("published" in said[0] and "skipped" in said[1], "\n".join(said))
    [package] = index.npm_packages.values()
    check(len(package["versions"]) == 1 and not index.refusals, "the package is there twice")
    print("npm: the first run published the package, and the second one skipped it")


def publish_npm(index: LocalIndex, folder: Path, home: Path) -> str:
    """Publish the package for npm of a folder to the local registry; return what the program prints."""
    settings = home / "npmrc"
    settings.write_text(
        f"{index.npm.removeprefix('http:')}:_authToken=of-this-machine\n", encoding="utf-8"
    )
    environment = {**os.environ, "NPM_CONFIG_USERCONFIG": str(settings)}
    command = [sys.executable, str(ROOT / "tools/publish_npm.py"), str(folder)]
    command += ["--registry", index.npm, "--no-provenance"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def install(index: LocalIndex, folder: Path) -> None:
    """Install piecework from the index into a new environment, and train and encode with it."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    needed = [python, "-m", "pip", "install", "--quiet", "numpy", "click", "rich"]
    ours = [python, "-m", "pip", "install", "--quiet", "--no-deps", "piecework"]
    ours += ["--index-url", index.python_index, "--only-binary=:all:"]
    corpus = [sys.executable, str(ROOT / "tools/quickstart_corpus.py"), "corpus.txt"]
    smoke = [python, str(ROOT / "tools/smoke_test.py"), "corpus.txt"]
    for command in (needed, ours, corpus, smoke):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        check(done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    print("packages: pip installs piecework from the index, and the smoke test passes")


def check(holds: bool, problem: str) -> None:
    """Exit with the problem unless a condition holds."""
    if not holds:
        sys.exit(f"the rehearsal failed: {problem}")


if __name__ == "__main__":
    main()
