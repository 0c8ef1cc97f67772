"""Derive the ranked merges of a `tokenizer.json` from the scored pieces of a SentencePiece BPE model.

SentencePiece merges the adjacent pair whose result has the best score, and the leftmost of several.
`tokenizers` merges the pair of the lowest rank, and the leftmost of several equal pairs. Both produce the
same pieces if the order of pairs with the same result, or with results of equal score, never matters.
`ranked_merges` checks this condition and names the piece that violates it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from piecework.errors import PortabilityError

Merge: TypeAlias = tuple[str, str]

_MAX_NAMED_PIECES = 3


def all_merges(scores: Mapping[str, float]) -> dict[str, list[Merge]]:
    """Return every split of each piece into two pieces."""
    found = {
        piece: [
            (piece[:at], piece[at:])
            for at in range(1, len(piece))
            if piece[:at] in scores and piece[at:] in scores
        ]
        for piece in scores
    }
    return {piece: merges for piece, merges in found.items() if merges}


def ranked_merges(scores: Mapping[str, float], ids: Mapping[str, int]) -> tuple[Merge, ...]:
    """Return merges whose ranks produce the same pieces as the scores, the best score first.

    >>> ranked_merges({"a": -9.0, "b": -9.0, "ab": -1.0, "aba": -2.0, "ba": -3.0}, {
    ...     "a": 0, "b": 1, "ab": 2, "aba": 3, "ba": 4})
    (('a', 'b'), ('ab', 'a'), ('a', 'ba'), ('b', 'a'))

    Raises `PortabilityError` if no such order is found, because ids could then differ.
    """
    splits = all_merges(scores)
    _check_equal_scores(splits, scores)
    before = _constraints(splits, scores)
    ordered = {
        piece: _order_by_constraints(piece, merges, before.get(piece, set()), ids)
        for piece, merges in splits.items()
    }
    for letter in {piece[0] for piece in splits if _is_run(piece)}:
        _order_runs(letter, ordered, before, scores)
    by_score = sorted(ordered, key=lambda piece: (-scores[piece], len(piece), ids[piece]))
    return tuple(merge for piece in by_score for merge in ordered[piece])


def _ambiguous_order(*pieces: str) -> PortabilityError:
    names = ", ".join(map(repr, pieces[:_MAX_NAMED_PIECES]))
    found = f"scores of {names} that merge ranks cannot express"
    return unportable("model.pieces", found, KEPT_BY_MODEL)


def _is_run(piece: str) -> bool:
    return piece == piece[0] * len(piece)


def _check_equal_scores(splits: Mapping[str, list[Merge]], scores: Mapping[str, float]) -> None:
    """Raise for pieces of equal score, except runs of one letter, which `_order_runs` simulates."""
    by_score = defaultdict[float, list[str]](list)
    for piece in splits:
        by_score[scores[piece]].append(piece)
    for pieces in by_score.values():
        if len(pieces) > 1 and not all(
            _is_run(piece) and piece[0] == pieces[0][0] for piece in pieces
        ):
            raise _ambiguous_order(*pieces[:2])


def _constraints(
    splits: Mapping[str, list[Merge]], scores: Mapping[str, float]
) -> dict[str, set[tuple[Merge, Merge]]]:
    """Return pairs of merges with the same result, of which the first must have the lower rank.

    By scores, the leftmost of two positions is merged first. This matters if the positions overlap, or if a
    chain of better merges extends from one position to the other.
    """
    parts = _merges_of_symbol(splits)
    return {
        piece: _overlaps(piece, merges) | _chain_connections(merges, parts, scores)
        for piece, merges in splits.items()
        if len(merges) > 1
    }


def _merges_of_symbol(splits: Mapping[str, list[Merge]]) -> dict[str, list[tuple[str, str, bool]]]:
    """Return for each piece the (other piece, result, whether the other is on the left) of its merges."""
    found = defaultdict[str, list[tuple[str, str, bool]]](list)
    for piece, merges in splits.items():
        for left, right in merges:
            found[left].append((right, piece, False))
            found[right].append((left, piece, True))
    return found


def _overlaps(piece: str, merges: list[Merge]) -> set[tuple[Merge, Merge]]:
    """Return pairs of merges that overlap in one symbol: `a|b` before `b|a` in `a b a`."""
    return {
        (left, right)
        for left in merges
        for right in merges
        if left != right and left[1] == right[0] and not _is_run(piece)
    }


def _chain_connections(
    merges: list[Merge],
    uses: Mapping[str, list[tuple[str, str, bool]]],
    scores: Mapping[str, float],
) -> set[tuple[Merge, Merge]]:
    """Return pairs of merges that a chain of better merges can connect, the left one first."""
    found = set[tuple[Merge, Merge]]()
    for merge in merges:
        for other, is_left in _reachable_neighbors(merge, uses, scores):
            found |= {
                (place, merge) if is_left else (merge, place)
                for place in merges
                if place != merge and other == place[1 if is_left else 0]
            }
    return found


def _reachable_neighbors(
    merge: Merge, uses: Mapping[str, list[tuple[str, str, bool]]], scores: Mapping[str, float]
) -> Iterator[tuple[str, bool]]:
    """Yield neighbors that better merges can reach after `merge`, and whether each is on the left.

    A neighbor with a better merge with one symbol of `merge` is skipped, because that merge happens first.
    """
    left, right = merge
    score = scores[left + right]
    waiting = [(left + right, False, False)]
    seen = set(waiting)
    while waiting:
        grown, has_left, has_right = waiting.pop()
        for other, larger, is_left in uses.get(grown, ()):
            if scores[larger] <= score or _is_run(larger):
                continue
            earlier = other + left if is_left else right + other
            is_adjacent = not (has_left if is_left else has_right)
            if is_adjacent and scores.get(earlier, score) > score:
                continue
            yield other, is_left
            state = (larger, has_left or is_left, has_right or not is_left)
            if state not in seen:
                seen.add(state)
                waiting.append(state)


def _order_by_constraints(
    piece: str, merges: list[Merge], before: set[tuple[Merge, Merge]], ids: Mapping[str, int]
) -> list[Merge]:
    """Order the merges of a piece by the ids of their symbols, subject to the constraints."""
    from graphlib import CycleError, TopologicalSorter

    usual = sorted(merges, key=lambda merge: (ids[merge[0]], ids[merge[1]]))
    graph = TopologicalSorter({merge: {a for a, b in before if b == merge} for merge in usual})
    try:
        graph.prepare()
    except CycleError:
        raise _ambiguous_order(piece) from None
    ordered: list[Merge] = []
    ready: list[Merge] = []
    while graph:
        ready += graph.get_ready()
        merge = min(ready, key=usual.index)
        ready.remove(merge)
        ordered.append(merge)
        graph.done(merge)
    return ordered


def _order_runs(
    letter: str,
    ordered: dict[str, list[Merge]],
    before: Mapping[str, set[tuple[Merge, Merge]]],
    scores: Mapping[str, float],
) -> None:
    """Order the merges of runs of one letter so that simulation gives the same result as scores."""
    runs = {piece: ordered[piece] for piece in ordered if piece == letter * len(piece)}
    by_length = {len(piece): scores[piece] for piece in runs}
    if len(set(by_length.values())) == len(runs) and all(
        len(merges) == 1 for merges in runs.values()
    ):
        return
    for longest_first in (True, False):
        proposed = {
            piece: sorted(merges, key=lambda merge: len(merge[0]), reverse=longest_first)
            for piece, merges in runs.items()
        }
        allowed = all(
            proposed[piece].index(first) < proposed[piece].index(second)
            for piece in runs
            for first, second in before.get(piece, ())
        )
        if allowed and _simulations_agree(proposed, by_length):
            ordered.update(proposed)
            return
    raise _ambiguous_order(*runs)


def _simulations_agree(proposed: Mapping[str, list[Merge]], score_of: Mapping[int, float]) -> bool:
    lengths = sorted(score_of, key=lambda length: (-score_of[length], length))
    merges = {length: proposed[next(p for p in proposed if len(p) == length)] for length in lengths}
    pairs = [(len(left), len(right)) for length in lengths for left, right in merges[length]]
    rank = {pair: place for place, pair in enumerate(pairs)}
    levels = {pair: -score_of[sum(pair)] for pair in pairs}
    return all(
        list(_simulate_run(size, levels, levels)) == list(_simulate_run(size, rank, levels))
        for size in range(2, 3 * max(lengths) + 2)
    )


def _simulate_run(
    size: int,
    priority: Mapping[tuple[int, int], float],
    level: Mapping[tuple[int, int], float],
) -> Iterator[tuple[float, list[int]]]:
    """Merge a run of `size` letters; yield the lengths whenever the next merge has a worse score."""
    lengths, reached = [1] * size, float("-inf")
    while True:
        pairs = [pair for pair in itertools.pairwise(lengths) if pair in priority]
        if not pairs:
            yield float("inf"), lengths
            return
        best = min(pairs, key=priority.__getitem__)
        value = priority[best]
        if level[best] > reached:
            yield level[best], list(lengths)
            reached = level[best]
        at = next(
            at for at, pair in enumerate(itertools.pairwise(lengths)) if priority.get(pair) == value
        )
        lengths[at : at + 2] = [lengths[at] + lengths[at + 1]]


_REPRODUCIBLE = "a tokenizer that other libraries can reproduce"
KEPT_BY_MODEL = f"{_REPRODUCIBLE}; '.model' and '.piecework' files preserve this one"
KEPT_BY_OWN = f"{_REPRODUCIBLE}; a '.piecework' file preserves this one"


def unportable(place: str, found: str, kept: str, use: str = "") -> PortabilityError:
    """Return the error for a value at `place`; the hint names a value to `use` and formats that keep this."""
    hint = f"use {use}, or {kept}" if use else f"use {kept}"
    return PortabilityError(place, f"other formats cannot represent {found}", hint=hint)
