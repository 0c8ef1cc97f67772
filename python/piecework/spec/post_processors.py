"""Post-processors: put special tokens around one sequence or a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, json_value


@dataclass(frozen=True)
class BertProcessing(Component):
    """Frame one sequence as `cls A sep` and a pair as `cls A sep B sep`; B and its sep get type 1."""

    KIND: ClassVar[str] = "BertProcessing"

    sep: tuple[str, int]
    cls: tuple[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "sep": list(self.sep), "cls": list(self.cls)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BertProcessing:
        """Read the `tokenizer.json` object."""
        return cls(sep=tuple(value["sep"]), cls=tuple(value["cls"]))


@dataclass(frozen=True)
class RobertaProcessing(Component):
    """Frame one sequence as `cls A sep` and a pair as `cls A sep sep B sep`, all of type 0.

    `trim_offsets` leaves spaces out of the offsets of byte-level tokens; `add_prefix_space` says that
    the first of them was put there.
    """

    KIND: ClassVar[str] = "RobertaProcessing"

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return super().to_json() | {"sep": list(self.sep), "cls": list(self.cls)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RobertaProcessing:
        """Read the `tokenizer.json` object."""
        return cls(
            sep=tuple(value["sep"]),
            cls=tuple(value["cls"]),
            trim_offsets=value["trim_offsets"],
            add_prefix_space=value["add_prefix_space"],
        )


@dataclass(frozen=True)
class ByteLevelProcessing(Component):
    """Add no token; leave spaces out of the offsets of byte-level tokens if `trim_offsets` is set."""

    KIND: ClassVar[str] = "ByteLevel"

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class TemplateProcessing(Component):
    """Frame sequences by a template such as `("[CLS]:0", "$A:0", "[SEP]:0")`.

    Each item is `$A`, `$B` or a special token, with `:` and its type id. `special_tokens` maps every
    special token used to the ids that stand for it; `tokens` names the tokens of these ids where
    they are not the special token itself.

    >>> TemplateProcessing.bert(cls_id=101, sep_id=102).single
    ('[CLS]:0', '$A:0', '[SEP]:0')
    """

    KIND: ClassVar[str] = "TemplateProcessing"

    single: tuple[str, ...]
    pair: tuple[str, ...]
    special_tokens: Mapping[str, tuple[int, ...]]
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def bert(cls, cls_id: int, sep_id: int) -> TemplateProcessing:
        """Return BERT's template for the given ids of `[CLS]` and `[SEP]`."""
        return cls(
            single=("[CLS]:0", "$A:0", "[SEP]:0"),
            pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
            special_tokens={"[CLS]": (cls_id,), "[SEP]": (sep_id,)},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object (its name there is TemplateProcessing)."""
        return {
            "type": self.KIND,
            "single": [_piece_to_json(piece) for piece in self.single],
            "pair": [_piece_to_json(piece) for piece in self.pair],
            "special_tokens": {
                name: {
                    "id": name,
                    "ids": list(ids),
                    "tokens": list(self.tokens.get(name, [name] * len(ids))),
                }
                for name, ids in self.special_tokens.items()
            },
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TemplateProcessing:
        """Read the `tokenizer.json` object."""
        entries = value["special_tokens"].items()
        return cls(
            single=tuple(_piece_from_json(piece) for piece in value["single"]),
            pair=tuple(_piece_from_json(piece) for piece in value["pair"]),
            special_tokens={name: tuple(entry["ids"]) for name, entry in entries},
            tokens={
                name: tuple(entry["tokens"])
                for name, entry in entries
                if entry["tokens"] != [name] * len(entry["ids"])
            },
        )


@dataclass(frozen=True)
class SequenceProcessing(Component):
    """Process by one after the other."""

    KIND: ClassVar[str] = "Sequence"

    processors: tuple[PostProcessor, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "processors": [json_value(one) for one in self.processors]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SequenceProcessing:
        """Read the `tokenizer.json` object."""
        return cls(tuple(_post_processor_from_json(one) for one in value["processors"]))


PostProcessor: TypeAlias = (
    BertProcessing
    | RobertaProcessing
    | ByteLevelProcessing
    | TemplateProcessing
    | SequenceProcessing
)

_KINDS: dict[str, type[PostProcessor]] = {
    kind.KIND: kind
    for kind in (
        BertProcessing,
        RobertaProcessing,
        ByteLevelProcessing,
        TemplateProcessing,
        SequenceProcessing,
    )
}


def post_processor_from_json(value: Mapping[str, Any] | None) -> PostProcessor | None:
    """Read the `post_processor` object of a `tokenizer.json`."""
    return None if value is None else _post_processor_from_json(value)


def _post_processor_from_json(value: Mapping[str, Any]) -> PostProcessor:
    return component_from_json(_KINDS, value, "post_processor")


def _piece_to_json(piece: str) -> dict[str, Any]:
    name, _, type_id = piece.rpartition(":")
    if name in ("$A", "$B"):
        return {"Sequence": {"id": name[1], "type_id": int(type_id)}}
    return {"SpecialToken": {"id": name, "type_id": int(type_id)}}


def _piece_from_json(value: Mapping[str, Any]) -> str:
    if "Sequence" in value:
        return f"${value['Sequence']['id']}:{value['Sequence']['type_id']}"
    return f"{value['SpecialToken']['id']}:{value['SpecialToken']['type_id']}"
