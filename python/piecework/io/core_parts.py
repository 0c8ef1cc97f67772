"""Read and replace stages of a compiled tokenizer: added tokens, normalizer, post-processor.

The model stays as it is: its entries are not written, and its compiled tables are shared.
"""

from __future__ import annotations

from typing import Any

from piecework._core import Core


def stages_of(core: Core) -> dict[str, Any]:
    """Return the stages of a core as the object of a `tokenizer.json`, whose model has no entries."""
    import json

    stages: dict[str, Any] = json.loads(core.stages_to_json())
    return stages


def with_parts(core: Core, parts: dict[str, Any]) -> Core:
    """Return the core with other values for some stages, as objects of a `tokenizer.json`."""
    import json

    text = json.dumps({**stages_of(core), **parts}, ensure_ascii=False)
    return core.with_stages(text.encode(), ())
