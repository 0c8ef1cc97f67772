"""Pre-tokenizers: normalized text in, words out, each a list of characters with their spans.

Pre-tokenizers of a sequence split the words of the one before. Some also replace characters. Source:
`spec/pre_tokenizers.py`; GPT-2's pattern is the one of its published encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from piecework.errors import StageError
from piecework.reference import bert
from piecework.reference.aligned import Aligned, as_text, map_characters, span, split_by
from piecework.reference.patterns import (
    is_number,
    is_whitespace,
    matches,
    split_scripts,
    to_printable,
)
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
    """Split normalized text into words; without a pre-tokenizer the text is one word.

    >>> from piecework.reference.aligned import align, word_at
    >>> words = pre_tokenize(align("No, 10!"), SequencePreTokenizer((Whitespace(), Digits(True))))
    >>> [word_at(word) for word in words]
    [('No', (0, 2)), (',', (2, 3)), ('1', (4, 5)), ('0', (5, 6)), ('!', (6, 7))]
    """
    pieces = [text] if text else []
    for one in flattened(spec):
        pieces = [word for piece in pieces for word in split_piece(piece, one) if word]
    return pieces


def flattened(spec: PreTokenizer | None) -> list[Single]:
    """Return the pre-tokenizers of nested sequences in order.

    >>> flattened(SequencePreTokenizer((Digits(), SequencePreTokenizer((Whitespace(),)))))
    [Digits(individual_digits=False), Whitespace()]
    """
    if isinstance(spec, SequencePreTokenizer):
        return [single for one in spec.pretokenizers for single in flattened(one)]
    if isinstance(spec, CustomPreTokenizer):
        problem = f"found {spec!r}, expected a pre-tokenizer of `piecework.spec` that is not custom"
        raise StageError("pre_tokenizer", problem)
    return [] if spec is None else [spec]


def split_piece(piece: Aligned, spec: Single) -> list[Aligned]:
    """Split one piece that is not empty.

    >>> from piecework.reference.aligned import align
    >>> [as_text(word) for word in split_piece(align("abcde"), FixedLength(2))]
    ['ab', 'cd', 'e']
    """
    if isinstance(spec, BertPreTokenizer):
        return bert.isolate_punctuation(bert.split_whitespace([piece]))
    if isinstance(spec, ByteLevel):
        return split_byte_level(piece, spec)
    if isinstance(spec, FixedLength):
        return [piece[at : at + spec.length] for at in range(0, len(piece), spec.length)]
    if isinstance(spec, Metaspace):
        return split_metaspace(piece, spec)
    if isinstance(spec, UnicodeScripts):
        return split_scripts(piece)
    if isinstance(spec, Whitespace):
        return split(piece, WORDS, "removed", invert=True)
    if isinstance(spec, Split):
        return split(piece, spec.pattern, spec.behavior, invert=spec.invert)
    return split_at_characters(piece, spec)


def split_at_characters(piece: Aligned, spec: AtCharacters) -> list[Aligned]:
    """Split at the characters of a class; each character is a match of its own.

    >>> from piecework.reference.aligned import align
    >>> [as_text(word) for word in split_at_characters(align("a-b"), CharDelimiterSplit("-"))]
    ['a', 'b']
    """
    if isinstance(spec, CharDelimiterSplit):
        return arrange(single_matches(piece, lambda c: c == spec.delimiter), "removed")
    if isinstance(spec, WhitespaceSplit):
        return arrange(single_matches(piece, is_whitespace), "removed")
    if isinstance(spec, Digits):
        behavior = "isolated" if spec.individual_digits else "contiguous"
        return arrange(single_matches(piece, is_number), behavior)
    return arrange(single_matches(piece, bert.is_punctuation), spec.behavior)


# ---- matches


def split(piece: Aligned, pattern: Pattern, behavior: str, *, invert: bool) -> list[Aligned]:
    """Split at the matches of a pattern, or with `invert` at the text between them.

    >>> from piecework.reference.aligned import align
    >>> [as_text(word) for word in split(align("a1b"), Regex("[0-9]"), "isolated", invert=False)]
    ['a', '1', 'b']
    """
    parts = pattern_matches(piece, pattern)
    return arrange(((part, is_match != invert) for part, is_match in parts), behavior)


def pattern_matches(piece: Aligned, pattern: Pattern) -> Iterator[Part]:
    """Return the matches, which may be empty, and the text between them.

    >>> from piecework.reference.aligned import align
    >>> [(as_text(part), is_match) for part, is_match in pattern_matches(align("a-b"), "-")]
    [('a', False), ('-', True), ('b', False)]
    """
    done = 0
    for start, end in matches(pattern, as_text(piece)):
        if done < start:
            yield piece[done:start], False
        yield piece[start:end], True
        done = end
    if done < len(piece):
        yield piece[done:], False


def single_matches(piece: Aligned, belongs: Callable[[str], bool]) -> Iterator[Part]:
    """Return each character of a class, and the text between them.

    >>> from piecework.reference.aligned import align
    >>> parts = single_matches(align("ab12"), str.isdigit)
    >>> [(as_text(part), is_match) for part, is_match in parts]
    [('ab', False), ('1', True), ('2', True)]
    """
    for run, is_match in split_by(piece, belongs):
        yield from (([item], True) for item in run) if is_match else [(run, False)]


def arrange(parts: Iterator[Part], behavior: str) -> list[Aligned]:
    """Drop the matches, keep them apart or merge them with a neighbour.

    >>> dash = [([(c, (0, 1))], c == "-") for c in "a--b"]
    >>> [as_text(piece) for piece in arrange(iter(dash), "merged_with_next")]
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
    """Return whether a part merges with the one before it; the flags say which of the two match.

    >>> grows("merged_with_previous", before=False, is_match=True)
    True
    """
    if behavior == "contiguous":
        return before == is_match
    if behavior == "merged_with_previous":
        return is_match and not before
    if behavior == "merged_with_next":
        return before and not is_match
    return False


# ---- pre-tokenizers that replace characters


def split_byte_level(piece: Aligned, spec: ByteLevel) -> list[Aligned]:
    """Split by GPT-2's pattern and replace every byte by a printable character.

    >>> from piecework.reference.aligned import align
    >>> [as_text(word) for word in split_byte_level(align("a é"), ByteLevel(False))]
    ['a', 'ĠÃ©']
    """
    if spec.add_prefix_space and piece[0][0] != " ":
        piece = [(" ", piece[0][1]), *piece]
    words = split(piece, GPT2_PATTERN, "isolated", invert=False) if spec.use_regex else [piece]
    return [map_characters(word, to_printable) for word in words]


def split_metaspace(piece: Aligned, spec: Metaspace) -> list[Aligned]:
    """Replace spaces by metaspaces, prepend one as the scheme says, split before each.

    >>> from piecework.reference.aligned import align
    >>> [as_text(word) for word in split_metaspace(align("a b"), Metaspace())]
    ['▁a', '▁b']
    """
    metaspace = spec.replacement
    is_first = span(piece)[0] == 0
    piece = map_characters(piece, lambda c: metaspace if c == " " else c)
    prepends = spec.prepend_scheme == "always" or (spec.prepend_scheme == "first" and is_first)
    if prepends and piece[0][0] != metaspace:
        piece = [(metaspace, piece[0][1]), *piece]
    if not spec.split:
        return [piece]
    return arrange(single_matches(piece, lambda c: c == metaspace), "merged_with_next")
