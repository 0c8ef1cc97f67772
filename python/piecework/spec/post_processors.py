"""Post-processors: put special tokens around one sequence or a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework.errors import FormatError


@dataclass(frozen=True)
class BertProcessing:
    """Frame one sequence as `cls A sep` and a pair as `cls A sep B sep`; B and its sep get type 1."""

    sep: tuple[str, int]
    cls: tuple[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "BertProcessing", "sep": list(self.sep), "cls": list(self.cls)}


@dataclass(frozen=True)
class Template:
    """Frame sequences by a template such as `("[CLS]:0", "$A:0", "[SEP]:0")`.

    Each item is `$A`, `$B` or a special token, with `:` and its type id. `special_tokens` maps every
    special token used to the ids that stand for it.

    >>> Template.bert(cls_id=101, sep_id=102).single
    ('[CLS]:0', '$A:0', '[SEP]:0')
    """

    single: tuple[str, ...]
    pair: tuple[str, ...]
    special_tokens: Mapping[str, tuple[int, ...]]

    @classmethod
    def bert(cls, cls_id: int, sep_id: int) -> Template:
        """Return BERT's template for the given ids of `[CLS]` and `[SEP]`."""
        return cls(
            single=("[CLS]:0", "$A:0", "[SEP]:0"),
            pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
            special_tokens={"[CLS]": (cls_id,), "[SEP]": (sep_id,)},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object (its name there is TemplateProcessing)."""
        return {
            "type": "TemplateProcessing",
            "single": [_piece_to_json(piece) for piece in self.single],
            "pair": [_piece_to_json(piece) for piece in self.pair],
            "special_tokens": {
                token: {"id": token, "ids": list(ids), "tokens": [token] * len(ids)}
                for token, ids in self.special_tokens.items()
            },
        }


PostProcessor: TypeAlias = BertProcessing | Template


def post_processor_from_json(value: dict[str, Any] | None) -> PostProcessor | None:
    """Read the `post_processor` object of a `tokenizer.json`."""
    if value is None:
        return None
    if value["type"] == "BertProcessing":
        return BertProcessing(sep=tuple(value["sep"]), cls=tuple(value["cls"]))
    if value["type"] == "TemplateProcessing":
        return Template(
            single=tuple(_piece_from_json(piece) for piece in value["single"]),
            pair=tuple(_piece_from_json(piece) for piece in value["pair"]),
            special_tokens={
                token: tuple(entry["ids"]) for token, entry in value["special_tokens"].items()
            },
        )
    raise FormatError(
        "post_processor.type", repr(value["type"]), "BertProcessing or TemplateProcessing"
    )


def _piece_to_json(piece: str) -> dict[str, Any]:
    name, _, type_id = piece.rpartition(":")
    if name in ("$A", "$B"):
        return {"Sequence": {"id": name[1], "type_id": int(type_id)}}
    return {"SpecialToken": {"id": name, "type_id": int(type_id)}}


def _piece_from_json(value: dict[str, Any]) -> str:
    if "Sequence" in value:
        return f"${value['Sequence']['id']}:{value['Sequence']['type_id']}"
    return f"{value['SpecialToken']['id']}:{value['SpecialToken']['type_id']}"
