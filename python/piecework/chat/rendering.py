"""Render a template with messages to the text of a prompt, with the origin of each character."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from piecework._internal.extras import import_extra
from piecework.chat.budget import BUDGET, Budget
from piecework.chat.messages import checked_messages, tracked_messages, tracked_value
from piecework.chat.tracked_text import FINAL, OTHERS, TEMPLATE, TrackedText
from piecework.errors import ArgumentError, InputTypeError, PieceworkError, TemplateError


def rendered(
    template: str,
    messages: object,
    *,
    special_tokens: Mapping[str, str],
    tools: object = None,
    documents: object = None,
    variables: Mapping[str, object] | None = None,
    trusted_roles: Collection[str] = (),
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> TrackedText:
    """Render a chat template.

    Raises `TemplateError` for a template that is invalid, fails, passes a limit or mixes origins,
    `InputTypeError` and `ArgumentError` for messages that are not valid, and `MissingExtraError` without
    jinja2.
    """
    import_extra("jinja2", "chat", "apply_chat_template")
    from piecework.chat.environment import compiled

    if add_generation_prompt and continue_final_message:
        problem = "cannot be combined"
        raise ArgumentError("continue_final_message", problem, also=["add_generation_prompt"])
    if isinstance(trusted_roles, str):
        raise InputTypeError("trusted_roles", "must be a collection of roles, not str")
    values = {
        **{role: TrackedText(token, TEMPLATE) for role, token in special_tokens.items()},
        **{name: tracked_value(value, name, 0) for name, value in (variables or {}).items()},
        "messages": tracked_messages(
            checked_messages(messages), trusted_roles, continue_final_message
        ),
        "tools": _dicts("tools", tools),
        "documents": _dicts("documents", documents),
        "add_generation_prompt": add_generation_prompt,
    }
    text = _run(compiled(template), values)
    return _continued(text) if continue_final_message else text


def _dicts(name: str, values: object) -> list[Any] | None:
    if values is None:
        return None
    if not isinstance(values, (list, tuple)):
        raise InputTypeError(name, f"must be a list of mappings, not {type(values).__name__}")
    for position, value in enumerate(values):
        if not isinstance(value, Mapping):
            problem = (
                f"must be a mapping, not {type(value).__name__}; a function needs its JSON schema"
            )
            raise InputTypeError(f"{name}[{position}]", problem)
    return [tracked_value(value, f"{name}[{at}]", OTHERS) for at, value in enumerate(values)]


def _run(template: Any, values: Mapping[str, object]) -> TrackedText:
    token = BUDGET.set(Budget())
    try:
        return cast("TrackedText", template.render(values))
    except PieceworkError:
        raise
    except RecursionError as error:
        problem = "does not end: it calls itself without limit"
        raise TemplateError("chat template", problem) from error
    except Exception as error:
        # Templates see a str.
        name = f"{TrackedText.__module__}.{TrackedText.__qualname__} object"
        found = f"{type(error).__name__}: {error}".replace(name, "str object")
        problem = f"failed for these messages: {found[:400]}"
        raise TemplateError("chat template", problem) from error
    finally:
        BUDGET.reset(token)


def _continued(text: TrackedText) -> TrackedText:
    """Return the text up to the end of the last message."""
    is_final = bytes(bool(origin & FINAL) for origin in range(256))
    end = text.origins.translate(is_final).rfind(1) + 1
    if not end:
        problem = "needs a template that keeps the last message: the prompt lacks it"
        raise TemplateError("continue_final_message", problem)
    return text.part(0, end)
