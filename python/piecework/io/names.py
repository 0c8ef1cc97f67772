"""Find what a name stands for: a path, an encoding, a model of OpenAI, or a repository of the hub.

An existing path wins. What looks like a path is never looked up as a name. Then come encodings
(`cl100k_base`), models (`gpt-4o`) and repositories (`org/name`), in this order.
"""

from __future__ import annotations

import errno
import os

from piecework._internal.close_names import close_names
from piecework._internal.extras import install_command
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, FileError
from piecework.io.load_options import LoadOptions
from piecework.io.source_bytes import files_of_directory, tokenizer_files

# The suffixes of tokenizer files, of the names that load and save know.
_FILE_SUFFIXES = (
    ".bpe",
    ".gguf",
    ".gz",
    ".json",
    ".jsonl",
    ".model",
    ".piecework",
    ".pwc",
    ".tiktoken",
    ".txt",
    ".vocab",
)
_WHAT_NAMES = (
    "a path, an encoding such as cl100k_base, a model such as gpt-4o, or a repository of the hub"
)
_SIMILARITY = 0.75


def resolve_name(
    path: PathLike,
    options: LoadOptions,
    *,
    download: bool = False,
    revision: str | None = None,
) -> tuple[str, LoadOptions]:
    """Return the path that a name stands for, and the load options that it implies.

    >>> resolve_name("missing.json", LoadOptions())[0]
    'missing.json'

    A path is returned unchanged, whether it exists or not. `download` fetches a repository of the hub, of
    which `revision` names the branch, tag or commit. Raises `FileError` for a name without a file on this
    machine, and `ArgumentError` for an address or an option that the name does not take.
    """
    source = path_text(path)
    if not isinstance(path, str) or os.path.exists(source) or looks_like_path(source):
        if not os.path.exists(source) and "://" in source:
            problem = f"must be {_WHAT_NAMES}, without an address, not {source!r}"
            raise ArgumentError("path", problem)
        _reject_revision(revision, "a path")
        return source, options
    encoding = _encoding_named(source)
    if encoding is not None:
        _reject_revision(revision, f"the encoding {encoding}")
        return _rank_file(source, encoding, options)
    if options.merges is not None or options.encoding_name is not None:
        return source, options  # these need a file, which does not exist
    return _repository(source, download=download, revision=revision), options


def tokenizer_file(
    path: PathLike, *, encoding_name: str | None = None, revision: str | None = None
) -> str:
    """Return the file that `Tokenizer.load` reads for a path or a name, after any download.

    >>> tokenizer_file("missing.json")
    'missing.json'
    """
    options = LoadOptions(encoding_name=encoding_name)
    source, implied = resolve_name(path, options, revision=revision)
    return files_of_directory(source, implied)[0]


def tokenizer_path(
    path: PathLike, *, encoding_name: str | None = None, revision: str | None = None
) -> str:
    """Return the file or folder that `Tokenizer.load` reads for a path or a name on this machine.

    >>> tokenizer_path("missing.json")
    'missing.json'
    """
    return resolve_name(path, LoadOptions(encoding_name=encoding_name), revision=revision)[0]


def looks_like_path(name: str) -> bool:
    """Return whether a string can only be a path, not the name of an encoding, model or repository.

    >>> looks_like_path("./bert"), looks_like_path("vocab.txt"), looks_like_path("org/name-1.5")
    (True, True, False)
    """
    if name.lower().endswith(_FILE_SUFFIXES):
        return True
    if name.startswith("ft:"):  # fine-tuned models of OpenAI
        return "/" in name or "\\" in name
    from piecework.io.hub import is_repository

    return not is_repository(name)


# ---- encodings and models


def _encoding_named(name: str) -> str | None:
    from piecework.spec import ENCODINGS

    if name in ENCODINGS:
        return name
    if "/" in name:
        return None
    from piecework.io.rank_files import encoding_of_model

    return encoding_of_model(name)


def _rank_file(name: str, encoding: str, options: LoadOptions) -> tuple[str, LoadOptions]:
    from piecework.io.rank_files import find_rank_file
    from piecework.spec import ENCODINGS

    if options.encoding_name not in (None, encoding):
        problem = f"{options.encoding_name!r} contradicts {name}, whose encoding is {encoding!r}"
        raise ArgumentError("encoding_name", problem)
    return find_rank_file(ENCODINGS[encoding]), options._replace(encoding_name=encoding)


# ---- repositories of the hub


def _repository(name: str, *, download: bool, revision: str | None) -> str:
    """Return the folder of a repository in the local cache of the hub; download it on request."""
    from piecework.io.hub import cached_snapshot, check_revision, download_snapshot

    if revision is not None:
        check_revision(revision)
    folder = download_snapshot(name, revision) if download else cached_snapshot(name, revision)
    if folder is not None and tokenizer_files(folder):
        return folder
    if download:
        raise FileError(name, "is a repository without a tokenizer file, such as tokenizer.json")
    found = "no such file" if "/" in name else "no such file, encoding or model"
    place = (
        "no tokenizer of this name" if folder is None else "no tokenizer file of this repository"
    )
    installing = install_command("hub", "huggingface_hub")
    message = (
        f"there is {found}, and {place} in the cache of the Hugging Face hub; "
        f"give {_similar(name)}{_WHAT_NAMES}; to fetch a repository, "
        f"pass download, which needs the extra 'hub': {installing}"
    )
    raise FileError(name, message, errno=errno.ENOENT)


def _similar(name: str) -> str:
    """Return "did you mean" with the encodings and models of similar names."""
    if "/" in name:
        return ""
    from piecework.io.rank_files import ENCODING_OF_MODEL
    from piecework.spec import ENCODINGS

    known = list(dict.fromkeys((*ENCODINGS, *ENCODING_OF_MODEL)))
    close = close_names(name, known, cutoff=_SIMILARITY)
    return f"{' or '.join(close)}, or " if close else ""


def _reject_revision(revision: str | None, kind: str) -> None:
    if revision is not None:
        raise ArgumentError("revision", f"{revision!r} does not apply to {kind}")
