"""Reads protobuf messages as the fields that they are, without any schema."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Give the number and value of every field: an int, bytes or a float."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value: Any
            value, at = _varint(data, at)
        elif key & 7 == 2:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            value, at = struct.unpack("<f", data[at : at + 4])[0], at + 4
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
