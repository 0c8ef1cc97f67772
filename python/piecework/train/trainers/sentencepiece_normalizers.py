"""Normalizers derived from that of a SentencePiece model: for decoded text, and for training."""

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
    """Return a normalizer that applies rules to decoded text and does not change spaces."""
    if rules is None:
        return None
    return SentencePieceNormalizer(
        rules.charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )


def with_tab_for(texts: Sequence[str], normalizer: Normalizer) -> Normalizer:
    """Return the normalizer followed by replacing each text with a tab, which no piece contains."""
    if not texts:
        return normalizer
    pattern = Regex("|".join(map(re.escape, texts)))
    return SequenceNormalizer((normalizer, Replace(pattern, "\t")))
