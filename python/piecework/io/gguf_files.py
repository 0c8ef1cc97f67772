"""GGUF files: the part that contains the tokenizer, its pipeline, its roles and its chat templates.

A file has a key-value section of a few megabytes, and then tensors of any size, which are never read.
"""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from piecework._internal._core import (
    gguf_chat_templates,
    gguf_names,
    gguf_roles,
    is_gguf,
    read_gguf,
)
from piecework.errors import FormatError
from piecework.io.folder_config import is_template_name
from piecework.io.source_bytes import gunzipped, source_bytes

if TYPE_CHECKING:
    from piecework._internal._core import Core
    from piecework.io.gguf_pipelines import GgufPipeline
    from piecework.spec import PreTokenizer


HEAD_BYTES = 8
_GZIP_MAGIC = b"\x1f\x8b"
_MODEL_OPTIONS = {"gpt2": ("pattern",), "bert": ("lowercase",)}


def model_options(data: bytes, source: str) -> tuple[str, ...]:
    """Return the names of the load options that the model of a file uses."""
    try:
        model, _ = gguf_names(data, source)
    except FormatError as error:
        if error.kind != "missing key":
            raise
        expected = "one with the key tokenizer.ggml.model, such as the first file of a split model"
        raise FormatError(source, f"is a GGUF file without a tokenizer; load {expected}") from error
    return _MODEL_OPTIONS.get(model, ())


def compile_gguf(
    data: bytes, source: str, lowercase: bool | None, pre_tokenizer: PreTokenizer | None
) -> Core:
    """Compile the tokenizer of a file; `pre_tokenizer` replaces the named one."""
    model, name = gguf_names(data, source)
    pipeline = _pipeline(name, source, pre_tokenizer) if model == "gpt2" else None
    return read_gguf(data, source, pipeline, lowercase)


def _pipeline(name: str | None, source: str, pre_tokenizer: PreTokenizer | None) -> GgufPipeline:
    """Return the pipeline of a name.

    Raises `FormatError` for a name that is unknown or missing, because another pipeline gives other ids.
    """
    from piecework.io.gguf_pipelines import GGUF_PIPELINES, GgufPipeline

    if pre_tokenizer is not None:
        return GgufPipeline(pre_tokenizer)
    if name in GGUF_PIPELINES:
        return GGUF_PIPELINES[name]
    found = "no such key" if name is None else repr(name)
    known = ", ".join(sorted(GGUF_PIPELINES))
    problem = f"found {found}, expected one of {known}, or a pattern"
    raise FormatError(f"{source}: tokenizer.ggml.pre", problem)


def settings_of_gguf(data: bytes, source: str) -> dict[str, Any] | None:
    """Return the settings of a GGUF file in memory; None for another format.

    These are fields of `FolderSettings`: the special token of each role, which the file states or llama.cpp
    gives to its model, and the chat templates. Raises `FormatError` with the key.
    """
    if not _is_gguf(BytesIO(data)):
        return None
    data = gunzipped(data, source)
    templates = dict(gguf_chat_templates(data, source))
    for name in templates:
        if not is_template_name(name):
            key = f"{source}: tokenizer.chat_template.{name}"
            raise FormatError(key, f"found {name!r}, expected a name without separators of paths")
    return {"roles": dict(gguf_roles(data, source)), "chat_templates": templates}


def settings_of_gguf_path(path: str) -> dict[str, Any] | None:
    """Return the settings of a GGUF file; None for another file, a pipe or a directory."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        if not _is_gguf(file):
            return None
    return settings_of_gguf(source_bytes(path), path)


def _is_gguf(file: BinaryIO) -> bool:
    """Return whether a file begins like a GGUF file, gzipped or not."""
    head = file.read(HEAD_BYTES)
    if not head.startswith(_GZIP_MAGIC):
        return is_gguf(head)
    import gzip

    file.seek(0)
    with gzip.open(file) as stream:
        return is_gguf(stream.read(HEAD_BYTES))
