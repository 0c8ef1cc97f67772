"""Tokenizers of this library in transformers.

    accelerate              a fast tokenizer of transformers, encoding here
    coverage                what runs here and what runs in `tokenizers`
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

from piecework.integrations.transformers.accelerated import accelerate, coverage  # noqa: E402
from piecework.integrations.transformers.backend import BackendTokenizer  # noqa: E402
from piecework.integrations.transformers.encodings import (  # noqa: E402
    BackendEncoding,
    DecodeStream,
)
from piecework.integrations.transformers.fast_class import (  # noqa: E402
    PieceworkTokenizerFast,
    register,
)

__all__ = [
    "BackendEncoding",
    "BackendTokenizer",
    "DecodeStream",
    "PieceworkTokenizerFast",
    "accelerate",
    "coverage",
    "register",
]
