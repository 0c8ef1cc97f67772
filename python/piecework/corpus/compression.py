"""Decompress gzip, Zstandard, xz and bzip2, which are detected by their first bytes; pass other data through.

Files of several members or frames are one text. Truncated or damaged data raises `CorpusError` with the name
of the file.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol

from piecework._internal.extras import import_extra
from piecework.errors import CorpusError

_MAX_OUTPUT_BYTES = 1 << 20
# A Zstandard block of 4 bytes can decompress to 128 KB, so 4 KB of input become at most 128 MB.
_ZSTD_INPUT_BYTES = 4096
_INPUT_BYTES = 1 << 18
# Data that `xz -9` compressed needs 65 MB.
_MAX_XZ_MEMORY = 512 << 20

# The magic bytes of bzip2 are three letters and a digit; its first block makes it binary.
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")
_KINDS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\xfd7zXZ\x00": "xz",
    **{b"BZh%d%b" % (level, block): "bzip2" for level in range(1, 10) for block in _BZIP2_BLOCKS},
}
MAGIC_BYTES = tuple(_KINDS)
COMPRESSION_SUFFIXES = (".gz", ".zst", ".xz", ".bz2")


class ByteStream(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes: ...  # noqa: D102


class StreamWithHead(ByteStream, Protocol):
    """A stream of bytes as stored, compressed or not; `head` has the first bytes without reading them."""

    head: bytes


class _Codec(NamedTuple):
    """How to decompress one kind of data."""

    kind: str
    new_member: Callable[[], Any]
    chunks: Callable[[Any, bytes], Iterator[bytes]]
    errors: tuple[type[Exception], ...]
    allows_padding: bool = False
    input_bytes: int = _INPUT_BYTES


def compression_of(head: bytes) -> str | None:
    """Return the kind of compressed data that starts with `head`, None for other data.

    >>> compression_of(b"\\x1f\\x8b\\x08")
    'gzip'
    """
    return next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None)


def decompressed_if_needed(stream: StreamWithHead, name: str) -> ByteStream:
    """Return a stream of the decompressed bytes, or `stream` itself if its data is not compressed.

    Errors contain `name`.

    Raises `MissingExtraError` for Zstandard data without the extra `piecework[zstd]`. Reading raises
    `CorpusError` for truncated or damaged data, after it has returned the bytes before the damage.
    """
    kind = compression_of(stream.head)
    if kind is None:
        return stream
    return _ChunkStream(_members(stream, name, _codec(kind, name)))


def _codec(kind: str, name: str) -> _Codec:
    if kind == "gzip":
        gzip_member = partial(zlib.decompressobj, 16 + zlib.MAX_WBITS)
        return _Codec(kind, gzip_member, _zlib_chunks, (zlib.error,), allows_padding=True)
    if kind == "xz":
        xz_member = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MAX_XZ_MEMORY)
        return _Codec(kind, xz_member, _bounded_chunks, (lzma.LZMAError,), allows_padding=True)
    if kind == "bzip2":
        return _Codec(kind, bz2.BZ2Decompressor, _bounded_chunks, (OSError, ValueError))
    zstandard = import_extra("zstandard", "zstd", name)
    return _Codec(
        kind,
        lambda: zstandard.ZstdDecompressor().decompressobj(),
        lambda member, data: iter((member.decompress(data),)),
        (zstandard.ZstdError,),
        input_bytes=_ZSTD_INPUT_BYTES,
    )


def _members(stream: ByteStream, name: str, codec: _Codec) -> Iterator[bytes]:
    """Decompress member by member; the readers of the libraries accept some truncated files."""
    member, data, is_first = None, b"", True
    while data := data or stream.read(codec.input_bytes):
        if member is None:
            if codec.allows_padding and not is_first:
                data = data.lstrip(b"\0")
                if not data:
                    continue
            member, is_first = codec.new_member(), False
        try:
            yield from codec.chunks(member, data)
        except codec.errors as error:
            problem = f"found damaged {codec.kind} data ({error}), expected an undamaged file"
            raise CorpusError(name, problem, kind="damaged data") from error
        data = member.unused_data
        if member.eof:
            member = None
    if member is not None:
        problem = f"found truncated {codec.kind} data, expected a complete file"
        raise CorpusError(name, problem, kind="truncated data")


def _zlib_chunks(member: Any, data: bytes) -> Iterator[bytes]:
    while True:
        chunk = member.decompress(data, _MAX_OUTPUT_BYTES)
        yield chunk
        data = member.unconsumed_tail
        # Output can remain after the last input byte, if the limit cut it.
        if member.eof or (not data and len(chunk) < _MAX_OUTPUT_BYTES):
            return


def _bounded_chunks(member: Any, data: bytes) -> Iterator[bytes]:
    yield member.decompress(data, _MAX_OUTPUT_BYTES)
    while not member.eof and not member.needs_input:
        yield member.decompress(b"", _MAX_OUTPUT_BYTES)


class _ChunkStream:
    """A stream over an iterator of byte strings; an error is raised after the bytes before it are read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._error: Exception | None = None

    def read(self, size: int, /) -> bytes:
        parts: list[memoryview] = []
        missing = size
        while missing > 0 and (self._rest or self._has_next()):
            # A chunk of Zstandard has up to 128 MB: a copy of the rest at each read takes most of the time.
            parts.append(self._rest[:missing])
            self._rest = self._rest[missing:]
            missing -= len(parts[-1])
        data = b"".join(parts)
        if not data and self._error is not None:
            raise self._error
        return data

    def _has_next(self) -> bool:
        """Take the next chunk; keep an error for the read that returns no bytes."""
        if self._error is None:
            try:
                chunk = next(self._chunks, None)
            except Exception as error:
                self._error = error
            else:
                self._rest = memoryview(chunk or b"")
                return chunk is not None
        return False
