"""What no word of a pipeline contains, whatever the text: proofs about normalizers and pre-tokenizers.

Three arguments, each exact. None is tried on a stage that it does not cover, such as a function of a user.

- The normalizer never outputs a character: its image is computed over all code points, stage by stage.
- The last stage is a Unicode normalization form, and each part of a text in a form is in that form.
- The pre-tokenizer always splits. Some decide by two neighboring characters alone; a pattern is read as an
  automaton that accepts at least the parts of its matches.

Source: UAX #15, section 1.3 (closure under substrings).
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework.analysis.pattern_automaton import automaton_of
from piecework.spec import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelNormalizer,
    Char,
    CharDelimiterSplit,
    CustomNormalizer,
    Digits,
    Metaspace,
    Normalizer,
    Precompiled,
    Prepend,
    PreTokenizer,
    Punctuation,
    Replace,
    SentencePieceNormalizer,
    Split,
    Strip,
    TokenizerSpec,
    Whitespace,
    WhitespaceSplit,
)
from piecework.spec.sequences import single_stages
from piecework.spec.split_patterns import GPT2_PATTERN

Characters: TypeAlias = npt.NDArray[np.bool_]
"""Whether each code point occurs."""

_FORMS = (NFC, NFD, NFKC, NFKD)
# Two neighbors join exactly if they are of one class; characters of some classes join nothing.
_BY_NEIGHBORS = (BertPreTokenizer, CharDelimiterSplit, Digits, Whitespace, WhitespaceSplit)


class Span(NamedTuple):
    """A part of a word: its text, its notation in the model, and what is beside it in the word.

    `has_before` and `has_after`: the word has more characters on that side. `is_start` and `is_end`: it has
    none.
    """

    text: str
    token: str
    has_before: bool = False
    has_after: bool = False
    is_start: bool = False
    is_end: bool = False

    @property
    def sides(self) -> dict[str, bool]:
        """What is beside it."""
        return {name: getattr(self, name) for name in self._fields[2:]}


class WordLimits:
    """What the words of a pipeline cannot contain."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._normalizers = list(single_stages(spec.normalizer))
        self._pre_tokenizers = list(single_stages(spec.pre_tokenizer))
        self._reads_bytes = any(isinstance(each, ByteLevelNormalizer) for each in self._normalizers)
        self.encodes_bytes = self._reads_bytes or any(
            isinstance(each, ByteLevel) for each in self._pre_tokenizers
        )

    def reason(self, span: Span) -> str:
        """Return why no word contains a span, as a clause; empty without a proof."""
        return self._not_output(span) or self._always_split(span)

    # ---- the normalizer

    @cached_property
    def _image(self) -> Characters | None:
        return image_of(tuple(self._normalizers))

    def outputs(self, character: str) -> bool:
        """Return whether the normalizer may output a character, False only if it never does."""
        return self._image is None or bool(self._image[ord(character)])

    def _not_output(self, span: Span) -> str:
        metaspaces = {
            each.replacement for each in self._pre_tokenizers if isinstance(each, Metaspace)
        }
        for character in span.text if self._normalizers else "":
            if character not in metaspaces and not self.outputs(character):
                return f"the normalizer never outputs a character of it: {character!r}"
        last = self._normalizers[-1] if self._normalizers else None
        if isinstance(last, _FORMS):
            text = "".join("\n" if c in metaspaces else c for c in span.text)
            if normalized_by(last, text) != text:
                return f"the normalizer always changes it: it outputs {type(last).__name__}"
        return ""

    # ---- the pre-tokenizer

    def _always_split(self, span: Span) -> str:
        members = self._pre_tokenizers
        splits = self._spaces_ideographs() and self._has_spaced_ideograph(span)
        for index, member in enumerate(members):
            before, later = members[:index], members[index + 1 :]
            reads_bytes = self._reads_bytes or any(isinstance(each, ByteLevel) for each in before)
            metaspaces = [each.replacement for each in later if isinstance(each, Metaspace)]
            splits = splits or _splits(member, _as_read(span, reads_bytes, metaspaces))
        return "the pre-tokenizer always splits it or splits it off" if splits else ""

    def _spaces_ideographs(self) -> bool:
        """Return whether the words are free of ideographs that the normalizer puts between spaces."""
        if not self._normalizers or not self._pre_tokenizers:
            return False
        last = self._normalizers[-1]
        removes_spaces = isinstance(
            self._pre_tokenizers[0], BertPreTokenizer | Whitespace | WhitespaceSplit
        )
        return isinstance(last, BertNormalizer) and last.handle_chinese_chars and removes_spaces

    def _has_spaced_ideograph(self, span: Span) -> bool:
        alone = len(span.text) == 1 and not (span.has_before or span.has_after)
        last = self._normalizers[-1]
        return not alone and any(normalized_by(last, c) == f" {c} " for c in span.text)


# ---- normalizers


def normalized_by(normalizer: Normalizer, text: str) -> str:
    """Return a text as one normalizer outputs it."""
    return _normalizing(normalizer).normalize(text)


@lru_cache(maxsize=16)
def _normalizing(normalizer: Normalizer) -> Tokenizer:
    return Tokenizer(Char({"?": 0}, "?"), normalizer=normalizer)


@lru_cache(maxsize=16)
def _splitting(pre_tokenizer: PreTokenizer) -> Tokenizer:
    return Tokenizer(Char({"?": 0}, "?"), pre_tokenizer=pre_tokenizer)


