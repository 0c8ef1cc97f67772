"""Looking into tokenizers: why a text becomes the tokens it does."""

from piecework.analysis.explain import ExplainedToken, ExplainedWord, Explanation, explain
from piecework.analysis.merges import MergeStep
from piecework.analysis.readable import is_byte_level, text_of_bytes

__all__ = [
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "MergeStep",
    "explain",
    "is_byte_level",
    "text_of_bytes",
]
