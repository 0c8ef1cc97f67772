"""OpenAI model name -> encoding name, as in tiktoken 0.14."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ENCODING_OF_MODEL: Final[Mapping[str, str]] = MappingProxyType(
    {
        model: encoding
        for encoding, models in {
            "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
            "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
            "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
            "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 "
            "code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
            "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
            "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie "
            "babbage ada text-similarity-davinci-001 text-similarity-curie-001 "
            "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
            "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
            "code-search-babbage-code-001 code-search-ada-code-001",
            "gpt2": "gpt2 gpt-2",
        }.items()
        for model in models.split()
    }
)

# The first prefix that matches decides.
ENCODING_OF_PREFIX: Final = (
    ("o1-", "o200k_base"),
    ("o3-", "o200k_base"),
    ("o4-mini-", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-4.5-", "o200k_base"),
    ("gpt-4.1-", "o200k_base"),
    ("chatgpt-4o-", "o200k_base"),
    ("gpt-4o-", "o200k_base"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-3.5-turbo-", "cl100k_base"),
    ("gpt-35-turbo-", "cl100k_base"),
    ("gpt-oss-", "o200k_harmony"),
    ("ft:gpt-4o", "o200k_base"),
    ("ft:gpt-4", "cl100k_base"),
    ("ft:gpt-3.5-turbo", "cl100k_base"),
    ("ft:davinci-002", "cl100k_base"),
    ("ft:babbage-002", "cl100k_base"),
)


def encoding_of_model(name: str) -> str | None:
    """Return the name of the encoding of an OpenAI model, None for another name.

    >>> encoding_of_model("gpt-4o-mini"), encoding_of_model("bert-base-uncased")
    ('o200k_base', None)
    """
    if name in ENCODING_OF_MODEL:
        return ENCODING_OF_MODEL[name]
    for prefix, encoding in ENCODING_OF_PREFIX:
        if name.startswith(prefix):
            return encoding
    return None
