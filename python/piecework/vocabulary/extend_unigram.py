"""Learn further pieces for a Unigram model, whose present pieces keep their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from piecework._core import Core
from piecework._internal.types import Update
from piecework.errors import TrainingError
from piecework.spec import (
    ScoredPiece,
    SentencePiece,
    SentencePieceNormalizer,
    TokenizerSpec,
    Unigram,
)
from piecework.train import Counts, SentencePieceTrainer
from piecework.train.segmenter import compiled_model, segment
from piecework.vocabulary.alphabet import entry_scores
from piecework.vocabulary.pieces import with_pieces

_SPECIAL = 3  # unknown, bos and eos pieces of the learned model


def learn_pieces(
    spec: TokenizerSpec,
    counts: Counts,
    n: int,
    min_frequency: int,
    max_token_length: int | None,
    progress: Update | None,
) -> tuple[list[tuple[str, float, tuple[int, ...]]], str | None]:
    """Return at most `n` pieces with scores and the old ids of their texts, and why there are fewer.

    A Unigram model learned from the counts alone proposes pieces with their log probabilities. All of
    them join the present ones, and the words are segmented by both. The gain of a piece is its number of
    uses times the difference between its score and the best score of its text with the present pieces.
    The `n` pieces with the highest gain are kept; ties go to the piece that is first by code points.
    """
    if n == 0:
        return [], None
    old = compiled_model(spec)
    size = 2 * n + len({id for ids in segment(old, counts.words) for id in ids})
    proposed = _proposals(spec, counts, size, max_token_length, progress)
    gains = _gains(spec, old, counts, proposed, min_frequency)
    while len(gains) < n:
        size *= 2
        more = _proposals(spec, counts, size, max_token_length, progress)
        if len(more) <= len(proposed):
            break
        proposed, gains = more, _gains(spec, old, counts, more, min_frequency)
    best = sorted(gains)[:n]
    stopped = None if len(best) == n else f"{len(best)} pieces occur {min_frequency} times or more"
    return [(text, proposed[text], ids) for _, text, ids in best], stopped


def _gains(
    spec: TokenizerSpec,
    old: Core,
    counts: Counts,
    proposed: Mapping[str, float],
    min_frequency: int,
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Return the negative gain, the text and the old ids of each proposed piece with a gain."""
    both = compiled_model(_with_proposals(spec, proposed))
    uses = Counter[int]()
    for ids, frequency in zip(segment(both, counts.words), counts.counts.tolist(), strict=True):
        for id in ids:
            uses[id] += frequency
    first, unknown = len(spec.model.vocab), _unknown_score(spec)
    scores, gains = _scores_by_id(spec), []
    for id, (text, ids) in enumerate(
        zip(proposed, segment(old, list(proposed)), strict=True), first
    ):
        gain = proposed[text] - sum(scores.get(old_id, unknown) for old_id in ids)
        if uses[id] >= max(min_frequency, 1) and gain > 0:
            gains.append((-uses[id] * gain, text, tuple(ids)))
    return gains


def _proposals(
    spec: TokenizerSpec,
    counts: Counts,
    size: int,
    max_token_length: int | None,
    progress: Update | None,
) -> dict[str, float]:
    """Return pieces that a model of the counts has and the present one lacks, with their scores.

    Pieces with characters that the present model lacks are left out. No score is below the lowest present
    one, from which the score of unknown characters is derived.
    """
    known = {text for text in entry_scores(_scored(spec)) if len(text) == 1}
    present = spec.model.vocab.keys() | {token.content for token in spec.added_tokens}
    characters = {char for word in counts.words for char in word}
    normalizer = spec.normalizer
    trainer = SentencePieceTrainer(
        vocab_size=size + len(characters) + _SPECIAL,
        hard_vocab_limit=False,
        max_sentencepiece_length=max_token_length or SentencePieceTrainer.max_sentencepiece_length,
        treat_whitespace_as_suffix=isinstance(normalizer, SentencePieceNormalizer)
        and normalizer.treat_whitespace_as_suffix,
    )
    try:
        learned = trainer.learn(counts, progress)
    except TrainingError:
        return {}  # too few substrings for a model of their own
    lowest = min(entry_scores(_scored(spec)).values(), default=0.0)
    return {
        piece.text: max(piece.score, lowest)
        for piece in learned.pieces
        if piece.type == "normal" and piece.text not in present and known.issuperset(piece.text)
    }


def _scored(spec: TokenizerSpec) -> Unigram | SentencePiece:
    assert isinstance(spec.model, Unigram | SentencePiece)
    return spec.model


def _with_proposals(spec: TokenizerSpec, proposed: Mapping[str, float]) -> TokenizerSpec:
    model = _scored(spec)
    if isinstance(model, SentencePiece):
        new = (ScoredPiece(text, score) for text, score in proposed.items())
        return with_pieces(spec, (*model.pieces, *new))
    return replace(spec, model=replace(model, pieces=(*model.pieces, *proposed.items())))


def _scores_by_id(spec: TokenizerSpec) -> dict[int, float]:
    model = _scored(spec)
    vocab, unknown = model.vocab, model.unk_token
    return {vocab[text]: score for text, score in entry_scores(model).items() if text != unknown}


def _unknown_score(spec: TokenizerSpec) -> float:
    return min(entry_scores(_scored(spec)).values(), default=0.0) - 10.0
