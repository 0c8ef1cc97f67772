"""The whole pipeline as data: every stage, in the order of the data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from piecework.errors import InputTypeError
from piecework.spec.added_tokens import AddedToken
from piecework.spec.component import json_value, refuse_value
from piecework.spec.custom import functions_of, loads_with_functions
from piecework.spec.decoders import Decoder, decoder_from_json
from piecework.spec.models import Model, model_from_json
from piecework.spec.normalizers import Normalizer, normalizer_from_json
from piecework.spec.post_processors import PostProcessor, post_processor_from_json
from piecework.spec.pre_tokenizers import PreTokenizer, pre_tokenizer_from_json
from piecework.spec.truncation_padding import Padding, Truncation

SpecialInText: TypeAlias = Literal["parse", "text", "refuse"]


@dataclass(frozen=True)
class TokenizerSpec:
    """Describe a tokenizer completely; two tokenizers with equal specs give equal ids.

    `special_in_text` says what special tokens written in a text are unless the caller says otherwise:
    recognised ("parse", as in `tokenizers`), plain text ("text", as in Mistral's library) or an error
    ("refuse", as in tiktoken). A `tokenizer.json` cannot hold it: read from there it is "parse", and "text"
    is not written.
    """

    model: Model
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    post_processor: PostProcessor | None = None
    decoder: Decoder | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None
    special_in_text: SpecialInText = "parse"

    def to_json(self) -> str:
        """Return the text of a portable `tokenizer.json`: other libraries read it and give the same ids.

        Raises `PortabilityError` for what they would read otherwise, `StageError` for custom stages.
        """
        from piecework.spec.portable import portable_spec

        return portable_spec(self).to_core()[0]

    def to_core(self) -> tuple[str, list[Callable[[str], Any]]]:
        """Return what the core compiles: the text, and the functions of custom stages in its order.

        The text has the shape of `tokenizer.json` and may hold components that only this library reads.
        """
        text = json.dumps(
            {
                "version": "1.0",
                "truncation": json_value(self.truncation),
                "padding": json_value(self.padding),
                "added_tokens": [json_value(token) for token in self.added_tokens],
                "normalizer": json_value(self.normalizer),
                "pre_tokenizer": json_value(self.pre_tokenizer),
                "post_processor": json_value(self.post_processor),
                "decoder": json_value(self.decoder),
                "model": json_value(self.model),
            },
            ensure_ascii=False,
            default=refuse_value,
        )
        return text, functions_of(self.normalizer, self.pre_tokenizer)

    @classmethod
    def from_json(cls, text: str, functions: Sequence[Callable[[str], Any]] = ()) -> TokenizerSpec:
        """Read `tokenizer.json` text that the core wrote, with the functions of its custom stages."""
        rest = iter(functions)
        value: dict[str, Any] = (
            loads_with_functions(text, lambda _: next(rest)) if functions else json.loads(text)
        )
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


def checked_spec(spec: object) -> TokenizerSpec:
    """Refuse what is no specification, such as the tokenizer that has it."""
    if not isinstance(spec, TokenizerSpec):
        expected = "TokenizerSpec, such as the `spec` of a tokenizer"
        raise InputTypeError("spec", type(spec).__name__, expected)
    return spec
