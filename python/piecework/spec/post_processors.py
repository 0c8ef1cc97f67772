"""Post-processors add special tokens around one sequence or a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import (
    Component,
    component_from_json,
    json_form,
    kinds_of,
    members_form,
)

_TOKEN_AND_ID = json_form(list, tuple)


@dataclass(frozen=True)
class BertProcessing(Component):
    """Add tokens as BERT does: `cls A sep`, or `cls A sep B sep` for a pair.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4}
    >>> frame = BertProcessing(sep=("[SEP]", 2), cls=("[CLS]", 1))
    >>> pair = pw.Tokenizer(pw.spec.Char(vocab), post_processor=frame).encode("a", "b")
    >>> pair.ids, pair.type_ids
    ([1, 3, 2, 4, 2], [0, 0, 0, 1, 1])
    """

    sep: tuple[str, int] = field(metadata=_TOKEN_AND_ID)
    cls: tuple[str, int] = field(metadata=_TOKEN_AND_ID)


@dataclass(frozen=True)
class RobertaProcessing(Component):
    """Add tokens as RoBERTa does: `cls A sep`, or `cls A sep sep B sep` for a pair; all type ids are 0.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "<s>": 1, "</s>": 2, "a": 3, "b": 4}
    >>> frame = RobertaProcessing(sep=("</s>", 2), cls=("<s>", 1))
    >>> pw.Tokenizer(pw.spec.Char(vocab), post_processor=frame).encode("a", "b").ids
    [1, 3, 2, 2, 4, 2]

    `trim_offsets` excludes spaces from the offsets of byte-level tokens. `add_prefix_space` says that the
    pre-tokenizer prepends a space, which has no offset.
    """

    sep: tuple[str, int] = field(metadata=_TOKEN_AND_ID)
    cls: tuple[str, int] = field(metadata=_TOKEN_AND_ID)
    trim_offsets: bool = True
    add_prefix_space: bool = True


@dataclass(frozen=True)
class ByteLevelProcessing(Component):
    """Exclude spaces from the offsets of byte-level tokens if `trim_offsets` is set; add no token.

    >>> import piecework as pw
    >>> vocab = {"Ġ": 0, "a": 1, "Ġa": 2}
    >>> tok = pw.Tokenizer(
    ...     pw.spec.BPE(vocab, (("Ġ", "a"),)),
    ...     pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
    ...     post_processor=ByteLevelProcessing(),
    ... )
    >>> tok.encode("a a").offsets
    [(0, 1), (2, 3)]
    """

    KIND: ClassVar[str] = "ByteLevel"

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class TemplateProcessing(Component):
    """Add tokens by a template such as `("[CLS]:0", "$A:0", "[SEP]:0")`.

    >>> TemplateProcessing.bert(cls_id=101, sep_id=102).single
    ('[CLS]:0', '$A:0', '[SEP]:0')

    Each item is `$A`, `$B` or a special token, followed by `:` and its type id. `special_tokens` maps each
    special token of the templates to the ids that it inserts. `tokens` gives the tokens of these ids, if
    they differ from the special token.
    """

    single: tuple[str, ...]
    pair: tuple[str, ...]
    special_tokens: Mapping[str, tuple[int, ...]]
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def bert(cls, cls_id: int, sep_id: int) -> TemplateProcessing:
        """Return the template of BERT for the ids of `[CLS]` and `[SEP]`."""
        return cls(
            single=("[CLS]:0", "$A:0", "[SEP]:0"),
            pair=("[CLS]:0", "$A:0", "[SEP]:0", "$B:1", "[SEP]:1"),
            special_tokens={"[CLS]": (cls_id,), "[SEP]": (sep_id,)},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
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
    """Apply several post-processors in order.

    >>> SequenceProcessing((ByteLevelProcessing(), TemplateProcessing.bert(1, 2))).processors[1].pair
    ('[CLS]:0', '$A:0', '[SEP]:0', '$B:1', '[SEP]:1')
    """

    KIND: ClassVar[str] = "Sequence"

    processors: tuple[PostProcessor, ...] = field(
        metadata=members_form(lambda member: post_processor_from_json(member))
    )


PostProcessor: TypeAlias = (
    BertProcessing
    | RobertaProcessing
    | ByteLevelProcessing
    | TemplateProcessing
    | SequenceProcessing
)

_KINDS = kinds_of(PostProcessor)


def post_processor_from_json(value: Mapping[str, Any] | None) -> PostProcessor | None:
    """Read the `post_processor` object of a `tokenizer.json`."""
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


_SEQUENCES = {"$A", "$B"}


def template_for(
    single: tuple[str, ...], pair: tuple[str, ...], vocab: Mapping[str, int]
) -> TemplateProcessing | None:
    """Return the template with the ids of its special tokens, None if the vocabulary lacks one.

    >>> items = ("$A:0", "</s>:0")
    >>> template_for(items, (*items, "$B:0", "</s>:0"), {"</s>": 1}).special_tokens
    {'</s>': (1,)}

    `single` and `pair` have the items of `TemplateProcessing`, such as "[CLS]:0", "$A:0", "[SEP]:0".
    """
    tokens = {item.rpartition(":")[0] for item in (*single, *pair)} - _SEQUENCES
    if not tokens <= vocab.keys():
        return None
    return TemplateProcessing(single, pair, {token: (vocab[token],) for token in sorted(tokens)})
