"""Derive the ranked merges of a `tokenizer.json` from the scored pieces of a SentencePiece BPE model.

SentencePiece merges the adjacent pair whose result has the best score, the leftmost of equals. `tokenizers`
merges the pair of the lowest rank, the leftmost of equal pairs. Both give the same pieces when the order
of pairs that make one piece, or pieces of one score, never matters. `ranked_merges` decides that from the
scores and names the piece for which it cannot.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

Merge: TypeAlias = tuple[str, str]
_Order: TypeAlias = Callable[[Merge], tuple[int, ...]]


class AmbiguousOrderError(Exception):
    """The ids may depend on the order of merges that ranks cannot express; `args` are the pieces."""


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
    """Return the merges of all pieces, the best score first, so that ranks give the same pieces as scores.

    >>> ranked_merges({"a": -9.0, "b": -9.0, "ab": -1.0, "aba": -2.0, "ba": -3.0}, {
    ...     "a": 0, "b": 1, "ab": 2, "aba": 3, "ba": 4})
    (('a', 'b'), ('ab', 'a'), ('a', 'ba'), ('b', 'a'))

    Raises `AmbiguousOrderError` where no order is known to do so.
    """
    splits = all_merges(scores)
    _refuse_equal_scores(splits, scores)
    before = _constraints(splits, scores)
    ordered = {
        piece: _in_order(piece, merges, before.get(piece, set()), ids)
        for piece, merges in splits.items()
    }
    for letter in {piece[0] for piece in splits if _is_run(piece)}:
        _order_runs(letter, ordered, before, scores)
    by_score = sorted(ordered, key=lambda piece: (-scores[piece], len(piece), ids[piece]))
    return tuple(merge for piece in by_score for merge in ordered[piece])


def _is_run(piece: str) -> bool:
    return piece == piece[0] * len(piece)


def _refuse_equal_scores(splits: Mapping[str, list[Merge]], scores: Mapping[str, float]) -> None:
    """Refuse different pieces of one score, unless they repeat one letter: runs are simulated."""
    by_score = defaultdict[float, list[str]](list)
    for piece in splits:
        by_score[scores[piece]].append(piece)
    for pieces in by_score.values():
        if len(pieces) > 1 and not all(
            _is_run(piece) and piece[0] == pieces[0][0] for piece in pieces
        ):
            raise AmbiguousOrderError(*pieces[:2])


def _constraints(
    splits: Mapping[str, list[Merge]], scores: Mapping[str, float]
) -> dict[str, set[tuple[Merge, Merge]]]:
    """Return pairs of merges of one piece of which the first must have the lower rank.

    Scores merge the leftmost of two places first. That matters where the places overlap, and where a chain
    of better merges grows from the new piece into the other place.
    """
    parts = _uses(splits)
    return {
        piece: _overlaps(piece, merges) | _meetings(merges, parts, scores)
        for piece, merges in splits.items()
        if len(merges) > 1
    }


def _uses(splits: Mapping[str, list[Merge]]) -> dict[str, list[tuple[str, str, bool]]]:
    """Return, for each part, what it merges with to what, and whether that stands to its left."""
    found = defaultdict[str, list[tuple[str, str, bool]]](list)
    for piece, merges in splits.items():
        for left, right in merges:
            found[left].append((right, piece, False))
            found[right].append((left, piece, True))
    return found


def _overlaps(piece: str, merges: list[Merge]) -> set[tuple[Merge, Merge]]:
    """Return the merges that share a symbol where they overlap: `a|b` before `b|a` in `a b a`."""
    return {
        (left, right)
        for left in merges
        for right in merges
        if left != right and left[1] == right[0] and not _is_run(piece)
    }


def _meetings(
    merges: list[Merge],
    uses: Mapping[str, list[tuple[str, str, bool]]],
    scores: Mapping[str, float],
) -> set[tuple[Merge, Merge]]:
    """Return the merges of two places that better merges after one of them can join, the left one first."""
    found = set[tuple[Merge, Merge]]()
    for merge in merges:
        for other, is_left in _neighbors_joined(merge, uses, scores):
            found |= {
                (place, merge) if is_left else (merge, place)
                for place in merges
                if place != merge and other == place[1 if is_left else 0]
            }
    return found


def _neighbors_joined(
    merge: Merge, uses: Mapping[str, list[tuple[str, str, bool]]], scores: Mapping[str, float]
) -> Iterator[tuple[str, bool]]:
    """Yield what a piece can join with by better merges once `merge` made it, and if it stands to the left.

    A neighbor that has a better merge with a part of `merge` is left out: that merge comes earlier.
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


def _in_order(
    piece: str, merges: list[Merge], before: set[tuple[Merge, Merge]], ids: Mapping[str, int]
) -> list[Merge]:
    """Order the merges of a piece by the ids of their parts, as far as the constraints allow."""
    from graphlib import CycleError, TopologicalSorter

    usual = sorted(merges, key=lambda merge: (ids[merge[0]], ids[merge[1]]))
    graph = TopologicalSorter({merge: {a for a, b in before if b == merge} for merge in usual})
    try:
        graph.prepare()
    except CycleError:
        raise AmbiguousOrderError(piece) from None
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
    """Order the merges of runs of one letter so that simulated runs come out as by scores."""
    runs = {piece: ordered[piece] for piece in ordered if piece == letter * len(piece)}
    by_length = {len(piece): scores[piece] for piece in runs}
    if len(set(by_length.values())) == len(runs) and all(
        len(merges) == 1 for merges in runs.values()
    ):
        return
    orders: tuple[_Order, ...] = (
        lambda merge: (-len(merge[0]),),
        lambda merge: (len(merge[0]),),
    )
    for order in orders:
        proposed = {piece: sorted(merges, key=order) for piece, merges in runs.items()}
        allowed = all(
            proposed[piece].index(first) < proposed[piece].index(second)
            for piece in runs
            for first, second in before.get(piece, ())
        )
        if allowed and _agrees(proposed, by_length):
            ordered.update(proposed)
            return
    raise AmbiguousOrderError(*runs)


def _agrees(proposed: Mapping[str, list[Merge]], score_of: Mapping[int, float]) -> bool:
    lengths = sorted(score_of, key=lambda length: (-score_of[length], length))
    merges = {length: proposed[next(p for p in proposed if len(p) == length)] for length in lengths}
    pairs = [(len(left), len(right)) for length in lengths for left, right in merges[length]]
    rank = {pair: place for place, pair in enumerate(pairs)}
    levels = {pair: -score_of[sum(pair)] for pair in pairs}
    return all(
        list(_states(size, levels, levels)) == list(_states(size, rank, levels))
        for size in range(2, 3 * max(lengths) + 2)
    )


def _states(
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
