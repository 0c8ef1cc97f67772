"""What the class and the configuration of a folder change in the decoder: clean-up, and the words of CLIP."""

from __future__ import annotations

from typing import Any, TypeAlias

from piecework._core import Core
from piecework.io.core_parts import stages_of, with_parts
from piecework.io.folder_config import FolderConfig

Json: TypeAlias = dict[str, Any]

# transformers 5 ignores the first flag for BPE without the second.
_CLEANS_UP = (
    "clean_up_tokenization_spaces",
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
)
_BYTE_LEVEL = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
# What no decoder does; no token begins with this prefix, which would join it to the one before.
_JOINED_BY_SPACES = {"type": "WordPiece", "prefix": "\0", "cleanup": False}
# The replacements of `clean_up_tokenization` in transformers, in this order.
_CLEAN_UP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def replacing(kind: str, pattern: str, content: str) -> Json:
    """Return the step that replaces a pattern of the kind "String" or "Regex"."""
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


STRIP_TEXT = replacing("Regex", r"\A[\s\x{1c}-\x{1f}]+|[\s\x{1c}-\x{1f}]+\z", "")
"""The step of a decoder that strips a text as Python's `str.strip` does."""


def with_decoder_of_class(core: Core, config: FolderConfig) -> tuple[Core, FolderConfig]:
    """Return the core with the decoder of its class, which cleans up texts if the configuration says so.

    The configuration then no longer says so, because transformers would clean up again.
    """
    if config.tokenizer_class == "CLIPTokenizer" and core.is_bpe:
        ends_words = [replacing("String", "</w>", " "), STRIP_TEXT]
        core = _with_steps(core, {"type": "ByteLevel", **_BYTE_LEVEL}, ends_words)
    settings = config.settings
    kept = {key: value for key, value in settings.other.items() if key not in _CLEANS_UP}
    is_cleaned = config.flag(_CLEANS_UP[0]) and (not core.is_bpe or config.flag(_CLEANS_UP[1]))
    if is_cleaned:
        decoder = stages_of(core)["decoder"] or _JOINED_BY_SPACES
        # A .model is read as SentencePiece reads it, unless a class makes something else of it.
        if decoder["type"] != "SentencePiece":
            core = _with_steps(core, decoder, steps_of_clean_up())
    return core, config._replace(settings=settings.replace(other=kept))


def steps_of_clean_up() -> list[Json]:
    """Return the steps at the end of a decoder that clean up the text."""
    return [{"type": "Fuse"}, *(replacing("String", old, new) for old, new in _CLEAN_UP)]


def _with_steps(core: Core, decoder: Json, steps: list[Json]) -> Core:
    """Return the core with a decoder of further steps."""
    own = decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]
    return with_parts(core, {"decoder": {"type": "Sequence", "decoders": [*own, *steps]}})
