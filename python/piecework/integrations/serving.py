"""What the adapters of inference servers share: tokenizers of transformers that encode and decode here.

Requires `piecework[transformers]`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from typing import Any

from piecework._internal.extras import import_extra

import_extra("transformers", "transformers", __name__)

import tokenizers.decoders  # noqa: E402

from piecework import Tokenizer  # noqa: E402
from piecework.errors import ArgumentError, InputTypeError  # noqa: E402
from piecework.integrations.transformers import BackendTokenizer, accelerate  # noqa: E402

_LOGGER = logging.getLogger(__name__)
_OriginalStream: Any = tokenizers.decoders.DecodeStream


def served(tokenizer: Any) -> Any:
    """Return a tokenizer of a server that encodes and decodes here, with its streams.

    >>> import piecework as pw
    >>> from transformers import TokenizersBackend
    >>> from piecework.integrations.serving import served
    >>> from piecework.integrations.transformers import BackendTokenizer
    >>> backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> served(TokenizersBackend(tokenizer_object=backend.to_tokenizers())).encode("hugs")
    [1, 2]

    Compiles at once, so that the first request does not wait. Logs a warning if this library cannot compile
    the pipeline, which then runs in `tokenizers`. Raises `InputTypeError` for a tokenizer that is not a fast
    one of transformers.
    """
    result = accelerate(tokenizer)
    refusal = result._tokenizer.refusal
    if refusal is not None:
        _LOGGER.warning("tokenizers encodes, because piecework cannot compile this: %s", refusal)
    decoders: Any = tokenizers.decoders
    decoders.DecodeStream = DecodeStream
    return result


class DecodeStream:
    """`tokenizers.decoders.DecodeStream` for tokenizers of both libraries.

    >>> import piecework as pw
    >>> from piecework.integrations.serving import DecodeStream
    >>> from piecework.integrations.transformers import BackendTokenizer
    >>> backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> stream = DecodeStream(ids=[1])
    >>> stream.step(backend, 2), stream.step(backend, [1, 2])
    (' ##s', ' hug ##s')

    The first step decides: a `BackendTokenizer` decodes here, another tokenizer in `tokenizers`. `ids` are
    those before the stream, such as a prompt. As in `tokenizers`, ids without token add no text.
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids = None if ids is None else list(ids)
        self._skip_special_tokens = skip_special_tokens
        self._stream: Any = None
        self._is_here = False

    def step(self, tokenizer: Any, id: int | Sequence[int]) -> str | None:
        """Add the next id, or the next ids; return the text that they add, None if there is none yet."""
        if self._stream is None:
            self._start(tokenizer)
        if not self._is_here:
            text: str | None = self._stream.step(_original(tokenizer), id)
            return text
        if isinstance(id, int):
            try:
                text = self._stream.step(id)
            except ArgumentError:
                # tokenizers raises a TypeError, which servers handle.
                raise InputTypeError("id", repr(id), "an id from 0 to 4294967295") from None
            return text
        texts = [self.step(tokenizer, each) for each in id]
        return "".join(text for text in texts if text is not None) or None

    def _start(self, tokenizer: Any) -> None:
        here = _compiled(tokenizer)
        self._is_here = here is not None
        if here is None:
            self._stream = _OriginalStream(self._ids, self._skip_special_tokens)
            return
        prefill = [id for id in self._ids or () if here.id_to_token(id) is not None]
        self._stream = here.decode_stream(prefill, skip_special_tokens=self._skip_special_tokens)

    def __copy__(self) -> DecodeStream:
        other = DecodeStream(self._ids, self._skip_special_tokens)
        other._stream, other._is_here = copy(self._stream), self._is_here
        return other

    def __deepcopy__(self, memo: object) -> DecodeStream:
        return self.__copy__()


def _compiled(tokenizer: Any) -> Tokenizer | None:
    """Return the tokenizer that decodes here, None if `tokenizers` decodes."""
    if not isinstance(tokenizer, BackendTokenizer) or tokenizer.refusal is not None:
        return None
    return tokenizer.tokenizer


def _original(tokenizer: Any) -> Any:
    return tokenizer.to_tokenizers() if isinstance(tokenizer, BackendTokenizer) else tokenizer
