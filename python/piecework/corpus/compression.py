"""Decompress gzip and Zstandard, which are detected by their first bytes; pass other data through.

Truncated or damaged data raises `CorpusError` with the name of the file.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol, cast

from piecework._internal.extras import import_extra
from piecework.errors import CorpusError

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAGIC_BYTES = (_GZIP_MAGIC, _ZSTD_MAGIC)
_CHUNK_BYTES = 1 << 16
# A Zstandard block of 4 bytes can decompress to 128 KB, so 4 KB of input become at most 128 MB.
_ZSTD_INPUT_BYTES = 4096


class StreamWithHead(Protocol):
    """A stream of bytes as stored, compressed or not; `head` has the first bytes without reading them."""

    head: bytes

    def read(self, size: int = -1) -> bytes: ...  # noqa: D102


def decompressed_if_needed(stream: StreamWithHead, name: str) -> BinaryIO:
    """Return a stream of the decompressed bytes, or `stream` itself if its data is not compressed.

    Errors contain `name`.

    Raises `MissingExtraError` for Zstandard data without the extra `piecework[zstd]`. Reading raises
    `CorpusError` for truncated or damaged data.
    """
    if stream.head.startswith(_GZIP_MAGIC):
        return _buffered(_gzip_chunks(stream, name))
    if stream.head.startswith(_ZSTD_MAGIC):
        return _buffered(_zstd_chunks(stream, name, import_extra("zstandard", "zstd", name)))
    return cast(BinaryIO, stream)


def _gzip_chunks(stream: StreamWithHead, name: str) -> Iterator[bytes]:
    reader = gzip.GzipFile(fileobj=cast(BinaryIO, stream), mode="rb")
    try:
        while chunk := reader.read(_CHUNK_BYTES):
            yield chunk
    except EOFError as error:
        raise _truncated(name, "gzip") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(name, "gzip", error) from error


def _zstd_chunks(stream: StreamWithHead, name: str, zstandard: Any) -> Iterator[bytes]:
    """Decode frame by frame, because the `stream_reader` of zstandard does not reject truncated files."""
    frame, data = None, b""
    while data := data or stream.read(_ZSTD_INPUT_BYTES):
        if frame is None:
            frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            yield frame.decompress(data)
        except zstandard.ZstdError as error:
            raise _damaged(name, "Zstandard", error) from error
        data = frame.unused_data
        if frame.eof:
            frame = None
    if frame is not None:
        raise _truncated(name, "Zstandard")


def _truncated(name: str, kind: str) -> CorpusError:
    return CorpusError(name, f"truncated {kind} data", "a complete file")


def _damaged(name: str, kind: str, error: Exception) -> CorpusError:
    return CorpusError(name, f"damaged {kind} data ({error})", "an undamaged file")


def _buffered(chunks: Iterator[bytes]) -> BinaryIO:
    return io.BufferedReader(_ChunkStream(chunks), buffer_size=1 << 20)


class _ChunkStream(io.RawIOBase):
    """A readable stream over an iterator of byte strings."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
