"""Read and replace stages of a compiled tokenizer: added tokens, normalizer, post-processor, decoder.

The model stays as it is: its entries are not written, and its compiled tables are shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from piecework._internal._core import Core

Json: TypeAlias = dict[str, Any]

NO_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
"""The flags of a token that is matched as it is."""


def stages_of(core: Core) -> dict[str, Any]:
    """Return the stages of a core as the object of a `tokenizer.json`, whose model has no entries."""
    import json

    stages: dict[str, Any] = json.loads(core.stages_to_json())
    return stages


def with_parts(core: Core, parts: dict[str, Any]) -> Core:
    """Return the core with some stages replaced by objects of a `tokenizer.json`.

    Without a change, this is the same core.
    """
    import json

    stages = stages_of(core)
    if all(stages[name] == part for name, part in parts.items()):
        return core
    text = json.dumps({**stages, **parts}, ensure_ascii=False)
    return core.with_stages(text.encode(), ())


def added_ids(core: Core) -> dict[str, int]:
    """Return the id of each added token."""
    return {token["content"]: token["id"] for token in stages_of(core)["added_tokens"]}


def with_new_tokens(core: Core, tokens: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the added tokens of a core and further ones, by id.

    As in transformers, a token that no file has gets the next id.
    """
    added = stages_of(core)["added_tokens"]
    known = {token["content"] for token in added}
    next_id = max([core.vocab_size(False), *(token["id"] + 1 for token in added)])
    for token in tokens:
        if token["content"] not in known:
            known.add(token["content"])
            id = core.token_to_id(token["content"])
            added.append({"id": next_id if id is None else id, **token})
            next_id += id is None
    return sorted(added, key=lambda token: token["id"])


# ---- decoders

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


def steps_of_clean_up() -> list[Json]:
    """Return the steps at the end of a decoder that clean up the text."""
    return [{"type": "Fuse"}, *(replacing("String", old, new) for old, new in _CLEAN_UP)]


def with_decoder_steps(core: Core, decoder: Json, steps: list[Json]) -> Core:
    """Return the core with further steps appended to its decoder."""
    own = decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]
    return with_parts(core, {"decoder": {"type": "Sequence", "decoders": [*own, *steps]}})
