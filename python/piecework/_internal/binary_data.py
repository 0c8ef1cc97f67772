"""Name data that is not UTF-8 text by its first bytes: binary formats, UTF-16, UTF-32.

Binary formats are detected by their magic bytes, not by the name of the file. Other binary data is detected
by its fraction of NUL and other control bytes, which text does not contain.
"""

from __future__ import annotations

HEAD_BYTES = 1 << 16

_PARQUET = "UTF-8 text, or a file named .parquet"
_ARROW = "UTF-8 text, or a file named .arrow"
_AS_COLUMN = "text: read it with pyarrow and pass the column of texts to the Python API"
_DECOMPRESS = "plain text, gzip, Zstandard, xz or bzip2: decompress it first"
_UNPACK = "plain text: unpack it first"
_TEXT = "UTF-8 text or JSON lines"

# Magic bytes, name of the format, expected input. A longer magic precedes its prefixes.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", _PARQUET),
    (b"ARROW1", "an Arrow IPC file", _ARROW),
    (b"FEA1", "a Feather file", _AS_COLUMN),
    (b"\xff\xff\xff\xff", "an Arrow IPC stream or other binary data", _ARROW),
    (b"ORC", "an ORC file", _AS_COLUMN),
    (b"Obj\x01", "an Avro file", _TEXT),
    (b"\xfd7zXZ\x00", "xz data", _DECOMPRESS),
    (b"BZh", "bzip2 data", _DECOMPRESS),
    (b"LZIP", "lzip data", _DECOMPRESS),
    (b"\x04\x22\x4d\x18", "LZ4 data", _DECOMPRESS),
    (b"\x1f\x9d", "compress (.Z) data", _DECOMPRESS),
    (b"PK\x03\x04", "a zip archive", _UNPACK),
    (b"PK\x05\x06", "an empty zip archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"%PDF-", "a PDF document", "plain text: extract it first"),
    (b"\x93NUMPY", "a NumPy array", _TEXT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _TEXT),
    (b"SQLite format 3\x00", "an SQLite database", _TEXT),
    (b"MMIDIDX\x00", "a Megatron index", _TEXT),
    (b"GGUF", "a GGUF model", _TEXT),
    (b"\x89PNG\r\n", "a PNG image", _TEXT),
    (b"\xff\xd8\xff", "a JPEG image", _TEXT),
    (b"\x7fELF", "an ELF executable", _TEXT),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "a Microsoft Office document",
        "plain text: export it first",
    ),
)
# These magic bytes are letters that can begin a text; the head must contain control bytes too.
_NEEDS_CONTROL_BYTES = frozenset({b"PAR1", b"ORC", b"LZIP", b"GGUF", b"FEA1", b"ARROW1"})
_BZIP2_BLOCK = b"1AY&SY"
_TAR_MAGIC = (257, b"ustar")

_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# C0 controls except tab, line ends, form feed, backspace (overstruck manual pages) and escape (terminal
# colours).
_CONTROL_BYTES = bytes({*range(32)} - {8, 9, 10, 11, 12, 13, 27})
_MAX_CONTROL_FRACTION = 0.02
_MIN_CONTROL_BYTES = 4


def binary_kind(head: bytes) -> tuple[str, str, str] | None:
    """Return what data is by its first bytes, the text to pass instead, and its kind; None for UTF-8 text.

    >>> binary_kind(b"PK\\x03\\x04rest")
    ('a zip archive', 'plain text: unpack it first', 'a zip archive')

    Only the first `HEAD_BYTES` are inspected.
    """
    head = head[:HEAD_BYTES]
    control_bytes = _control_bytes(head)
    for magic, kind, expected in _MAGIC:
        if head.startswith(magic) and _is_format(magic, head, control_bytes):
            return kind, expected, kind
    if head[_TAR_MAGIC[0] :].startswith(_TAR_MAGIC[1]) and control_bytes:
        return "a tar archive", _UNPACK, "a tar archive"
    encoding = _wide_encoding(head)
    if encoding:
        kind = f"{encoding} text"
        return kind, f"UTF-8: convert it with `iconv -f {encoding} -t UTF-8`", kind
    if control_bytes >= max(_MIN_CONTROL_BYTES, _MAX_CONTROL_FRACTION * len(head)):
        found = f"{control_bytes} NUL or control bytes in the first {len(head):,}"
        return f"binary data ({found})", _TEXT, "binary data"
    return None


def kinds_of_magic() -> dict[bytes, str]:
    """Return the magic bytes that no text begins with, and what data with them is.

    >>> kinds_of_magic()[b"\\xff\\xd8\\xff"]
    'a JPEG image'
    """
    letters = {*_NEEDS_CONTROL_BYTES, b"BZh"}
    kinds = {magic: kind for magic, kind, _ in _MAGIC if magic not in letters}
    return kinds | {mark: f"{encoding} text" for mark, encoding in _BYTE_ORDER_MARKS}


def _is_format(magic: bytes, head: bytes, control_bytes: int) -> bool:
    if magic == b"BZh":
        return head[4:10] == _BZIP2_BLOCK
    return magic not in _NEEDS_CONTROL_BYTES or control_bytes > 0


def _wide_encoding(head: bytes) -> str | None:
    """Detect UTF-16 and UTF-32 by the byte order mark, or by NULs at regular distances."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    for width, encoding in ((4, "UTF-32"), (2, "UTF-16")):
        units = len(head) // width
        if units < _MIN_CONTROL_BYTES:
            continue
        nuls = [head[start : units * width : width].count(0) for start in range(width)]
        for order, by_significance in (("LE", nuls), ("BE", nuls[::-1])):
            high = by_significance[width // 2 :]
            if min(high) > 0.4 * units and by_significance[0] < 0.02 * units:
                return f"{encoding}{order}"
    return None


def _control_bytes(head: bytes) -> int:
    return len(head) - len(head.translate(None, _CONTROL_BYTES))
