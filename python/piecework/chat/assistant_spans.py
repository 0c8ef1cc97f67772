"""The characters of a prompt that the assistant wrote, from the origins of characters.

A turn is the text from the first to the last character of one message of the assistant. What the template
writes inside a turn belongs to its parts, and so do the markers around it: those after the header of the
turn, and those up to its end. Renderings of a question and an answer show header and end.

Comparing the prompt with one rendered up to each message would fail where a template changes earlier turns,
as all templates do that remove old reasoning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Any, AnyStr, NamedTuple, TypeAlias

from piecework._internal.validation import check_choice
from piecework.chat.rendering import rendered
from piecework.chat.tracked_text import (
    CONTENT,
    ODD_TURN,
    OTHERS,
    REASONING,
    TEMPLATE,
    TOOL_CALL,
    TOOL_NAME,
    TrackedText,
    plain,
)
from piecework.errors import InputTypeError, PieceworkError, TemplateError

MASK_PARTS = ("content", "reasoning", "tool-calls", "end-of-turn")
"""The parts of an assistant's message that a mask can have."""

_CONTENT, _REASONING, _TOOL_CALLS, _END_OF_TURN = MASK_PARTS
_PART = {"c": _CONTENT, "r": _REASONING, "t": _TOOL_CALLS}

Span: TypeAlias = tuple[int, int]
Named: TypeAlias = tuple[int, int, str]
"""The start and end of a span, and the part that it belongs to."""


class TurnFrame(NamedTuple):
    """The text before a reply, which the model is given, and the marker with which it ends the reply."""

    header: str
    end_of_turn: str


def checked_parts(mask: Collection[str] | None) -> frozenset[str]:
    """Return the parts of a mask; None means all.

    >>> sorted(checked_parts(["content"]))
    ['content']
    """
    if mask is None:
        return frozenset(MASK_PARTS)
    if isinstance(mask, str) or not isinstance(mask, Collection):
        problem = f"must be a collection of parts, or None, not {type(mask).__name__}"
        raise InputTypeError("mask", problem)
    for part in mask:
        check_choice("mask", part, MASK_PARTS)
    return frozenset(mask)


def assistant_spans(
    prompt: TrackedText,
    parts: Collection[str],
    frame: TurnFrame,
    *,
    names: Sequence[Sequence[str]] = (),
    special: Callable[[], Iterable[str]] = tuple,
) -> tuple[Span, ...]:
    """Return the spans of characters of the assistant's messages that belong to some parts.

    >>> prompt = TrackedText("<a>hi</s>", bytes([1, 1, 1, 8, 8, 1, 1, 1, 1]))
    >>> assistant_spans(prompt, MASK_PARTS, TurnFrame("<a>", "</s>"))
    ((3, 9),)

    `names` has the names of the tool calls of each message of the assistant: a name that is written more
    often, before the result of the call, is not of the assistant. `special` returns special tokens, one of
    which ends a turn where the end of `frame` is not found. The result is empty if no character of the
    prompt is the assistant's.
    """
    text = plain(prompt)
    kinds = _without_repeated_names(text, prompt.origins.translate(_KINDS).decode("ascii"), names)
    named = (
        (start, end)
        for turn in _turns(kinds.replace("n", "t").replace("N", "T"))
        for start, end, part in _parts_of_turn(text, turn, frame, special)
        if part in parts and start < end
    )
    return tuple(_merged(named))


# ---- the kind of each character


def _kind_of(origin: int) -> str:
    """Return the letter of a character's part, a capital in every other turn.

    `n` is the name in a tool call, `o` text of others, `x` numbers and punctuation of data, and `.` text of
    the template.
    """
    if origin & OTHERS:
        return "o"
    for bits, letter in ((TOOL_NAME, "n"), (CONTENT, "c"), (REASONING, "r"), (TOOL_CALL, "t")):
        if origin & bits == bits:
            return letter.upper() if origin & ODD_TURN else letter
    return "." if origin & TEMPLATE else "x"


