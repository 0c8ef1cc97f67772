"""Files of checkpoints: what a run learns from, then its state, replaced atomically and checked when read.

A line of JSON has the counts, the settings of the trainer and a checksum; the rest of the file is the state.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import file_bytes
from piecework.train.counts import Counts
from piecework.train.trainer import Trainer

_FORMAT: Final = "piecework learning checkpoint 2"

State = TypeVar("State")


class CheckpointFile:
    """The checkpoint of a trainer that learns from counts, in a file.

    `sizes` are those that one run learns, if there are several.
    """

    def __init__(
        self, path: Path, counts: Counts, trainer: Trainer, sizes: Sequence[int] = ()
    ) -> None:
        self.path = path
        self._identity: dict[str, Any] = {
            "counts": counts._digest(),
            "settings": _settings_of(trainer, sizes),
        }

    def write(self, fields: Mapping[str, Any], body: bytes) -> None:
        """Write a state: fields of the first line, and the rest."""
        header = {"format": _FORMAT, **self._identity, **fields, "crc32": zlib.crc32(body)}
        with FileError.while_writing(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.path) as temporary:
            temporary.write_bytes(json.dumps(header).encode() + b"\n" + body)

    def read(self, reader: Callable[[dict[str, Any], bytes], State]) -> State | None:
        """Return what a reader makes of the first line and the rest, None without a file.

        Raises `ArgumentError` for a checkpoint of other counts, settings or sizes, and `FormatError` for a
        damaged one.
        """
        with FileError.while_reading(self.path):
            if not self.path.exists():
                return None
        line, _, body = file_bytes(self.path, "a checkpoint").partition(b"\n")
        try:
            header = json.loads(line)
            is_known = header["format"] == _FORMAT
            is_whole = is_known and header["crc32"] == zlib.crc32(body)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_known = is_whole = False
        if not is_whole:
            found = "a damaged checkpoint" if is_known else "no checkpoint of this version"
            raise FormatError(str(self.path), f"is {found}; delete the file to start again")
        self._check_identity(header)
        try:
            return reader(header, body)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            found, expected = "a damaged checkpoint", "delete the file to start again"
            raise FormatError(str(self.path), f"is {found}; {expected}") from error

    def delete(self) -> None:
        """Delete the file if there is one."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def _check_identity(self, header: dict[str, Any]) -> None:
        if header.get("counts") != self._identity["counts"]:
            problem = (
                f"{self.path} has counts {header.get('counts')}, and this run counts "
                f"{self._identity['counts']}; use the same counts, or another folder"
            )
            raise ArgumentError("checkpoint", problem)
        mine = self._identity["settings"]
        theirs = header.get("settings")
        theirs = theirs if isinstance(theirs, dict) else {}
        if theirs != mine:
            differing = [name for name in {**mine, **theirs} if theirs.get(name) != mine.get(name)]
            found = ", ".join(f"{name}={theirs.get(name)!r}" for name in differing)
            expected = ", ".join(f"{name}={mine.get(name)!r}" for name in differing)
            problem = (
                f"{self.path} has {found}, and this run {expected}; "
                "use the same settings, or another folder"
            )
            raise ArgumentError("checkpoint", problem)


def _settings_of(trainer: Trainer, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the settings that a checkpoint must agree with."""
    settings: dict[str, Any] = {"model": trainer.kind, **trainer.checkpoint_settings}
    if sizes:
        settings["sizes"] = sorted(sizes)
    restored: dict[str, Any] = json.loads(json.dumps(settings))
    return restored
