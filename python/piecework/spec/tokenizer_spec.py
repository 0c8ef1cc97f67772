"""A complete tokenizer as data: `TokenizerSpec`, with added tokens, truncation and padding."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from piecework.errors import InputTypeError
from piecework.spec.component import JsonData, camel_case_form, json_form, json_value, reject_value
from piecework.spec.custom import CustomStage, functions_of, loads_with_functions
from piecework.spec.decoders import Decoder, decoder_from_json
from piecework.spec.models import Model, model_from_json
from piecework.spec.normalizers import Normalizer, normalizer_from_json
from piecework.spec.post_processors import PostProcessor, post_processor_from_json
from piecework.spec.pre_tokenizers import PreTokenizer, pre_tokenizer_from_json


@dataclass(frozen=True)
class Truncation(JsonData):
    """Truncate encodings to `max_length` tokens, special tokens included.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})
    >>> encoding = pw.Tokenizer(model, truncation=Truncation(max_length=2)).encode("abab")
    >>> encoding.ids, [window.ids for window in encoding.overflowing]
    ([1, 2], [[1, 2]])

    The remaining windows are in `Encoding.overflowing`. Each window overlaps the previous one by `stride`
    tokens.
    """

    max_length: int = 512
    stride: int = 0
    strategy: Literal["longest_first", "only_first", "only_second"] = field(
        default="longest_first", metadata=camel_case_form()
    )
    side: Literal["right", "left"] = field(default="right", metadata=camel_case_form("direction"))


def _length_to_json(length: int | None) -> Any:
    return "BatchLongest" if length is None else {"Fixed": length}


def _length_from_json(strategy: Any) -> int | None:
    return strategy["Fixed"] if isinstance(strategy, dict) else None


@dataclass(frozen=True)
class Padding(JsonData):
    """Pad encodings to `length` tokens; None means the longest encoding of the batch.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "a": 1}, unk_token="[PAD]"), padding=Padding())
    >>> tok.encode_batch(["a", "aa"]).to_lists()
    [[1, 0], [1, 1]]
    """

    length: int | None = field(
        default=None, metadata=json_form(_length_to_json, _length_from_json, name="strategy")
    )
    side: Literal["right", "left"] = field(default="right", metadata=camel_case_form("direction"))
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    pad_to_multiple_of: int | None = None


@dataclass(frozen=True)
class AddedToken:
    """A token that is matched as a whole in the text, such as `[MASK]`.

    >>> import piecework as pw
    >>> mask = AddedToken("[MASK]", id=2, lstrip=True)
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), added_tokens=[mask])
    >>> tok.encode("a [MASK]").ids
    [1, 2]

    `single_word` rejects a match inside a word. `lstrip` and `rstrip` include the whitespace on that side
    in the match. `normalized` matches in the normalized text. `decode` skips a `special` token by default.
    The id -1 makes `Tokenizer.with_added_tokens` choose an id.
    """

    content: str
    id: int = -1
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"id": self.id, **vars(self)}


# In the order of the data.
_READERS: dict[str, Callable[[Any], Any]] = {
    "normalizer": normalizer_from_json,
    "pre_tokenizer": pre_tokenizer_from_json,
    "post_processor": post_processor_from_json,
    "decoder": decoder_from_json,
    "model": model_from_json,
}
ParseSpecial: TypeAlias = bool | Literal["refuse"]


@dataclass(frozen=True)
class TokenizerSpec:
    """A complete tokenizer as data; tokenizers with equal specs produce equal ids.

    >>> import piecework as pw
    >>> spec = TokenizerSpec(pw.spec.Char({"[UNK]": 0, "a": 1}), normalizer=pw.spec.Lowercase())
    >>> pw.Tokenizer.from_spec(spec).encode("A").ids
    [1]

    `parse_special` is the default for special tokens written in a text: True parses them, as `tokenizers`
    does; False encodes them as plain text, as Mistral's library does; "refuse" raises `SpecialTokenError`,
    as tiktoken does. A `tokenizer.json` has no such field: reading one gives True, and writing False raises
    `PortabilityError`.
    """

    model: Model
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    post_processor: PostProcessor | None = None
    decoder: Decoder | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    truncation: Truncation | None = None
    padding: Padding | None = None
    parse_special: ParseSpecial = True

    def to_core(self) -> tuple[str, list[Callable[[str], Any]]]:
        """Return the JSON text that the core compiles, and the functions of custom stages in its order.

        The text has the format of `tokenizer.json`, with components that only this library reads.
        """
        text = json.dumps(
            {
                "version": "1.0",
                "truncation": json_value(self.truncation),
                "padding": json_value(self.padding),
                "added_tokens": [json_value(token) for token in self.added_tokens],
                **{name: json_value(getattr(self, name)) for name in _READERS},
            },
            ensure_ascii=False,
            default=reject_value,
        )
        return text, functions_of(self.normalizer, self.pre_tokenizer)

    def without_stages(self, names: Iterable[str]) -> TokenizerSpec:
        """Return the specification without the stages that have these field names."""
        empty: dict[str, Any] = {name: () if name == "added_tokens" else None for name in names}
        return replace(self, **empty)

    @classmethod
    def from_json(cls, text: str, functions: Sequence[Callable[[str], Any]] = ()) -> TokenizerSpec:
        """Read JSON text that the core wrote; `functions` belong to its custom stages, in order."""
        rest = iter(functions)
        value: dict[str, Any] = (
            loads_with_functions(text, lambda _: next(rest)) if functions else json.loads(text)
        )
        return cls(
            **{name: read(value[name]) for name, read in _READERS.items()},
            added_tokens=tuple(AddedToken(**token) for token in value["added_tokens"]),
            truncation=value["truncation"] and Truncation.from_json(value["truncation"]),
            padding=value["padding"] and Padding.from_json(value["padding"]),
        )


def checked_spec(spec: object) -> TokenizerSpec:
    """Return `spec`, or raise if it is not a `TokenizerSpec`."""
    if not isinstance(spec, TokenizerSpec):
        expected = "TokenizerSpec, such as the `spec` of a tokenizer"
        raise InputTypeError("spec", f"must be {expected}, not {type(spec).__name__}")
    return spec


def stage_names(spec: TokenizerSpec) -> Iterator[str]:
    """Yield the name of each stage of a specification, in the order of the data."""
    stages = (spec.normalizer, spec.pre_tokenizer, spec.model, spec.post_processor, spec.decoder)
    for stage in stages:
        if stage is not None:
            yield repr(stage) if isinstance(stage, CustomStage) else type(stage).__name__
