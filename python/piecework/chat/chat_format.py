"""Turn the messages of a conversation into ids and a mask of the assistant's tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from piecework._internal.names_of_other_libraries import (
    add_foreign_names,
    hides_keywords,
    reject_keywords,
)
from piecework._internal.validation import check_tokenizer, check_type
from piecework.chat.assistant_spans import assistant_spans, checked_parts, frame_of
from piecework.chat.messages import called_names, is_reply
from piecework.chat.rendering import rendered
from piecework.chat.tracked_text import (
    CONTENT,
    GENERATED,
    OTHERS,
    REASONING,
    TEMPLATE,
    TOOL_CALL,
    TrackedText,
    plain,
)
from piecework.errors import InputTypeError, TemplateError, UnknownNameError
from piecework.tokenizer.segments import text_tokens, tokens_between

if TYPE_CHECKING:
    from piecework import Encoding, Tokenizer

Span: TypeAlias = tuple[int, int]

_DEFAULT_TEMPLATE = "default"
_TEMPLATE_FOR_TOOLS = "tool_use"
_RUN = re.compile(b"\x01+")
_HAS_BIT = {
    bit: bytes(bool(origin & bit) for origin in range(256)) for bit in (TEMPLATE, GENERATED, OTHERS)
}
_OF_REPLIES = CONTENT | REASONING | TOOL_CALL


@hides_keywords
def apply_chat_template(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
    trusted_roles: Collection[str] = (),
    markers: Collection[str] | None = None,
    variables: Mapping[str, Any] | None = None,
    mask: Collection[str] | None = None,
    **unknown: NoReturn,
) -> ChatEncoding:
    """Render a conversation with a chat template and encode it (extra `chat`).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=40)
    >>> template = "{% for m in messages %}[CLS]{{ m.content }}[SEP]{% endfor %}"
    >>> tok = tok.with_chat_template(template)
    >>> chat = pw.chat.apply_chat_template(tok, [{"role": "user", "content": "be [SEP]"}])
    >>> chat.text, chat.encoding.tokens.count("[SEP]")
    ('[CLS]be [SEP][SEP]', 1)

    **Text of messages never becomes a special token.** Each character of the prompt is known to come from the
    template or from a message, and special tokens and `markers` match only in template text, as in
    `Tokenizer.encode_segments`. Messages, tools, documents, `variables` and numbers count as message text;
    the roles of transformers' templates, such as "user", count as template text. Messages whose role is in
    `trusted_roles` are template text as a whole: name "assistant" to keep the markers of earlier replies. A
    template that mixes both, so that the origin of a character is lost, raises.

    Templates run in the sandbox of Jinja, with the variables and functions of transformers:
    `messages`, `tools`, `documents`, `add_generation_prompt`, the names of roles such as `bos_token`,
    `raise_exception`, `strftime_now`, and `{% generation %}`. `variables` adds others. `chat_template` is
    the name of a template or its text. By default it is "tool_use" for a call with tools, if the
    tokenizer has that template, and "default" otherwise.

    `add_generation_prompt` adds the beginning of a reply. `continue_final_message` ends the prompt
    after the content of the last message.

    `assistant_mask` of the result is 1 for the tokens inside `{% generation %}`, if the template has it,
    otherwise for the tokens of the assistant's messages, which the origins identify. `mask` names
    the parts of these messages that it has: "content", "reasoning", "tool-calls" and "end-of-turn", with
    the markers around them (None: all). With `mask`, `{% generation %}` has no effect. A message with a
    `weight` of 0, as in data for fine-tuning, is not in the mask.

    Raises `TemplateError` for a template that is invalid, raises, takes more than a million steps or
    30 seconds, or loses an origin; `InputTypeError` for messages and tools of other types;
    `UnknownNameError` without template; `SpecialTokenError` as `encode_segments`; and
    `MissingExtraError` without jinja2.
    """
    if unknown:
        reject_keywords(apply_chat_template, unknown)
    check_tokenizer(tokenizer)
    template = _template_of(tokenizer, chat_template, has_tools=tools is not None)
    roles = {
        role: token
        for role, token in tokenizer.special_tokens_map.items()
        if isinstance(token, str)
    }
    prompt = rendered(
        template,
        messages,
        tools=tools,
        documents=documents,
        special_tokens=roles,
        variables=variables,
        trusted_roles=trusted_roles,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
    )
    template_spans = tuple(_spans(prompt.origins, TEMPLATE))
    segments = _segments(plain(prompt), template_spans)
    encoding = tokenizer.encode_segments(segments, markers=markers).encoding
    spans = _spans_of_assistant(tokenizer, prompt, messages, template, roles, mask)
    return ChatEncoding(plain(prompt), encoding, template_spans, spans)


def _template_of(tokenizer: Tokenizer, chat_template: str | None, *, has_tools: bool) -> str:
    """Return a chat template by name, the text of one, or the one that transformers uses by default."""
    templates = tokenizer.chat_templates
    if chat_template is not None:
        check_type("chat_template", chat_template, str, "str or None")
        return templates.get(chat_template, chat_template)
    if has_tools and _TEMPLATE_FOR_TOOLS in templates:
        return templates[_TEMPLATE_FOR_TOOLS]
    if _DEFAULT_TEMPLATE not in templates:
        names = ", ".join(map(repr, templates))
        found = f"no default chat template, only {names}" if names else "no chat template"
        use = "use with_chat_template, or chat_template= with a name or the text of a template"
        raise UnknownNameError("chat_template", f"the tokenizer has {found}; {use}")
    return templates[_DEFAULT_TEMPLATE]


def _segments(text: str, permitted: Sequence[Span]) -> list[tuple[str, bool]]:
    """Return the segments of a prompt; those that the template wrote permit special tokens."""
    segments: list[tuple[str, bool]] = []
    done = 0
    for start, end in permitted:
        segments += ((text[done:start], False), (text[start:end], True))
        done = end
    return [*segments, (text[done:], False)]


def _spans(origins: bytes, bit: int) -> Iterator[Span]:
    """Yield the longest spans of characters that have a bit."""
    for run in _RUN.finditer(origins.translate(_HAS_BIT[bit])):
        yield run.span()


def _spans_of_assistant(
    tokenizer: Tokenizer,
    prompt: TrackedText,
    messages: Sequence[Mapping[str, Any]],
    template: str,
    roles: Mapping[str, str],
    mask: Collection[str] | None,
) -> tuple[Span, ...] | None:
    """Return the spans of `{% generation %}` or of the assistant's messages; None if none is known."""
    from piecework.chat.environment import has_generation  # needs the extra `chat`

    parts = checked_parts(mask)
    if mask is None and has_generation(template):
        spans = tuple(_spans(prompt.origins, GENERATED))
        if all(row.get("weight") != 0 for row in messages):
            return spans
        # The characters of a message with `weight` 0 have the bit of others.
        of_others = prompt.origins.translate(_HAS_BIT[OTHERS])
        return tuple(span for span in spans if _RUN.search(of_others, *span) is None)
    replies = list(filter(is_reply, messages))
    if not any(origin & _OF_REPLIES for origin in set(prompt.origins)):
        return None if replies else ()
    return assistant_spans(
        prompt,
        parts,
        frame_of(template, roles),
        names=list(map(called_names, replies)),
        special=lambda: {*roles.values(), *_special_tokens(tokenizer)},
    )


