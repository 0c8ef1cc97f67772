"""The part of a tokenizer that makes words of text: what counts depend on and must remember."""

from __future__ import annotations

import json
from dataclasses import dataclass

from piecework.spec import Normalizer, PreTokenizer
from piecework.spec.normalizers import normalizer_from_json
from piecework.spec.pre_tokenizers import pre_tokenizer_from_json


@dataclass(frozen=True)
class Pipeline:
    """A normalizer and a pre-tokenizer, each optional.

    >>> Pipeline.from_json(Pipeline().to_json()) == Pipeline()
    True
    """

    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None

    def to_json(self) -> str:
        """Return both stages as the `tokenizer.json` objects, in one JSON object."""
        return json.dumps(
            {
                "normalizer": self.normalizer and self.normalizer.to_json(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_json(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError for anything else."""
        value = json.loads(text)
        return cls(
            normalizer=normalizer_from_json(value["normalizer"]),
            pre_tokenizer=pre_tokenizer_from_json(value["pre_tokenizer"]),
        )

    def __str__(self) -> str:
        stages = [stage for stage in (self.normalizer, self.pre_tokenizer) if stage is not None]
        return " then ".join(map(str, stages)) or "no normalizer and no pre-tokenizer"
