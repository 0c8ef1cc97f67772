"""Convert SentencePiece to the components that `transformers` creates from a `.model`, and back.

Some ids differ from SentencePiece: see docs/reference/conformance.md. `Tokenizer.save` uses it for models
that have no components with the same ids.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from piecework._core import Core
from piecework.errors import ArgumentError
from piecework.spec import (
    NFKD,
    AddedToken,
    ByteFallback,
    Char,
    Fuse,
    Lowercase,
    Metaspace,
    MetaspaceDecoder,
    Precompiled,
    Prepend,
    Regex,
    Replace,
    ReplaceDecoder,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    SequenceDecoder,
    SequenceNormalizer,
    SequencePreTokenizer,
    Strip,
    StripAccents,
    StripDecoder,
    TokenizerSpec,
    Unigram,
    WhitespaceSplit,
)
from piecework.spec.patterns import PrependScheme
from piecework.spec.portable import bpe_of
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.pieces import pieces_of

_METASPACE = "▁"
_SPACE_REMOVAL = (Strip(left=False, right=True), Replace(Regex(" {2,}"), _METASPACE))
_QUOTES = (Replace("``", '"'), Replace("''", '"'))


def as_components(spec: TokenizerSpec) -> TokenizerSpec:
    """Return a SentencePiece Unigram or BPE tokenizer as components of tokenizer.json.

    >>> pieces = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁hug", -3.5))
    >>> normalizer = SentencePieceNormalizer()
    >>> as_components(TokenizerSpec(SentencePiece(pieces), normalizer)).model.vocab
    {'<unk>': 0, '▁hug': 1}

    Control and unknown pieces become special tokens, user-defined pieces added tokens. Raises
    `ArgumentError` for word and character models, and for `treat_whitespace_as_suffix`.
    """
    model, normalizer = pieces_of(spec), spec.normalizer
    if not isinstance(normalizer, SentencePieceNormalizer) or normalizer.treat_whitespace_as_suffix:
        problem = f"must be a SentencePieceNormalizer with spaces as prefixes, not {normalizer!r}"
        raise ArgumentError("normalizer", problem)
    if model.kind == "unigram":
        changed = _unigram(spec, model, normalizer)
    elif model.kind == "bpe":
        changed = _bpe(spec, model, normalizer)
    else:
        problem = f"must be of kind 'unigram' or 'bpe', not of kind {model.kind!r}"
        raise ArgumentError("model", problem)
    given = {token.content for token in spec.added_tokens}
    missing = (token for token in _added_tokens(model) if token.content not in given)
    return replace(changed, added_tokens=(*missing, *spec.added_tokens))


def as_sentencepiece(spec: TokenizerSpec) -> TokenizerSpec:
    """Return a Unigram tokenizer with such components as native SentencePiece stages.

    >>> spec = TokenizerSpec(Unigram((("<unk>", 0.0), ("▁hug", -3.5)), 0), pre_tokenizer=Metaspace())
    >>> as_sentencepiece(spec).model.kind
    'unigram'

    Special tokens become control pieces, other added tokens user-defined pieces. Raises `ArgumentError`
    with the stage that SentencePiece lacks.
    """
    model = checked_spec(spec).model
    if not isinstance(model, Unigram):
        raise ArgumentError("model", f"must be a Unigram model, not {type(model).__name__}")
    special = {token.content for token in spec.added_tokens if token.special}
    added = {token.content for token in spec.added_tokens if not token.special}

    def piece(id: int, text: str, score: float) -> ScoredPiece:
        if id == model.unk_id:
            return ScoredPiece(text, score, "unknown")
        if text in special:
            return ScoredPiece(text, score, "control")
        if text in added:
            return ScoredPiece(text, score, "user_defined")
        is_byte = model.byte_fallback and len(text) == 6 and text.startswith("<0x")
        return ScoredPiece(text, score, "byte" if is_byte else "normal")

    pieces = tuple(piece(id, text, score) for id, (text, score) in enumerate(model.pieces))
    _check_added(spec, model)
    normalizer = _merged_normalizer(spec, tuple(p.text for p in pieces if p.type == "user_defined"))
    return TokenizerSpec(
        SentencePiece(pieces, byte_fallback=model.byte_fallback),
        normalizer,
        decoder=SentencePieceDecoder(
            add_dummy_prefix=normalizer.add_dummy_prefix,
            remove_extra_whitespaces=normalizer.remove_extra_whitespaces,
            unk_piece=model.unk_token or "<unk>",
            control_symbols=tuple(p.text for p in pieces if p.type == "control"),
            byte_fallback=model.byte_fallback,
        ),
        post_processor=spec.post_processor,
        truncation=spec.truncation,
        padding=spec.padding,
    )


def _unigram(
    spec: TokenizerSpec, model: SentencePiece, normalizer: SentencePieceNormalizer
) -> TokenizerSpec:
    entries = tuple((piece.text, piece.score) for piece in model.pieces)
    unk_id = model.vocab.get(model.unk_token or "")
    stages = _rules(normalizer.charsmap)
    scheme: PrependScheme = "always" if normalizer.add_dummy_prefix else "never"
    splits: Any = Metaspace(_METASPACE, scheme)
    if _splits_at_whitespace(normalizer):
        splits = SequencePreTokenizer((WhitespaceSplit(), splits))
    elif normalizer.remove_extra_whitespaces:
        stages += _SPACE_REMOVAL
    return replace(
        spec,
        model=Unigram(entries, unk_id, model.byte_fallback),
        normalizer=SequenceNormalizer(stages) if stages else None,
        pre_tokenizer=splits,
        decoder=_with_bytes(MetaspaceDecoder(_METASPACE, scheme), model.byte_fallback),
    )


def _bpe(
    spec: TokenizerSpec, model: SentencePiece, normalizer: SentencePieceNormalizer
) -> TokenizerSpec:
    prefix: tuple[Any, ...] = (Prepend(_METASPACE),) if normalizer.add_dummy_prefix else ()
    rules = _rules(normalizer.charsmap)
    if normalizer.remove_extra_whitespaces:
        rules += _SPACE_REMOVAL
    stripped = (StripDecoder(" ", start=1),) if normalizer.add_dummy_prefix else ()
    return replace(
        spec,
        model=bpe_of(model, merges_of(model)),
        normalizer=SequenceNormalizer((*rules, *prefix, Replace(" ", _METASPACE))),
        decoder=SequenceDecoder(
            (ReplaceDecoder(_METASPACE, " "), ByteFallback(), Fuse(), *stripped)
        ),
    )


def _rules(charsmap: bytes) -> tuple[Any, ...]:
    """Return the normalizers for these rules: what ALBERT and XLNet do before them, then `Precompiled`."""
    return (*_preprocessing(charsmap), Precompiled(charsmap)) if charsmap else ()


def _preprocessing(charsmap: bytes) -> tuple[Any, ...]:
    """Return the preprocessing of ALBERT and XLNet if the rules include it, as the presets' rules do."""
    if _applied(charsmap, "``''") != '""' or _applied(charsmap, "É") not in ("E", "e"):
        return ()
    lowers = _applied(charsmap, "É") == "e"
    return (*_QUOTES, NFKD(), StripAccents(), *((Lowercase(),) if lowers else ()))


