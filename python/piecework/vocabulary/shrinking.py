"""Remove the entries that were learned last, except the alphabet and required entries."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from piecework._internal.validation import check_size, check_tokenizer
from piecework.errors import ArgumentError
from piecework.spec import BPE, Model, SentencePiece, Unigram
from piecework.vocabulary.alphabet import alphabet, required_entries
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed
from piecework.vocabulary.derivations import Derivations
from piecework.vocabulary.pruning import checked_present, remove_entries

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


def shrink(tokenizer: Tokenizer, size: int) -> ChangedVocabulary:
    """Remove the last learned entries until `size` tokens are left.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=19)
    >>> smaller, id_map = pw.vocabulary.shrink(tok, 17)
    >>> len(smaller), id_map.new_ids.tolist().count(-1)
    (17, 2)

    `size` includes added tokens. BPE removes merges from the end of the list, with the entries that
    only they produce. Unigram and SentencePiece remove the entries with the lowest scores, other models
    the entries with the highest ids. The entries that `prune` always keeps, and the alphabet, are kept;
    `ArgumentError` if they are more than `size`.
    """
    check_tokenizer(tokenizer)
    check_size("size", size)
    spec = tokenizer.spec
    model = spec.model
    present = checked_present(spec, size)
    fixed = required_entries(spec) | alphabet(model)
    if isinstance(model, BPE):
        merges, removed = _drop_last_merges(model, fixed, present - size)
        spec = replace(spec, model=replace(model, merges=merges))
    else:
        removed = _last_entries(model, fixed, present - size)
    least = present - len(removed)
    if least > size:
        problem = f"{size} is too small: the alphabet and the special tokens need {least}"
        raise ArgumentError("size", problem, limit=least)
    return changed(tokenizer, *remove_entries(spec, removed))


def _last_entries(model: Model, fixed: set[str], excess: int) -> set[str]:
    """Return the entries to remove: the entries learned last, and what cannot be merged without them."""
    learned = [token for token in _in_learned_order(model) if token not in fixed]
    if not isinstance(model, SentencePiece) or model.kind != "bpe":
        return set(learned[max(len(learned) - excess, 0) :])
    users, derivations = defaultdict[str, list[str]](list), Derivations(model)
    for token in learned:
        for used in derivations.uses(token):
            users[used].append(token)
    removed = set[str]()
    for last in reversed(learned):
        waiting = [last] if len(removed) < excess else []
        while waiting:
            token = waiting.pop()
            if token not in removed:
                removed.add(token)
                waiting += users[token]
    return removed


def _in_learned_order(model: Model) -> list[str]:
    """Return the entries by decreasing score, then by id; by id if they have no scores."""
    vocab = model.vocab
    scores: dict[str, float] = {}
    if isinstance(model, Unigram):
        scores = dict(model.pieces)
    elif isinstance(model, SentencePiece):
        scores = {piece.text: piece.score for piece in model.pieces}
    return sorted(vocab, key=lambda token: (-scores.get(token, 0.0), vocab[token]))


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
