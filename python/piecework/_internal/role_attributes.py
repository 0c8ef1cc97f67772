"""Attributes of `Tokenizer` for the roles of special tokens: `pad_token`, `pad_token_id`, ..."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

ROLES = (
    "unk_token",
    "bos_token",
    "eos_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The roles that transformers names."""


class RoleToken:
    """An attribute of `Tokenizer`: the special token of a role, or None where none is declared."""

    def __init__(self, role: str) -> None:
        self._role = role
        self.__doc__ = (
            f"The `{role}`, None if the tokenizer declares none; see `special_tokens_map`."
        )

    def __get__(self, tokenizer: Tokenizer | None, owner: type | None = None) -> str | None:
        return None if tokenizer is None else tokenizer._role_tokens().get(self._role)


class RoleId:
    """An attribute of `Tokenizer`: the id of the special token of a role, or None."""

    def __init__(self, role: str) -> None:
        self._role = role
        self.__doc__ = f"The id of the `{role}`, None if the tokenizer declares none."

    def __get__(self, tokenizer: Tokenizer | None, owner: type | None = None) -> int | None:
        if tokenizer is None:
            return None
        token = tokenizer._role_tokens().get(self._role)
        return None if token is None else tokenizer.token_to_id(token)
