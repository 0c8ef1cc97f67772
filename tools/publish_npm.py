"""Publish the package for npm of a folder, unless its version exists.

    python tools/publish_npm.py dist
    python tools/publish_npm.py dist --registry http://127.0.0.1:4873 --no-provenance

npm signs where the package was built, which it can do in a workflow only. A person who publishes the first
version from a machine passes --no-provenance.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any


def main() -> None:
    """Publish the package that the command line names."""
    parser = argparse.ArgumentParser(description="Publish the package for npm.")
    parser.add_argument("folder", type=Path, help="the folder with the .tgz file")
    parser.add_argument("--registry", help="the address of a registry; else npm's own")
    parser.add_argument("--no-provenance", action="store_true", help="do not sign the origin")
    arguments = parser.parse_args()
    options = ["--registry", arguments.registry] if arguments.registry else []
    signed = [] if arguments.no_provenance else ["--provenance"]
    archives = sorted(arguments.folder.glob("*.tgz"))
    if len(archives) != 1:
        sys.exit(
            f"{arguments.folder}: found {len(archives)} .tgz files, expected one: run make npm"
        )
    publish(archives[0], options, signed)


def publish(archive: Path, options: list[str], signed: list[str]) -> None:
    """Publish an archive unless its version exists; exit if the registry refuses it."""
    manifest = manifest_of(archive)
    name = f"{manifest['name']}@{manifest['version']}"
    if exists(name, options):
        print(f"{name}: this version exists, skipped")
        return
    command = ["npm", "publish", str(archive.resolve()), "--access", "public", *signed, *options]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode and not exists(name, options):
        sys.exit(f"{name}: not published\n{done.stderr}")
    print(f"{name}: published")


def exists(name: str, options: list[str]) -> bool:
    """Return whether the registry has a version; exit if it does not answer."""
    done = subprocess.run(
        ["npm", "view", name, "version", "--prefer-online", *options],
        capture_output=True,
        text=True,
    )
    if done.returncode and "E404" not in done.stderr:
        sys.exit(f"{name}: the registry does not answer\n{done.stderr}")
    return bool(done.stdout.strip())


def manifest_of(archive: Path) -> dict[str, Any]:
    """Return the package.json of an archive."""
    with tarfile.open(archive) as packed:
        file = packed.extractfile("package/package.json")
        assert file is not None
        manifest: dict[str, Any] = json.loads(file.read())
    return manifest


if __name__ == "__main__":
    main()
