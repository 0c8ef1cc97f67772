"""Build a template from its items and a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from piecework.spec.post_processors import TemplateProcessing

_SEQUENCES = {"$A", "$B"}


def template_for(
    single: tuple[str, ...], pair: tuple[str, ...], vocab: Mapping[str, int]
) -> TemplateProcessing | None:
    """Return the template with the ids of its special tokens, None if the vocabulary lacks one.

    >>> items = ("$A:0", "</s>:0")
    >>> template_for(items, (*items, "$B:0", "</s>:0"), {"</s>": 1}).special_tokens
    {'</s>': (1,)}

    `single` and `pair` have the items of `TemplateProcessing`, such as "[CLS]:0", "$A:0", "[SEP]:0".
    """
    tokens = {item.rpartition(":")[0] for item in (*single, *pair)} - _SEQUENCES
    if not tokens <= vocab.keys():
        return None
    return TemplateProcessing(single, pair, {token: (vocab[token],) for token in sorted(tokens)})
