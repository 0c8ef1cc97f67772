"""Only some entries of a vocabulary, and what these are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import BPE, TokenizerSpec
from piecework.spec.renumbering import renumbered
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.alphabet import all_ids, alphabet, anchored, changeable
from piecework.vocabulary.derivations import Derivations
from piecework.vocabulary.id_map import IdMap, Moves


def pruned(
    spec: TokenizerSpec, keep: Iterable[str | int], keep_alphabet: bool
) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with the entries kept, and where ids went."""
    model = changeable(checked_spec(spec).model)
    kept = _named(spec, keep) | anchored(spec)
    if keep_alphabet:
        kept |= alphabet(model)
    if isinstance(model, BPE):
        kept = Derivations(model).closure(kept)
    return without(spec, model.vocab.keys() - kept)


def without(spec: TokenizerSpec, gone: set[str]) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification without entries, and without the merges that they take part in."""
    model = changeable(spec.model)
    moves = Moves(model.vocab[token] for token in gone)
    smaller = _without_merges(model, gone) if isinstance(model, BPE) else model
    vocab = {token: moves(number) for token, number in model.vocab.items() if token not in gone}
    moved = renumbered(spec, replace(smaller, vocab=vocab), moves)
    return moved, moves.id_map(all_ids(spec))


def _without_merges(model: BPE, gone: set[str]) -> BPE:
    prefix = len(model.continuing_subword_prefix or "")
    stays = tuple(
        (left, right)
        for left, right in model.merges
        if not gone & {left, right, left + right[prefix:]}
    )
    return replace(model, merges=stays)


def _named(spec: TokenizerSpec, keep: Iterable[str | int]) -> set[str]:
    """Return the entries of the model among tokens and ids to keep."""
    if isinstance(keep, str | bytes) or not isinstance(keep, Iterable):
        raise InputTypeError("keep", type(keep).__name__, "tokens or ids")
    names = {number: token for token, number in spec.model.vocab.items()}
    names |= {token.id: token.content for token in spec.added_tokens}
    known = set(names.values())
    kept = set()
    for item in keep:
        token = names.get(int(item)) if isinstance(item, int | np.integer) else item
        if token not in known:
            raise ArgumentError("keep", repr(item), "tokens or ids of the tokenizer")
        kept.add(token)
    return kept & spec.model.vocab.keys()
