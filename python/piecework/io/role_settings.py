"""Roles of special tokens: what a folder or a caller declares, beside what the tokenizer itself states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from piecework._internal._core import Core
from piecework._internal.role_attributes import ROLES
from piecework._internal.validation import check_choice, listed
from piecework.errors import ArgumentError
from piecework.io.folder_settings import FolderSettings

if TYPE_CHECKING:
    from piecework.spec import AddedToken, TokenizerSpec


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
