"""The whole pipeline as data: every stage, in the order of the data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from piecework.spec.added_tokens import AddedToken
from piecework.spec.decoders import Decoder, decoder_from_json
from piecework.spec.lengths import Padding, Truncation
from piecework.spec.models import Model, model_from_json
from piecework.spec.normalizers import Normalizer, normalizer_from_json
from piecework.spec.post_processors import PostProcessor, post_processor_from_json
from piecework.spec.pre_tokenizers import PreTokenizer, pre_tokenizer_from_json


@dataclass(frozen=True)
class TokenizerSpec:
    """Describe a tokenizer completely; two tokenizers with equal specs give equal ids."""

    model: Model
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    post_processor: PostProcessor | None = None
    decoder: Decoder | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None

    def to_json(self) -> str:
        """Return the `tokenizer.json` text."""
        return json.dumps(
            {
                "version": "1.0",
                "truncation": self.truncation and self.truncation.to_json(),
                "padding": self.padding and self.padding.to_json(),
                "added_tokens": [token.to_json() for token in self.added_tokens],
                "normalizer": self.normalizer and self.normalizer.to_json(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_json(),
                "post_processor": self.post_processor and self.post_processor.to_json(),
                "decoder": self.decoder and self.decoder.to_json(),
                "model": self.model.to_json(),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> TokenizerSpec:
        """Read `tokenizer.json` text that the core wrote."""
        value: dict[str, Any] = json.loads(text)
        return cls(
            model=model_from_json(value["model"]),
            normalizer=normalizer_from_json(value["normalizer"]),
            pre_tokenizer=pre_tokenizer_from_json(value["pre_tokenizer"]),
            post_processor=post_processor_from_json(value["post_processor"]),
            decoder=decoder_from_json(value["decoder"]),
            added_tokens=tuple(AddedToken(**token) for token in value["added_tokens"]),
            truncation=value["truncation"] and Truncation.from_json(value["truncation"]),
            padding=value["padding"] and Padding.from_json(value["padding"]),
        )
