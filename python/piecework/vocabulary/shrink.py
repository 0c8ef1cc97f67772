"""Fewer entries: the last learned go first, the alphabet and what others need stays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from piecework.errors import ArgumentError
from piecework.spec import BPE, TokenizerSpec
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.alphabet import all_ids, alphabet, anchored, changeable
from piecework.vocabulary.id_map import IdMap
from piecework.vocabulary.prune import without


def shrunk(spec: TokenizerSpec, size: int) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with `size` tokens, added ones included, and where ids went."""
    model = changeable(checked_spec(spec).model)
    present = len(all_ids(spec))
    if size > present:
        raise ArgumentError("size", str(size), f"at most {present}, the tokens that there are")
    fixed = anchored(spec) | alphabet(model)
    if isinstance(model, BPE):
        merges, gone = _cut_merges(model, fixed, present - size)
        spec = replace(spec, model=replace(model, merges=merges))
    else:
        gone = _last_entries(model.vocab, fixed, present - size)
    if present - len(gone) > size:
        expected = f"at least {present - len(gone)}, what alphabet and special tokens take"
        raise ArgumentError("size", str(size), expected)
    return without(spec, gone)


def _last_entries(vocab: Mapping[str, int], fixed: set[str], excess: int) -> set[str]:
    learned = sorted(vocab.keys() - fixed, key=vocab.__getitem__)
    return set(learned[max(len(learned) - excess, 0) :])


def _cut_merges(
    model: BPE, fixed: set[str], excess: int
) -> tuple[tuple[tuple[str, str], ...], set[str]]:
    """Drop merges from the tail until enough entries are made by none; returns what is left and they.

    Where a merge earlier in the list takes part in what is gone, it goes too.
    """
    prefix = len(model.continuing_subword_prefix or "")
    joined = [left + right[prefix:] for left, right in model.merges]
    makers, users = Counter(joined), defaultdict[str, list[int]](list)
    for at, merge in enumerate(model.merges):
        for part in merge:
            users[part].append(at)
    dropped, gone = set[int](), set[str]()
    for last in reversed(range(len(joined))):
        waiting = [last] if len(gone) < excess else []
        while waiting:
            at = waiting.pop()
            if at not in dropped:
                dropped.add(at)
                makers[joined[at]] -= 1
                if makers[joined[at]] == 0 and joined[at] not in fixed:
                    gone.add(joined[at])
                    waiting += users[joined[at]]
    return tuple(merge for at, merge in enumerate(model.merges) if at not in dropped), gone
