"""Renumber the ids of a specification: added tokens, post-processor and padding."""

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

Move = Callable[[int], int]


def renumbered(spec: TokenizerSpec, model: Model, move: Move) -> TokenizerSpec:
    """Return the specification with another model, and every id outside the model mapped by `move`."""
    tokens = tuple(replace(token, id=move(token.id)) for token in spec.added_tokens)
    return replace(
        spec,
        model=model,
        added_tokens=tokens,
        post_processor=spec.post_processor and _moved(spec.post_processor, move),
        padding=spec.padding and replace(spec.padding, pad_id=move(spec.padding.pad_id)),
    )


def ids_outside_model(spec: TokenizerSpec) -> set[int]:
    """Return the ids that added tokens, post-processor and padding use."""
    return {token.id for token in spec.added_tokens} | set(inserted_ids(spec))


def inserted_ids(spec: TokenizerSpec) -> list[int]:
    """Return the ids that post-processor and padding insert, in order, each once."""
    padding = () if spec.padding is None else (spec.padding.pad_id,)
    return list(dict.fromkeys((*_framing(spec.post_processor), *padding)))


def _moved(frame: PostProcessor, move: Move) -> PostProcessor:
    if isinstance(frame, BertProcessing | RobertaProcessing):
        (sep, sep_id), (cls, cls_id) = frame.sep, frame.cls
        return replace(frame, sep=(sep, move(sep_id)), cls=(cls, move(cls_id)))
    if isinstance(frame, TemplateProcessing):
        moved = {token: tuple(map(move, ids)) for token, ids in frame.special_tokens.items()}
        return replace(frame, special_tokens=moved)
    if isinstance(frame, SequenceProcessing):
        return replace(frame, processors=tuple(_moved(one, move) for one in frame.processors))
    return frame


def _framing(frame: PostProcessor | None) -> Iterator[int]:
    if isinstance(frame, BertProcessing | RobertaProcessing):
        yield from (frame.sep[1], frame.cls[1])
    elif isinstance(frame, TemplateProcessing):
        for ids in frame.special_tokens.values():
            yield from ids
    elif isinstance(frame, SequenceProcessing):
        for one in frame.processors:
            yield from _framing(one)
