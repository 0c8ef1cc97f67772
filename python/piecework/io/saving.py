"""Save a tokenizer: choose the format by the file name, and write the file atomically.

`folder_files` writes folders. To add a format, add its suffix to `TOKENIZER_FORMATS` and its function to
`_WRITERS`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from piecework._internal._core import (
    write_cache,
    write_piecework_file,
    write_sentencepiece,
    write_sentencepiece_vocab,
    write_tiktoken,
    write_vocab_merges,
)
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, PortabilityError, VocabularyError
from piecework.io.atomic_files import atomic_file

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

# Suffix of a tokenizer file -> the name of its format in help texts and messages.
TOKENIZER_FORMATS = {
    ".json": "tokenizer.json",
    ".txt": "vocab.txt",
    ".model": "SentencePiece .model",
    ".vocab": "SentencePiece .vocab",
    ".tiktoken": "tiktoken ranks",
    ".pwc": "compiled cache",
    ".piecework": "piecework file",
}

FOLDER = "Hugging Face folder"

# The formats that keep a tokenizer, to name in messages; a compiled cache is made anew by each version.
_LASTING = (".json", ".model", ".tiktoken", ".txt", ".piecework")

_SENTENCEPIECE_ONLY = {"other": "SentencePiece files store SentencePiece models only"}
# Suffix -> the models that the format stores, and what it lacks for others.
_MODELS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    ".txt": (
        ("WordPiece", "WordLevel"),
        {
            "BPE": "a vocab.txt stores no merges",
            "Char": "a vocab.txt is read as WordPiece",
            "other": "a vocab.txt stores no scores",
        },
    ),
    ".model": (("SentencePiece",), _SENTENCEPIECE_ONLY),
    ".vocab": (("SentencePiece",), _SENTENCEPIECE_ONLY),
    ".tiktoken": (("BPE",), {"other": "tiktoken ranks store byte-level BPE only"}),
}


def save_tokenizer(
    tokenizer: Tokenizer, path: PathLike, merges: PathLike | None = None, *, strict: bool = False
) -> None:
    """Write a tokenizer file; the suffix of `path` selects the format.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vocab.txt"
    >>> save_tokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})), path)
    >>> path.read_text()
    '[UNK]\\nhug\\n'

    With `merges`, writes a `vocab.json` and a `merges.txt`. If `path` is a directory or ends in a separator,
    writes a Hugging Face folder. A failure leaves the old file unchanged. Raises what `Tokenizer.save`
    documents.
    """
    target = path_text(path)
    if merges is not None:
        _save_vocab_and_merges(tokenizer, target, path_text(merges, "merges"))
        return
    check_tokenizer_path(target)
    if is_folder_path(target):
        from piecework.io.folder_files import save_folder

        save_folder(tokenizer, target, strict=strict)
        return
    with atomic_file(target) as temporary:
        temporary.write_bytes(bytes_for(tokenizer, target, strict=strict))


def tokenizer_bytes(tokenizer: Tokenizer, suffix: str, *, strict: bool = False) -> bytes:
    """Return the content of the file that `save_tokenizer` writes under a suffix, such as ".model".

    >>> import piecework as pw
    >>> tokenizer_bytes(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})), ".txt")
    b'[UNK]\\nhug\\n'
    """
    problem = _lacking(tokenizer, suffix)
    if problem is not None:
        raise VocabularyError(suffix, problem)
    if suffix == ".json":
        return tokenizer.to_str(pretty=True, strict=strict).encode()
    return _WRITERS[suffix](tokenizer)


def bytes_for(tokenizer: Tokenizer, path: str, *, strict: bool = False) -> bytes:
    """Return the content for the file `path` without writing it.

    >>> import piecework as pw
    >>> bytes_for(pw.Tokenizer(pw.spec.BPE({"a": 0, "aa": 1}, (("a", "a"),))), "x.txt")
    Traceback (most recent call last):
    piecework.errors.VocabularyError: x.txt: a vocab.txt stores no merges; write .json or ...

    The error of a format that cannot store the tokenizer names the formats that can.
    """
    try:
        return tokenizer_bytes(tokenizer, _suffix_of(path), strict=strict)
    except (ArgumentError, VocabularyError) as error:
        raise _with_formats(error, tokenizer, path) from None


def check_model_type(tokenizer: Tokenizer, path: str) -> None:
    """Raise `VocabularyError` if the format of `path` stores models of other types only."""
    problem = None if is_folder_path(path) else _lacking(tokenizer, _suffix_of(path))
    if problem is not None:
        raise _with_formats(VocabularyError(path, problem), tokenizer, path)


def _with_formats(
    error: ArgumentError | VocabularyError, tokenizer: Tokenizer, path: str
) -> ArgumentError | VocabularyError:
    """Return the error with the path, and with the formats that can store the tokenizer."""
    place = path if error.place in (path, _suffix_of(path)) else f"{path}: {error.place}"
    return type(error)(place, error.message, hint=f"write {formats_for(tokenizer)}")


def check_format(tokenizer: Tokenizer, path: str) -> None:
    """Raise the error of `save_tokenizer` if the format of `path` cannot store a tokenizer; write nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_folder_path(path):
            from piecework.io.folder_files import folder_files

            folder_files(tokenizer)
        else:
            bytes_for(tokenizer, path)


