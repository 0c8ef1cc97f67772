"""Decode ids and pieces for `SentencePieceProcessor.decode`: text, or pieces with their spans in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from piecework.compat.sentencepiece.loaded_model import LoadedModel
from piecework.compat.sentencepiece.options import OutType, apply_extra_options
from piecework.compat.sentencepiece.texts import (
    ImmutableSentencePieceText,
    InputText,
    SurfacePiece,
    offset_mapping,
    to_bytes,
    to_form,
)

_METASPACE = "▁"

Item: TypeAlias = tuple[str, int]
"""A piece and its id."""


def decode_row(
    model: LoadedModel,
    row: Any,
    form: OutType,
    *,
    extras: Sequence[str],
    return_bytes: bool | None,
) -> Any:
    """Decode one list of ids or pieces to the output type `form`."""
    items, are_bytes = _items_of(model, row)
    if form not in (str, bytes):
        text = _decode_with_spans(model, items, extras)
        return _to_form(text, form, bool(return_bytes) or are_bytes)
    decoded = _decode_text(model, items, extras)
    return to_bytes(decoded) if form is bytes or are_bytes else decoded


def surfaces(model: LoadedModel, items: Sequence[Item]) -> list[str]:
    """Return the text of each piece; the texts joined are the decoded text.

    The last of the byte pieces of a character gets the whole character, the others get "".
    """
    found: list[str] = []
    byte_run: list[int] = []
    is_first = True
    for piece, id in items:
        if model.is_type(id, "byte"):
            byte_run.append(int(piece[3:-1], 16))
            continue
        found += _byte_surfaces(byte_run)
        byte_run = []
        is_first = is_first and not any(found)
        surface, drops_prefix = _surface(model, piece, id, is_first)
        is_first = is_first and not drops_prefix
        found.append(surface)
    return found + _byte_surfaces(byte_run)


def _items_of(model: LoadedModel, row: Any) -> tuple[list[Item], bool]:
    """Return pieces with their ids, and whether the input has pieces as bytes."""
    if len(row) == 0 or not isinstance(row[0], (str, bytes)):
        ids = model.checked_ids(row)
        return [(model.texts[id], id) for id in ids], False
    sources = [InputText(piece, f"input[{at}]") for at, piece in enumerate(row)]
    pieces = [source.escaped for source in sources]
    return [(piece, model.id_of(piece)) for piece in pieces], sources[0].is_bytes


def _decode_text(model: LoadedModel, items: list[Item], extras: Sequence[str]) -> str:
    if extras or any(model.texts[id] != piece for piece, id in items):
        return _decode_with_spans(model, items, extras).text
    return model.tokenizer.decode([id for _, id in items], skip_special_tokens=False)


def _decode_with_spans(
    model: LoadedModel, items: list[Item], extras: Sequence[str]
) -> ImmutableSentencePieceText:
    items = apply_extra_options(
        items, extras, model.ends, lambda item: (model.texts[item[1]], item[1])
    )
    found = surfaces(model, items)
    ends = accumulate(map(len, found), initial=0)
    pieces = (
        SurfacePiece(piece, id, surface, begin, end)
        for (piece, id), surface, (begin, end) in zip(items, found, pairwise(ends), strict=True)
    )
    return ImmutableSentencePieceText("".join(found), tuple(pieces))


def _surface(model: LoadedModel, piece: str, id: int, is_first: bool) -> tuple[str, bool]:
    """Return the text of a piece, and whether this drops the space of the dummy prefix."""
    decoder = model.decoder
    if model.is_type(id, "control"):
        return "", False
    if id == model.unk_id:
        return (decoder.unk_surface if piece == model.texts[id] else piece), False
    drops = is_first and (decoder.add_dummy_prefix or decoder.remove_extra_whitespaces)
    rest = piece.removeprefix(_METASPACE) if drops else piece
    drops_prefix = rest != piece and not decoder.remove_extra_whitespaces
    return rest.replace(_METASPACE, " "), drops_prefix


def _byte_surfaces(byte_run: list[int]) -> list[str]:
    escaped = bytes(byte_run).decode("utf-8", "surrogateescape")
    found: list[str] = []
    for c in escaped:
        found += [""] * (len(to_bytes(c)) - 1)
        found.append("\ufffd" if "\udc80" <= c <= "\udcff" else c)
    return found


def _to_form(text: ImmutableSentencePieceText, form: OutType, in_bytes: bool) -> Any:
    if form == "offset_mapping":
        whole = to_bytes(text.text) if in_bytes else text.text
        return {"text": whole, **offset_mapping(text, in_bytes)}
    return to_form(text, form)
