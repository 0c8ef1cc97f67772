"""The encoding of an OpenAI model, with the error of tiktoken for an unknown name."""

from __future__ import annotations

from piecework._internal.validation import PathLike
from piecework.compat.tiktoken.encoding import Encoding
from piecework.compat.tiktoken.registry import get_encoding
from piecework.errors import UnknownNameError
from piecework.io.rank_files import ENCODING_OF_MODEL, ENCODING_OF_PREFIX, encoding_of_model

MODEL_TO_ENCODING: dict[str, str] = dict(ENCODING_OF_MODEL)
MODEL_PREFIX_TO_ENCODING: dict[str, str] = dict(ENCODING_OF_PREFIX)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of an OpenAI model.

    >>> encoding_name_for_model("gpt-4-0314")
    'cl100k_base'

    Raises `UnknownNameError`, a `KeyError`, for a name that is not listed and has no listed prefix.
    """
    encoding = encoding_of_model(model_name)
    if encoding is None:
        problem = (
            f"{model_name!r} is not a known OpenAI model; get_encoding(name) takes the "
            "name of an encoding"
        )
        raise UnknownNameError("model_name", problem)
    return encoding


def encoding_for_model(model_name: str, ranks: PathLike | None = None) -> Encoding:
    """Return the encoding of an OpenAI model.

    >>> encoding_for_model("gpt-9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    piecework.errors.UnknownNameError: model_name: 'gpt-9' is not a known OpenAI model; ...

    Raises `UnknownNameError`, a `KeyError`, for an unknown model, and the errors of
    `get_encoding`.
    """
    return get_encoding(encoding_name_for_model(model_name), ranks)
