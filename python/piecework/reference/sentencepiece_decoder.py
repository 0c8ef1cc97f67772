"""SentencePiece's decoder: join the pieces, turn ▁ into spaces, drop the dummy prefix.

Source: Kudo and Richardson 2018, "SentencePiece", section 3; `sentencepiece` 0.2.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from piecework.reference.aligned import align, as_text
from piecework.reference.sentencepiece_normalizer import METASPACE, normalize
from piecework.spec import SentencePieceDecoder

BYTE_PIECE = re.compile("<0x[0-9A-F]{2}>")


def decode(pieces: Sequence[str], spec: SentencePieceDecoder) -> str:
    """Turn pieces into text.

    >>> decode(["▁Hello", "▁wor", "ld"], SentencePieceDecoder())
    'Hello world'

    The first ▁ is dropped, or all leading ones with `remove_extra_whitespaces`. Control pieces leave no
    text. With `byte_fallback`, byte pieces are read as UTF-8.
    """
    text, at_start = "", True
    for are_bytes, run in groupby(pieces, key=lambda piece: spec.byte_fallback and is_byte(piece)):
        if are_bytes:
            text += bytes_as_text(list(run))
            continue
        for piece in run:
            drops = at_start and not text and drops_metaspace(piece, spec)
            at_start = at_start and not text and not (drops and not spec.remove_extra_whitespaces)
            text += surface_of(piece, spec)[1 if drops else 0 :]
    if spec.denormalizer is None:
        return text
    return as_text(normalize(align(text), spec.denormalizer))


def surface_of(piece: str, spec: SentencePieceDecoder) -> str:
    """Return the text of one piece.

    >>> surface_of("▁a", SentencePieceDecoder()), surface_of("<unk>", SentencePieceDecoder())
    (' a', ' ⁇ ')
    """
    if piece in spec.control_symbols:
        return ""
    return spec.unk_surface if piece == spec.unk_piece else piece.replace(METASPACE, " ")


def drops_metaspace(piece: str, spec: SentencePieceDecoder) -> bool:
    """Return whether a piece at the start of a text loses its leading ▁.

    >>> drops_metaspace("▁a", SentencePieceDecoder()), drops_metaspace("a", SentencePieceDecoder())
    (True, False)
    """
    is_text = piece != spec.unk_piece and piece not in spec.control_symbols
    normalizes = spec.add_dummy_prefix or spec.remove_extra_whitespaces
    return is_text and normalizes and piece.startswith(METASPACE)


def is_byte(piece: str) -> bool:
    """Return whether a piece is a byte piece such as `<0x0A>`.

    >>> is_byte("<0x0A>"), is_byte("<0x0a>")
    (True, False)
    """
    return bool(BYTE_PIECE.fullmatch(piece))


def bytes_as_text(pieces: Sequence[str]) -> str:
    """Read byte pieces as UTF-8; every byte that is not part of a character becomes U+FFFD.

    >>> bytes_as_text(["<0xC3>", "<0xA9>", "<0xC3>"])
    'é�'
    """
    raw = bytes(int(piece[3:5], 16) for piece in pieces)
    return re.sub("[\udc80-\udcff]", "\ufffd", raw.decode(errors="surrogateescape"))
