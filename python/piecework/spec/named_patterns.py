"""The patterns that published byte-level tokenizers cut words by, under the names they are known by.

Each name stands for one or more regular expressions, applied one after the other, as in the
`tokenizer.json` of the model; the byte level follows. Where a publication writes a pattern in two
ways that cut alike, this is the one that `tokenizer.json` files have.
"""

from __future__ import annotations

from piecework.errors import ArgumentError
from piecework.spec.patterns import Regex
from piecework.spec.pre_tokenizers import ByteLevel, PreTokenizer, SequencePreTokenizer, Split

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_CL100K = rf"{_SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
_CAPITALIZED = rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+"
_CAPITALS = rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*"
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    r"|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+",
)

NAMED_PATTERNS: dict[str, tuple[str, ...]] = {
    "gpt2": (_GPT2,),
    "r50k": (_GPT2,),
    "p50k": (_GPT2,),
    "cl100k": (_CL100K,),
    "o200k": (
        rf"{_CAPITALIZED}{_SUFFIX}?|{_CAPITALS}{_SUFFIX}?|\p{{N}}{{1,3}}|{_SYMBOLS}|{_SPACES}",
    ),
    "llama3": (_CL100K,),
    "qwen2": (_CL100K.replace(r"\p{N}{1,3}", r"\p{N}"),),
    "deepseek-v3": _DEEPSEEK_V3,
    "tekken": (rf"{_CAPITALIZED}|{_CAPITALS}|\p{{N}}|{_SYMBOLS}|{_SPACES}",),
}


def byte_level_pre_tokenizer(name: str) -> PreTokenizer:
    """Return the pre-tokenizer that cuts by a named pattern and writes bytes as printable characters.

    >>> byte_level_pre_tokenizer("gpt2").use_regex
    True

    Raises `ArgumentError` for a name that is not among `NAMED_PATTERNS`.
    """
    if name not in NAMED_PATTERNS:
        raise ArgumentError("pattern", repr(name), f"one of {', '.join(NAMED_PATTERNS)}")
    if NAMED_PATTERNS[name] == NAMED_PATTERNS["gpt2"]:
        return ByteLevel(add_prefix_space=False)
    splits = [Split(Regex(pattern), "isolated") for pattern in NAMED_PATTERNS[name]]
    last = ByteLevel(add_prefix_space=False, use_regex=False)
    return SequencePreTokenizer((*splits, last))
