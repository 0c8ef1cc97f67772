"""Recognize the weights of a model, which are no tokenizer."""

from __future__ import annotations

_WEIGHTS = "a tokenizer file: weights do not contain one"
_HEAD_BYTES = 4096
_MAX_SAFETENSORS_HEADER = 1 << 27


def weights_kind(data: bytes) -> tuple[str, str] | None:
    """Return which file of weights begins with these bytes; nothing of it is unpickled."""
    is_header = data[8:10] == b'{"' and int.from_bytes(data[:8], "little") < _MAX_SAFETENSORS_HEADER
    if is_header:
        return "weights in the safetensors format", _WEIGHTS
    if data.startswith(b"PK\x03\x04") and b"/data.pkl" in data[:_HEAD_BYTES]:
        return "weights of PyTorch", _WEIGHTS
    if data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05":
        return "a pickle, such as weights of PyTorch", _WEIGHTS
    return None
