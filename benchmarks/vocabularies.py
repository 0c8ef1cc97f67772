"""The vocabularies of `vocabularies.toml`, each written in every format that some engine reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import piecework as pw
from packages import MissingPackageError, member_of_python_package, sha256, unzipped
from tables import read_toml

HERE = Path(__file__).parent
DATA = Path(os.environ.get("PIECEWORK_DATA", HERE.parent.parent / "shared" / "data")) / "vocab"
SOURCES: dict[str, dict[str, Any]] = read_toml(HERE / "vocabularies.toml")


class MissingVocabularyError(Exception):
    """The vocabulary is not on this machine and cannot be downloaded; the message says why."""


def tokenizer_file(name: str, folder: Path) -> Path:
    """Write the named tokenizer to `folder`; return the path of its `tokenizer.json`.

    Beside it, under the same name: `.model` for SentencePiece, `.tiktoken` for byte-level BPE, `.txt`
    for WordPiece.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        source = SOURCES[name]
        _WRITERS[source["kind"]](name, source, path)
    return path


def _file(name: str, source: dict[str, Any], part: dict[str, Any]) -> bytes:
    """Return a file of the source from where it is nearest; `part` says where it lies and its hash."""
    local = DATA / part["data"]
    try:
        data = (
            unzipped(local.read_bytes())
            if local.is_file()
            else member_of_python_package(source["package"], part["member"])
        )
    except MissingPackageError as error:
        raise MissingVocabularyError(str(error)) from error
    if sha256(data) != part["sha256"]:
        raise MissingVocabularyError(f"{name}: {part['data']} has not the SHA-256 {part['sha256']}")
    return data


def _write_tokenizer_json(name: str, source: dict[str, Any], path: Path) -> None:
    tokenizer = pw.Tokenizer.from_str(_file(name, source, source).decode())
    tokenizer = tokenizer.without_truncation().without_padding()
    tokenizer.save(path)
    tokenizer.save(path.with_suffix(".txt"))


def _write_vocab_merges(name: str, source: dict[str, Any], path: Path) -> None:
    vocab, merges = path.with_suffix(".vocab.json"), path.with_suffix(".merges.txt")
    vocab.write_bytes(_file(name, source, source))
    merges.write_bytes(_file(name, source, source["merges"]))
    ranks = path.with_suffix(".tiktoken")
    pw.Tokenizer.load(vocab, merges=merges).save(ranks)
    pw.Tokenizer.load(ranks, pattern=name, special_tokens={}).save(path)


def _write_ranks(name: str, source: dict[str, Any], path: Path) -> None:
    ranks = path.with_suffix(".tiktoken")
    ranks.write_bytes(_file(name, source, source))
    pw.Tokenizer.load(ranks, pattern=name, special_tokens={}).save(path)


def _write_sentencepiece(name: str, source: dict[str, Any], path: Path) -> None:
    model = path.with_suffix(".model")
    model.write_bytes(_file(name, source, source))
    components = pw.vocabulary.as_components(pw.Tokenizer.load(model).spec)
    pw.Tokenizer.from_spec(components).save(path)


_WRITERS = {
    "tokenizer-json": _write_tokenizer_json,
    "vocab-merges": _write_vocab_merges,
    "ranks": _write_ranks,
    "sentencepiece": _write_sentencepiece,
}
