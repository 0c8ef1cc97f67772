"""Pre-tokenizers: normalized text in, words out, each a list of characters with their spans.

Every kind cuts each of the pieces that the one before it left; some also write it anew. Source: the
descriptions in `spec/pre_tokenizers.py`; GPT-2's pattern is that of its published encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from piecework.errors import StageError
from piecework.reference import bert
from piecework.reference.aligned import Aligned, as_text, map_characters, span, split_by
from piecework.reference.patterns import is_number, is_whitespace, matches
from piecework.reference.scripts import cut_scripts
from piecework.spec import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    CustomPreTokenizer,
    Digits,
    FixedLength,
    Metaspace,
    Pattern,
    PreTokenizer,
    Punctuation,
    Regex,
    SequencePreTokenizer,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE

GPT2_PATTERN = Regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
WORDS = Regex(r"\w+|[^\w\s]+")

Part: TypeAlias = tuple[Aligned, bool]
AtCharacters: TypeAlias = CharDelimiterSplit | Digits | Punctuation | WhitespaceSplit
Single: TypeAlias = (
    AtCharacters
    | BertPreTokenizer
    | ByteLevel
    | FixedLength
    | Metaspace
    | Split
    | UnicodeScripts
    | Whitespace
)


def pre_tokenize(text: Aligned, spec: PreTokenizer | None) -> list[Aligned]:
    """Cut normalized text into words; without a pre-tokenizer it is one word.

    >>> from piecework.reference.aligned import align, word_at
    >>> words = pre_tokenize(align("No, 10!"), SequencePreTokenizer((Whitespace(), Digits(True))))
    >>> [word_at(word) for word in words]
    [('No', (0, 2)), (',', (2, 3)), ('1', (4, 5)), ('0', (5, 6)), ('!', (6, 7))]
    """
    pieces = [text] if text else []
    for one in in_order(spec):
        pieces = [word for piece in pieces for word in cut(piece, one) if word]
    return pieces


def in_order(spec: PreTokenizer | None) -> list[Single]:
    """Lay sequences within sequences flat.

    >>> in_order(SequencePreTokenizer((Digits(), SequencePreTokenizer((Whitespace(),)))))
    [Digits(individual_digits=False), Whitespace()]
    """
    if isinstance(spec, SequencePreTokenizer):
        return [single for one in spec.pretokenizers for single in in_order(one)]
    if isinstance(spec, CustomPreTokenizer):
        raise StageError("pre_tokenizer", repr(spec), "a stage that the reference describes")
    return [] if spec is None else [spec]


def cut(piece: Aligned, spec: Single) -> list[Aligned]:
    """Cut one piece that is not empty."""
    if isinstance(spec, BertPreTokenizer):
        return bert.isolate_punctuation(bert.split_whitespace([piece]))
    if isinstance(spec, ByteLevel):
        return cut_bytes(piece, spec)
    if isinstance(spec, FixedLength):
        return [piece[at : at + spec.length] for at in range(0, len(piece), spec.length)]
    if isinstance(spec, Metaspace):
        return cut_metaspace(piece, spec)
    if isinstance(spec, UnicodeScripts):
        return cut_scripts(piece)
    if isinstance(spec, Whitespace):
        return split(piece, WORDS, "removed", invert=True)
    if isinstance(spec, Split):
        return split(piece, spec.pattern, spec.behavior, invert=spec.invert)
    return split_at_characters(piece, spec)


def split_at_characters(piece: Aligned, spec: AtCharacters) -> list[Aligned]:
    """Cut at single characters of a class; each is a match by itself."""
    if isinstance(spec, CharDelimiterSplit):
        return place(single_matches(piece, lambda c: c == spec.delimiter), "removed")
    if isinstance(spec, WhitespaceSplit):
        return place(single_matches(piece, is_whitespace), "removed")
    if isinstance(spec, Digits):
        behavior = "isolated" if spec.individual_digits else "contiguous"
        return place(single_matches(piece, is_number), behavior)
    return place(single_matches(piece, bert.is_punctuation), spec.behavior)


# ---- where matches go


def split(piece: Aligned, pattern: Pattern, behavior: str, *, invert: bool) -> list[Aligned]:
    """Cut at the matches of a pattern, or with `invert` at what lies between them."""
    parts = pattern_matches(piece, pattern)
    return place(((part, is_match != invert) for part, is_match in parts), behavior)


def pattern_matches(piece: Aligned, pattern: Pattern) -> Iterator[Part]:
    """Give what matches, which may be empty, and what lies between."""
    done = 0
    for start, end in matches(pattern, as_text(piece)):
        if done < start:
            yield piece[done:start], False
        yield piece[start:end], True
        done = end
    if done < len(piece):
        yield piece[done:], False


def single_matches(piece: Aligned, belongs: Callable[[str], bool]) -> Iterator[Part]:
    """Give each character of a class alone, and what lies between."""
    for run, is_match in split_by(piece, belongs):
        yield from (([item], True) for item in run) if is_match else [(run, False)]


def place(parts: Iterator[Part], behavior: str) -> list[Aligned]:
    """Put the matches where the behaviour says.

    >>> dash = [([(c, (0, 1))], c == "-") for c in "a--b"]
    >>> [as_text(piece) for piece in place(iter(dash), "merged_with_next")]
    ['a', '-', '-b']
    """
    pieces: list[Aligned] = []
    before: bool | None = None
    for part, is_match in parts:
        if behavior == "removed" and is_match:
            continue
        if before is not None and grows(behavior, before, is_match):
            pieces[-1] = pieces[-1] + part
        else:
            pieces.append(part)
        before = is_match
    return pieces


def grows(behavior: str, before: bool, is_match: bool) -> bool:
    """Tell whether a part joins the one before it, given which of the two are matches."""
    if behavior == "contiguous":
        return before == is_match
    if behavior == "merged_with_previous":
        return is_match and not before
    if behavior == "merged_with_next":
        return before and not is_match
    return False


# ---- kinds that write the text anew


def cut_bytes(piece: Aligned, spec: ByteLevel) -> list[Aligned]:
    """Cut by GPT-2's pattern and write a printable character for every byte."""
    if spec.add_prefix_space and piece[0][0] != " ":
        piece = [(" ", piece[0][1]), *piece]
    words = split(piece, GPT2_PATTERN, "isolated", invert=False) if spec.use_regex else [piece]
    return [map_characters(word, printable) for word in words]


def printable(c: str) -> str:
    """Write a character as its bytes.

    >>> printable("é")
    'Ã©'
    """
    return "".join(CHARACTER_OF_BYTE[byte] for byte in c.encode())


def cut_metaspace(piece: Aligned, spec: Metaspace) -> list[Aligned]:
    """Mark the spaces, put a mark before the text where the scheme says, cut before each mark."""
    mark = spec.replacement
    is_first = span(piece)[0] == 0
    piece = map_characters(piece, lambda c: mark if c == " " else c)
    prepends = spec.prepend_scheme == "always" or (spec.prepend_scheme == "first" and is_first)
    if prepends and piece[0][0] != mark:
        piece = [(mark, piece[0][1]), *piece]
    if not spec.split:
        return [piece]
    return place(single_matches(piece, lambda c: c == mark), "merged_with_next")
