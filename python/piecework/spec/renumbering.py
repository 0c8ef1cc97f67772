"""Renumber the ids of added tokens, post-processor and padding in a specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from piecework.spec.models import Model
from piecework.spec.post_processors import (
    BertProcessing,
    PostProcessor,
    RobertaProcessing,
    SequenceProcessing,
    TemplateProcessing,
)
from piecework.spec.tokenizer_spec import TokenizerSpec

NewId = Callable[[int], int]


def renumbered(spec: TokenizerSpec, model: Model, new_id: NewId) -> TokenizerSpec:
    """Return the specification with another model; `new_id` maps every id outside the model."""
    tokens = tuple(replace(token, id=new_id(token.id)) for token in spec.added_tokens)
    return replace(
        spec,
        model=model,
        added_tokens=tokens,
        post_processor=spec.post_processor and _renumber(spec.post_processor, new_id),
        padding=spec.padding and replace(spec.padding, pad_id=new_id(spec.padding.pad_id)),
    )


def ids_outside_model(spec: TokenizerSpec) -> set[int]:
    """Return the ids that added tokens, post-processor and padding use."""
    return {token.id for token in spec.added_tokens} | set(inserted_ids(spec))


def inserted_ids(spec: TokenizerSpec) -> list[int]:
    """Return the ids that post-processor and padding insert, in order, without duplicates."""
    padding = () if spec.padding is None else (spec.padding.pad_id,)
    return list(dict.fromkeys((*_inserted_by(spec.post_processor), *padding)))


def _renumber(processor: PostProcessor, new_id: NewId) -> PostProcessor:
    if isinstance(processor, BertProcessing | RobertaProcessing):
        (sep, sep_id), (cls, cls_id) = processor.sep, processor.cls
        return replace(processor, sep=(sep, new_id(sep_id)), cls=(cls, new_id(cls_id)))
    if isinstance(processor, TemplateProcessing):
        ids_of = {token: tuple(map(new_id, ids)) for token, ids in processor.special_tokens.items()}
        return replace(processor, special_tokens=ids_of)
    if isinstance(processor, SequenceProcessing):
        return replace(
            processor, processors=tuple(_renumber(one, new_id) for one in processor.processors)
        )
    return processor


def _inserted_by(processor: PostProcessor | None) -> Iterator[int]:
    if isinstance(processor, BertProcessing | RobertaProcessing):
        yield from (processor.sep[1], processor.cls[1])
    elif isinstance(processor, TemplateProcessing):
        for ids in processor.special_tokens.values():
            yield from ids
    elif isinstance(processor, SequenceProcessing):
        for one in processor.processors:
            yield from _inserted_by(one)