_KINDS = bytes(ord(_kind_of(origin)) for origin in range(256))
_OF_ONE_PARITY = re.compile(r"[crtn][^CRTN]*|[CRTN][^crtn]*")
_NAME = re.compile(r"n+|N+")


def _without_repeated_names(text: str, kinds: str, names: Sequence[Sequence[str]]) -> str:
    """Return the kinds without the names that a template repeats after the calls of a message."""
    if not any(names):
        return kinds
    repeated: list[Span] = []
    for message, expected in zip(_OF_ONE_PARITY.finditer(kinds), names, strict=False):
        left = Counter(expected)
        for name in _NAME.finditer(kinds, *message.span()):
            written = text[name.start() : name.end()]
            if left[written]:
                left[written] -= 1
            elif written in expected or not left.total():
                repeated.append(name.span())
    for start, end in repeated:
        kinds = f"{kinds[:start]}{'.' * (end - start)}{kinds[end:]}"
    return kinds


# ---- turns


class _Turn(NamedTuple):
    """The kinds of the characters of a turn, where it starts, and the text around it.

    `before` is the text since the last message, and `after` that until the next one, with its kinds.
    """

    kinds: str
    start: int
    before: slice
    after: slice
    kinds_after: str


_TURN = re.compile(r"[crt](?:[^oCRT]*[crt])?|[CRT](?:[^ocrt]*[CRT])?")
_MESSAGE = re.compile(r"[ocrtCRT]")
_RUN = re.compile(r"c+|r+|t+")
_MARKER_START = re.compile(r"^|[<\[]")


def _turns(kinds: str) -> Iterator[_Turn]:
    done = 0
    for turn in _TURN.finditer(kinds):
        start, end = turn.span()
        before = slice(max(done, kinds.rfind("o", done, start) + 1), start)
        following = _MESSAGE.search(kinds, end)
        after = slice(end, following.start() if following else len(kinds))
        yield _Turn(turn[0].lower(), start, before, after, kinds[after])
        done = end


# ---- parts of a turn


def _parts_of_turn(
    text: str, turn: _Turn, frame: TurnFrame, special: Callable[[], Iterable[str]]
) -> Iterator[Named]:
    """Yield all spans of a turn, from its header to its end."""
    runs = [
        (turn.start + run.start(), turn.start + run.end(), run[0][0])
        for run in _RUN.finditer(turn.kinds)
    ]
    start, _, first = runs[0]
    opening = turn.before.start + _end_of_header(text[turn.before], frame.header)
    yield opening, start, _REASONING if first == "c" else _PART[first]
    for run, following in pairwise(runs):
        yield run[0], run[1], _PART[run[2]]
        yield run[1], following[0], _part_between(run[2], following[2])
    start, end, last = runs[-1]
    yield start, end, _PART[last]
    marker = _end_marker(text[turn.after], turn.kinds_after, frame.end_of_turn, special)
    yield end, end + marker[0], _PART[last]
    yield end + marker[0], end + marker[1], _END_OF_TURN


def _part_between(before: str, after: str) -> str:
    """Return the part of template text between two parts: the one that needs markers."""
    return next(_PART[kind] for kind in "trc" if kind in (before, after))


def _end_of_header(before: str, header: str) -> int:
    """Return where the header ends in the text before a turn: after the longest end of it that is there."""
    for start in range(len(header)):
        end = header[start:]
        if not end.isspace() and (found := before.rfind(end)) >= 0:
            return found + len(end)
    return len(before)


def _end_marker(
    after: str, kinds: str, end_of_turn: str, special: Callable[[], Iterable[str]]
) -> Span:
    """Return the span of the markers that end a turn in the text after it; an empty one without a marker.

    Several markers may end an answer, and only the last of these a tool call.
    """
    # Data right before the next message belongs to that message.
    data = kinds.rstrip("x").rfind("x") + 1
    if not end_of_turn:
        return data, data
    for start in _MARKER_START.finditer(end_of_turn):
        end = end_of_turn[start.start() :]
        if (found := after.find(end)) >= 0:
            return found, found + len(end)
    places = [(at, at + len(token)) for token in special() if (at := after.find(token, data)) >= 0]
    return min(places, default=(data, data))


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the union of consecutive spans that touch."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            start, _ = merged.pop()
        merged.append((start, end))
    return merged


