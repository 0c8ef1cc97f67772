"""Where a text can be cut so that the ids of each side do not depend on the other.

A cut is before an ASCII space that follows a character other than whitespace. It is safe if no stage looks
across it: the normalizers below compose nothing with a space, the pre-tokenizers split there whatever the
neighbours are, models segment single pre-tokens, and no added token contains or consumes the space.
"""

from __future__ import annotations

import re
from typing import Any

from piecework.spec.encodings import NAMED_PATTERNS, named_pre_tokenizer
from piecework.spec.models import BPE, WordLevel, WordPiece
from piecework.spec.normalizers import NFC, BertNormalizer
from piecework.spec.pre_tokenizers import BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit
from piecework.spec.tokenizer_spec import AddedToken, TokenizerSpec

CUT = re.compile(r"(?<=\S) ")
"""Matches the space after a cut."""

# BLOOM's pattern splits elsewhere.
_PATTERNS = [named_pre_tokenizer(name) for name in NAMED_PATTERNS if name != "bloom"]
_NORMALIZERS = (type(None), BertNormalizer, NFC)
_WORD_PRE_TOKENIZERS = (BertPreTokenizer, Whitespace, WhitespaceSplit)


def can_be_cut(spec: TokenizerSpec) -> bool:
    """Return whether texts can be cut for these stages; truncation, padding and dropout are not considered.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0})
    >>> can_be_cut(pw.TokenizerSpec(model, pre_tokenizer=BertPreTokenizer()))
    True
    >>> can_be_cut(pw.TokenizerSpec(model))
    False
    """
    splits = isinstance(spec.pre_tokenizer, _WORD_PRE_TOKENIZERS) or _is_known(spec.pre_tokenizer)
    return (
        splits
        and isinstance(spec.normalizer, _NORMALIZERS)
        and isinstance(spec.model, (WordPiece, BPE, WordLevel))
        and not any(map(_consumes_spaces, spec.added_tokens))
    )


def _is_known(pre_tokenizer: Any) -> bool:
    if isinstance(pre_tokenizer, ByteLevel):
        return pre_tokenizer.use_regex
    return pre_tokenizer in _PATTERNS


def _consumes_spaces(token: AddedToken) -> bool:
    return token.lstrip or token.rstrip or any(map(str.isspace, token.content))