@lru_cache(maxsize=16)
def image_of(normalizers: tuple[Normalizer, ...]) -> Characters | None:
    """Return which characters some text has after these normalizers, or more; None if unknown."""
    found: Characters = np.ones(0x110000, np.bool_)
    found[0xD800:0xE000] = False
    for normalizer in normalizers:
        if isinstance(normalizer, ByteLevelNormalizer):
            return found
        if isinstance(normalizer, CustomNormalizer):
            return None
        found = _image_of_stage(normalizer, found)
    return found


def _image_of_stage(normalizer: Normalizer, before: Characters) -> Characters:
    match normalizer:
        case Strip():
            return before
        case Prepend():
            return before | _set_of(normalizer.prepend)
        case Replace():
            pattern, kept = normalizer.pattern, before
            if isinstance(pattern, str) and len(pattern) == 1:
                kept = before & ~_set_of(pattern)
            return kept | _set_of(normalizer.content)
        case NFC() | NFKC():
            return _composed(normalizer, before)
        case Precompiled():
            return _mapped(normalizer, before) | _set_of(_replacements(normalizer.charsmap))
        case SentencePieceNormalizer():
            symbols = "".join(normalizer.user_defined_symbols)
            found = _mapped(normalizer, before) | _set_of(_replacements(normalizer.charsmap) + " ▁")
            if normalizer.escape_whitespaces:
                found &= ~_set_of(" ")
            return found | _set_of(symbols)
        case BertNormalizer(cleaning="original"):
            return _mapped(normalizer, before) | _set_of("ς")  # only at the end of a word
    return _mapped(normalizer, before)


def _set_of(text: str) -> Characters:
    found = np.zeros(0x110000, np.bool_)
    found[np.frombuffer(text.encode("utf-32-le"), np.uint32)] = True
    return found


def _lines_of(characters: Characters) -> str:
    return "\n".join(map(chr, np.flatnonzero(characters).tolist()))


def _mapped(normalizer: Normalizer, before: Characters) -> Characters:
    """Return the image of a normalizer that maps a character regardless of its neighbors."""
    return _set_of(normalized_by(normalizer, _lines_of(before)))


def _composed(normalizer: NFC | NFKC, before: Characters) -> Characters:
    """Return the characters in this form whose decompositions consist of decomposed input."""
    found = _mapped(NFD() if isinstance(normalizer, NFC) else NFKD(), before)
    others = np.ones(0x110000, np.bool_)
    others[0xD800:0xE000] = others[ord("\n")] = False
    lines = _lines_of(others)
    after = normalized_by(normalizer, lines).split("\n")
    decomposed = normalized_by(NFD(), lines).split("\n")
    composites = {}
    for one, kept, parts in zip(lines.split("\n"), after, decomposed, strict=True):
        if one != kept or one != parts:
            composites[one] = one == kept and all(found[ord(part)] for part in parts)
    for one, is_output in composites.items():
        found[ord(one)] = is_output
    return found


def _replacements(charsmap: bytes) -> str:
    """Return the replacements of compiled rules: after the size of a trie and the trie, ended by NUL.

    Source: SentencePiece, normalizer.cc (DecodePrecompiledCharsMap).
    """
    size = int.from_bytes(charsmap[:4], "little")
    return charsmap[4 + size :].decode(errors="replace").replace("\0", "") if charsmap else ""


# ---- pre-tokenizers


def _as_read(span: Span, is_byte_level: bool, metaspaces: list[str]) -> Span:
    """Return the span as a stage reads it: bytes after `ByteLevel`, no metaspace that is added later."""
    if is_byte_level:
        return span._replace(text=span.token)
    text = span.text
    for metaspace in metaspaces:
        text = text.removeprefix(metaspace)
        if metaspace in text:
            return span._replace(text="")
    return span._replace(text=text)


def _splits(member: PreTokenizer, span: Span) -> bool:
    """Return whether a pre-tokenizer always splits a span; False where that is not known."""
    if not span.text:
        return False
    match member:
        case Metaspace(split=True):
            return member.replacement in (span.text if span.has_before else span.text[1:])
        case ByteLevel(use_regex=True):
            return not _in_match(GPT2_PATTERN, span)
        case Split(behavior="isolated"):
            return not (_in_match(_source(member), span) or _in_gap(_source(member), span))
        case Split(behavior="removed", invert=True):
            return not _in_match(_source(member), span)
        case Split(behavior="removed"):
            return not _in_gap(_source(member), span)
    by_neighbors = isinstance(member, _BY_NEIGHBORS)
    if by_neighbors or (
        isinstance(member, Punctuation) and member.behavior in ("isolated", "removed", "contiguous")
    ):
        text = span.text[: span.has_before] + span.text + span.text[-1:] * span.has_after
        return [word for word, _ in _splitting(member).pre_tokenize(text)] != [text]
    return False


def _source(member: Split) -> str:
    r"""Return the source of a pattern.

    >>> _source(Split("a.b", "isolated"))
    'a\\.b'
    """
    return re.escape(member.pattern) if isinstance(member.pattern, str) else member.pattern.pattern


def _in_match(pattern: str, span: Span) -> bool:
    automaton = automaton_of(pattern)
    return automaton is None or automaton.accepts(span.text, **span.sides)


def _in_gap(pattern: str, span: Span) -> bool:
    automaton = automaton_of(pattern)
    return automaton is None or not any(map(automaton.always_matches, span.text))
