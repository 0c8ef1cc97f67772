"""Read and replace top-level parts of a compiled tokenizer: added tokens, normalizer, post-processor.

Works on the JSON text of the core: only the part is parsed, not the vocabulary.
"""

from __future__ import annotations

from piecework._core import Core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def part_of(text: str, name: str) -> Any:
    """Return a top-level part of the text of a `tokenizer.json`.

    >>> part_of('{"version":"1.0","added_tokens":[],"normalizer":{"type":"NFC"},"model":{}}', "normalizer")
    {'type': 'NFC'}
    """
    return _located(text, name)[0]


def with_parts(core: Core, parts: dict[str, Any]) -> Core:
    """Return the core with other values for top-level parts; the rest of its text is not parsed."""
    import json

    text = core.to_json(False)
    for name, value in parts.items():
        _, start, end = _located(text, name)
        text = f"{text[:start]}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
    return Core.from_json(text.encode(), "")


def _located(text: str, name: str) -> tuple[Any, int, int]:
    """Return a part, and the span of its text.

    Inside a string the quotes of the name would be escaped, and no other object has a key of these names.
    """
    from json import JSONDecoder

    key = f'"{name}":'
    start = text.index(key) + len(key)
    while text[start].isspace():
        start += 1
    value, end = JSONDecoder().raw_decode(text, start)
    return value, start, end
