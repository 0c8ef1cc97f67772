"""SentencePiece's normalizer and decoder: character rules, spaces as ▁, a dummy prefix, and back to text.

Source: Kudo and Richardson 2018, "SentencePiece", section 3; `sentencepiece` 0.2.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from piecework.reference.aligned import Aligned, align, as_text
from piecework.reference.charsmap import Charsmap, matches, parse
from piecework.spec import SentencePieceDecoder, SentencePieceNormalizer

METASPACE = "▁"


def normalize(text: Aligned, spec: SentencePieceNormalizer) -> Aligned:
    """Normalize a text; the span of a character ends where the span of the next one begins.

    >>> from piecework.reference.aligned import align
    >>> as_text(normalize(align(" a  b "), SentencePieceNormalizer()))
    '▁a▁b'
    """
    if not text:
        return []
    written = normalized_characters(as_text(text), spec)
    begins = [text[at][1][0] if at < len(text) else text[-1][1][1] for _, at in written]
    return [(c, span) for (c, _), span in zip(written, pairwise(begins), strict=False)]


def normalized_characters(text: str, spec: SentencePieceNormalizer) -> list[tuple[str, int]]:
    """Return each normalized character with its position in the text; the last item is the end.

    >>> normalized_characters("a b", SentencePieceNormalizer())
    [('▁', 0), ('a', 0), ('▁', 1), ('b', 2), ('', 3)]
    """
    parts = replaced_parts(text, spec)
    if spec.remove_extra_whitespaces:
        while parts and parts[0][0] == " ":
            del parts[0]
    if not parts:
        return [("", len(text))]
    # Write the dummy prefix, then all parts; a space after a space is dropped.
    space = METASPACE if spec.escape_whitespaces else " "
    written: list[tuple[str, int]] = []
    if spec.add_dummy_prefix and not spec.treat_whitespace_as_suffix:
        written.append((space, parts[0][1]))
    after_space = spec.remove_extra_whitespaces
    for part, at in parts:
        kept = part.lstrip(" ") if after_space else part
        written += [(space if c == " " else c, at) for c in kept]
        if kept:
            after_space = spec.remove_extra_whitespaces and kept.endswith(" ")
    # Drop trailing spaces, then write the dummy suffix.
    end = len(text)
    while spec.remove_extra_whitespaces and written and written[-1][0] == space:
        end = written.pop()[1]
    if spec.add_dummy_prefix and spec.treat_whitespace_as_suffix:
        written.append((space, end))
    return [*written, ("", end)]


def replaced_parts(text: str, spec: SentencePieceNormalizer) -> list[tuple[str, int]]:
    """Replace from left to right: keep a user-defined symbol, else apply the longest rule that matches.

    >>> replaced_parts("a<s>", SentencePieceNormalizer(user_defined_symbols=("<s>",)))
    [('a', 0), ('<s>', 1)]

    A character without a rule stays as it is. Returns each part with its position.
    """
    rules = parse(spec.charsmap) if spec.charsmap else None
    parts, at = [], 0
    while at < len(text):
        symbols = [symbol for symbol in spec.user_defined_symbols if text.startswith(symbol, at)]
        old = max(symbols, key=len, default="")
        new = old
        if not old and rules is not None:
            old, new = longest_match(rules, text[at:])
        if not old:
            old = new = text[at]
        parts.append((new, at))
        at += len(old)
    return parts


def longest_match(rules: Charsmap, text: str) -> tuple[str, str]:
    """Return the longest prefix of a text that has a rule, and its replacement; both empty if none.

    >>> longest_match(Charsmap((0,) * 256, b""), "a")
    ('', '')
    """
    key = text.encode()
    length, new = max(matches(rules, key), default=(0, ""))
    return key[:length].decode(), new


# ---- the decoder

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
