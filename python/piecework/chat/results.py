"""The results of encoding segments and chats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from piecework.attributes.names_of_other_libraries import add_foreign_names
from piecework.chat.token_spans import mask_of_spans
from piecework.errors import TemplateError

if TYPE_CHECKING:
    from piecework.encoding import Encoding

Span = tuple[int, int]


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
    - `token_spans`: (first, one after the last) token of each segment. A token with characters of two
      segments belongs to both.
    """

    encoding: Encoding
    char_spans: tuple[Span, ...]
    token_spans: tuple[Span, ...]

    @property
    def ids(self) -> list[int]:
        """The ids of `encoding`."""
        return self.encoding.ids


@dataclass(frozen=True)
class TextChunk:
    """A part of a text that fits a token budget.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, " ": 2}))
    >>> pw.chat.chunk_text(tok, "aa aaa", 4)[1]
    TextChunk(text='aaa', start=3, end=6, num_tokens=3)

    `start` and `end` are characters of the whole text; `num_tokens` counts the tokens of `text` alone.
    """

    text: str
    start: int
    end: int
    num_tokens: int


@dataclass(frozen=True)
class ChatEncoding:
    """An encoded conversation.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, ">": 2}))
    >>> chat = tok.apply_chat_template(
    ...     [{"role": "user", "content": "aa"}], chat_template=">{{ messages[0].content }}"
    ... )
    >>> chat.text, chat.ids, chat.template_spans, chat.assistant_mask
    ('>aa', [2, 1, 1], ((0, 1),), [0, 0, 0])

    - `text`: the prompt. Encode `encoding` or `ids`, never this text: it has lost its origins.
    - `encoding`: the encoding of the prompt.
    - `template_spans`: the characters that the template wrote, as spans (start, end). Special tokens are
      recognized in these only.
    - `assistant_spans`: the characters of the mask, as spans. They are those inside `{% generation %}`, if
      the template has it, otherwise those of the assistant's messages. None if the template writes no
      character of these messages, or loses their origins.
    """

    text: str
    encoding: Encoding
    template_spans: tuple[Span, ...]
    assistant_spans: tuple[Span, ...] | None

    @property
    def ids(self) -> list[int]:
        """The ids of `encoding`."""
        return self.encoding.ids

    @cached_property
    def assistant_mask(self) -> list[int]:
        """1 for each token with a character of `assistant_spans`, otherwise 0.

        Raises `TemplateError` if `assistant_spans` is None.
        """
        if self.assistant_spans is None:
            problem = (
                "does not exist: no character of the prompt is known to be of the assistant's messages; "
                "put {% generation %} around the replies in the template"
            )
            raise TemplateError("assistant_mask", problem)
        return mask_of_spans(self.encoding, self.assistant_spans)


for _class in (SegmentedEncoding, ChatEncoding):
    add_foreign_names(_class)
