"""What a chat template writes around a reply: the header of the turn before it, and the end of the turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from piecework.chat.rendering import rendered
from piecework.chat.tracked_text import CONTENT, OTHERS, plain
from piecework.errors import PieceworkError, TemplateError

_MARKER_OF_REASONING = re.compile(r"<[^<>]*think[^<>]*>|\[think\]", re.IGNORECASE)
_OPEN_MARKER = re.compile(r"[<\[][^<>\[\]]*$")
_CLOSED_MARKER = re.compile(r"^[^<>\[\]]*[>\]]")
_END_OF_TURN = re.compile(r"\s*\S+")
_MESSAGE = re.compile(
    b"[%b]+" % b"".join(b"\\x%02x" % o for o in range(256) if o & (CONTENT | OTHERS))
)


class TurnFrame(NamedTuple):
    """The text before a reply, which the model is given, and the marker with which it ends the reply."""

    header: str
    end_of_turn: str


NO_FRAME = TurnFrame("", "")


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
    return NO_FRAME


def _probed(template: str, special_tokens: dict[str, str], content_of: Any) -> TurnFrame:
    question = {"role": "user", "content": content_of("question")}
    answer = {"role": "assistant", "content": content_of("answer")}

    def texts(*messages: Any, generate: bool = False) -> list[str]:
        """Return the text of the template before, between and after the messages."""
        prompt = rendered(
            template,
            messages,
            tools=None,
            documents=None,
            special_tokens=special_tokens,
            variables={},
            trusted_roles=(),
            add_generation_prompt=generate,
            continue_final_message=False,
        )
        text, runs = plain(prompt), list(_MESSAGE.finditer(prompt.origins))
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
    """Return what ends a turn, from the text after the last answer and that before the questions."""
    following = before_next[: len(before_next) - len(_common_suffix(before_first, before_next))]
    end = _common_prefix(after, before_next) or after or following
    found = _END_OF_TURN.match(end)
    return found[0] if found else ""


def _common_prefix(first: str, second: str) -> str:
    """Return the characters that two texts begin with, without the beginning of a marker."""
    prefix = first[: _num_equal(first, second)]
    is_whole = len(prefix) in (len(first), len(second))
    return prefix if is_whole else _OPEN_MARKER.sub("", prefix)


def _common_suffix(first: str, second: str) -> str:
    """Return the characters that two texts end with, without the end of a marker."""
    suffix = first[len(first) - _num_equal(first[::-1], second[::-1]) :]
    is_whole = len(suffix) in (len(first), len(second))
    return suffix if is_whole else _CLOSED_MARKER.sub("", suffix)


def _num_equal(first: str, second: str) -> int:
    """Return the number of characters that two texts begin with."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
