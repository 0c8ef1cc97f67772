"""Attributes of `Tokenizer` for the roles of special tokens: `pad_token`, `pad_token_id`, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class RoleToken(property):
    """An attribute of `Tokenizer`: the special token of a role, or None where none is declared."""

    def __init__(self, role: str) -> None:
        def token(tokenizer: Tokenizer) -> str | None:
            return tokenizer._role_tokens().get(role)

        super().__init__(token)
        self.__doc__ = (
            f"The `{role}`, None if the tokenizer declares none; see `special_tokens_map`."
        )

    if TYPE_CHECKING:

        def __get__(  # type: ignore[override]
            self, tokenizer: object, owner: type | None = None
        ) -> str | None: ...


class RoleId(property):
    """An attribute of `Tokenizer`: the id of the special token of a role, or None."""

    def __init__(self, role: str) -> None:
        def id_of_token(tokenizer: Tokenizer) -> int | None:
            token = tokenizer._role_tokens().get(role)
            return None if token is None else tokenizer.token_to_id(token)

        super().__init__(id_of_token)
        self.__doc__ = f"The id of the `{role}`, None if the tokenizer declares none."

    if TYPE_CHECKING:

        def __get__(  # type: ignore[override]
            self, tokenizer: object, owner: type | None = None
        ) -> int | None: ...
