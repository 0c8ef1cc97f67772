"""Encode and decode for vLLM: `vllm serve MODEL --tokenizer-mode piecework`.

vLLM finds `register` by the entry point `vllm.general_plugins` of this package. Models and modes without
that flag are not affected. Requires `piecework[transformers]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

MODE = "piecework"


def register() -> None:
    """Make the tokenizer mode `piecework` known to vLLM; vLLM calls this in each of its processes."""
    from vllm.renderers.registry import RENDERER_REGISTRY
    from vllm.tokenizers.registry import TokenizerRegistry

    if MODE not in TokenizerRegistry.tokenizers:
        TokenizerRegistry.register(MODE, __name__, "PieceworkTokenizer")
    if MODE not in RENDERER_REGISTRY.renderers:
        # Chats are rendered as in the mode hf.
        RENDERER_REGISTRY.register(MODE, "vllm.renderers.hf", "HfRenderer")


class PieceworkTokenizer:
    """The tokenizer of the mode `piecework`: like the mode `hf`, but piecework encodes and decodes."""

    @classmethod
    def from_pretrained(cls, path_or_repo_id: str | Path, *args: Any, **kwargs: Any) -> Any:
        """Load the tokenizer of a folder or of a model of the hub, as the mode `hf` does.

        Raises `InputTypeError` for a tokenizer that is not a fast one of transformers; serve such a model
        with `--tokenizer-mode auto`.
        """
        from vllm.tokenizers.hf import CachedHfTokenizer

        from piecework.integrations.transformers import served

        # The mode hf sets this too.
        kwargs.setdefault("mistral_format", False)
        loaded = CachedHfTokenizer.from_pretrained(path_or_repo_id, *args, **kwargs)
        # The result caches properties of a tokenizer; its pickle is the function that adds the cache, and
        # the tokenizer without it.
        with_cache, (tokenizer,) = loaded.__reduce__()
        return with_cache(served(tokenizer))
