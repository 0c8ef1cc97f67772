"""Write a SentencePiece tokenizer as transformers would, and measure on sample texts what that changes.

`spec.portable` converts what has the same ids everywhere. The rest gets the components of `as_components`,
which transformers makes of the same `.model`.
"""

from __future__ import annotations

from typing import Any, Protocol

from piecework.errors import ArgumentError, PortabilityError
from piecework.spec import (
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    TokenizerSpec,
)
from piecework.spec.portable import portable_spec
from piecework.vocabulary.components import as_components
from piecework.vocabulary.sample_texts import SAMPLE_TEXTS

_OTHER_SUMS = "add scores in 64 bits and not in 32"


class _Encodes(Protocol):
    def encode(self, text: str) -> Any: ...

    def encode_batch(self, texts: list[str]) -> Any: ...


def portable_or_nearest(spec: TokenizerSpec, *, strict: bool) -> tuple[TokenizerSpec, str | None]:
    """Return components for a SentencePiece tokenizer, and why ids can differ, None if they cannot.

    Raises `PortabilityError` if there are none; with `strict`, also for components with other ids.
    """
    try:
        portable = portable_spec(spec)
    except PortabilityError as error:
        if strict:
            raise
        return _nearest(spec, error), _reason(spec, error)
    is_unigram = isinstance(spec.model, SentencePiece) and spec.model.kind == "unigram"
    return portable, _OTHER_SUMS if is_unigram else None


def _nearest(spec: TokenizerSpec, error: PortabilityError) -> TokenizerSpec:
    """Return the components that transformers makes of this tokenizer; raise `error` if it makes none.

    None exist for unused pieces, denormalization rules, and kinds of models that transformers does not read.
    """
    model, decoder = spec.model, spec.decoder
    if (
        not isinstance(model, SentencePiece)
        or spec.pre_tokenizer is not None
        or model.lowest_score is not None
        or any(piece.type == "unused" or not piece.text for piece in model.pieces)
        or (isinstance(decoder, SentencePieceDecoder) and decoder.denormalizer is not None)
    ):
        raise error
    try:
        components = as_components(spec)
    except ArgumentError:
        raise error from None
    return portable_spec(components)


def _reason(spec: TokenizerSpec, error: PortabilityError) -> str:
    """Return what other libraries do differently, as the end of a sentence."""
    model, normalizer = spec.model, spec.normalizer
    acts = ["match control pieces in text"]
    if isinstance(model, SentencePiece) and any(p.type == "user_defined" for p in model.pieces):
        acts.append("split a text at user-defined pieces")
    if isinstance(normalizer, SentencePieceNormalizer) and normalizer.charsmap:
        acts.append("apply normalization rules within grapheme clusters")
    if len(acts) == 1:
        acts = [f"read {error.place} differently ({error.found})"]
    return " and ".join(filter(None, (", ".join(acts[:-1]), acts[-1])))


def warning_of(reason: str, before: _Encodes, after: _Encodes) -> str:
    """Return the text of a `PortabilityWarning`: how many sample texts have other ids, with an example."""
    return (
        f"ids can differ in other libraries, which {reason}: {_measured(before, after)}; "
        "a .model file keeps the ids"
    )


def _measured(before: _Encodes, after: _Encodes) -> str:
    texts = list(SAMPLE_TEXTS)
    rows = zip(
        texts,
        before.encode_batch(texts).to_lists(),
        after.encode_batch(texts).to_lists(),
        strict=True,
    )
    changed = [text for text, old, new in rows if old != new]
    if not changed:
        return f"none of {len(texts)} sample texts has others"
    share = f"{len(changed)} of {len(texts)} sample texts ({len(changed) / len(texts):.0%})"
    return f"{share} have others, such as {_example(changed[0], before, after)}"


def _example(text: str, before: _Encodes, after: _Encodes) -> str:
    """Show the tokens of the first word that differs by itself, else those of the whole text."""
    for part in (*text.split(), text):
        old, new = before.encode(part), after.encode(part)
        if old.ids != new.ids:
            break
    return f"{part!r} with {' '.join(new.tokens)} instead of {' '.join(old.tokens)}"
