"""Repositories of the Hugging Face hub: find them in the local cache, or download their tokenizer files.

The cache is read without `huggingface_hub`, whose import takes longer than loading a tokenizer. Its layout is
documented and stable: `models--ORG--NAME/refs/REVISION` has a commit, `snapshots/COMMIT/` the files.
"""

from __future__ import annotations

import os
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError, FileError
from piecework.io.source_bytes import USUAL_NAMES

_DEFAULT_REVISION = "main"
_MAX_COMMIT_BYTES = 128

# What transformers, sentencepiece and mistral-common read; nothing that contains weights or code. The
# type of the model in a config.json implies the class of a folder that names none.
_PATTERNS = (
    *(name for names in USUAL_NAMES for name in names),
    "added_tokens.json",
    "additional_chat_templates/*.jinja",
    "chat_template.jinja",
    "config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
)


def cached_snapshot(name: str, revision: str | None = None) -> str | None:
    """Return the folder of a repository in the local cache, None if it is not there.

    `name` must be a valid name of a repository, and `revision` one that `check_revision` accepts.
    """
    revision = revision or _DEFAULT_REVISION
    repository = os.path.join(cache_folder(), f"models--{name.replace('/', '--')}")
    commit = _commit_of(os.path.join(repository, "refs", *revision.split("/"))) or revision
    if not commit.isalnum():
        return None
    folder = os.path.join(repository, "snapshots", commit)
    return folder if os.path.isdir(folder) else None


def cache_folder() -> str:
    """Return the folder in which `huggingface_hub` keeps repositories, by its environment variables."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if named := os.environ.get(variable):
            return _expanded(named)
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    home = os.environ.get("HF_HOME") or os.path.join(caches, "huggingface")
    return os.path.join(_expanded(home), "hub")


def is_repository(name: str) -> bool:
    """Return whether the hub allows a repository of this name, which cannot leave the cache.

    >>> is_repository("org/name"), is_repository("org/../name")
    (True, False)
    """
    parts = name.split("/")
    return len(parts) <= 2 and all(map(_is_repository_part, parts))


def _is_repository_part(part: str) -> bool:
    return (
        0 < len(part) <= 96
        and part.isascii()
        and part.replace("-", "").replace("_", "").replace(".", "").isalnum()
        and part[0] not in "-."
        and part[-1] not in "-."
        and not part.endswith(".git")
        and "--" not in part
        and ".." not in part
    )


def check_revision(revision: object) -> None:
    """Raise `ArgumentError` unless `revision` is the name of a branch, a tag or a commit."""
    parts = revision.split("/") if isinstance(revision, str) else [""]
    if not all(
        part.strip(".") and not any(sign in part for sign in "\\:\0 ~^?*[") for part in parts
    ):
        raise ArgumentError("revision", f"must be a branch, a tag or a commit, not {revision!r}")


def download_snapshot(name: str, revision: str | None = None) -> str:
    """Download the tokenizer files of a repository into the local cache; return their folder.

    `huggingface_hub` follows HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. Raises `MissingExtraError`
    without it, and `FileError` with its message if it fails.
    """
    return _downloaded("snapshot_download", name, revision=revision, allow_patterns=list(_PATTERNS))


def download_tokenizer_json(name: str, revision: str, token: str | None) -> str:
    """Download the `tokenizer.json` of a repository, or take it from the cache; return its path.

    Raises `ArgumentError` for a name that no repository or revision can have, and the errors of
    `download_snapshot`.
    """
    if not is_repository(name):
        problem = f"must be a repository of the hub, such as org/name, not {name!r}"
        raise ArgumentError("identifier", problem)
    check_revision(revision)
    return _downloaded("hf_hub_download", name, "tokenizer.json", revision=revision, token=token)


def _downloaded(function: str, name: str, *arguments: str, **options: Any) -> str:
    library = import_extra("huggingface_hub", "hub", f"download of {name}")
    try:
        return str(getattr(library, function)(name, *arguments, **options))
    except Exception as error:  # errors of the library, of its HTTP client and of the system
        message = f"cannot be downloaded: {type(error).__name__}: {' '.join(str(error).split())}"
        raise FileError(name, message, errno=getattr(error, "errno", None)) from error


def _commit_of(ref: str) -> str | None:
    """Return the commit in a file of `refs/`, None without such a file."""
    try:
        with open(ref, "rb") as file:
            return file.read(_MAX_COMMIT_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return None


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))