def _splits_at_whitespace(normalizer: SentencePieceNormalizer) -> bool:
    """Whether the rules leave no whitespace but spaces and the model removes these: words are split."""
    return (
        normalizer.remove_extra_whitespaces
        and normalizer.add_dummy_prefix
        and _applied(normalizer.charsmap, "\n\t") == "  "
    )


def _applied(charsmap: bytes, text: str) -> str:
    rules = SentencePieceNormalizer(charsmap, False, False, False)
    specification, _ = TokenizerSpec(Char({"[UNK]": 0}), normalizer=rules).to_core()
    return Core.from_json(specification.encode(), "").normalize(text)


def merges_of(model: SentencePiece) -> tuple[tuple[str, str], ...]:
    """Return all splits of a piece into two pieces, by decreasing score, then by the ids of the two."""
    scored = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    vocab = model.vocab
    merges = [
        (-score, vocab[text[:cut]], vocab[text[cut:]], text[:cut], text[cut:])
        for text, score in scored.items()
        for cut in range(1, len(text))
        if text[:cut] in scored and text[cut:] in scored
    ]
    return tuple((left, right) for *_, left, right in sorted(merges))


def _with_bytes(decoder: MetaspaceDecoder, byte_fallback: bool) -> Any:
    return SequenceDecoder((ByteFallback(), decoder)) if byte_fallback else decoder


def _added_tokens(model: SentencePiece) -> list[AddedToken]:
    special = {"unknown": True, "control": True, "user_defined": False}
    return [
        AddedToken(piece.text, id, normalized=False, special=special[piece.type])
        for id, piece in enumerate(model.pieces)
        if piece.type in special
    ]


def _check_added(spec: TokenizerSpec, model: Unigram) -> None:
    for token in spec.added_tokens:
        if token.content not in model.vocab:
            raise ArgumentError("added_tokens", f"{token.content!r} is not a piece of the model")


def _merged_normalizer(spec: TokenizerSpec, symbols: tuple[str, ...]) -> SentencePieceNormalizer:
    given, splits = spec.normalizer, spec.pre_tokenizer
    stages: tuple[Any, ...] = () if given is None else (given,)
    if isinstance(given, SequenceNormalizer):
        stages = given.normalizers
    charsmap = next((stage.charsmap for stage in stages if isinstance(stage, Precompiled)), b"")
    rules = _rules(charsmap)
    rest = stages[len(rules) :] if stages[: len(rules)] == rules else stages
    trims = rest == _SPACE_REMOVAL
    if rest and not trims:
        problem = f"must be Precompiled, then the removal of extra spaces, not {given!r}"
        raise ArgumentError("normalizer", problem)
    if isinstance(splits, SequencePreTokenizer) and splits.pretokenizers[:-1] == (
        WhitespaceSplit(),
    ):
        trims, splits = True, splits.pretokenizers[-1]
    if not isinstance(splits, Metaspace) or splits.replacement != _METASPACE:
        raise ArgumentError("pre_tokenizer", f"must be Metaspace, not {spec.pre_tokenizer!r}")
    return SentencePieceNormalizer(
        charsmap=charsmap,
        add_dummy_prefix=splits.prepend_scheme != "never",
        remove_extra_whitespaces=trims,
        user_defined_symbols=symbols,
    )
