"""The settings of a tokenizer that only a Hugging Face folder holds, such as roles and chat templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULT_TEMPLATE = "default"
"""The name of the chat template that transformers uses when none is named."""


_DEFAULTS: Mapping[str, Any] = {
    "chat_templates": {},
    "extra_special_tokens": None,
    "model_max_length": None,
    "other": {},
    "padding": None,
    "padding_side": None,
    "roles": {},
    "truncation": None,
    "truncation_side": None,
}


class FolderSettings:
    """What a folder says about a tokenizer beside the stages of its `tokenizer.json`; immutable.

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

    __slots__ = tuple(_DEFAULTS)

    roles: Mapping[str, str | None]
    model_max_length: int | None
    padding_side: str | None
    truncation_side: str | None
    truncation: Mapping[str, Any] | None
    padding: Mapping[str, Any] | None
    chat_templates: Mapping[str, str]
    extra_special_tokens: tuple[str, ...] | None
    other: Mapping[str, Any]

    def __init__(self, **fields: Any) -> None:
        if unknown := fields.keys() - _DEFAULTS.keys():
            raise TypeError(f"FolderSettings has no field {min(unknown)!r}")
        for name, default in _DEFAULTS.items():
            value = fields.get(name, default)
            object.__setattr__(self, name, dict(value) if default == {} else value)

    def replace(self, **changes: Any) -> FolderSettings:
        """Return these settings with other values for the fields in `changes`."""
        return FolderSettings(**{**self._fields(), **changes})

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"FolderSettings is immutable: replace({name}=...) returns a changed copy"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FolderSettings):
            return NotImplemented
        return self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._fields(),)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._fields().items() if value)
        return f"FolderSettings({shown})"


def _restored(fields: dict[str, Any]) -> FolderSettings:
    return FolderSettings(**fields)


NO_SETTINGS = FolderSettings()