def formats_for(tokenizer: Tokenizer) -> str:
    """Return the formats that can store a tokenizer, for a message.

    >>> import piecework as pw
    >>> formats_for(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})))
    '.json, .txt or .piecework, or a folder'
    """
    suffixes = [suffix for suffix in _LASTING if _stores(tokenizer, suffix)]
    names = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
    return f"{names}, or a folder" if ".json" in suffixes else names


def _lacking(tokenizer: Tokenizer, suffix: str) -> str | None:
    """Return why a format cannot store this type of model, None if it can."""
    models, reasons = _MODELS.get(suffix, ((), {}))
    model = type(tokenizer.spec.model).__name__ if models else ""
    return None if model in models or not models else reasons.get(model, reasons["other"])


def _stores(tokenizer: Tokenizer, suffix: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tokenizer_bytes(tokenizer, suffix)
    except (ArgumentError, PortabilityError, VocabularyError):
        return False
    return True


def is_folder_path(path: str) -> bool:
    """Return whether `path` names a folder to write: it is a directory, or ends in a separator.

    >>> is_folder_path("tokenizer/"), is_folder_path("tokenizer.json")
    (True, False)
    """
    return path.endswith(tuple(filter(None, (os.sep, os.altsep)))) or os.path.isdir(path)


def check_tokenizer_path(path: str) -> None:
    """Raise `ArgumentError` unless `path` is a folder, or a file name that selects a format."""
    if is_folder_path(path):
        folder = os.path.abspath(path)
        if os.path.exists(folder) and not os.path.isdir(folder):
            problem = f"{path!r} is a file; remove the / to write it, or name a folder"
            raise ArgumentError("path", problem)
        if not os.path.isdir(os.path.dirname(folder)):
            problem = f"the parent folder of {path!r} does not exist; make it first"
            raise ArgumentError("path", problem)
        return
    name = os.path.basename(path)
    suffix = os.path.splitext(name)[1]
    if not suffix and not _is_device(path):
        expected = f"{path + '/'!r} for a folder, or {path + '.json'!r} for a file"
        raise ArgumentError("path", f"{path!r} has no suffix; write {expected}")
    if suffix and suffix not in TOKENIZER_FORMATS:
        known = f"give a name that ends in one of {', '.join(TOKENIZER_FORMATS)}"
        raise ArgumentError("path", f"{name!r} has no suffix of a tokenizer format; {known}")


def _is_device(path: str) -> bool:
    """Return whether a path is a pipe or a device such as /dev/stdout, whose name says nothing."""
    return os.path.exists(path) and not os.path.isfile(path)


def tokenizer_format_of(path: str) -> str:
    """Return the name of the format in which a tokenizer is written under `path`.

    >>> tokenizer_format_of("model.tiktoken")
    'tiktoken ranks'
    """
    return FOLDER if is_folder_path(path) else TOKENIZER_FORMATS[_suffix_of(path)]


def _suffix_of(path: str) -> str:
    return next((suffix for suffix in TOKENIZER_FORMATS if path.endswith(suffix)), ".json")


def _save_vocab_and_merges(tokenizer: Tokenizer, vocab_path: str, merges_path: str) -> None:
    try:
        vocab, merges = write_vocab_merges(tokenizer._core)
    except VocabularyError as error:
        error.hint = f"write {formats_for(tokenizer)}"
        raise
    with atomic_file(vocab_path) as vocab_file, atomic_file(merges_path) as merges_file:
        vocab_file.write_bytes(vocab)
        merges_file.write_bytes(merges)


def _piecework_file(tokenizer: Tokenizer) -> bytes:
    from piecework.spec.custom import refuse_custom_stages

    refuse_custom_stages(tokenizer.spec.normalizer, tokenizer.spec.pre_tokenizer)
    return write_piecework_file(tokenizer._core, tokenizer.parse_special)


_WRITERS: dict[str, Callable[[Tokenizer], bytes]] = {
    ".txt": lambda tokenizer: tokenizer._core.to_vocab_txt(),
    ".model": lambda tokenizer: write_sentencepiece(tokenizer._core),
    ".vocab": lambda tokenizer: write_sentencepiece_vocab(tokenizer._core),
    ".tiktoken": lambda tokenizer: write_tiktoken(tokenizer._core),
    ".pwc": lambda tokenizer: write_cache(tokenizer._core, tokenizer.parse_special, b""),
    ".piecework": _piecework_file,
}
