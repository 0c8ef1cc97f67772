"""SentencePiece's normalizer, its Unigram model and its decoder, as plainly as they can be said.

Source: Kudo and Richardson 2018, section 3; Kudo 2018, section 3.2; `sentencepiece` 0.2.3 for the rest.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from itertools import pairwise

from piecework.reference.aligned import Aligned, as_text
from piecework.reference.charsmap import Charsmap, offset, parse, replacement
from piecework.spec import SentencePiece, SentencePieceDecoder, SentencePieceNormalizer

MARK = "▁"
UNKNOWN_PENALTY = 10.0
MAX_SCORE = 100_000.0


def normalize(text: Aligned, spec: SentencePieceNormalizer) -> Aligned:
    """Rewrite from left to right; a character's span ends where the next one's begins."""
    if not text:
        return []
    written = written_characters(as_text(text), spec)
    begins = [text[at][1][0] if at < len(text) else text[-1][1][1] for _, at in written]
    return [(c, span) for (c, _), span in zip(written, pairwise(begins), strict=False)]


def written_characters(text: str, spec: SentencePieceNormalizer) -> list[tuple[str, int]]:
    """Return each character with the place of the text that it was made of, and the end at the end."""
    parts = list(rewritten_parts(text, spec))
    if spec.remove_extra_whitespaces:
        while parts and parts[0][0] == " ":
            del parts[0]
    if not parts:
        return [("", len(text))]
    space = MARK if spec.escape_whitespaces else " "
    written: list[tuple[str, int]] = []
    if spec.add_dummy_prefix and not spec.treat_whitespace_as_suffix:
        written.append((space, parts[0][1]))
    after_space = spec.remove_extra_whitespaces
    for part, at in parts:
        kept = part.lstrip(" ") if after_space else part
        written += [(space if c == " " else c, at) for c in kept]
        if kept:
            after_space = spec.remove_extra_whitespaces and kept.endswith(" ")
    end = len(text)
    while spec.remove_extra_whitespaces and written and written[-1][0] == space:
        end = written.pop()[1]
    if spec.add_dummy_prefix and spec.treat_whitespace_as_suffix:
        written.append((space, end))
    return [*written, ("", end)]


def rewritten_parts(text: str, spec: SentencePieceNormalizer) -> list[tuple[str, int]]:
    """Take a user-defined symbol, else what the longest rule matches, else one character."""
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
    """Return the longest beginning of a text that has a rule, and what replaces it."""
    key = text.encode().split(b"\0")[0]
    base, found = offset(rules.units[0]), ("", "")
    for length, byte in enumerate(key, start=1):
        at = base ^ byte
        unit = rules.units[at]
        if unit & 0x8000_00FF != byte:
            break
        base = at ^ offset(unit)
        if unit >> 8 & 1:
            new = replacement(rules, rules.units[base] & 0x7FFF_FFFF)
            found = key[:length].decode(), new
    return found


def unigram(text: str, spec: SentencePiece) -> list[int]:
    """Return the ids of the likeliest segmentation of a normalized text, without byte fallback.

    Sums are rounded to 32 bits; of equal ones the piece that begins first wins; a sum beyond 100,000 is
    taken off at its place from all that has been reached.
    """
    normal = [piece.score for piece in spec.pieces if piece.type == "normal"]
    unk_id = spec.vocab[spec.unk_token or ""]
    lowest = min(normal) if spec.lowest_score is None else spec.lowest_score
    found = {
        piece.text: (
            id,
            user_defined_score(piece.text) if piece.type == "user_defined" else piece.score,
        )
        for id, piece in enumerate(spec.pieces)
        if piece.type in ("normal", "user_defined")
    }
    best: list[tuple[float, int, int] | None] = [(0.0, 0, 0), *[None] * len(text)]
    for start, c in enumerate(text):
        before = (best[start] or (0.0, 0, 0))[0]
        if abs(before) > MAX_SCORE:
            best = [
                reached
                and (single(reached[0] - before) if at >= start else reached[0], *reached[1:])
                for at, reached in enumerate(best)
            ]
            before = 0.0
        scored = {text[start:end]: end for end in range(start + 1, len(text) + 1)}
        choices = [(*found[piece], end) for piece, end in scored.items() if piece in found]
        if c not in found:
            choices.append((unk_id, single(lowest - UNKNOWN_PENALTY), start + 1))
        for id, score, end in choices:
            total, present = single(before + score), best[end]
            if present is None or total > present[0]:
                best[end] = (total, id, start)
    return fused(traced(best), unk_id)


def user_defined_score(piece: str) -> float:
    """Score a user-defined piece above all others."""
    return single(0.1 * (len(piece.encode()) - 1))


def single(value: float) -> float:
    """Round to a 32-bit float."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def traced(best: Sequence[tuple[float, int, int] | None]) -> list[int]:
    """Follow the best pieces from the end to the beginning."""
    ids, end = [], len(best) - 1
    while end > 0:
        _, id, end = best[end] or (0.0, 0, 0)
        ids.append(id)
    return ids[::-1]


def fused(ids: Sequence[int], unk_id: int) -> list[int]:
    """Make unknown neighbours one."""
    return [id for at, id in enumerate(ids) if id != unk_id or at == 0 or ids[at - 1] != unk_id]


def decode(pieces: Sequence[str], spec: SentencePieceDecoder) -> str:
    """Join pieces; the space that was put before the text goes, or all there are with trimming."""
    text, waiting, is_first = "", b"", True
    for piece in [*pieces, None]:
        if piece is not None and spec.byte_fallback and re.fullmatch("<0x[0-9A-F]{2}>", piece):
            waiting += bytes([int(piece[3:5], 16)])
            continue
        text += characters(waiting)
        waiting = b""
        is_first = is_first and not text
        if piece is None or piece in spec.control_symbols:
            continue
        if piece == spec.unk_piece:
            text += spec.unk_surface
        elif (
            is_first
            and piece.startswith(MARK)
            and (spec.add_dummy_prefix or spec.remove_extra_whitespaces)
        ):
            text += piece[1:].replace(MARK, " ")
            is_first = spec.remove_extra_whitespaces
        else:
            text += piece.replace(MARK, " ")
    return text


def characters(waiting: bytes) -> str:
    """Read bytes as text, each one that is part of no character as U+FFFD."""
    return "".join(
        "\ufffd" if "\udc80" <= c <= "\udcff" else c
        for c in waiting.decode(errors="surrogateescape")
    )
