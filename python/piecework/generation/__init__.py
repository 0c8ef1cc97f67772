"""Ids that a model reads and generates: drift from the ids of their text, and where prompts may end.

The functions take the tokenizer first.
"""

from piecework.generation.append import AppendedIds, append_ids
from piecework.generation.drift import (
    Drift,
    DriftSpan,
    find_drift,
    find_drift_batch,
    find_drift_files,
)
from piecework.generation.healing import HealedPrompt, TokenTrie, heal

__all__ = [
    "AppendedIds",
    "Drift",
    "DriftSpan",
    "HealedPrompt",
    "TokenTrie",
    "append_ids",
    "find_drift",
    "find_drift_batch",
    "find_drift_files",
    "heal",
]
