"""Read the metadata of a GGUF file: its keys and values, without the tensors."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
STRING, ARRAY = 8, 9


class Metadata:
    """A cursor over the metadata of a GGUF file."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"GGUF":
            raise ValueError(f"found {data[:4]!r} at the start, expected b'GGUF'")
        self.data, self.at = data, 16

    def number(self, code: str) -> Any:
        """Read one little-endian number."""
        (value,) = struct.unpack_from(f"<{code}", self.data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def value(self, kind: int) -> Any:
        """Read one value of a kind; arrays become lists."""
        if kind == STRING:
            length = self.number("Q")
            self.at += length
            return self.data[self.at - length : self.at].decode("utf-8")
        if kind == ARRAY:
            kind = self.number("I")
            return [self.value(kind) for _ in range(self.number("Q"))]
        return self.number(NUMBERS[kind])

    def read(self) -> dict[str, Any]:
        """Read every key."""
        count = self.number("Q")
        pairs = ((self.value(STRING), self.value(self.number("I"))) for _ in range(count))
        return dict(pairs)


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a GGUF file."""
    return Metadata(path.read_bytes()).read()
