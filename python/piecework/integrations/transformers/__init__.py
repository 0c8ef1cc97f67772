"""Tokenizers of this library in transformers.

    accelerate              a fast tokenizer of transformers, encoding with piecework
    served                  a tokenizer of an inference server, with its streams, encoding with piecework
    PieceworkTokenizerFast  a `Tokenizer` with the interface of transformers
    register                let `AutoTokenizer` return it
    BackendTokenizer        a `Tokenizer` with the methods of `tokenizers.Tokenizer`
    BackendEncoding         what it returns, with the methods of `tokenizers.Encoding`
    DecodeStream            decoding with it id by id, as `tokenizers.decoders.DecodeStream`

Requires `piecework[transformers]`.
"""

from __future__ import annotations

from piecework._internal.extras import import_extra

import_extra("transformers", "transformers", __name__)

from piecework.integrations.transformers.accelerated import (  # noqa: E402
    DecodeStream,
    PieceworkTokenizerFast,
    accelerate,
    register,
    served,
)
from piecework.integrations.transformers.backend import BackendTokenizer  # noqa: E402
from piecework.integrations.transformers.encodings import BackendEncoding  # noqa: E402

__all__ = [
    "BackendEncoding",
    "BackendTokenizer",
    "DecodeStream",
    "PieceworkTokenizerFast",
    "accelerate",
    "register",
    "served",
]