# ---- what a template writes around a reply


_MARKER_OF_REASONING = re.compile(r"<[^<>]*think[^<>]*>|\[think\]", re.IGNORECASE)
_OPEN_MARKER = re.compile(r"[<\[][^<>\[\]]*$")
_CLOSED_MARKER = re.compile(r"^[^<>\[\]]*[>\]]")
_FIRST_WORD = re.compile(r"\s*\S+")
_OF_MESSAGE = re.compile(
    b"[%b]+" % b"".join(b"\\x%02x" % o for o in range(256) if o & (CONTENT | OTHERS))
)


def frame_of(template: str, special_tokens: Mapping[str, str]) -> TurnFrame:
    """Return the frame of a template, from renderings of a question and an answer.

    >>> frame_of("{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}", {})
    TurnFrame(header='</s><assistant>', end_of_turn='</s>')

    The header ends where the generation prompt ends, or before a marker of reasoning in it. The end of a turn
    is what follows every answer, up to whitespace. Both are empty for a template that cannot be rendered so.
    """
    return _frame_of(template, tuple(sorted(special_tokens.items())))


@lru_cache(maxsize=64)
def _frame_of(template: str, special_tokens: tuple[tuple[str, str], ...]) -> TurnFrame:
    for content_of in (str, lambda text: [{"type": "text", "text": text}]):
        try:
            return _probed(template, dict(special_tokens), content_of)
        except PieceworkError:
            continue
    return TurnFrame("", "")


def _probed(template: str, special_tokens: dict[str, str], content_of: Any) -> TurnFrame:
    question = {"role": "user", "content": content_of("question")}
    answer = {"role": "assistant", "content": content_of("answer")}

    def texts(*messages: Any, generate: bool = False) -> list[str]:
        """Return the text of the template before, between and after the messages."""
        prompt = rendered(
            template, messages, special_tokens=special_tokens, add_generation_prompt=generate
        )
        text, runs = plain(prompt), list(_OF_MESSAGE.finditer(prompt.origins))
        if len(runs) != len(messages):
            raise TemplateError("chat template", "does not write each message once")
        starts, ends = [0, *(run.end() for run in runs)], [*(run.start() for run in runs), None]
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    prompted, asked = texts(question, generate=True)[-1], texts(question)[-1]
    _, before, after = texts(question, answer)
    # A template without a generation prompt writes the header with the answer, with a space if it has one.
    header = before.rstrip(" ") if prompted == asked else _common_prefix(prompted, before)
    marker = _MARKER_OF_REASONING.search(header)
    header = header[: marker.start()] if marker else header
    try:
        before_first, _, before_next, _ = texts(question, answer, question)
    except PieceworkError:  # a template for one question
        before_first, before_next = "", after
    return TurnFrame(header, _end_of_turn(after, before_first, before_next))


def _end_of_turn(after: str, before_first: str, before_next: str) -> str:
    """Return what ends a turn, from the text after the last answer and the text before the questions."""
    following = before_next[: len(before_next) - len(_common_suffix(before_first, before_next))]
    end = _common_prefix(after, before_next) or after or following
    found = _FIRST_WORD.match(end)
    return found[0] if found else ""


def _common_prefix(first: str, second: str) -> str:
    """Return the characters that two texts begin with, without the beginning of a marker."""
    prefix = first[: num_equal(first, second)]
    is_whole = len(prefix) in (len(first), len(second))
    return prefix if is_whole else _OPEN_MARKER.sub("", prefix)


def _common_suffix(first: str, second: str) -> str:
    """Return the characters that two texts end with, without the end of a marker."""
    suffix = first[len(first) - num_equal(first[::-1], second[::-1]) :]
    is_whole = len(suffix) in (len(first), len(second))
    return suffix if is_whole else _CLOSED_MARKER.sub("", suffix)


def num_equal(first: AnyStr, second: AnyStr) -> int:
    """Return the number of characters that two texts begin with."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
