"""Pre-tokenizers by pattern name, and OpenAI's encodings by name: rank file, pattern and special tokens.

The definitions come from tiktoken 0.14 (`tiktoken_ext.openai_public`). The rank files are not part of
this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from piecework.errors import ArgumentError, InputTypeError
from piecework.spec.patterns import Regex
from piecework.spec.pre_tokenizers import ByteLevel, PreTokenizer, SequencePreTokenizer, Split
from piecework.spec.split_patterns import GPT2_PATTERN, PATTERNS

NAMED_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(PATTERNS)


def named_pre_tokenizer(name: str) -> PreTokenizer:
    r"""Return the byte-level pre-tokenizer of a named pattern.

    >>> named_pre_tokenizer("gpt2")
    ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
    >>> named_pre_tokenizer("cl100k").pretokenizers[1]
    ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)

    `NAMED_PATTERNS` has the names. The Qwen models also normalize to NFC, which the pattern does not
    include. Raises `ArgumentError` for an unknown name.
    """
    if not isinstance(name, str) or name not in NAMED_PATTERNS:  # type: ignore[redundant-expr]
        raise ArgumentError("pattern", f"must be one of {', '.join(NAMED_PATTERNS)}, not {name!r}")
    if NAMED_PATTERNS[name] == (GPT2_PATTERN,):
        return ByteLevel(add_prefix_space=False)
    return split_bytes(NAMED_PATTERNS[name])


def split_bytes(patterns: tuple[str, ...]) -> PreTokenizer:
    r"""Return a pre-tokenizer that splits with each pattern in turn, then maps bytes to characters.

    >>> len(split_bytes((r"\p{N}", r"\s+")).pretokenizers)
    3
    """
    if not isinstance(patterns, (tuple, list)):
        raise InputTypeError("patterns", f"must be a tuple, not {type(patterns).__name__}")
    splits = [Split(Regex(pattern), "isolated") for pattern in patterns]
    return SequencePreTokenizer((*splits, ByteLevel(add_prefix_space=False, use_regex=False)))


_HOME = "https://openaipublic.blob.core.windows.net/encodings/"


@dataclass(frozen=True)
class NamedEncoding:
    """A published encoding: rank file (name and SHA-256), name of the pattern, special tokens.

    >>> encoding = named_encoding("cl100k_base")
    >>> encoding.rank_file, encoding.special_tokens["<|endoftext|>"]
    ('cl100k_base.tiktoken', 100257)

    `n_vocab` is the number of ids, None if the publisher does not state it.
    """

    name: str
    rank_file: str
    sha256: str
    pattern: str
    special_tokens: Mapping[str, int] = field(repr=False)
    n_vocab: int | None = None

    @property
    def url(self) -> str:
        """The address of the rank file; its SHA-1 names the file in the cache of tiktoken."""
        return _HOME + self.rank_file


_END = "<|endoftext|>"
_FILL = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_END_OF_PROMPT = "<|endofprompt|>"

_R50K = ("r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930")
_P50K = ("p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
_CL100K = (
    "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = ("o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")

_HARMONY = {
    "<|startoftext|>": 199998,
    _END: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    _END_OF_PROMPT: 200018,
}


def _harmony_tokens() -> dict[str, int]:
    """Return the special tokens of o200k_harmony; the ids between them are reserved tokens.

    Each id has one name: 200018 is `<|endofprompt|>`, without the alias `<|reserved_200018|>`.
    """
    named = set(_HARMONY.values())
    reserved = {f"<|reserved_{id}|>": id for id in range(200000, 201088) if id not in named}
    return _HARMONY | reserved


ENCODINGS: Final[Mapping[str, NamedEncoding]] = MappingProxyType(
    {
        encoding.name: encoding
        for encoding in (
            # gpt2 is published as encoder.json and vocab.bpe; it has the ranks of r50k_base.
            NamedEncoding("gpt2", *_R50K, "gpt2", {_END: 50256}, 50257),
            NamedEncoding("r50k_base", *_R50K, "r50k", {_END: 50256}, 50257),
            NamedEncoding("p50k_base", *_P50K, "p50k", {_END: 50256}, 50281),
            NamedEncoding(
                "p50k_edit",
                *_P50K,
                "p50k",
                {_END: 50256, **dict(zip(_FILL, range(50281, 50284), strict=True))},
            ),
            NamedEncoding(
                "cl100k_base",
                *_CL100K,
                "cl100k",
                {
                    _END: 100257,
                    **dict(zip(_FILL, range(100258, 100261), strict=True)),
                    _END_OF_PROMPT: 100276,
                },
            ),
            NamedEncoding("o200k_base", *_O200K, "o200k", {_END: 199999, _END_OF_PROMPT: 200018}),
            NamedEncoding("o200k_harmony", *_O200K, "o200k", _harmony_tokens()),
        )
    }
)


def named_encoding(name: str) -> NamedEncoding:
    """Return an encoding by name.

    >>> named_encoding("cl100k_base").pattern
    'cl100k'

    Raises `ArgumentError` for an unknown name.
    """
    if not isinstance(name, str) or name not in ENCODINGS:  # type: ignore[redundant-expr]
        raise ArgumentError("encoding_name", f"must be one of {', '.join(ENCODINGS)}, not {name!r}")
    return ENCODINGS[name]
