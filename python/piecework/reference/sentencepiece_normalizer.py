"""SentencePiece's normalizer: character rules, spaces as ▁, a dummy prefix.

Source: Kudo and Richardson 2018, "SentencePiece", section 3; `sentencepiece` 0.2.3 for the order of
the steps.
"""

from __future__ import annotations

from itertools import pairwise

from piecework.reference.aligned import Aligned, as_text
from piecework.reference.charsmap import Charsmap, child_base, parse, replacement
from piecework.spec import SentencePieceNormalizer

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
    key = text.encode().split(b"\0")[0]
    base, found = child_base(rules.units[0]), ("", "")
    for length, byte in enumerate(key, start=1):
        at = base ^ byte
        unit = rules.units[at]
        if unit & 0x8000_00FF != byte:
            break
        base = at ^ child_base(unit)
        if unit >> 8 & 1:
            new = replacement(rules, rules.units[base] & 0x7FFF_FFFF)
            found = key[:length].decode(), new
    return found
