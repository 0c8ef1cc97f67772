"""A tokenizer from ranks in memory: tokens as bytes -> ranks, and a pattern in tiktoken's syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping

from piecework import Tokenizer
from piecework.errors import ArgumentError
from piecework.spec import ByteLevel, Regex, SequencePreTokenizer, Split

_PATTERN_PART = re.compile(
    r"""(?P<escape>\\.) | (?P<set>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])
    | (?P<end>\$) | (?P<interval>\{\d+(?:,\d*)?\}\+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokenizer_from_ranks(
    name: str, pattern: str, ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Compile an encoding from its ranks; text that the pattern does not match is dropped."""
    split = Split(Regex(_tokenizer_json_pattern(pattern)), "removed", invert=True)
    to_bytes = ByteLevel(add_prefix_space=False, use_regex=False)
    return Tokenizer.from_ranks(
        ranks,
        pattern=SequencePreTokenizer((split, to_bytes)),
        special_tokens=special_tokens,
        source=name,
    )


def _tokenizer_json_pattern(pattern: str) -> str:
    """Translate a pattern from tiktoken's regex syntax to that of a `tokenizer.json`.

    In a `tokenizer.json`, `$` matches at the end of each line, and `{1,3}+` repeats a repetition. In
    tiktoken, `{1,3}+` is possessive: it does not backtrack. A plain interval matches the same text only
    at the end of an alternative, where nothing follows that could make it backtrack. Anywhere else a
    possessive interval raises `ArgumentError`.
    """
    parts = list(_PATTERN_PART.finditer(pattern))
    translated = []
    for at, part in enumerate(parts):
        text = part[0]
        if part.lastgroup == "end":
            text = r"\z"
        elif part.lastgroup == "interval":
            if at + 1 < len(parts) and parts[at + 1][0] != "|":
                expected = "possessive intervals such as {1,3}+ only at the end of an alternative"
                problem = f"{pattern!r} is not supported: it may have {expected}"
                raise ArgumentError("pat_str", problem)
            text = text[:-1]
        translated.append(text)
    return "".join(translated)
