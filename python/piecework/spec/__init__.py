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

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from piecework.spec.custom import CustomNormalizer as CustomNormalizer
    from piecework.spec.custom import CustomPreTokenizer as CustomPreTokenizer
    from piecework.spec.decoders import CTC as CTC
    from piecework.spec.decoders import BPEDecoder as BPEDecoder
    from piecework.spec.decoders import ByteFallback as ByteFallback
    from piecework.spec.decoders import ByteLevelDecoder as ByteLevelDecoder
    from piecework.spec.decoders import CharDecoder as CharDecoder
    from piecework.spec.decoders import Decoder as Decoder
    from piecework.spec.decoders import Fuse as Fuse
    from piecework.spec.decoders import MetaspaceDecoder as MetaspaceDecoder
    from piecework.spec.decoders import ReplaceDecoder as ReplaceDecoder
    from piecework.spec.decoders import SequenceDecoder as SequenceDecoder
    from piecework.spec.decoders import StripDecoder as StripDecoder
    from piecework.spec.decoders import WordPieceDecoder as WordPieceDecoder
    from piecework.spec.encodings import ENCODINGS as ENCODINGS
    from piecework.spec.encodings import NAMED_PATTERNS as NAMED_PATTERNS
    from piecework.spec.encodings import NamedEncoding as NamedEncoding
    from piecework.spec.encodings import named_encoding as named_encoding
    from piecework.spec.encodings import named_pre_tokenizer as named_pre_tokenizer
    from piecework.spec.encodings import split_bytes as split_bytes
    from piecework.spec.models import BPE as BPE
    from piecework.spec.models import Char as Char
    from piecework.spec.models import Model as Model
    from piecework.spec.models import Unigram as Unigram
    from piecework.spec.models import WordLevel as WordLevel
    from piecework.spec.models import WordPiece as WordPiece
    from piecework.spec.normalizers import NFC as NFC
    from piecework.spec.normalizers import NFD as NFD
    from piecework.spec.normalizers import NFKC as NFKC
    from piecework.spec.normalizers import NFKD as NFKD
    from piecework.spec.normalizers import BertNormalizer as BertNormalizer
    from piecework.spec.normalizers import ByteLevelNormalizer as ByteLevelNormalizer
    from piecework.spec.normalizers import Lowercase as Lowercase
    from piecework.spec.normalizers import Nmt as Nmt
    from piecework.spec.normalizers import Normalizer as Normalizer
    from piecework.spec.normalizers import Precompiled as Precompiled
    from piecework.spec.normalizers import Prepend as Prepend
    from piecework.spec.normalizers import Replace as Replace
    from piecework.spec.normalizers import SequenceNormalizer as SequenceNormalizer
    from piecework.spec.normalizers import Strip as Strip
    from piecework.spec.normalizers import StripAccents as StripAccents
    from piecework.spec.patterns import Pattern as Pattern
    from piecework.spec.patterns import Regex as Regex
    from piecework.spec.portable import portable_json as portable_json
    from piecework.spec.post_processors import BertProcessing as BertProcessing
    from piecework.spec.post_processors import ByteLevelProcessing as ByteLevelProcessing
    from piecework.spec.post_processors import PostProcessor as PostProcessor
    from piecework.spec.post_processors import RobertaProcessing as RobertaProcessing
    from piecework.spec.post_processors import SequenceProcessing as SequenceProcessing
    from piecework.spec.post_processors import TemplateProcessing as TemplateProcessing
    from piecework.spec.pre_tokenizers import BertPreTokenizer as BertPreTokenizer
    from piecework.spec.pre_tokenizers import ByteLevel as ByteLevel
    from piecework.spec.pre_tokenizers import CharDelimiterSplit as CharDelimiterSplit
    from piecework.spec.pre_tokenizers import Digits as Digits
    from piecework.spec.pre_tokenizers import FixedLength as FixedLength
    from piecework.spec.pre_tokenizers import Metaspace as Metaspace
    from piecework.spec.pre_tokenizers import PreTokenizer as PreTokenizer
    from piecework.spec.pre_tokenizers import Punctuation as Punctuation
    from piecework.spec.pre_tokenizers import SequencePreTokenizer as SequencePreTokenizer
    from piecework.spec.pre_tokenizers import Split as Split
    from piecework.spec.pre_tokenizers import UnicodeScripts as UnicodeScripts
    from piecework.spec.pre_tokenizers import Whitespace as Whitespace
    from piecework.spec.pre_tokenizers import WhitespaceSplit as WhitespaceSplit
    from piecework.spec.sentencepiece import PieceType as PieceType
    from piecework.spec.sentencepiece import ScoredPiece as ScoredPiece
    from piecework.spec.sentencepiece import SentencePiece as SentencePiece
    from piecework.spec.sentencepiece import SentencePieceDecoder as SentencePieceDecoder
    from piecework.spec.sentencepiece import SentencePieceKind as SentencePieceKind
    from piecework.spec.sentencepiece import SentencePieceNormalizer as SentencePieceNormalizer
    from piecework.spec.tokenizer_spec import AddedToken as AddedToken
    from piecework.spec.tokenizer_spec import Padding as Padding
    from piecework.spec.tokenizer_spec import ParseSpecial as ParseSpecial
    from piecework.spec.tokenizer_spec import TokenizerSpec as TokenizerSpec
    from piecework.spec.tokenizer_spec import Truncation as Truncation

