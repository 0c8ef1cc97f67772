"""Encode and decode for SGLang: `SGLANG_PLUGINS=piecework sglang serve --model-path MODEL`.

SGLang finds `register` by the entry point `sglang.srt.plugins` of this package. Without the variable nothing
changes. Requires `piecework[transformers]`.
"""

from __future__ import annotations

import os
from typing import Any

NAME = "piecework"
_LOADERS = "sglang.srt.utils.hf_transformers"


def register() -> None:
    """Let SGLang load tokenizers that use piecework; SGLang calls this in each of its processes.

    Does nothing unless the variable `SGLANG_PLUGINS` names `piecework`: SGLang loads every installed plug-in
    if the variable is not set.
    """
    named = os.environ.get("SGLANG_PLUGINS", "").split(",")
    if NAME not in (name.strip() for name in named):
        return
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(f"{_LOADERS}.tokenizer.get_tokenizer", _served, HookType.AFTER)
    HookRegistry.register(f"{_LOADERS}.processor.get_processor", _served, HookType.AFTER)


def _served(loaded: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a loaded tokenizer, or the processor of a multimodal model, whose tokenizer uses piecework.

    A tokenizer that is not a fast one of transformers is returned as it is.
    """
    from transformers import TokenizersBackend

    from piecework.integrations.transformers import served

    if isinstance(loaded, TokenizersBackend):
        return served(loaded)
    if isinstance(getattr(loaded, "tokenizer", None), TokenizersBackend):
        loaded.tokenizer = served(loaded.tokenizer)
    return loaded
