"""The state of an interrupted count: a JSON file in a folder, beside the runs of the counter."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from piecework._internal._core import WordCounter, fingerprint
from piecework._internal.validation import PathLike, counted, path_text
from piecework.corpus.plain_text import MAX_READ_AHEAD
from piecework.corpus.rows import Rows, TextBlock, TextPosition
from piecework.corpus.urls import identity_of
from piecework.errors import ArgumentError, CorpusError, FormatError
from piecework.io.atomic_files import LOCK_FILE, atomic_file, locked_folder
from piecework.io.read_file import file_bytes

_STATE_FILE = "counting.json"
# The names of `SpillFolder` in crates/train/src/count/spilled/mod.rs.
_RUN_FILE = re.compile(r"(run|merged|sorted)-[0-9]{6,}\.words")
_VERSION = 1
# Writing the runs again and again may take at most this share of the time.
_MAX_SHARE = 0.05


class FilePosition(NamedTuple):
    """A place in a corpus: after `items` blocks or lists of texts of the file with number `source`.

    `text` is the position in the text of the file; None for lists of texts.
    """

    source: int = 0
    items: int = 0
    text: TextPosition | None = None

    def after(self, item: TextBlock | Rows) -> FilePosition:
        """Return the position after the next block or list."""
        items = self.items if item.source == self.source else 0
        text = item.end if isinstance(item, TextBlock) else None
        return FilePosition(item.source, items + 1, text)


class CountCheckpoint:
    """Save the state of a count at most every `seconds`, and restore it.

    `settings` are the arguments that change counts. A saved state with other settings or other files is
    refused.
    """

    def __init__(
        self, folder: PathLike, seconds: float, settings: Mapping[str, Any], files: Sequence[str]
    ) -> None:
        self.folder = Path(path_text(folder, "checkpoint"))
        self._seconds = seconds
        self._settings = dict(settings)
        self._files = list(map(identity_of, files))
        self._saved_at = monotonic()
        self._save_seconds = 0.0
        self._positions = (FilePosition(), FilePosition())

    def locked(self) -> AbstractContextManager[None]:
        """Create the folder and keep other processes from using it."""
        return locked_folder(self.folder, "a checkpoint that another process is using")

    def restore(self, counter: WordCounter) -> FilePosition:
        """Restore the counter and return where to continue, the start if there is no saved state.

        Raises `ArgumentError` for a state of other settings, `CorpusError` for a file that changed, and
        `FormatError` for a damaged state.
        """
        path = self.folder / _STATE_FILE
        state = self.saved_state()
        if state is None:
            return FilePosition()
        try:
            stored = state["counter"]
            counter.restore(stored)
            source, items, _ = stored["progress"]
            position = FilePosition(source, items, _text_position(state["text"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _damaged(path) from error
        self._positions = (position, position)
        return position

    def saved_state(self) -> dict[str, Any] | None:
        """Return the saved state, None if there is none; raises the errors of `restore`."""
        path = self.folder / _STATE_FILE
        if not path.exists():
            return None
        state = _parsed(file_bytes(path, "a saved state"), path)
        self._check(state, path)
        return state

    def begin(self, position: FilePosition) -> None:
        """Note the position that the counter reaches with the next block or list.

        An interrupt can arrive before, while or after the counter adds it.
        """
        self._positions = (self._positions[1], position)

    def save_if_due(self, counter: WordCounter) -> None:
        """Save unless the last save was less than `seconds` ago, or saving takes too much of the time."""
        elapsed = monotonic() - self._saved_at
        if elapsed >= max(self._seconds, self._save_seconds / _MAX_SHARE):
            self.save(counter)

    def save(self, counter: WordCounter) -> None:
        """Write all word counts as runs, then the state that names them."""
        begun = monotonic()
        saved = counter.checkpoint()
        texts = {position[:2]: position.text for position in self._positions}
        state = {
            "version": _VERSION,
            "settings": self._settings,
            "files": self._files,
            "counter": saved,
            "text": texts[saved["progress"][:2]],
        }
        with atomic_file(self.folder / _STATE_FILE) as temporary, temporary.open("wb") as stream:
            stream.write(_to_json({**state, "checksum": _checksum(state)}))
            stream.flush()
            os.fsync(stream.fileno())
        self._saved_at = monotonic()
        self._save_seconds = self._saved_at - begun

    def _check(self, state: Mapping[str, Any], path: Path) -> None:
        stored = state.get("settings")
        if not isinstance(stored, dict) or not isinstance(state.get("files"), list):
            raise _damaged(path)
        for name, value in self._settings.items():
            if stored.get(name) != value:
                problem = f"has a count with {name} {stored.get(name)!r}, and this call {value!r}"
                advice = "use the same settings, or another folder"
                raise ArgumentError(f"checkpoint {path}", problem, hint=advice)
        for index, identity in enumerate(self._files):
            if index >= len(state["files"]) or state["files"][index] != identity:
                problem = (
                    f"has other files: {identity['name']} was added, moved "
                    "or changed since; use the same files, or another folder"
                )
                raise CorpusError(f"checkpoint {path}", problem)
        if len(state["files"]) != len(self._files):
            found = counted(len(state["files"]), "file")
            problem = f"has {found}, and this call {len(self._files)}; use the same files, or another folder"
            raise CorpusError(f"checkpoint {path}", problem)


def source_folder(checkpoint: PathLike, number: int) -> Path:
    """Return the folder for the state of the count of a source that is counted separately.

    >>> source_folder("state", 0).as_posix()
    'state/source-0'
    """
    return Path(checkpoint) / f"source-{number}"


def delete_count_checkpoint(folder: PathLike) -> None:
    """Delete the state of a count and its runs, and the folder if nothing else is in it.

    The folders of sources that were counted separately are deleted in the same way.

    Other files stay, even if their names end in `.words`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> delete_count_checkpoint(folder)
    >>> folder.exists()
    False
    """
    folder = Path(folder)
    if not folder.is_dir():
        return
    runs = [path for path in folder.iterdir() if _RUN_FILE.fullmatch(path.name)]
    for path in [folder / _STATE_FILE, folder / LOCK_FILE, *runs]:
        path.unlink(missing_ok=True)
    for path in folder.glob("source-*"):
        delete_count_checkpoint(path)
    if not any(folder.iterdir()):
        folder.rmdir()


def _to_json(state: Mapping[str, Any]) -> bytes:
    return json.dumps(state, indent=1).encode()


def _checksum(state: Mapping[str, Any]) -> str:
    return fingerprint([_to_json(state)]).hex()


def _parsed(data: bytes, path: Path) -> dict[str, Any]:
    try:
        state = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not isinstance(state, dict) or state.get("version") != _VERSION:
        raise _damaged(path)
    if state.pop("checksum", None) != _checksum(state):
        raise _damaged(path)
    return state


def _text_position(stored: Any) -> TextPosition | None:
    """Return the stored position in a text; raises `ValueError` for invalid numbers."""
    if stored is None:
        return None
    byte_offset, bytes_read = stored
    if type(byte_offset) is not int or type(bytes_read) is not int:
        raise ValueError("no integers")
    # A block ends in what was read; the limit of a line bounds the rest.
    if not 0 < byte_offset <= bytes_read <= byte_offset + MAX_READ_AHEAD:
        raise ValueError("no position after a block")
    return TextPosition(byte_offset, bytes_read)


def _damaged(path: Path) -> FormatError:
    return FormatError(str(path), "is a damaged state; delete the folder")
