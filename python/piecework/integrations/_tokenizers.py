"""The module that the class `BackendTokenizer` names as its own.

Libraries such as chonkie choose an adapter by the name of the class: it must contain "tokenizers", and not
"transformers". Pickles find the class by this name.
"""

from __future__ import annotations

from piecework.integrations.transformers.backend import BackendTokenizer

__all__ = ["BackendTokenizer"]
