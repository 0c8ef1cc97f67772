"""Looking into tokenizers: why a text becomes the tokens it does, and how vocabularies compare."""

from piecework.analysis.explain import ExplainedToken, ExplainedWord, Explanation, explain
from piecework.analysis.merges import MergeStep
from piecework.analysis.readable import is_byte_level, text_of_bytes
from piecework.analysis.vocabulary import Inspection, inspect

__all__ = [
    "ExplainedToken",
    "ExplainedWord",
    "Explanation",
    "Inspection",
    "MergeStep",
    "explain",
    "inspect",
    "is_byte_level",
    "text_of_bytes",
]
