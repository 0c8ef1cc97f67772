"""Settings that only a Hugging Face folder stores, such as chat templates, and roles of special tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._internal._core import Core
from piecework._internal.role_attributes import ROLES
from piecework._internal.validation import check_choice, listed
from piecework.errors import ArgumentError

if TYPE_CHECKING:
    from piecework.spec import AddedToken, TokenizerSpec


DEFAULT_TEMPLATE = "default"
"""The name of the chat template that transformers uses when none is named."""


_EMPTY: Mapping[str, Any] = {}


class FolderSettings(NamedTuple):
    """What a folder says about a tokenizer in addition to the stages of its `tokenizer.json`.

    >>> settings = FolderSettings(roles={"eos_token": "</s>"}).replace(model_max_length=512)
    >>> settings.roles, settings.model_max_length, settings.padding_side
    ({'eos_token': '</s>'}, 512, None)

    - `roles`: role -> special token; None takes the role away.
    - `model_max_length`: the longest input of the model in tokens, None for no limit.
    - `padding_side`, `truncation_side`: "left" or "right"; None follows the specification.
    - `truncation`, `padding`: stored in its `tokenizer.json`, and applied on request only.
    - `chat_templates`: name -> Jinja template.
    - `extra_special_tokens`: special tokens without a role; None stands for all of the specification.
    - `other`: the other keys of a `tokenizer_config.json`, kept as they are.

    Not a dataclass, because importing `dataclasses` takes longer than loading most files.
    """

    roles: Mapping[str, str | None] = _EMPTY
    model_max_length: int | None = None
    padding_side: str | None = None
    truncation_side: str | None = None
    truncation: Mapping[str, Any] | None = None
    padding: Mapping[str, Any] | None = None
    chat_templates: Mapping[str, str] = _EMPTY
    extra_special_tokens: tuple[str, ...] | None = None
    other: Mapping[str, Any] = _EMPTY

    def replace(self, **changes: Any) -> FolderSettings:
        """Return the settings with the fields in `changes` replaced."""
        return self._replace(**changes)

    def __reduce__(self) -> tuple[Any, ...]:
        # Equal settings have equal pickles: no field shares an object with another, or with a default.
        return FolderSettings, tuple(dict(v) if isinstance(v, dict) else v for v in self)


NO_SETTINGS = FolderSettings()


def role_tokens(settings: FolderSettings, spec: TokenizerSpec, core: Core) -> dict[str, str]:
    """Return the special token of each role that has one."""
    from piecework.spec.roles import declared_roles

    known = {
        role: token
        for role, token in settings.roles.items()
        if token is None or core.token_to_id(token) is not None
    }
    roles = {**declared_roles(spec), **known}
    return {
        role: token
        for role, token in roles.items()
        if token is not None and core.token_to_id(token) is not None
    }


def tokens_without_role(
    settings: FolderSettings, added_tokens: Sequence[AddedToken], roles: Collection[str]
) -> tuple[str, ...]:
    """Return the special tokens without a role: the declared ones, or else all."""
    special = [token.content for token in added_tokens if token.special]
    declared = settings.extra_special_tokens
    if declared is not None:
        return tuple(token for token in declared if token in special)
    return tuple(token for token in special if token not in roles)


def declared_with_new(
    declared: tuple[str, ...],
    before: Sequence[AddedToken],
    added: Sequence[AddedToken],
    roles: Collection[str],
) -> tuple[str, ...]:
    """Return the declared special tokens and the new ones that have no role."""
    new = {token.content for token in added if token.special and token not in before}
    new -= {*declared, *roles}
    return (*declared, *(token.content for token in added if token.content in new))


def checked_roles(
    settings: FolderSettings,
    core: Core,
    added_tokens: Sequence[AddedToken],
    additional: Sequence[str] | None,
    roles: Mapping[str, str | None],
) -> dict[str, Any]:
    """Return the settings for these roles and additional special tokens.

    Raises `ArgumentError` for another role, a token that is not in the vocabulary, and an additional token
    that is not special.
    """
    changes: dict[str, Any] = {}
    if additional is not None:
        extra = listed(additional, "additional_special_tokens", "str")
        special = {token.content for token in added_tokens if token.special}
        missing = next((token for token in extra if token not in special), None)
        if missing is not None:
            expected = "special tokens, which with_added_tokens([...], special=True) adds"
            problem = f"{missing!r} is not one of the {expected}"
            raise ArgumentError("additional_special_tokens", problem)
        changes["extra_special_tokens"] = tuple(extra)
    for role, token in roles.items():
        check_choice("role", role, ROLES)
        if token is not None and core.token_to_id(token) is None:
            raise ArgumentError(role, f"must be a token of the vocabulary, not {token!r}")
    return {"roles": {**settings.roles, **roles}, **changes}
