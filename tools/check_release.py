"""Check that a folder has all files of a release and no other, before any of them is published.

    python tools/check_release.py dist --tag v0.1.0

The files are one source distribution, a wheel for each platform that loads in every version of CPython,
wheels for each free-threaded version, and the package for npm. The tag must name the version of
Cargo.toml, which CHANGELOG.md lists.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from build_wheel import PLATFORM_TAGS, ROOT

NPM_NAME = "piecework"
FREE_THREADED_VERSIONS = ("cp313", "cp314")
# numpy has free-threaded wheels for them.
FREE_THREADED_TARGETS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)


def main() -> None:
    """Check the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Check that a release is complete.")
    parser.add_argument("folder", type=Path, help="the folder with the wheels and the sdist")
    parser.add_argument("--tag", help="the tag of the release, such as v0.1.0")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        sys.exit(f"{arguments.folder} does not exist: `make wheels sdist npm` writes it")
    found = {path.name for path in arguments.folder.iterdir()}
    problems = [*file_problems(found), *tag_problems(arguments.tag)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(found)} files: the release of {version()} is complete")


def file_problems(found: set[str]) -> Iterator[str]:
    """Yield the files that are missing, and those that belong to no release."""
    expected = set(release_files(version()))
    yield from (f"{name} is missing" for name in sorted(expected - found))
    yield from (f"{name} is no file of this release" for name in sorted(found - expected))


def release_files(version: str) -> Iterator[str]:
    """Yield the names of all files of a release."""
    yield f"piecework-{version}.tar.gz"
    yield f"{NPM_NAME.removeprefix('@').replace('/', '-')}-{version}.tgz"
    for tag in PLATFORM_TAGS.values():
        yield f"piecework-{version}-cp310-abi3-{tag}.whl"
    for python in FREE_THREADED_VERSIONS:
        for target in FREE_THREADED_TARGETS:
            yield f"piecework-{version}-{python}-{python}t-{PLATFORM_TAGS[target]}.whl"


def tag_problems(tag: str | None) -> Iterator[str]:
    """Yield a problem if a tag is not that of the version, or the changelog lacks the version."""
    if tag is None:
        return
    if tag != f"v{version()}":
        yield f"the tag is {tag}, and Cargo.toml has version {version()}"
    heading = rf"^## \[{re.escape(version())}\] - \d{{4}}-\d\d-\d\d$"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(heading, changes, re.MULTILINE):
        yield f"CHANGELOG.md has no heading with a date for {version()}"


def version() -> str:
    """Return the version of the workspace."""
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE)
    assert found
    return found[1]


if __name__ == "__main__":
    main()
