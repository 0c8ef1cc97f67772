"""The stages that split text into words, which counts depend on and store."""

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

    >>> from piecework.spec import WhitespaceSplit
    >>> print(Pipeline(None, WhitespaceSplit()))
    WhitespaceSplit()
    """

    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None

    @property
    def is_byte_level(self) -> bool:
        """Whether a stage is byte-level, so that words include white space and line ends.

        >>> from piecework.spec import ByteLevel
        >>> Pipeline(None, ByteLevel()).is_byte_level
        True
        """
        return any(isinstance(member, ByteLevel) for member in self._pre_tokenizers)

    @property
    def metaspace(self) -> Metaspace | None:
        """The metaspace stage, None if there is none.

        >>> Pipeline(None, Metaspace(replacement="_")).metaspace.replacement
        '_'
        """
        stages = (member for member in self._pre_tokenizers if isinstance(member, Metaspace))
        return next(stages, None)

    @property
    def _pre_tokenizers(self) -> tuple[PreTokenizer | None, ...]:
        stage = self.pre_tokenizer
        return stage.pretokenizers if isinstance(stage, SequencePreTokenizer) else (stage,)

    def to_json(self) -> str:
        """Return a JSON object with both stages as in a `tokenizer.json`; custom stages by name.

        >>> Pipeline().to_json()
        '{"normalizer": null, "pre_tokenizer": null}'
        """
        return json.dumps(
            {
                "normalizer": self.normalizer and self.normalizer.to_json(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_json(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Return the pipeline of a JSON object; raises ValueError, KeyError or TypeError if it is invalid.

        >>> Pipeline.from_json(Pipeline().to_json()) == Pipeline()
        True

        Custom stages lack their functions: such a pipeline can be compared but not run.
        """
        value = loads_with_functions(text, MissingFunction)
        return cls(
            normalizer=normalizer_from_json(value["normalizer"]),
            pre_tokenizer=pre_tokenizer_from_json(value["pre_tokenizer"]),
        )

    def to_core(self) -> tuple[str, list[Callable[[str], Any]]]:
        """Return the JSON, and the functions of the custom stages in the order of the JSON."""
        return self.to_json(), functions_of(self.normalizer, self.pre_tokenizer)

    def without_functions(self) -> Pipeline:
        """Return the pipeline with names instead of functions in custom stages.

        >>> Pipeline().without_functions()
        Pipeline(normalizer=None, pre_tokenizer=None)
        """
        has_functions = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return Pipeline.from_json(self.to_json()) if has_functions else self

    def agrees_with(self, other: Pipeline) -> bool:
        """Return whether both split text alike; custom stages without functions are compared by name."""
        if self.lacks_functions or other.lacks_functions:
            return self.to_json() == other.to_json()
        return self == other

    @property
    def lacks_functions(self) -> bool:
        """Whether custom stages have names only, so that the pipeline can be compared but not run."""
        stages = custom_stages_of(self.normalizer, self.pre_tokenizer)
        return any(isinstance(stage.function, MissingFunction) for _, stage in stages)

    def __str__(self) -> str:
        stages = [stage for stage in (self.normalizer, self.pre_tokenizer) if stage is not None]
        return " then ".join(map(str, stages)) or "no normalizer and no pre-tokenizer"
