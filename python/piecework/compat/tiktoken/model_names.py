"""The encoding of an OpenAI model, with the error of tiktoken for an unknown name."""

from __future__ import annotations

from piecework.errors import UnknownNameError
from piecework.io.model_names import encoding_of_model


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of an OpenAI model.

    >>> encoding_name_for_model("gpt-4-0314")
    'cl100k_base'

    Raises `UnknownNameError`, a `KeyError`, for a name that is not listed and has no listed prefix.
    """
    encoding = encoding_of_model(model_name)
    if encoding is None:
        raise UnknownNameError(
            "model_name",
            repr(model_name),
            "an OpenAI model; for the name of an encoding, use get_encoding(name)",
        )
    return encoding
