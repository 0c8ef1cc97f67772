"""Normalizers around the one of a SentencePiece model: for decoded text, and for sentences with symbols."""

from __future__ import annotations

import re
from collections.abc import Sequence

from piecework.normalization_rules import NormalizationRules
from piecework.spec import (
    Normalizer,
    Regex,
    Replace,
    SentencePieceNormalizer,
    SequenceNormalizer,
)


def denormalizer_of(rules: NormalizationRules | None) -> SentencePieceNormalizer | None:
    """Return what applies rules to decoded text and leaves its spaces alone."""
    if rules is None:
        return None
    return SentencePieceNormalizer(
        rules.charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )


def replacing(texts: Sequence[str], normalizer: Normalizer) -> Normalizer:
    """Write a tab for each of the texts that is left by a normalizer; no piece has one."""
    if not texts:
        return normalizer
    pattern = Regex("|".join(map(re.escape, texts)))
    return SequenceNormalizer((normalizer, Replace(pattern, "\t")))