# Each is imported when it is first read: a text is encoded without them.
_HOMES = {
    "BPE": "models",
    "CTC": "decoders",
    "ENCODINGS": "encodings",
    "NAMED_PATTERNS": "encodings",
    "NFC": "normalizers",
    "NFD": "normalizers",
    "NFKC": "normalizers",
    "NFKD": "normalizers",
    "AddedToken": "tokenizer_spec",
    "BPEDecoder": "decoders",
    "BertNormalizer": "normalizers",
    "BertPreTokenizer": "pre_tokenizers",
    "BertProcessing": "post_processors",
    "ByteFallback": "decoders",
    "ByteLevel": "pre_tokenizers",
    "ByteLevelDecoder": "decoders",
    "ByteLevelNormalizer": "normalizers",
    "ByteLevelProcessing": "post_processors",
    "Char": "models",
    "CharDecoder": "decoders",
    "CharDelimiterSplit": "pre_tokenizers",
    "CustomNormalizer": "custom",
    "CustomPreTokenizer": "custom",
    "Decoder": "decoders",
    "Digits": "pre_tokenizers",
    "FixedLength": "pre_tokenizers",
    "Fuse": "decoders",
    "Lowercase": "normalizers",
    "Metaspace": "pre_tokenizers",
    "MetaspaceDecoder": "decoders",
    "Model": "models",
    "NamedEncoding": "encodings",
    "Nmt": "normalizers",
    "Normalizer": "normalizers",
    "Padding": "tokenizer_spec",
    "ParseSpecial": "tokenizer_spec",
    "Pattern": "patterns",
    "PieceType": "sentencepiece",
    "PostProcessor": "post_processors",
    "PreTokenizer": "pre_tokenizers",
    "Precompiled": "normalizers",
    "Prepend": "normalizers",
    "Punctuation": "pre_tokenizers",
    "Regex": "patterns",
    "Replace": "normalizers",
    "ReplaceDecoder": "decoders",
    "RobertaProcessing": "post_processors",
    "ScoredPiece": "sentencepiece",
    "SentencePiece": "sentencepiece",
    "SentencePieceDecoder": "sentencepiece",
    "SentencePieceKind": "sentencepiece",
    "SentencePieceNormalizer": "sentencepiece",
    "SequenceDecoder": "decoders",
    "SequenceNormalizer": "normalizers",
    "SequencePreTokenizer": "pre_tokenizers",
    "SequenceProcessing": "post_processors",
    "Split": "pre_tokenizers",
    "Strip": "normalizers",
    "StripAccents": "normalizers",
    "StripDecoder": "decoders",
    "TemplateProcessing": "post_processors",
    "TokenizerSpec": "tokenizer_spec",
    "Truncation": "tokenizer_spec",
    "UnicodeScripts": "pre_tokenizers",
    "Unigram": "models",
    "Whitespace": "pre_tokenizers",
    "WhitespaceSplit": "pre_tokenizers",
    "WordLevel": "models",
    "WordPiece": "models",
    "WordPieceDecoder": "decoders",
    "named_encoding": "encodings",
    "named_pre_tokenizer": "encodings",
    "portable_json": "portable",
    "split_bytes": "encodings",
}
__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
