"""Read the roles of special tokens: from a GGUF file, or from the `tokenizer_config.json` beside a file."""

from __future__ import annotations

import os

from piecework._internal.role_attributes import ROLES
from piecework._internal.validation import PathLike, path_text
from piecework.errors import FormatError
from piecework.io.gguf_files import roles_of_gguf_path
from piecework.io.read_file import file_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "tokenizer_config.json"


def configured_roles(path: PathLike, id_of: Callable[[str], int | None]) -> dict[str, str | None]:
    """Return the special token of each role that the GGUF file, or the configuration, names.

    `path` is a tokenizer file or its directory. A GGUF file states the roles itself; a configuration beside
    it may belong to another file. Tokens that `id_of` does not know are left out, because a configuration
    often names tokens that its tokenizer lacks. Raises `FormatError` for a configuration that is not a JSON
    object.
    """
    directory = path_text(path)
    stated = roles_of_gguf_path(directory)
    if stated is not None:
        return stated
    if not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    source = os.path.join(directory, _NAME)
    if not os.path.isfile(source):
        return {}
    named = {role: _content(value) for role, value in _object(source).items() if role in ROLES}
    return {role: token for role, token in named.items() if token and id_of(token) is not None}


def _object(source: str) -> dict[str, object]:
    import json

    try:
        value = json.loads(file_bytes(source, "a JSON object"))
    except ValueError as error:
        raise FormatError(source, str(error), "a JSON object") from None
    if not isinstance(value, dict):
        raise FormatError(source, type(value).__name__, "a JSON object")
    return value


def _content(value: object) -> str | None:
    """Return the text of a token, which is a string or an object with `content`."""
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) else None