@lru_cache(maxsize=8)
def _special_tokens(tokenizer: Tokenizer) -> frozenset[str]:
    return frozenset(filter(None, map(tokenizer.id_to_token, tokenizer.special_token_ids)))


@dataclass(frozen=True)
class ChatEncoding:
    """An encoded conversation.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, ">": 2}))
    >>> messages = [{"role": "user", "content": "aa"}]
    >>> chat = pw.chat.apply_chat_template(
    ...     tok, messages, chat_template=">{{ messages[0].content }}"
    ... )
    >>> chat.text, chat.ids, chat.template_spans, chat.assistant_mask
    ('>aa', [2, 1, 1], ((0, 1),), [0, 0, 0])

    - `text`: the prompt. Encode `encoding` or `ids`, never this text: it has lost its origins.
    - `encoding`: the encoding of the prompt.
    - `template_spans`: the characters that the template wrote, as spans (start, end). Special tokens are
      recognized in these only.
    - `assistant_spans`: the characters of the mask, as spans: what is inside `{% generation %}`, if the
      template has it, otherwise the assistant's messages. None if the template writes no
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
        mask = [0] * len(self.ids)
        if self.assistant_spans:
            offsets, tokens = self.encoding.offsets, text_tokens(self.encoding)
            for span in self.assistant_spans:
                first, last = tokens_between(offsets, span, tokens)
                mask[first:last] = [1] * (last - first)
        return mask


add_foreign_names(ChatEncoding)


@dataclass(frozen=True)
class ChatFormat:
    """How to render and mask conversations: arguments of `apply_chat_template`, for whole corpora.

    >>> import piecework as pw
    >>> pw.chat.ChatFormat(mask=["content", "end-of-turn"]).has_mask
    True

    - `chat_template`: the name of a template of the tokenizer, or its text. None means the tokenizer's own:
      "tool_use" for conversations with tools, if it has that template, and "default" otherwise.
    - `mask`: the parts of the assistant's messages in the masks, see `MASK_PARTS`. None is
      `{% generation %}` of the template, or all parts; an empty collection writes no masks.
    - `trusted_roles`, `markers`, `variables`: as for `apply_chat_template`. A template that writes today's
      date takes it from a variable, such as `variables={"date_string": "26 Jul 2024"}` for Llama 3; without
      that, a corpus encoded tomorrow has other ids.
    """

    chat_template: str | None = None
    _: KW_ONLY
    mask: Collection[str] | None = None
    trusted_roles: Collection[str] = ()
    markers: Collection[str] | None = None
    variables: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_type("chat_template", self.chat_template, str | None, "str or None")
        checked_parts(self.mask)
        for name in ("trusted_roles", "markers"):
            if isinstance(getattr(self, name), str):
                raise InputTypeError(name, "must be a collection of strings, not str")

    @property
    def has_mask(self) -> bool:
        """Whether masks are written."""
        return self.mask is None or len(self.mask) > 0

    def encode(self, tokenizer: Tokenizer, messages: Any, tools: Any) -> ChatEncoding:
        """Apply the template to a conversation."""
        return apply_chat_template(
            tokenizer,
            messages,
            tools=tools,
            chat_template=self.chat_template,
            trusted_roles=self.trusted_roles,
            markers=self.markers,
            variables=self.variables,
            mask=self.mask or None,
        )

    def settings(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return everything except the tokenizer's fingerprint that affects ids and masks, as JSON."""

        def names(values: Collection[str] | None) -> list[str] | None:
            return None if values is None else sorted(values)

        templates = tokenizer.chat_templates
        own = self.chat_template
        return {
            "chat_template": templates if own is None else templates.get(own, own),
            "special_tokens": tokenizer.special_tokens_map,
            "mask": names(self.mask),
            "trusted_roles": names(self.trusted_roles),
            "markers": names(self.markers),
            "variables": None if self.variables is None else dict(self.variables),
        }
