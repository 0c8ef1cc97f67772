"""The options of `piecework encode` for conversations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import apply, option

Command = TypeVar("Command", bound=Callable[..., Any])

_NONE = "none"


def chat_options(command: Command) -> Callable[..., Any]:
    """Add the options for conversations; the command receives them as `chat`, a `ChatFormat` or None."""

    @wraps(command)
    def with_chat(
        *arguments: Any,
        is_chat: bool,
        chat_template: str | None,
        mask: tuple[str, ...] | None,
        trusted_roles: tuple[str, ...],
        **settings: Any,
    ) -> Any:
        given = {"chat_template": chat_template, "mask": mask, "trusted_role": trusted_roles}
        if not is_chat:
            for name in (name for name, value in given.items() if value):
                raise pw.errors.ArgumentError(name, "needs --chat")
        chat = None
        if is_chat:
            template = None if chat_template is None else _template(chat_template)
            chat = pw.chat.ChatFormat(template, mask=mask, trusted_roles=trusted_roles)
        return command(*arguments, chat=chat, **settings)

    add = partial(option, section="Conversations")
    options = (
        add(
            "--chat",
            "is_chat",
            is_flag=True,
            help="Read conversations (messages, conversations, or prompt and completion), apply the chat "
            "template, and write masks of the assistant's tokens.",
        ),
        add(
            "--chat-template",
            metavar="NAME|FILE",
            help="Template of TOKENIZER by name, or a file with one.  [default: that of TOKENIZER]",
        ),
        add(
            "--mask",
            metavar="PART,...",
            callback=_parts,
            help=f"Parts of the assistant's messages in the masks: {', '.join(pw.chat.MASK_PARTS)}; "
            "none writes no masks.  [default: {% generation %} of the template, or all]",
        ),
        add(
            "--trusted-role",
            "trusted_roles",
            metavar="ROLE",
            multiple=True,
            help="Recognize special tokens in messages of this role.",
        ),
    )
    return apply(options, with_chat)


def check_template(chat: pw.chat.ChatFormat | None, tokenizer: pw.Tokenizer) -> None:
    """Raise unless the template is the text of a file or a template of the tokenizer."""
    name = None if chat is None else chat.chat_template
    if name is None or "{" in name or name in tokenizer.chat_templates:
        return
    known = ", ".join(tokenizer.chat_templates) or "it has none"
    problem = f"must be a file or a template of the tokenizer ({known}), not {name!r}"
    raise pw.errors.ArgumentError("chat_template", problem)


def _template(name: str) -> str:
    """Return the text of a file, otherwise the name of a template."""
    path = Path(name)
    if not path.is_file():
        return name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise pw.errors.TemplateError(name, "cannot be read as text in UTF-8") from error


def _parts(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    return () if value == _NONE else tuple(value.split(","))
