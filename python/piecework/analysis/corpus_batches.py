"""Convert pieces of a corpus to batches of texts."""

from __future__ import annotations

from piecework.corpus.batches import TextBatch
from piecework.corpus.files import TextBlock, TextList
from piecework.corpus.rows import Utf8Errors
from piecework.errors import InvalidUtf8Error


def batch_of_piece(piece: TextBlock | TextList, errors: Utf8Errors) -> TextBatch:
    """Return the lines of a block, without line breaks, or the texts of a list."""
    if not isinstance(piece, TextBlock):
        return TextBatch(list(piece.texts), piece.replacements)
    try:
        return TextBatch(_lines(piece.data.decode()))
    except UnicodeDecodeError as error:
        if errors == "strict":
            found = f"invalid UTF-8 at byte {piece.byte_offset + error.start}"
            raise InvalidUtf8Error(piece.name, found, "UTF-8 text") from error
    text = piece.data.decode(errors="replace")
    return TextBatch(_lines(text), text.count("\ufffd") - piece.data.count("\ufffd".encode()))


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
