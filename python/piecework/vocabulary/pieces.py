"""Edit the pieces of a SentencePiece model, or restrict its output to some of them.

Normalizer and decoder are updated to match. Self-tests are dropped, because the edit can change their
pieces.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

from piecework._internal._core import read_sentencepiece_vocab
from piecework._internal.validation import (
    PathLike,
    check_number,
    check_tokenizer,
    listed,
    path_text,
)
from piecework.errors import ArgumentError
from piecework.io.read_file import file_bytes
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
from piecework.spec.post_processors import template_for
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.alphabet import FIXED_TYPES, all_ids
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed, same_ids

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


def add_pieces(spec: TokenizerSpec, pieces: Iterable[ScoredPiece]) -> TokenizerSpec:
    """Return the specification with these pieces appended.

    >>> from piecework.spec import ScoredPiece, SentencePiece
    >>> spec = TokenizerSpec(SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"),)))
    >>> add_pieces(spec, [ScoredPiece("<sep>", 0.0, "user_defined")]).model.vocab
    {'<unk>': 0, '<sep>': 1}

    Raises `ArgumentError` unless the model is a SentencePiece model.
    """
    return with_pieces(spec, (*pieces_of(spec).pieces, *pieces))


def remove_pieces(spec: TokenizerSpec, texts: Collection[str]) -> TokenizerSpec:
    """Return the specification without these pieces; later pieces get lower ids.

    >>> spec = TokenizerSpec(SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("a", -1.0))))
    >>> remove_pieces(spec, ["a"]).model.vocab
    {'<unk>': 0}
    """
    model = pieces_of(spec)
    _check_known(model, texts, "texts")
    removed = set(texts)
    return with_pieces(spec, (piece for piece in model.pieces if piece.text not in removed))


def set_scores(spec: TokenizerSpec, scores: Mapping[str, float]) -> TokenizerSpec:
    """Return the specification with other scores for these pieces.

    >>> spec = TokenizerSpec(SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("a", -1.0))))
    >>> set_scores(spec, {"a": -2.5}).model.pieces[1].score
    -2.5
    """
    model = pieces_of(spec)
    _check_known(model, scores, "scores")
    return with_pieces(
        spec, (piece._replace(score=scores.get(piece.text, piece.score)) for piece in model.pieces)
    )


def set_types(spec: TokenizerSpec, types: Mapping[str, PieceType]) -> TokenizerSpec:
    """Return the specification with other types for these pieces.

    >>> spec = TokenizerSpec(SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("a", -1.0))))
    >>> set_types(spec, {"a": "user_defined"}).model.pieces[1].type
    'user_defined'
    """
    model = pieces_of(spec)
    _check_known(model, types, "types")
    return with_pieces(
        spec, (piece._replace(type=types.get(piece.text, piece.type)) for piece in model.pieces)
    )


def restrict_pieces(spec: TokenizerSpec, texts: Collection[str] | None) -> TokenizerSpec:
    """Return the specification that outputs only these pieces and single characters; None means all pieces.

    Control, unknown, user-defined and byte pieces and the score of unknown characters do not change.
    Raises `ArgumentError` for word and character models.
    """
    model = pieces_of(spec)
    if model.kind not in ("unigram", "bpe"):
        problem = f"must be of kind 'unigram' or 'bpe', not of kind {model.kind!r}"
        raise ArgumentError("vocabulary", problem)

    def type_of(piece: ScoredPiece) -> PieceType:
        if piece.type in FIXED_TYPES:
            return piece.type
        return "normal" if texts is None or len(piece.text) == 1 or piece.text in kept else "unused"

    kept = set(texts or ())
    changed = with_pieces(spec, (piece._replace(type=type_of(piece)) for piece in model.pieces))
    scores = [piece.score for piece in model.pieces if piece.type == "normal"]
    lowest = min(scores, default=None) if model.lowest_score is None else model.lowest_score
    return replace(changed, model=replace(pieces_of(changed), lowest_score=lowest))


def bos_eos_template(
    model: Model, *, bos: bool = False, eos: bool = False
) -> TemplateProcessing | None:
    """Return the post-processor that adds the bos or eos piece of a SentencePiece model to every text.

    >>> import piecework as pw
    >>> pieces = (("<unk>", 0.0, "unknown"), ("</s>", 0.0, "control"), ("▁", -1.0, "normal"))
    >>> model = pw.spec.SentencePiece(tuple(pw.spec.ScoredPiece(*piece) for piece in pieces))
    >>> tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer())
    >>> tok.with_post_processor(pw.vocabulary.bos_eos_template(model, eos=True)).encode("x").ids
    [2, 0, 1]

    `add_special_tokens=False` omits them. In a pair, each text gets its own. Returns None for neither.
    Raises `ArgumentError` for a piece that the model lacks, and for other models.
    """
    if not isinstance(model, SentencePiece):
        raise ArgumentError("model", f"must be a SentencePiece model, not {type(model).__name__}")
    wanted = {"bos": model.bos_piece if bos else None, "eos": model.eos_piece if eos else None}
    for role, piece in wanted.items():
        if piece is not None and piece not in model.vocab:
            raise ArgumentError(role, f"the model has no piece {piece!r}")
    before, after = ([] if piece is None else [f"{piece}:0"] for piece in wanted.values())
    first, second = (*before, "$A:0", *after), (*before, "$B:0", *after)
    return template_for(first, (*first, *second), model.vocab) if before or after else None


def pieces_of(spec: TokenizerSpec) -> SentencePiece:
    """Return the model; raises `ArgumentError` unless it is a SentencePiece model."""
    model = checked_spec(spec).model
    if not isinstance(model, SentencePiece):
        raise ArgumentError("model", f"must be a SentencePiece model, not {type(model).__name__}")
    return model


def with_pieces(spec: TokenizerSpec, pieces: Iterable[ScoredPiece]) -> TokenizerSpec:
    """Return the specification with other pieces, and normalizer and decoder to match."""
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
            raise ArgumentError(argument, f"{text!r} is not a piece of the vocabulary")


# ---- a tokenizer with some pieces


def restrict(
    tokenizer: Tokenizer,
    vocabulary: PathLike | Collection[str] | Mapping[str, float] | None,
    *,
    threshold: float = 1,
) -> ChangedVocabulary:
    """Restrict a SentencePiece tokenizer to these pieces and single characters.

    >>> import piecework as pw
    >>> scored = {"<unk>": 0.0, "▁": -4.0, "h": -4.0, "i": -4.0, "▁hi": -2.0}
    >>> types = {"<unk>": "unknown"}
    >>> model = pw.spec.SentencePiece(
    ...     tuple(
    ...         pw.spec.ScoredPiece(text, score, types.get(text, "normal"))
    ...         for text, score in scored.items()
    ...     )
    ... )
    >>> tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer())
    >>> tok.encode("hi").tokens, pw.vocabulary.restrict(tok, []).tokenizer.encode("hi").tokens
    (['▁hi'], ['▁', 'h', 'i'])

    `vocabulary` is a collection of pieces, a mapping from piece to count, or a file with a piece, a tab
    and its count in each line. Pieces with a count of at least `threshold` are kept. None restores all
    pieces. Ids do not change. Raises `ArgumentError` for models other than SentencePiece Unigram and
    BPE.
    """
    check_tokenizer(tokenizer)
    spec = restrict_pieces(tokenizer.spec, _kept_pieces(vocabulary, threshold))
    return changed(tokenizer, spec, same_ids(all_ids(spec)))


def _kept_pieces(
    vocabulary: PathLike | Collection[str] | Mapping[str, float] | None, threshold: float
) -> Collection[str] | None:
    """Return the pieces to keep; None keeps all.

    `vocabulary` is a collection of pieces, a mapping from piece to count, or a file with a piece, a tab
    and its count in each line. Of counts, pieces with at least `threshold` are kept.
    """
    check_number("threshold", threshold, (int, float), "a number")
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str | os.PathLike):
        source = path_text(vocabulary, "vocabulary")
        counts = read_sentencepiece_vocab(file_bytes(source, "pieces and counts"), source)
        return {piece for piece, count in counts if count >= threshold}
    if isinstance(vocabulary, Mapping):
        for count in vocabulary.values():
            check_number("vocabulary", count, (Real,), "a mapping from pieces to counts")
        return {piece for piece, count in vocabulary.items() if count >= threshold}
    return listed(vocabulary, "vocabulary")
