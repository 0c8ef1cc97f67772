"""Checkpoints of learning: what a trainer has learned so far, from which a later run continues.

Learning is deterministic. So the merges restore a WordPiece or BPE trainer, or its choices where it merges
no pairs, and the pieces and their scores after a round restore a Unigram trainer. SentencePiece models of
these two types are learned in the same ways.

Files are replaced atomically and checked when read. A line of JSON has the digest of the counts and
the settings of the trainer, and a checksum; the rest of the file is the state.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from piecework._internal._core import LearningLog
from piecework._internal.types import Update
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.atomic_files import atomic_file
from piecework.io.read_file import file_bytes
from piecework.train.counts import Counts
from piecework.train.trainer import Trainer

SECONDS_BETWEEN_WRITES: float = 60.0

_FORMAT: Final = "piecework learning checkpoint 3"

State = TypeVar("State")

_COLUMNS: Final = {"merges": ("<u4", "<u4", "<u4", "<u8", "<f8"), "choices": ("<u8",)}
"""The types of the columns of merges: left, right, merged, count, score; and of choices."""


class LearningCheckpoint:
    """The checkpoint of one run of a trainer in a folder.

    `sizes` are the sizes that one run of pruning learns, if there are several. Raises `ArgumentError` for
    a checkpoint of other counts, settings or sizes, and `FormatError` for a damaged one.
    """

    def __init__(
        self, folder: PathLike, counts: Counts, trainer: Trainer, sizes: Sequence[int] = ()
    ) -> None:
        resumption = trainer._traits().resumption
        assert resumption is not None, trainer
        self._resumption = resumption
        name = f"learning-{trainer.kind}-{trainer.vocab_size}.bin"
        path = Path(path_text(folder, "checkpoint")) / name
        self.file = CheckpointFile(path, counts, trainer, sizes)
        self._round: Any = None
        self._written = monotonic()
        earlier = self.file.read(self._log_of)
        self.is_resumed = earlier is not None
        """Whether the run continues an earlier one."""
        self.log = earlier or LearningLog(**{self._resumption: None})
        """Where the core begins and where it records."""

    def _log_of(self, header: dict[str, Any], body: bytes) -> LearningLog:
        """Return the state of an earlier run."""
        import numpy as np

        if self._resumption == "round":
            pieces, steps = json.loads(body)
            scored = [(str(name), float(score)) for name, score in pieces]
            return LearningLog(round=(scored, [(int(count), float(of)) for count, of in steps]))
        columns: Any = []
        offset = 0
        for kind in _COLUMNS[self._resumption]:
            column = np.frombuffer(body, kind, int(header["rows"]), offset)
            offset += column.nbytes
            # A copy is aligned, which the core needs; a view of the body at an odd offset is not.
            columns.append(np.array(column, np.dtype(kind).newbyteorder("=")))
        if self._resumption == "choices":
            return LearningLog(choices=columns[0])
        return LearningLog(merges=tuple(columns))

    def progress(self, update: Update) -> Update:
        """Return a progress function that also writes the checkpoint once a minute."""

        def write_and_update(done: int, total: int) -> None:
            if monotonic() - self._written >= SECONDS_BETWEEN_WRITES:
                self.write()
            update(done, total)

        return write_and_update

    @contextmanager
    def kept_on_failure(self) -> Iterator[None]:
        """Write the checkpoint if the run is interrupted or fails; delete it if the run succeeds."""
        try:
            yield
        except (KeyboardInterrupt, MemoryError):
            self.write()
            raise
        self.file.delete()

    def write(self) -> None:
        """Write what has been learned so far, if anything."""
        self._written = monotonic()
        parts = self._parts()
        if parts is not None:
            self.file.write(*parts)

    def _parts(self) -> tuple[dict[str, Any], bytes] | None:
        """Return fields of the header and the body; None if nothing has been learned."""
        if self._resumption == "round":
            self._round = self.log.take_round() or self._round
            text = json.dumps(self._round, ensure_ascii=False)
            return None if self._round is None else ({}, text.encode())
        is_merges = self._resumption == "merges"
        columns: Any = self.log.merges() if is_merges else (self.log.choices(),)
        kinds = _COLUMNS[self._resumption]
        arrays = (column.astype(kind) for column, kind in zip(columns, kinds, strict=True))
        body = b"".join(array.tobytes() for array in arrays)
        return ({"rows": len(columns[0])}, body) if body else None


# ---- files


class CheckpointFile:
    """The checkpoint of a trainer that learns from counts, in a file.

    `sizes` are those that one run learns, if there are several.
    """

    def __init__(
        self, path: Path, counts: Counts, trainer: Trainer, sizes: Sequence[int] = ()
    ) -> None:
        self.path = path
        self._identity = {"counts": counts._digest(), **_settings_of(trainer, sizes)}

    def write(self, fields: Mapping[str, Any], body: bytes) -> None:
        """Write a state: fields of the first line, and the rest."""
        header = {"format": _FORMAT, "run": self._identity, **fields, "crc32": zlib.crc32(body)}
        with FileError.while_writing(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.path) as temporary:
            temporary.write_bytes(json.dumps(header).encode() + b"\n" + body)

    def read(self, reader: Callable[[dict[str, Any], bytes], State]) -> State | None:
        """Return what a reader makes of the first line and the rest, None without a file.

        Raises `ArgumentError` for a checkpoint of other counts, settings or sizes, and `FormatError` for a
        damaged one.
        """
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
        self._check_identity(header.get("run"))
        try:
            return reader(header, body)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            found, expected = "a damaged checkpoint", "delete the file to start again"
            raise FormatError(str(self.path), f"is {found}; {expected}") from error

    def delete(self) -> None:
        """Delete the file if there is one."""
        self.path.unlink(missing_ok=True)

    def _check_identity(self, stored: Any) -> None:
        mine, theirs = self._identity, stored if isinstance(stored, dict) else {}
        differing = [name for name in {**mine, **theirs} if theirs.get(name) != mine.get(name)]
        if differing:
            found, expected = (
                ", ".join(f"{name}={one.get(name)!r}" for name in differing)
                for one in (theirs, mine)
            )
            problem = (
                f"{self.path} has {found}, and this run {expected}; "
                "use the same counts and settings, or another folder"
            )
            raise ArgumentError("checkpoint", problem)


def _settings_of(trainer: Trainer, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the settings that a checkpoint must agree with."""
    settings: dict[str, Any] = {"model": trainer.kind, **trainer._checkpoint_settings}
    if sizes:
        settings["sizes"] = sorted(sizes)
    restored: dict[str, Any] = json.loads(json.dumps(settings))
    return restored
