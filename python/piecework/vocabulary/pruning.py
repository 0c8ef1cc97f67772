"""Keep only some entries and what they are merged from, or remove the entries learned last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from piecework._internal.validation import check_size, check_tokenizer
from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import BPE, Model, SentencePiece, TokenizerSpec, Unigram
from piecework.spec.renumbering import renumbered
from piecework.vocabulary.alphabet import all_ids, alphabet, required_entries
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, IdMap, IdShift, changed
from piecework.vocabulary.derivations import Derivations
from piecework.vocabulary.pieces import remove_pieces

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


def prune(
    tokenizer: Tokenizer, keep: Iterable[str | int], *, keep_alphabet: bool = True
) -> ChangedVocabulary:
    """Keep only some tokens, given by name or id.

    >>> import piecework as pw
    >>> merges = (("h", "u"), ("hu", "g"), ("b", "u"))
    >>> vocab = {token: id for id, token in enumerate("b g h u hu hug bu".split())}
    >>> tok = pw.Tokenizer(pw.spec.BPE(vocab, merges))
    >>> smaller, id_map = pw.vocabulary.prune(tok, keep=["hug"])
    >>> smaller.get_vocab()
    {'b': 0, 'g': 1, 'h': 2, 'u': 3, 'hu': 4, 'hug': 5}
    >>> id_map.new_ids
    array([ 0,  1,  2,  3,  4,  5, -1])

    Also kept are added tokens, the unknown token, tokens of post-processor and padding, and for BPE the
    intermediate entries of the merges of a kept token. A merge is removed with any of its three
    entries. `keep_alphabet=False` also removes single characters and bytes that no kept token needs;
    characters without an entry become unknown, or are dropped if there is no unknown token. Ids above a
    removed one move down.

    Unigram models keep bytes, and the entry with the lowest score, from which the score of unknown
    characters is derived. SentencePiece models keep control, user-defined and byte pieces.

    A text whose tokens are all kept is encoded as before. Raises `ArgumentError` for unknown tokens.
    """
    check_tokenizer(tokenizer)
    spec = tokenizer.spec
    model = spec.model
    kept = _entries_to_keep(spec, keep) | required_entries(spec)
    if keep_alphabet:
        kept |= alphabet(model)
    kept = Derivations(model).closure(kept)
    return changed(tokenizer, *remove_entries(spec, model.vocab.keys() - kept))


def most_used(
    spec: TokenizerSpec, uses: Sequence[int], size: int, keep: Iterable[str | int]
) -> set[str]:
    """Return `size` tokens to keep, without added tokens outside the model: the most used, by `uses`.

    The least used entry that no other one is merged from is removed first; of equals, the entry
    with the highest id. Raises `ArgumentError` if more tokens than `size` must be kept.
    """
    model = spec.model
    vocab, derivations = model.vocab, Derivations(model)
    fixed = derivations.closure(
        _entries_to_keep(spec, keep) | required_entries(spec) | alphabet(model)
    )
    present = checked_present(spec, size)
    used_by = {token: derivations.uses(token) & vocab.keys() for token in vocab.keys() - fixed}
    users = Counter(used for parts in used_by.values() for used in parts)
    removable = [(uses[vocab[t]], -vocab[t], t) for t in used_by if not users[t]]
    heapify(removable)
    kept = set(vocab)
    while removable and present > size:
        _, _, token = heappop(removable)
        kept.discard(token)
        present -= 1
        for used in used_by[token]:
            users[used] -= 1
            if not users[used] and used not in fixed:
                heappush(removable, (uses[vocab[used]], -vocab[used], used))
    if present > size:
        raise ArgumentError(
            "size",
            f"must be at least {present}, not {size}: the alphabet and the tokens that are "
            "always kept",
            limit=present,
        )
    return kept


def checked_present(spec: TokenizerSpec, size: int) -> int:
    """Return the current number of tokens; raise `ArgumentError` if `size` is larger."""
    present = len(all_ids(spec))
    if size > present:
        problem = f"{size} is more than the {present} tokens of the vocabulary"
        raise ArgumentError("size", problem, limit=present)
    return present


def remove_entries(spec: TokenizerSpec, removed: set[str]) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification without these entries and without their merges, and the id map."""
    vocab = spec.model.vocab
    shift = IdShift(vocab[token] for token in removed)
    if isinstance(spec.model, SentencePiece):
        smaller = remove_pieces(spec, removed)
        shifted = renumbered(smaller, smaller.model, shift)
    else:
        shifted = renumbered(spec, _without(spec.model, removed, shift), shift)
    return shifted, shift.id_map(all_ids(spec))


def _without(model: Model, removed: set[str], shift: IdShift) -> Model:
    if isinstance(model, Unigram):
        pieces = tuple(piece for piece in model.pieces if piece[0] not in removed)
        return replace(model, pieces=pieces, unk_id=model.unk_id and shift(model.unk_id))
    assert not isinstance(model, SentencePiece)
    vocab = {token: shift(id) for token, id in model.vocab.items() if token not in removed}
    smaller = _without_merges(model, removed) if isinstance(model, BPE) else model
    return replace(smaller, vocab=vocab)


def _without_merges(model: BPE, removed: set[str]) -> BPE:
    prefix = len(model.continuing_subword_prefix or "")
    merges = tuple(
        (left, right)
        for left, right in model.merges
        if not removed & {left, right, left + right[prefix:]}
    )
    return replace(model, merges=merges)


def _entries_to_keep(spec: TokenizerSpec, keep: Iterable[str | int]) -> set[str]:
    """Return the entries of the model that `keep` names by token or id."""
    if isinstance(keep, str | bytes) or not isinstance(keep, Iterable):
        raise InputTypeError("keep", f"must be tokens or ids, not {type(keep).__name__}")
    token_of_id = {id: token for token, id in spec.model.vocab.items()}
    token_of_id |= {token.id: token.content for token in spec.added_tokens}
    known = set(token_of_id.values())
    kept = set()
    for item in keep:
        token = token_of_id.get(int(item)) if isinstance(item, int | np.integer) else item
        if token not in known:
            raise ArgumentError("keep", f"{item!r} is not a token or id of the tokenizer")
        kept.add(token)
    return kept & spec.model.vocab.keys()


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
