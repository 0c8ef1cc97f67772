"""The half of the SentencePiece-shaped processor that turns ids and pieces into text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from piecework.compat.sentencepiece.forms import formed, offset_mapping
from piecework.compat.sentencepiece.inputs import OutType, Source, chosen_type, with_extras
from piecework.compat.sentencepiece.model import LoadedModel
from piecework.compat.sentencepiece.protos import (
    ImmutableSentencePieceText,
    SurfacePiece,
    to_bytes,
)
from piecework.compat.sentencepiece.vocabulary import Vocabulary
from piecework.errors import ArgumentError

_MARK = "▁"


class Decoding(Vocabulary):
    """Ids and pieces to text, and to protos that say which stretch of it each is."""

    def decode(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        return_type: OutType | None = None,
        return_bytes: bool | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Turn an id, a piece, a list of either, or a list of such lists into text.

        `out_type`: str, bytes, "proto", "immutable_proto", "serialized_proto" or "offset_mapping". Pieces
        that are none of the vocabulary stand for themselves. Raises `IdRangeError`, an `IndexError`.
        """
        form = chosen_type(out_type, return_type, str)
        if form in (int, "numpy"):
            raise ArgumentError("out_type", repr(form), "a form of text")
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes", repr(form), "out_type='offset_mapping'")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []
        elif not _is_sequence(input):
            input = [input]
        if len(input) and _is_sequence(input[0]):
            return [self._decoded(row, form, return_bytes) for row in input]
        return self._decoded(input, form, return_bytes)

    def decode_ids(self, input: Any, out_type: OutType | None = None, **options: Any) -> Any:
        """Turn ids into text; see `decode`."""
        return self.decode(input, out_type, **options)

    def decode_pieces(self, input: Any, out_type: OutType | None = None, **options: Any) -> Any:
        """Turn pieces into text; see `decode`."""
        return self.decode(input, out_type, **options)

    def decode_ids_as_proto(self, input: Any, **options: Any) -> Any:
        """Turn ids into `SentencePieceText`; see `decode`."""
        return self.decode(input, "proto", **options)

    def decode_ids_as_serialized_proto(self, input: Any, **options: Any) -> Any:
        """Turn ids into bytes of a proto; see `decode`."""
        return self.decode(input, "serialized_proto", **options)

    def decode_ids_as_immutable_proto(self, input: Any, **options: Any) -> Any:
        """Turn ids into `ImmutableSentencePieceText`; see `decode`."""
        return self.decode(input, "immutable_proto", **options)

    def _decoded(self, row: Any, form: OutType, return_bytes: bool | None) -> Any:
        items, are_bytes = self._items(row)
        if form not in (str, bytes):
            return _formed(self._spelled(items), form, bool(return_bytes) or are_bytes)
        text = self._text(items)
        return to_bytes(text) if form is bytes or are_bytes else text

    def _items(self, row: Any) -> tuple[list[tuple[str, int]], bool]:
        """Return pieces with their ids, and whether they came as bytes."""
        model = self._model
        if len(row) == 0 or not isinstance(row[0], (str, bytes)):
            ids = self._checked_ids(row)
            return [(model.texts[id], id) for id in ids], False
        sources = [Source(piece, f"input[{at}]") for at, piece in enumerate(row)]
        pieces = [source.escaped for source in sources]
        return [(piece, model.id_of(piece)) for piece in pieces], sources[0].is_bytes

    def _text(self, items: list[tuple[str, int]]) -> str:
        model = self._model
        if self._decode_extras or any(model.texts[id] != piece for piece, id in items):
            return self._spelled(items).text
        return model.tokenizer._core.decode([id for _, id in items], False, None)

    def _spelled(self, items: list[tuple[str, int]]) -> ImmutableSentencePieceText:
        model = self._model
        names = (model.model.bos_piece, model.model.eos_piece)
        bos, eos = ((name, model.id_of(name)) for name in names)
        items = with_extras(
            items, self._decode_extras, (bos, eos), lambda item: (model.texts[item[1]], item[1])
        )
        found = surfaces(model, items)
        ends = accumulate(map(len, found), initial=0)
        pieces = (
            SurfacePiece(piece, id, surface, begin, end)
            for (piece, id), surface, (begin, end) in zip(items, found, pairwise(ends), strict=True)
        )
        return ImmutableSentencePieceText("".join(found), tuple(pieces))

    Decode = Detokenize = detokenize = decode
    DecodeIds = decode_ids
    DecodePieces = decode_pieces
    DecodeIdsAsProto = DecodePiecesAsProto = decode_pieces_as_proto = decode_ids_as_proto
    DecodeIdsAsSerializedProto = decode_ids_as_serialized_proto
    DecodePiecesAsSerializedProto = decode_ids_as_serialized_proto
    decode_pieces_as_serialized_proto = decode_ids_as_serialized_proto
    DecodeIdsAsImmutableProto = decode_ids_as_immutable_proto
    DecodePiecesAsImmutableProto = decode_ids_as_immutable_proto
    decode_pieces_as_immutable_proto = decode_ids_as_immutable_proto


def surfaces(model: LoadedModel, items: Sequence[tuple[str, int]]) -> list[str]:
    """Return the stretch of text that each piece stands for; together they are the text.

    A character that bytes spell is that of the last of them.
    """
    found: list[str] = []
    run: list[int] = []
    is_first = True
    for piece, id in items:
        if model.is_type(id, "byte"):
            run.append(int(piece[3:-1], 16))
            continue
        found += _byte_surfaces(run)
        run = []
        is_first = is_first and not any(found)
        surface, is_prefix = _surface(model, piece, id, is_first)
        is_first = is_first and not is_prefix
        found.append(surface)
    return found + _byte_surfaces(run)


def _surface(model: LoadedModel, piece: str, id: int, is_first: bool) -> tuple[str, bool]:
    """Return the text of a piece, and whether a space that was put before the text was dropped."""
    decoder = model.decoder
    if model.is_type(id, "control"):
        return "", False
    if id == model.unk_id:
        return (decoder.unk_surface if piece == model.texts[id] else piece), False
    drops = is_first and (decoder.add_dummy_prefix or decoder.remove_extra_whitespaces)
    rest = piece.removeprefix(_MARK) if drops else piece
    is_prefix = rest != piece and not decoder.remove_extra_whitespaces
    return rest.replace(_MARK, " "), is_prefix


def _byte_surfaces(run: list[int]) -> list[str]:
    escaped = bytes(run).decode("utf-8", "surrogateescape")
    found: list[str] = []
    for c in escaped:
        found += [""] * (len(to_bytes(c)) - 1)
        found.append("\ufffd" if "\udc80" <= c <= "\udcff" else c)
    return found


def _formed(text: ImmutableSentencePieceText, form: OutType, in_bytes: bool) -> Any:
    if form == "offset_mapping":
        whole = to_bytes(text.text) if in_bytes else text.text
        return {"text": whole, **offset_mapping(text, in_bytes)}
    return formed(text, form, in_bytes)


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
