"""The settings of a tokenizer that only a Hugging Face folder holds, such as roles and chat templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

DEFAULT_TEMPLATE = "default"
"""The name of the chat template that transformers uses when none is named."""


_EMPTY: Mapping[str, Any] = {}


class FolderSettings(NamedTuple):
    """What a folder says about a tokenizer beside the stages of its `tokenizer.json`.

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
        """Return these settings with other values for the fields in `changes`."""
        return self._replace(**changes)


NO_SETTINGS = FolderSettings()
