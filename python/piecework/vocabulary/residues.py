"""Remove residues: entries of a BPE model that texts rarely use, because larger entries absorb them.

A merge of two other entries makes each dependent entry in place of the removed merge. A residue that
some entry cannot be merged without stays.

Source: LiteToken (arXiv 2602.04706), which removes such tokens with an algorithm of its own. Here the result
is a plain list of merges, which every BPE implementation reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from piecework.spec import BPE, SentencePiece, TokenizerSpec
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.alphabet import alphabet, required_entries
from piecework.vocabulary.changed_vocabulary import IdMap
from piecework.vocabulary.derivations import (
    Derivations,
    ListedMerges,
    MergeRules,
    ScoredMerges,
    merge_all,
)
from piecework.vocabulary.pruning import remove_entries


def without_residues(
    spec: TokenizerSpec, uses: Sequence[int], max_uses: int, keep: Iterable[str] = ()
) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification without the residues that occur at most `max_uses` times, and the id map.

    `uses` has the number of uses of each id. Other models than BPE have no residues.
    """
    model = checked_spec(spec).model
    fixed = required_entries(spec) | alphabet(model) | set(keep)
    vocab = model.vocab
    rare = [
        token
        for token in sorted(vocab, key=lambda token: (uses[vocab[token]], -vocab[token]))
        if uses[vocab[token]] <= max_uses and token not in fixed
    ]
    removed: set[str] = set()
    if isinstance(model, BPE):
        merges, removed = _listed(model, rare)
        spec = replace(spec, model=replace(model, merges=merges))
    elif isinstance(model, SentencePiece) and model.kind == "bpe":
        removed = _scored(model, rare)
    return remove_entries(spec, removed)


class _Users:
    """Which entries are merged from which, directly or indirectly."""

    def __init__(self, model: BPE | SentencePiece) -> None:
        self._derivations = Derivations(model)
        self._users: dict[str, set[str]] = defaultdict(set)
        for token in model.vocab:
            for used in self._derivations.uses(token):
                self._users[used].add(token)

    def of(self, entry: str) -> set[str]:
        """Return the entries whose merges use an entry."""
        return self._users.get(entry, set())


def _listed(model: BPE, rare: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], set[str]]:
    """Return the merges without the merges of removable residues, and these residues."""
    rules, users = ListedMerges(model), _Users(model)
    with_symbol: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for merge in rules.ranks:
        for symbol in merge:
            with_symbol[symbol].add(merge)
    removed: set[str] = set()
    for residue in rare:
        dependents = users.of(residue) - removed
        direct = {merge for merge in with_symbol[residue] if merge in rules.ranks}
        if not dependents:
            continue
        before = {merge: rules.ranks[merge] for merge in (*rules.makers(residue), *direct)}
        whole = {token: _makes(rules, token) for token in dependents}
        for merge in before:
            del rules.ranks[merge]
        added = _rederive(rules, {merge: before[merge] for merge in direct}, whole, removed)
        if added is None or any(whole[token] - _makes(rules, token) for token in dependents):
            for merge in added or ():
                rules.ranks.pop(merge, None)
            rules.ranks.update(before)
            continue
        removed.add(residue)
        for merge in added:
            for symbol in merge:
                with_symbol[symbol].add(merge)
    order = sorted(rules.ranks, key=rules.ranks.__getitem__)
    return tuple(order), removed


def _rederive(
    rules: ListedMerges,
    dropped: dict[tuple[str, str], float],
    whole: dict[str, set[tuple[str, ...]]],
    removed: set[str],
) -> list[tuple[str, str]] | None:
    """Add a merge for each token whose merge was dropped; return the new merges, None if one fails."""
    added: list[tuple[str, str]] = []
    for merge, rank in sorted(dropped.items(), key=lambda item: item[1]):
        token = rules.merged(*merge)
        for split in sorted(whole.get(token, ())) if token not in removed else ():
            symbols = merge_all(rules, split)
            if len(symbols) == 2:
                pair = (symbols[0], symbols[1])
                rules.add(*pair, rank)
                added.append(pair)
            elif len(symbols) > 2:
                for pair in added:
                    rules.ranks.pop(pair, None)
                return None
    return added


def _makes(rules: MergeRules, token: str) -> set[tuple[str, ...]]:
    """Return the splits of a token into first symbols that merging turns into the token."""
    found = set()
    for split in rules.splits(token):
        if merge_all(rules, split) == [token]:
            found.add(tuple(split))
    return found


def _scored(model: SentencePiece, rare: Sequence[str]) -> set[str]:
    """Return the residues that no other piece needs to be merged."""
    rules, users = ScoredMerges(model), _Users(model)
    removed: set[str] = set()
    for residue in rare:
        dependents = users.of(residue) - removed
        whole = {token: _makes(rules, token) for token in dependents}
        score = rules.remove(residue)
        if dependents and all(_makes(rules, token) == whole[token] for token in dependents):
            removed.add(residue)
        else:
            rules.restore(residue, score)
    return removed
