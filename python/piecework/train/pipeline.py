"""The part of a tokenizer that makes words of text: what counts depend on and must remember."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from piecework.spec import ByteLevel, Metaspace, Normalizer, PreTokenizer, SequencePreTokenizer
from piecework.spec.custom import (
    MissingFunction,
    custom_stages_of,
    functions_of,
    loads_with_functions,
)
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

    @property
    def is_byte_level(self) -> bool:
        """Whether words are written as printable bytes, which keeps white space and line ends.

        >>> from piecework.spec import ByteLevel
        >>> Pipeline(None, ByteLevel()).is_byte_level
        True
        """
        return any(isinstance(member, ByteLevel) for member in self._pre_tokenizers)

    @property
    def metaspace(self) -> Metaspace | None:
        """The stage that marks spaces, if there is one.

        >>> Pipeline(None, Metaspace(replacement="_")).metaspace.replacement
        '_'
        """
        marking = (member for member in self._pre_tokenizers if isinstance(member, Metaspace))
        return next(marking, None)

    @property
    def _pre_tokenizers(self) -> tuple[PreTokenizer | None, ...]:
        stage = self.pre_tokenizer
        return stage.pretokenizers if isinstance(stage, SequencePreTokenizer) else (stage,)

    def to_json(self) -> str:
        """Return both stages as the `tokenizer.json` objects, in one JSON object.

        Of custom stages it has the names alone.
        """
        return json.dumps(
            {
                "normalizer": self.normalizer and self.normalizer.to_json(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_json(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError for anything else.

        The functions of custom stages are missing: it says what made words, and can make none.
        """
        value = loads_with_functions(text, MissingFunction)
        return cls(
            normalizer=normalizer_from_json(value["normalizer"]),
            pre_tokenizer=pre_tokenizer_from_json(value["pre_tokenizer"]),
        )

    def to_core(self) -> tuple[str, list[Callable[[str], Any]]]:
        """Return what the core compiles: the text, and the functions of custom stages in its order."""
        return self.to_json(), functions_of(self.normalizer, self.pre_tokenizer)

    def without_functions(self) -> Pipeline:
        """Return the pipeline with the names of its custom stages in place of their functions.

        >>> Pipeline().without_functions()
        Pipeline(normalizer=None, pre_tokenizer=None)
        """
        has_functions = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return Pipeline.from_json(self.to_json()) if has_functions else self

    def agrees_with(self, other: Pipeline) -> bool:
        """Whether both make the same words, as far as is known: missing functions agree by name."""
        if self._lacks_functions or other._lacks_functions:
            return self.to_json() == other.to_json()
        return self == other

    @property
    def _lacks_functions(self) -> bool:
        stages = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return any(isinstance(stage.function, MissingFunction) for _, stage in stages)

    def __str__(self) -> str:
        stages = [stage for stage in (self.normalizer, self.pre_tokenizer) if stage is not None]
        return " then ".join(map(str, stages)) or "no normalizer and no pre-tokenizer"
