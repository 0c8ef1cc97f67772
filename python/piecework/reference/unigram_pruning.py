"""Unigram training with seeds by pruning: the substrings that save most tokens, then probabilities by EM.

**Seeds.** `unigram_training` begins with many substrings and prunes them by likelihood. Here
`wordpiece_pruning` chooses them: without a continuation prefix, from the segments of the words, until they
fill the vocabulary beside the characters. A segment of more than 100 characters is cut into parts of 100 and
a rest.

**Probabilities.** EM begins with the shares of uses, at least 1 each, and runs `num_sub_iterations` times;
nothing is left to prune. With `segmentation="shortest"`, each score is lowered by the same large number, so
that the fewest tokens are the best segmentation, and probabilities decide between equal numbers.

SentencePiece models are learned so too: `allows` has their rules for pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from piecework.reference import wordpiece_pruning
from piecework.reference.unigram_training import (
    Settings,
    Words,
    learn_from,
    segmented,
)
from piecework.reference.wordpiece_pruning import LONGEST_WORD_CHARS, Pruner
from piecework.reference.words import count_parts

TOKEN_COST = 100_000.0


@dataclass(frozen=True)
class PrunedSettings(Settings):
    """What to learn: the fields of Unigram, then the fields of `wordpiece_pruning`."""

    balance: float = 0.0
    max_use_cost: float | None = None
    segmentation: Literal["greedy", "shortest"] = "greedy"


def learn(
    words: Words, settings: PrunedSettings, allows: Callable[[str], bool] | None = None
) -> list[tuple[str, float]]:
    """Return `vocab_size` entries with their scores, or all there are; reserved entries have score 0.

    `allows` says which strings of several characters may be pieces.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> [piece for piece, _ in learn(words, PrunedSettings(vocab_size=13))][3:5]
    ['hug', 'pun']
    """
    segments, reserved, required = segmented(words, settings)
    scores = seeds(segments, reserved, required, settings, allows)
    learned = learn_from(scores, segments, reserved, required, settings)
    pieces = learned[len(reserved) :]
    return learned[: len(reserved)] + [
        (piece, score - token_cost(settings)) for piece, score in pieces
    ]


def token_cost(settings: PrunedSettings) -> float:
    """Return the cost of one token, which is subtracted from each score.

    >>> token_cost(PrunedSettings()), token_cost(PrunedSettings(segmentation="shortest"))
    (0.0, 100000.0)
    """
    return TOKEN_COST if settings.segmentation == "shortest" else 0.0


def seeds(
    segments: Words,
    reserved: Sequence[str],
    required: Sequence[str],
    settings: PrunedSettings,
    allows: Callable[[str], bool] | None = None,
) -> dict[str, float]:
    """Return all characters and the seeds that pruning leaves, with their initial scores.

    >>> list(seeds([("hugs", 3)], [], "hugs", PrunedSettings(vocab_size=5)))
    ['g', 'h', 'hugs', 's', 'u']
    """
    parts = parts_of(segments)
    how = wordpiece_pruning.PruningSettings(
        vocab_size=settings.vocab_size,
        special_tokens=(),
        continuing_subword_prefix="",
        max_token_length=settings.max_piece_length,
        balance=settings.balance,
        max_use_cost=settings.max_use_cost,
        seed_vocab_size=settings.seed_vocab_size,
        segmentation=settings.segmentation,
    )
    characters = sorted({character for part, _ in parts for character in part})

    def is_allowed(piece: str) -> bool:
        return piece not in reserved and (allows is None or allows(piece))

    found = wordpiece_pruning.find_seeds(parts, how, is_allowed)
    pruner = Pruner(parts, how, characters, found)
    free = max(settings.vocab_size - len(reserved) - len(required), 0)
    if len(pruner.seeds) > free:
        pruner.prune(free)
        pruner.put_back()
    uses = pruner.uses(pruner.present)
    pieces = sorted(pruner.present.difference(reserved))
    total = sum(max(uses[piece], 1) for piece in pieces)
    return {piece: math.log(max(uses[piece], 1)) - math.log(total) for piece in pieces}


def parts_of(segments: Words) -> Words:
    """Cut long segments, and add up the counts of equal ones.

    >>> [(len(part), count) for part, count in parts_of([("a" * 201, 2), ("a", 3)])]
    [(1, 5), (100, 4)]
    """
    longest = LONGEST_WORD_CHARS
    parts = count_parts(
        segments, lambda text: (text[at : at + longest] for at in range(0, len(text), longest))
    )
    return sorted(parts.items())
