"""What the adapters of inference servers share: tokenizers of transformers that encode and decode here.

A server loads its tokenizer first and gets its replacement afterwards, which keeps what the server repairs
after loading. Nothing outside the chosen mode or hook changes. There are no `async` methods: a thread
answers as many requests. Requires `piecework[transformers]`.
"""

from __future__ import annotations

import logging
from typing import Any

from piecework._internal.extras import import_extra

import_extra("transformers", "transformers", __name__)

import tokenizers.decoders  # noqa: E402

from piecework.integrations.transformers import DecodeStream, accelerate  # noqa: E402

_LOGGER = logging.getLogger(__name__)


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
