"""Pieces of SentencePiece changed one by one: specification in, specification out.

What the normalizer and the decoder know of pieces follows; texts of a self-test go, since their pieces
may be others now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from piecework.errors import ArgumentError
from piecework.spec import (
    Model,
    PieceType,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    TemplateProcessing,
    TokenizerSpec,
)
from piecework.spec.tokenizer_spec import checked_spec

_FIXED = ("control", "unknown", "user_defined", "byte")


def add_pieces(spec: TokenizerSpec, pieces: Iterable[ScoredPiece]) -> TokenizerSpec:
    """Return a specification with further pieces after the others.

    >>> from piecework.spec import ScoredPiece, SentencePiece
    >>> spec = TokenizerSpec(SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"),)))
    >>> add_pieces(spec, [ScoredPiece("<sep>", 0.0, "user_defined")]).model.vocab
    {'<unk>': 0, '<sep>': 1}

    Raises `ArgumentError` for another model than SentencePiece's.
    """
    return _with_pieces(spec, (*pieces_of(spec).pieces, *pieces))


def remove_pieces(spec: TokenizerSpec, texts: Collection[str]) -> TokenizerSpec:
    """Return a specification without these pieces; ids above a removed one move down."""
    model = pieces_of(spec)
    _check_known(model, texts, "texts")
    gone = set(texts)
    return _with_pieces(spec, (piece for piece in model.pieces if piece.text not in gone))


def set_scores(spec: TokenizerSpec, scores: Mapping[str, float]) -> TokenizerSpec:
    """Return a specification in which these pieces have other scores."""
    model = pieces_of(spec)
    _check_known(model, scores, "scores")
    return _with_pieces(
        spec, (piece._replace(score=scores.get(piece.text, piece.score)) for piece in model.pieces)
    )


def set_types(spec: TokenizerSpec, types: Mapping[str, PieceType]) -> TokenizerSpec:
    """Return a specification in which these pieces have other types."""
    model = pieces_of(spec)
    _check_known(model, types, "types")
    return _with_pieces(
        spec, (piece._replace(type=types.get(piece.text, piece.type)) for piece in model.pieces)
    )


def restricted(spec: TokenizerSpec, texts: Collection[str] | None) -> TokenizerSpec:
    """Return a specification that gives out only these pieces and single characters; None: all again.

    Control, unknown, user-defined and byte pieces stay what they are; unknown characters cost what they
    did. Raises `ArgumentError` for models of words and characters.
    """
    model = pieces_of(spec)
    if model.kind not in ("unigram", "bpe"):
        raise ArgumentError("vocabulary", f"a model of kind {model.kind!r}", "'unigram' or 'bpe'")

    def type_of(piece: ScoredPiece) -> PieceType:
        if piece.type in _FIXED:
            return piece.type
        return "normal" if texts is None or len(piece.text) == 1 or piece.text in kept else "unused"

    kept = set(texts or ())
    changed = _with_pieces(spec, (piece._replace(type=type_of(piece)) for piece in model.pieces))
    scores = [piece.score for piece in model.pieces if piece.type == "normal"]
    lowest = min(scores, default=None) if model.lowest_score is None else model.lowest_score
    return replace(changed, model=replace(pieces_of(changed), lowest_score=lowest))


def extras(model: Model, *, bos: bool, eos: bool) -> TemplateProcessing | None:
    """Return what puts the pieces that begin and end a text around it; None for neither."""
    if not isinstance(model, SentencePiece):
        raise ArgumentError("model", type(model).__name__, "a SentencePiece model")
    roles = {"bos": (bos, model.bos_piece), "eos": (eos, model.eos_piece)}
    wanted = {role: piece for role, (is_wanted, piece) in roles.items() if is_wanted}
    for role, piece in wanted.items():
        if piece not in model.vocab:
            raise ArgumentError(role, f"{piece!r}, which is no piece", "a model that has it")

    def around(sequence: str) -> tuple[str, ...]:
        before, after = ([f"{wanted[role]}:0"] if role in wanted else [] for role in ("bos", "eos"))
        return (*before, f"{sequence}:0", *after)

    ids = {piece: (model.vocab[piece],) for piece in wanted.values()}
    return TemplateProcessing(around("$A"), (*around("$A"), *around("$B")), ids) if wanted else None


def pieces_of(spec: TokenizerSpec) -> SentencePiece:
    """Return the model, which must be SentencePiece's."""
    model = checked_spec(spec).model
    if not isinstance(model, SentencePiece):
        raise ArgumentError("model", type(model).__name__, "a SentencePiece model")
    return model


def _with_pieces(spec: TokenizerSpec, pieces: Iterable[ScoredPiece]) -> TokenizerSpec:
    model = replace(pieces_of(spec), pieces=tuple(pieces), self_test=())
    normalizer, decoder = spec.normalizer, spec.decoder
    if isinstance(normalizer, SentencePieceNormalizer):
        symbols = tuple(piece.text for piece in model.pieces if piece.type == "user_defined")
        normalizer = replace(normalizer, user_defined_symbols=symbols)
    if isinstance(decoder, SentencePieceDecoder):
        control = tuple(piece.text for piece in model.pieces if piece.type == "control")
        unk_piece = model.unk_token or decoder.unk_piece
        decoder = replace(decoder, control_symbols=control, unk_piece=unk_piece)
    return replace(spec, model=model, normalizer=normalizer, decoder=decoder)


def _check_known(model: SentencePiece, texts: Iterable[str], argument: str) -> None:
    known = {piece.text for piece in model.pieces}
    for text in texts:
        if text not in known:
            raise ArgumentError(argument, repr(text), "pieces of the vocabulary")
