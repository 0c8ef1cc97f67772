r"""The module `tiktoken.load`: rank files to dicts from token to rank, and back.

Nothing is downloaded: in place of an `https://` address, the cache of tiktoken is read.

>>> import tempfile
>>> from pathlib import Path
>>> path = str(Path(tempfile.mkdtemp(), "tiny.tiktoken"))
>>> dump_tiktoken_bpe({b"a": 0, b"b": 1, b"ab": 2}, path)
>>> load_tiktoken_bpe(path)
{b'a': 0, b'b': 1, b'ab': 2}
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping

from piecework._internal.validation import PathLike
from piecework.errors import FormatError
from piecework.io.atomic_files import atomic_file
from piecework.io.rank_files import find_cached_file
from piecework.io.read_file import file_bytes
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE

_SPECIAL = ("<|endoftext|>", "<|startoftext|>")


def read_file(blobpath: PathLike) -> bytes:
    """Return the bytes of a file; an address is looked up in the cache of tiktoken."""
    path = os.fspath(blobpath)
    is_address = "://" in path
    return file_bytes(find_cached_file(path) if is_address else path, "a rank file")


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether the SHA-256 of data, in hexadecimal digits, is the expected one."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: PathLike, expected_hash: str | None = None) -> bytes:
    """Return the bytes of a file; raises `FormatError`, a `ValueError`, if its SHA-256 is another."""
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        problem = f"has the SHA-256 {hashlib.sha256(data).hexdigest()}, not {expected_hash}"
        raise FormatError(os.fspath(blobpath), problem)
    return data


def load_tiktoken_bpe(
    tiktoken_bpe_file: PathLike, expected_hash: str | None = None
) -> dict[bytes, int]:
    """Return the ranks of a `.tiktoken` file by token.

    Raises `FileError` without the file, and `FormatError`, which names the line, for another content.
    """
    data = read_file_cached(tiktoken_bpe_file, expected_hash)
    source = os.fspath(tiktoken_bpe_file)
    ranks = {}
    for number, line in enumerate(data.splitlines(), 1):
        if line:
            token, rank = _token_and_rank(line, f"{source}, line {number}")
            ranks[token] = rank
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: PathLike) -> None:
    """Write ranks as a `.tiktoken` file, in the order of the ranks."""
    by_rank = sorted(bpe_ranks.items(), key=lambda item: item[1])
    lines = (base64.b64encode(token) + f" {rank}\n".encode() for token, rank in by_rank)
    with atomic_file(os.fspath(tiktoken_bpe_file)) as temporary:
        temporary.write_bytes(b"".join(lines))


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: PathLike,
    encoder_json_file: PathLike,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks of GPT-2's files: bytes in the order of the alphabet, then merges in their order.

    With `clobber_one_byte_tokens`, single bytes take their ids from `encoder.json`. Raises `FormatError`
    if the two files do not have the same tokens.
    """
    tokens = list(_merged_tokens(read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode()))
    ids = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    entries = {_bytes_of(token): id for token, id in ids.items() if token not in _SPECIAL}
    ranks = {token: rank for rank, token in enumerate([*_alphabet_bytes(), *tokens])}
    if clobber_one_byte_tokens:
        ranks.update({token: entries[token] for token in _alphabet_bytes() if token in entries})
    if ranks != entries:
        problem = f"has other tokens or ids than the merges of {vocab_bpe_file} give"
        raise FormatError(os.fspath(encoder_json_file), problem)
    return ranks


def _token_and_rank(line: bytes, place: str) -> tuple[bytes, int]:
    try:
        token, rank = line.split()
        return base64.b64decode(token, validate=True), int(rank)
    except ValueError:
        raise FormatError(
            place,
            f"found {line[:80].decode('utf-8', 'replace')!r}, expected a token in base64, a "
            "space and its rank",
        ) from None


def _alphabet_bytes() -> list[bytes]:
    """Return the bytes in the order of GPT-2: bytes with a printable character first."""
    order = sorted(range(256), key=lambda byte: (ord(CHARACTER_OF_BYTE[byte]) != byte, byte))
    return [bytes([byte]) for byte in order]


def _merged_tokens(text: str) -> Iterator[bytes]:
    """Yield the token of each merge; the first line of the file is a comment."""
    for line in text.splitlines()[1:]:
        if line:
            first, second = line.split()
            yield _bytes_of(first) + _bytes_of(second)


def _bytes_of(token: str) -> bytes:
    return bytes(BYTE_OF_CHARACTER[c] for c in token)
