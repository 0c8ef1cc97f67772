"""How the conversations of a corpus become prompts with masks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from piecework._internal.validation import check_type
from piecework.chat.assistant_spans import checked_parts
from piecework.errors import InputTypeError

if TYPE_CHECKING:
    from piecework.chat.results import ChatEncoding
    from piecework.tokenizer import Tokenizer


@dataclass(frozen=True)
class ChatFormat:
    """How to render and mask conversations: arguments of `apply_chat_template`, for whole corpora.

    >>> import piecework as pw
    >>> pw.chat.ChatFormat(mask=["content", "end-of-turn"]).has_mask
    True

    - `chat_template`: the name of a template of the tokenizer, or its text. None is its own: "tool_use" for
      conversations with tools, if it has that template, and "default" otherwise.
    - `mask`: the parts of the assistant's messages in the masks, see `MASK_PARTS`. None is
      `{% generation %}` of the template, or all parts; an empty collection writes no masks.
    - `trusted_roles`, `markers`, `variables`: those of `apply_chat_template`. A template that writes today's
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
                raise InputTypeError(name, "str", "a collection of strings")

    @property
    def has_mask(self) -> bool:
        """Whether masks are written."""
        return self.mask is None or len(self.mask) > 0

    def encode(self, tokenizer: Tokenizer, messages: Any, tools: Any) -> ChatEncoding:
        """Apply the template to a conversation."""
        return tokenizer.apply_chat_template(
            messages,
            tools=tools,
            chat_template=self.chat_template,
            trusted_roles=self.trusted_roles,
            markers=self.markers,
            variables=self.variables,
            mask=self.mask or None,
        )

    def settings(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return everything that decides ids and masks besides the fingerprint of the tokenizer, as JSON."""

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
