"""`manifest.json`: what a folder of encoded shards was made of, and the shards that are finished.

A shard is recorded after its files have their final names, so files without a record are incomplete or
redundant: the next run writes them again. The manifest has no times of its own. An interrupted and an
undisturbed run therefore end with the same bytes.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from pathlib import Path
from time import monotonic
from typing import Any

from piecework._internal._core import __version__
from piecework.corpus.urls import is_url
from piecework.errors import ArgumentError, CorpusError, FileError, FormatError, PieceworkError
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import file_checksum, file_identity

MANIFEST_FILE = "manifest.json"

_VERSION = 1
# Writing the manifest again and again may take at most this share of the time.
_MAX_SHARE = 0.05
_OTHER_FOLDER = "or another folder"
_NO_INPUT: dict[str, Any] = {"name": "no more"}


@dataclass(frozen=True)
class StoredFile:
    """A file of a shard: its name in the folder, its size, and its checksum of 128 bits."""

    name: str
    bytes: int
    xxh128: str

    @classmethod
    def of(cls, folder: Path, name: str) -> StoredFile:
        """Read a finished file, and make sure that it is on the disk."""
        path = folder / name
        checksum = file_checksum(path, sync=True)
        return cls(name, path.stat().st_size, checksum)

    def is_intact(self, folder: Path) -> bool:
        """Return whether the file still has its content."""
        path = folder / self.name
        try:
            return path.stat().st_size == self.bytes and file_checksum(path) == self.xxh128
        except (OSError, FileError):
            return False


@dataclass(frozen=True)
class Shard:
    """A finished shard. `rows` differs from `documents` only for packed rows.

    `parsed_special` counts the special tokens parsed in documents.
    """

    name: str
    files: tuple[StoredFile, ...]
    documents: int
    rows: int
    tokens: int
    empty_lines_dropped: int
    replacements: int
    parsed_special: int = 0


class Manifest:
    """The record of one folder.

    `names` has the name of each shard. `inputs` has the path, size and time of each input, and its checksum
    once it has been read.
    """

    def __init__(
        self,
        folder: Path,
        tokenizer: str,
        settings: Mapping[str, Any],
        files: Sequence[str],
        names: Sequence[str],
    ) -> None:
        self.path = folder / MANIFEST_FILE
        self.inputs = [_input(name) for name in files]
        self.shards: dict[int, Shard] = {}
        self.folder = folder
        self._tokenizer = tokenizer
        self._settings = dict(settings)
        self.names = names
        self._saved_at = monotonic()
        self._save_seconds = 0.0

    @property
    def missing(self) -> list[int]:
        """The numbers of the shards that are not finished."""
        return [number for number in range(len(self.names)) if number not in self.shards]

    def start(self, *, resume: bool) -> None:
        """Write a new manifest, or read the stored one to continue from it.

        Raises `ArgumentError` if there is one and `resume` is False, or if it has another tokenizer or other
        settings; `CorpusError` if the inputs changed; `FormatError` if it is damaged.
        """
        stored = self._stored()
        if stored is None:
            self.save()
            return
        if not resume:
            advice = f"pass resume to finish it, {_OTHER_FOLDER}"
            raise ArgumentError("out_dir", f"has {self.path} of an earlier run", hint=advice)
        try:
            self._check(stored)
            self._restore(stored)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._damaged() from error

    def record(self, number: int, shard: Shard) -> None:
        """Add a finished shard; save, unless saving took too much of the time until now."""
        self.shards[number] = shard
        if monotonic() - self._saved_at >= self._save_seconds / _MAX_SHARE:
            self.save()

    def save(self) -> None:
        """Write the manifest atomically, and wait until it is on the disk."""
        begun = monotonic()
        with atomic_file(self.path) as temporary, temporary.open("wb") as stream:
            stream.write(json.dumps(self._content(), indent=1).encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._saved_at = monotonic()
        self._save_seconds = self._saved_at - begun

    def _content(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "piecework": __version__,
            "tokenizer": self._tokenizer,
            "settings": self._settings,
            "complete": not self.missing,
            "documents": sum(shard.documents for shard in self.shards.values()),
            "tokens": sum(shard.tokens for shard in self.shards.values()),
            "inputs": self.inputs,
            "shards": [asdict(self.shards[number]) for number in sorted(self.shards)],
        }

    # ---- an earlier run

    def _stored(self) -> dict[str, Any] | None:
        try:
            stored = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError.reading(self.path, error) from error
        except (ValueError, RecursionError) as error:
            raise self._damaged() from error
        if not isinstance(stored, dict) or stored.get("version") != _VERSION:
            raise self._damaged()
        return stored

    def _check(self, stored: Mapping[str, Any]) -> None:
        settings = (
            (name, stored["settings"].get(name), its) for name, its in self._settings.items()
        )
        for name, its, mine in (
            ("version of piecework", stored["piecework"], __version__),
            ("tokenizer", stored["tokenizer"], self._tokenizer),
            *settings,
        ):
            if its != mine:
                found = f"it has {name} {its!r}, and this run {mine!r}"
                raise self._different(ArgumentError, found)
        for mine, its in zip_longest(self.inputs, stored["inputs"], fillvalue=_NO_INPUT):
            if mine["name"] != its["name"]:
                found = f"it has the input {its['name']} where this run has {mine['name']}"
                raise self._different(CorpusError, found)
            if not _is_unchanged(mine, its):
                sizes = f"from {its['size']} to {mine['size']} bytes"
                found = f"{mine['name']} changed since that run, {sizes} or in content"
                raise self._different(CorpusError, found, "restore it")
            mine.update(its)

    def _different(
        self, kind: type[PieceworkError], found: str, do: str = "run again with the same"
    ) -> PieceworkError:
        """Return the error for a run that differs from the one to resume."""
        return kind(str(self.path), f"cannot be resumed: {found}; {do}, {_OTHER_FOLDER}")

    def _restore(self, stored: Mapping[str, Any]) -> None:
        """Accept the shards whose files are intact; the others will be encoded again."""
        numbers = {name: number for number, name in enumerate(self.names)}
        for record in stored["shards"]:
            shard = self._shard(record)
            if all(file.is_intact(self.folder) for file in shard.files):
                self.shards[numbers[shard.name]] = shard

    def _shard(self, record: Mapping[str, Any]) -> Shard:
        files = tuple(StoredFile(**file) for file in record["files"])
        shard = Shard(**{**record, "files": files})
        texts = [shard.name, *(text for file in files for text in (file.name, file.xxh128))]
        names = [field.name for field in fields(Shard) if field.name not in ("name", "files")]
        counts = [*(getattr(shard, name) for name in names), *(file.bytes for file in files)]
        are_counts = all(type(count) is int and count >= 0 for count in counts)
        are_names = all(type(text) is str for text in texts)
        if not (are_counts and are_names and all(_is_name(file.name) for file in files) and files):
            raise self._damaged()
        return shard

    def _damaged(self) -> FormatError:
        return FormatError(str(self.path), f"is damaged; delete the folder, {_OTHER_FOLDER}")


def _input(name: str) -> dict[str, Any]:
    if is_url(name):
        problem = "is a URL; download it first, as the manifest records the checksum of a file"
        raise FileError(name, problem)
    identity = file_identity(name)
    if "size" not in identity:
        raise FileError(name, "no such file", errno=errno.ENOENT)
    if not os.path.isfile(name):
        raise FileError(name, "is a pipe or a device, which cannot be read again to resume")
    return identity


def _is_unchanged(mine: Mapping[str, Any], its: Mapping[str, Any]) -> bool:
    """Return whether size and time are the same, or size and content."""
    if mine["size"] != its["size"]:
        return False
    if mine["modified"] == its["modified"]:
        return True
    return "xxh128" in its and file_checksum(mine["name"]) == its["xxh128"]


def _is_name(name: str) -> bool:
    """Return whether a name leads to a file of the folder itself."""
    return bool(name) and os.path.basename(name) == name and name not in (".", "..")
