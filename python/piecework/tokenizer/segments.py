"""Encoding of segments, some of which may not contain special tokens.

In a prompt every special token is an added token: roles, the tokens of the post-processor, control pieces.
Roles and user-defined pieces of one character are not guarded: refusing `!` would refuse most messages.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TypeAlias

from piecework._internal._core import Core, RawPrompts
from piecework._internal.names_of_other_libraries import add_foreign_names
from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import listed
from piecework.errors import ArgumentError, InputTypeError
from piecework.tokenizer.encoding import Encoding

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class SegmentedEncoding:
    """An encoded text with the span of each of its segments.

    >>> import piecework as pw
    >>> end = pw.spec.AddedToken("<end>", 3)
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}), added_tokens=[end])
    >>> result = tok.encode_segments([("ab", False), ("<end>", True)])
    >>> result.ids, result.char_spans, result.token_spans
    ([1, 2, 3], ((0, 2), (2, 7)), ((0, 2), (2, 3)))

    - `encoding`: the encoding of the whole text.
    - `char_spans`: (start, end) of each segment in characters of the whole text.
    """

    encoding: Encoding
    char_spans: tuple[Span, ...]

    @property
    def ids(self) -> list[int]:
        """The ids of `encoding`."""
        return self.encoding.ids

    @cached_property
    def token_spans(self) -> tuple[Span, ...]:
        """(first, one after the last) token of each segment, in `encoding`.

        A token with characters of two segments belongs to both.
        """
        offsets = self.encoding.offsets
        tokens = text_tokens(self.encoding)
        spans, done = [], tokens.start
        for start, end in self.char_spans:
            span = (done, done)
            if start < end:
                span = tokens_between(offsets, (start, end), tokens)
                done = span[1]
            spans.append(span)
        return tuple(spans)


add_foreign_names(SegmentedEncoding)


def prompts_of(core: Core, roles: Collection[str], markers: Collection[str] | None) -> RawPrompts:
    """Return what encodes prompts; `roles` are tokens that are special because of a role.

    `markers` are the added tokens that are guarded besides special ones; None guards all but whitespace.
    """
    if isinstance(markers, (str, bytes)):
        problem = f"must be a collection of added tokens, not {type(markers).__name__}"
        raise InputTypeError("markers", problem)
    return RawPrompts(core, list(roles), None if markers is None else listed(markers, "markers"))


def encode_segments(
    segments: object, prompts: RawPrompts, add_special_tokens: bool
) -> SegmentedEncoding:
    """Encode the concatenated texts; guarded tokens match within a segment that permits them only."""
    if isinstance(segments, (str, bytes)) or not isinstance(segments, Sequence):
        found = type(segments).__name__
        problem = f"must be a list of (text, allow_special) pairs, not {found}"
        raise InputTypeError("segments", problem)
    char_spans: list[Span] = []
    permitted: list[Span] = []
    texts: list[str] = []
    at = 0
    for position, segment in enumerate(segments):
        text, allow_special = _checked(segment, f"segments[{position}]")
        span = (at, at + len(text))
        texts.append(text)
        char_spans.append(span)
        if allow_special and text:
            permitted.append(span)
        at = span[1]
    encoding = prompts.encode("".join(texts), permitted, add_special_tokens=add_special_tokens)
    return SegmentedEncoding(encoding, tuple(char_spans))


def _checked(segment: object, place: str) -> tuple[str, bool]:
    if not isinstance(segment, (tuple, list)) or len(segment) != 2:
        found = type(segment).__name__
        if isinstance(segment, (tuple, list)):
            found = f"{found} of {len(segment)}"
        raise InputTypeError(place, f"must be a (text, allow_special) pair, not {found}")
    text, allow_special = segment
    if not isinstance(text, str):
        raise InputTypeError(f"{place}[0]", f"must be str, not {type(text).__name__}")
    if not isinstance(allow_special, bool):
        raise InputTypeError(f"{place}[1]", f"must be bool, not {type(allow_special).__name__}")
    surrogate = first_surrogate(text)
    if surrogate is not None:
        found = f"a lone surrogate at character {surrogate}"
        raise ArgumentError(f"{place}[0]", f"has {found}, which UTF-8 cannot encode")
    return text, allow_special


def text_tokens(encoding: Encoding) -> range:
    """Return the tokens of the text, without the post-processor's tokens and padding around them."""
    sequences = encoding.sequence_ids
    if None not in sequences:
        return range(len(sequences))
    places = [at for at, sequence in enumerate(sequences) if sequence is not None]
    return range(places[0], places[-1] + 1) if places else range(0)


def tokens_between(offsets: Sequence[Span], span: Span, tokens: range) -> Span:
    """Return the tokens that have a character of a span, in logarithmic time.

    >>> tokens_between([(0, 2), (2, 5), (5, 6)], (1, 3), range(3))
    (0, 2)
    """
    first = bisect_right(offsets, span[0], tokens.start, tokens.stop, key=itemgetter(1))
    last = bisect_left(offsets, span[1], first, tokens.stop, key=itemgetter(0))
    return first, last
