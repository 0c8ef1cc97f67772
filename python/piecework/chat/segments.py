"""Encoding of segments, some of which may not contain special tokens.

In a prompt every special token is an added token: roles, the tokens of the post-processor, control pieces.
Roles and user-defined pieces of one character are not guarded: refusing `!` would refuse most messages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from piecework._core import Core, RawPrompts
from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import listed
from piecework.chat.results import SegmentedEncoding
from piecework.chat.token_spans import text_tokens, tokens_between
from piecework.encoding import Encoding
from piecework.errors import ArgumentError, InputTypeError

Span: TypeAlias = tuple[int, int]


def prompts_of(core: Core, roles: Collection[str], markers: Collection[str] | None) -> RawPrompts:
    """Return what encodes prompts; `roles` are tokens that are special because of a role.

    `markers` are the added tokens that are guarded besides special ones; None guards all but whitespace.
    """
    if isinstance(markers, (str, bytes)):
        problem = f"must be a collection of added tokens, not {type(markers).__name__}"
        raise InputTypeError("markers", problem)
    return RawPrompts(core, list(roles), None if markers is None else listed(markers, "markers"))


def encode_segments(
    segments: Sequence[tuple[str, bool]], prompts: RawPrompts, add_special_tokens: bool
) -> SegmentedEncoding:
    """Encode the concatenated texts; guarded tokens match within a segment that permits them only."""
    text, char_spans, permitted = _joined(segments)
    encoding = prompts.encode(text, permitted, add_special_tokens=add_special_tokens)
    token_spans = _token_spans(encoding, char_spans)
    return SegmentedEncoding(encoding, tuple(char_spans), token_spans)


def _joined(segments: object) -> tuple[str, list[Span], list[Span]]:
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
    return "".join(texts), char_spans, permitted


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


def _token_spans(encoding: Encoding, char_spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return for each segment the tokens that have one of its characters."""
    offsets = encoding.offsets
    tokens = text_tokens(encoding)
    spans, done = [], tokens.start
    for start, end in char_spans:
        if start < end:
            span = tokens_between(offsets, (start, end), tokens)
            done = span[1]
        else:
            span = (done, done)
        spans.append(span)
    return tuple(spans)
