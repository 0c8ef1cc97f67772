"""The files of a corpus: paths, directories, patterns, URLs, `datasets` folders, expanded in order."""

from __future__ import annotations

import errno
import glob
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from piecework._internal.validation import PathLike, file_path
from piecework.corpus import urls
from piecework.corpus.formats import KNOWN_SUFFIXES, has_known_suffix
from piecework.corpus.text_stream import stored_bytes
from piecework.errors import ArgumentError, CorpusError, FileError
from piecework.io.read_file import check_that_it_ends, file_bytes

_DATASET_STATE = "state.json"
_DATASET_DICT = "dataset_dict.json"
# Sizes of URLs are requested one by one.
_MAX_SIZED_URLS = 100


def corpus_files(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Return the files to read, in order, with directories, patterns and URLs expanded.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.txt", "a.jsonl", "c.bin"):
    ...     _ = (folder / name).write_text("hug")
    >>> [Path(name).name for name in corpus_files([folder, folder / "*.b*"])]
    ['a.jsonl', 'b.txt', 'c.bin']

    Raises `FileError` for a pattern without a match and a directory without known files.
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise ArgumentError("corpus", f"must be paths as str or os.PathLike, not {paths!r}")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ArgumentError("corpus", "must contain at least one file, directory or '-'")
    names = [file_path(path, "corpus", ArgumentError) for path in given]
    urls.forget_listings(names)
    return [found for name in names for found in _expand(name)]


def corpus_bytes(files: Sequence[str]) -> int:
    """Return the size of the stored files in bytes; 0 if one of them has no known size, such as stdin."""
    if sum(map(urls.is_url, files)) > _MAX_SIZED_URLS:
        return 0
    if any(not urls.is_url(name) and not Path(name).is_file() for name in files):
        return 0
    sizes = [(name, stored_bytes(name)) for name in files]
    has_unknown = any(urls.is_url(name) and not size for name, size in sizes)
    return 0 if has_unknown else sum(size for _, size in sizes)


def _expand(name: str) -> list[str]:
    if name == "-":
        return [name]
    if urls.is_url(name):
        return _expand_url(name)
    if Path(name).is_dir():
        return _checked_directory(name, [str(path) for path in _files_in(Path(name))])
    if urls.has_glob(name) and not os.path.lexists(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if Path(path).is_file())
        return _checked_pattern(name, found)
    return [name]


def _expand_url(url: str) -> list[str]:
    if urls.has_glob(url):
        return _checked_pattern(url, urls.files_of_glob(url))
    if has_known_suffix(url.partition("::")[0]):
        return [url]
    files = urls.files_of_directory(url, _is_included)
    return [url] if files is None else _checked_directory(url, files)


def _checked_pattern(name: str, found: list[str]) -> list[str]:
    if not found:
        message = "no file matches (** matches folders of any depth)"
        raise FileError(name, message, errno=errno.ENOENT)
    return found


def _checked_directory(name: str, found: list[str]) -> list[str]:
    if not found:
        hint = f"it needs files named {' '.join(KNOWN_SUFFIXES)}"
        raise FileError(name, "is a directory without text files", hint=hint)
    return found


def _is_included(path: str) -> bool:
    """Return whether a directory includes the file at this path below it."""
    return has_known_suffix(path) and not any(part.startswith(".") for part in path.split("/"))


# ---- directories


def _files_in(directory: Path) -> list[Path]:
    """Return the files of a corpus directory, sorted by path."""
    found: list[Path] = []

    def raise_file_error(error: OSError) -> None:
        raise FileError.reading(error.filename, error) from error

    for folder, folders, files in os.walk(directory, onerror=raise_file_error):
        if _DATASET_DICT in files:
            raise _several_splits(Path(folder))
        if _DATASET_STATE in files and "dataset_info.json" in files:
            found += _dataset_files(Path(folder))
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            _checked_file(Path(folder, name)) for name in _visible(files) if has_known_suffix(name)
        ]
    return sorted(found)


def _checked_file(path: Path) -> Path:
    """Return a path of a directory; raise `FileError` for a device or a pipe, which no corpus has."""
    try:
        check_that_it_ends(str(path), "a text file")
    except FileError:
        raise
    except OSError:  # reading it raises the error
        pass
    return path


def _visible(names: list[str]) -> Iterator[str]:
    return (name for name in names if not name.startswith("."))


# ---- folders that `Dataset.save_to_disk` wrote


def _dataset_files(folder: Path) -> list[Path]:
    """Return the files that the state of a dataset lists; the folder can contain files of its cache too."""
    state = _json_file(folder / _DATASET_STATE)
    files = state.get("_data_files") if isinstance(state, dict) else None
    names = [file.get("filename") for file in files or () if isinstance(file, dict)]
    if not isinstance(files, list) or not all(_is_plain_name(name) for name in names):
        place = f"{folder / _DATASET_STATE} field '_data_files'"
        raise CorpusError(place, "is not a list of file names, as `datasets` writes it")
    return [folder / str(name) for name in names]


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and bool(name) and os.path.basename(name) == name


def _several_splits(folder: Path) -> CorpusError:
    described = _json_file(folder / _DATASET_DICT)
    splits = described.get("splits") if isinstance(described, dict) else None
    names = [str(name) for name in splits] if isinstance(splits, list) and splits else ["train"]
    found = f"is a dataset of several splits ({', '.join(names)})"
    return CorpusError(
        str(folder), f"{found}; name one of them, such as {str(folder / names[0])!r}"
    )


def _json_file(path: Path) -> Any:
    try:
        return json.loads(file_bytes(path, "a readable file"))
    except (ValueError, RecursionError) as error:
        problem = f"found broken JSON ({error}), expected a file of `datasets`"
        raise CorpusError(str(path), problem) from error
