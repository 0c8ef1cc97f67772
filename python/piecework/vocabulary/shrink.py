"""Remove the entries that were learned last, except the alphabet and required entries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from piecework.errors import ArgumentError
from piecework.spec import BPE, TokenizerSpec
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.alphabet import all_ids, alphabet, required_entries, resizable_model
from piecework.vocabulary.id_map import IdMap
from piecework.vocabulary.prune import remove_entries


def shrink_spec(spec: TokenizerSpec, size: int) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with `size` tokens, added tokens included, and the id map."""
    model = resizable_model(checked_spec(spec).model)
    present = len(all_ids(spec))
    if size > present:
        raise ArgumentError("size", str(size), f"at most {present}, the present number of tokens")
    fixed = required_entries(spec) | alphabet(model)
    if isinstance(model, BPE):
        merges, removed = _drop_last_merges(model, fixed, present - size)
        spec = replace(spec, model=replace(model, merges=merges))
    else:
        removed = _last_entries(model.vocab, fixed, present - size)
    if present - len(removed) > size:
        expected = f"at least {present - len(removed)}, for alphabet and special tokens"
        raise ArgumentError("size", str(size), expected)
    return remove_entries(spec, removed)


def _last_entries(vocab: Mapping[str, int], fixed: set[str], excess: int) -> set[str]:
    learned = sorted(vocab.keys() - fixed, key=vocab.__getitem__)
    return set(learned[max(len(learned) - excess, 0) :])


def _drop_last_merges(
    model: BPE, fixed: set[str], excess: int
) -> tuple[tuple[tuple[str, str], ...], set[str]]:
    """Drop merges from the end until `excess` entries have no merge left.

    Returns the remaining merges and the removed entries. Merges that use a removed entry are dropped too.
    """
    prefix = len(model.continuing_subword_prefix or "")
    tokens = [left + right[prefix:] for left, right in model.merges]
    makers, users = Counter(tokens), defaultdict[str, list[int]](list)
    for rank, merge in enumerate(model.merges):
        for token in merge:
            users[token].append(rank)
    dropped, removed = set[int](), set[str]()
    for last in reversed(range(len(tokens))):
        waiting = [last] if len(removed) < excess else []
        while waiting:
            rank = waiting.pop()
            if rank not in dropped:
                dropped.add(rank)
                token = tokens[rank]
                makers[token] -= 1
                if makers[token] == 0 and token not in fixed:
                    removed.add(token)
                    waiting += users[token]
    kept = tuple(merge for rank, merge in enumerate(model.merges) if rank not in dropped)
    return kept, removed
