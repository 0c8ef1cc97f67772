"""Specifications: a frozen dataclass for each normalizer, pre-tokenizer, model, post-processor and decoder.

A specification is plain data. It can be compared with `==`, printed, and written as JSON in the format of
`tokenizer.json`. `Tokenizer` compiles it.

>>> import piecework as pw
>>> spec = pw.TokenizerSpec(WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}), pre_tokenizer=Whitespace())
>>> pw.Tokenizer.from_spec(spec).encode("hugs").tokens
['hug', '##s']

A component has its name from `tokenizer.json`. If several stages use one name, the stage is appended:
`SequenceNormalizer`, `BertPreTokenizer`, `ByteLevelProcessing`, `StripDecoder`. The most common use keeps
the short name: `Replace` and `Strip` are normalizers, `ByteLevel` and `Metaspace` are pre-tokenizers, and
`WordPiece` is a model. `Char` is written as a BPE model without merges.
"""

from piecework.spec.added_tokens import AddedToken
from piecework.spec.custom import CustomNormalizer, CustomPreTokenizer
from piecework.spec.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    CharDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    ReplaceDecoder,
    SequenceDecoder,
    StripDecoder,
    WordPieceDecoder,
)
from piecework.spec.encodings import ENCODINGS, NamedEncoding, named_encoding
from piecework.spec.models import BPE, Char, Model, Unigram, WordLevel, WordPiece
from piecework.spec.named_patterns import NAMED_PATTERNS, named_pre_tokenizer, split_bytes
from piecework.spec.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevelNormalizer,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SequenceNormalizer,
    Strip,
    StripAccents,
)
from piecework.spec.patterns import Pattern, Regex
from piecework.spec.portable import portable_json
from piecework.spec.post_processors import (
    BertProcessing,
    ByteLevelProcessing,
    PostProcessor,
    RobertaProcessing,
    SequenceProcessing,
    TemplateProcessing,
)
from piecework.spec.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    PreTokenizer,
    Punctuation,
    SequencePreTokenizer,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from piecework.spec.sentencepiece import (
    PieceType,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceKind,
    SentencePieceNormalizer,
)
from piecework.spec.tokenizer_spec import ParseSpecial, TokenizerSpec
from piecework.spec.truncation_padding import Padding, Truncation

__all__ = [
    "BPE",
    "CTC",
    "ENCODINGS",
    "NAMED_PATTERNS",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "AddedToken",
    "BPEDecoder",
    "BertNormalizer",
    "BertPreTokenizer",
    "BertProcessing",
    "ByteFallback",
    "ByteLevel",
    "ByteLevelDecoder",
    "ByteLevelNormalizer",
    "ByteLevelProcessing",
    "Char",
    "CharDecoder",
    "CharDelimiterSplit",
    "CustomNormalizer",
    "CustomPreTokenizer",
    "Decoder",
    "Digits",
    "FixedLength",
    "Fuse",
    "Lowercase",
    "Metaspace",
    "MetaspaceDecoder",
    "Model",
    "NamedEncoding",
    "Nmt",
    "Normalizer",
    "Padding",
    "ParseSpecial",
    "Pattern",
    "PieceType",
    "PostProcessor",
    "PreTokenizer",
    "Precompiled",
    "Prepend",
    "Punctuation",
    "Regex",
    "Replace",
    "ReplaceDecoder",
    "RobertaProcessing",
    "ScoredPiece",
    "SentencePiece",
    "SentencePieceDecoder",
    "SentencePieceKind",
    "SentencePieceNormalizer",
    "SequenceDecoder",
    "SequenceNormalizer",
    "SequencePreTokenizer",
    "SequenceProcessing",
    "Split",
    "Strip",
    "StripAccents",
    "StripDecoder",
    "TemplateProcessing",
    "TokenizerSpec",
    "Truncation",
    "UnicodeScripts",
    "Unigram",
    "Whitespace",
    "WhitespaceSplit",
    "WordLevel",
    "WordPiece",
    "WordPieceDecoder",
    "named_encoding",
    "named_pre_tokenizer",
    "portable_json",
    "split_bytes",
]
