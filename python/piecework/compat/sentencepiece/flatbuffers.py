"""Conversion of models to FlatBuffers, a format of sentencepiece 0.2.3 that is not written here."""

from __future__ import annotations

from typing import Any, NoReturn

from piecework.errors import PortabilityError


def convert_to_flatbuffer(*arguments: Any, **options: Any) -> NoReturn:
    """Raise `PortabilityError`, a `ValueError`: no FlatBuffers are written.

    >>> convert_to_flatbuffer(model_file="m.model")
    Traceback (most recent call last):
    piecework.errors.PortabilityError: convert_to_flatbuffer: is not supported: ...
    """
    problem = "is not supported: a .spm.fb needs sentencepiece itself; load the .model here"
    raise PortabilityError("convert_to_flatbuffer", problem)


ConvertToFlatbuffer = convert_to_flatbuffer
