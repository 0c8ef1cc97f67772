"""The pieces of a SentencePiece trainer: the merges of BPE, and the likelihoods of Unigram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from piecework._internal.step_selection import Selection
from piecework.analysis.training.limits import check_one_stage, check_same, check_small
from piecework.analysis.training.merges import Replay, settings_of, tied_pairs
from piecework.analysis.training.steps import PairScore, TrainingEstimate, TrainingMerge
from piecework.analysis.training.trace import TrainingTrace
from piecework.analysis.training.unigram import ReplayStart, UnigramReplay, check_word
from piecework.reference.sentencepiece_training import Shape, allows, unigram_seeds
from piecework.reference.unigram_training import around_symbols, within_alphabet
from piecework.reference.words import count_parts
from piecework.train import Counts, SentencePieceTrainer
from piecework.train.learned import LearnedPieces
from piecework.train.trainers.sentencepiece_settings import with_learned

MAX_CHARACTERS = 20_000

Pair = tuple[str, str]


def trace_sentencepiece(
    counts: Counts, trainer: SentencePieceTrainer, wanted: Selection, top: int, word: str | None
) -> TrainingTrace:
    """Trace the merges of BPE and the steps of Unigram; words and characters have no steps.

    BPE has no steps if characters or symbols are cut out of the words before they are merged.
    """
    check_one_stage(trainer.transition, "llama")
    if trainer.model_type == "bpe" or is_replayed(trainer):
        check_small(counts, MAX_CHARACTERS, f"SentencePiece {trainer.model_type}")
    learned = trainer.learn_pieces(counts)
    words = list(counts)
    if is_replayed(trainer):
        check_word(word, words)
        run = UnigramReplay(_start(words, learned, trainer), learned, word)
        taken = [step for step in run.steps(top) if step.number in wanted]
        found = [(piece, float(np.float32(score))) for piece, score in run.chosen_pieces()]
        check_same(found, list(learned.pieces), "the pieces")
        learner, symbols = _learner(trainer), _symbols(trainer)
        return run.trace(learner, words, taken, symbols, _entries(trainer, learned))
    alphabet = {piece for piece, _ in learned.pieces if len(piece) == 1}
    is_whole = alphabet.issuperset("".join(word for word, _ in words)) and not _cuts_words(trainer)
    steps: list[TrainingMerge] | list[TrainingEstimate] = _estimates(learned, trainer)
    count = len(steps)
    merges = [piece for piece, _ in learned.pieces if len(piece) > 1]
    if trainer.model_type == "bpe" and is_whole:
        steps, count = list(_merges(words, merges, trainer, wanted, top)), len(merges)
    entries = _entries(trainer, learned)
    return TrainingTrace(
        learner=_learner(trainer),
        words=tuple(words),
        special_tokens=tuple(_symbols(trainer)),
        alphabet=tuple(sorted(alphabet)),
        splits=tuple((tuple(word), count) for word, count in words),
        steps=tuple(step for step in steps if step.number in wanted),
        step_count=count,
        vocab=tuple(text for text, _ in entries),
        scores=tuple(score for _, score in entries),
    )


def _learner(trainer: SentencePieceTrainer) -> str:
    return f"SentencePiece, model type {trainer.model_type!r}"


def _symbols(trainer: SentencePieceTrainer) -> list[str]:
    """Return the texts of the pieces that are not learned."""
    return [piece.text for piece in trainer.meta_pieces.values()]


def _entries(trainer: SentencePieceTrainer, learned: LearnedPieces) -> list[tuple[str, float]]:
    """Return the pieces of the model with their scores, in the order of their ids."""
    pieces = with_learned(trainer.meta_pieces, learned.pieces)
    return [(piece.text, piece.score) for piece in pieces]


def _cuts_words(trainer: SentencePieceTrainer) -> bool:
    symbols = trainer.user_defined_symbols or trainer.user_defined_symbols_file
    return bool(symbols or trainer.pretokenization_delimiter)


def _estimates(learned: LearnedPieces, trainer: SentencePieceTrainer) -> list[TrainingEstimate]:
    per_round = trainer.num_sub_iterations
    return [
        TrainingEstimate(
            number=number,
            round=(number - 1) // per_round + 1,
            iteration=(number - 1) % per_round + 1,
            pieces=step.pieces,
            log_likelihood=step.log_likelihood,
            estimates=(),
            dropped=(),
        )
        for number, step in enumerate(learned.steps, 1)
    ]


# ---- Unigram


def is_replayed(trainer: Any) -> bool:
    """Return whether the reference can repeat a Unigram learner; other ones show likelihoods only.

    >>> is_replayed(SentencePieceTrainer()), is_replayed(SentencePieceTrainer("bpe"))
    (True, False)
    """
    has_own_seeds = trainer.learner or trainer.seed_sentencepieces_file
    is_cut = trainer.pretokenization_delimiter
    return trainer.model_type == "unigram" and not has_own_seeds and not is_cut


def _start(
    words: list[tuple[str, int]], learned: LearnedPieces, trainer: SentencePieceTrainer
) -> ReplayStart:
    symbols = _symbols(trainer)
    parts = around_symbols(words, symbols)
    counts = count_parts(parts, iter)
    # Every character of the alphabet is a piece.
    alphabet = sorted(
        (piece for piece, _ in learned.pieces if len(piece) == 1),
        key=lambda c: (c not in trainer.required_chars, -counts[c], c),
    )
    segments = within_alphabet(parts, alphabet)
    shape = settings_of(Shape, trainer)
    size = trainer.vocab_size - len(symbols)
    if trainer.hard_vocab_limit is None:  # the trainer learned the largest size that there is
        size = min(size, len(learned.pieces))
    return ReplayStart(
        segments,
        unigram_seeds(segments, symbols, shape, trainer.seed_sentencepiece_size),
        alphabet,
        symbols,
        size,
        0 if trainer.hard_vocab_limit is False else size,
        trainer.shrinking_factor,
        trainer.num_sub_iterations,
    )


# ---- BPE


def _merges(
    words: Sequence[tuple[str, int]],
    merges: Sequence[str],
    trainer: SentencePieceTrainer,
    wanted: Selection,
    top: int,
) -> Iterator[TrainingMerge]:
    """Replay the merges of the trainer with the counts of all pairs."""
    shape = settings_of(Shape, trainer)
    replay = Replay(words)
    known: set[str] = set()
    for number, piece in enumerate(merges, 1):
        order = _ranked(replay.splits, known, shape)
        check_same(order[0].token if order else None, piece, f"merge {number}")
        size = len(trainer.meta_pieces) + number
        step = replay.step(number, order, top, reason=_reason(order), vocab_size=size, is_new=True)
        if number in wanted:
            yield step
        known.add(piece)


def _ranked(
    splits: Sequence[tuple[list[str], int]], known: set[str], shape: Shape
) -> list[PairScore]:
    """Return the pairs that make a new piece: by falling count, then by length, then by code points."""
    pairs, symbols = count_parts(splits, pairwise), count_parts(splits, iter)
    new = [pair for pair in pairs if "".join(pair) not in known and allows("".join(pair), shape)]
    new.sort(key=lambda pair: (-pairs[pair], len("".join(pair)), "".join(pair), pair))
    return [
        PairScore(
            *pair, "".join(pair), pairs[pair], symbols[pair[0]], symbols[pair[1]], pairs[pair]
        )
        for pair in new
    ]


def _reason(order: Sequence[PairScore]) -> str:
    best, tied = order[0], tied_pairs(order)
    if tied > 1:
        return f"{tied:,} pairs occur {best.count:,} times; the shortest piece wins, then the first"
    return f"the most frequent pair, {best.count:,} times"
