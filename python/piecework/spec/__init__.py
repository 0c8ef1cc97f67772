"""What a tokenizer can be: one frozen dataclass for each variant of each stage.

Specifications are plain data: compare them with `==`, print them, write them as JSON in the shape
that `tokenizer.json` uses. They do nothing until a `Tokenizer` compiles them.
"""

from piecework.spec.added_tokens import AddedToken
from piecework.spec.decoders import CharDecoder, Decoder, WordPieceDecoder
from piecework.spec.lengths import Padding, Truncation
from piecework.spec.models import Char, Model, Word, WordPiece
from piecework.spec.normalizers import BertNormalizer, Normalizer
from piecework.spec.post_processors import BertProcessing, PostProcessor, Template
from piecework.spec.pre_tokenizers import (
    BertPreTokenizer,
    PreTokenizer,
    Punctuation,
    WhitespaceSplit,
)
from piecework.spec.tokenizer import TokenizerSpec

__all__ = [
    "AddedToken",
    "BertNormalizer",
    "BertPreTokenizer",
    "BertProcessing",
    "Char",
    "CharDecoder",
    "Decoder",
    "Model",
    "Normalizer",
    "Padding",
    "PostProcessor",
    "PreTokenizer",
    "Punctuation",
    "Template",
    "TokenizerSpec",
    "Truncation",
    "WhitespaceSplit",
    "Word",
    "WordPiece",
    "WordPieceDecoder",
]
