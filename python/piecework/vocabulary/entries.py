"""Append entries to a model of any kind, or replace unused entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count, repeat, starmap
from typing import NamedTuple

from piecework.errors import ArgumentError
from piecework.spec import Model, ScoredPiece, SentencePiece, TokenizerSpec, Unigram
from piecework.spec.renumbering import inserted_ids, renumbered
from piecework.vocabulary.alphabet import all_ids
from piecework.vocabulary.changed_vocabulary import IdMap, map_of
from piecework.vocabulary.pieces import with_pieces

_UNUSED = re.compile(r"\[unused(\d+)\]|<unused(\d+)>")


class NewEntry(NamedTuple):
    """An entry to append, its score if the model has scores, and the old ids of its text."""

    text: str
    score: float | None
    sources: tuple[int, ...]


def with_entries(
    spec: TokenizerSpec, entries: Sequence[NewEntry], *, replace_unused: bool = False
) -> tuple[TokenizerSpec, IdMap]:
    """Return the specification with new entries, and the id map.

    New entries get the ids after the highest, or the id of their added token. Unigram and SentencePiece
    number entries by position, so new ones follow the last entry, and the ids of added tokens after it move
    up. With `replace_unused`, new entries get the ids of entries such as `[unused1]`, which are removed.
    """
    if replace_unused:
        return _in_unused(spec, entries)
    if isinstance(spec.model, Unigram | SentencePiece):
        return _after_last_piece(spec, entries)
    added = {token.content: token.id for token in spec.added_tokens}
    next_id = max(all_ids(spec), default=-1) + 1
    new_ids: dict[str, int] = {}
    for entry in entries:
        new_ids[entry.text] = added.get(entry.text, next_id)
        next_id += entry.text not in added
    old = all_ids(spec)
    sources = {new_ids[text]: origins for text, _, origins in entries if new_ids[text] not in old}
    larger = replace(spec.model, vocab={**spec.model.vocab, **new_ids})
    return replace(spec, model=larger), map_of(old, int, old, sources)


def unused_entries(spec: TokenizerSpec) -> list[str]:
    """Return the entries and added tokens that are named as unused, such as `[unused1]`, by their number.

    >>> from piecework.spec import WordPiece
    >>> unused_entries(TokenizerSpec(WordPiece({"[UNK]": 0, "[unused10]": 1, "[unused2]": 2})))
    ['[unused2]', '[unused10]']
    """
    names = {**spec.model.vocab, **{token.content: token.id for token in spec.added_tokens}}
    inserted = set(inserted_ids(spec))
    found = {name: _UNUSED.fullmatch(name) for name, id in names.items() if id not in inserted}
    numbers = {name: int(match[1] or match[2]) for name, match in found.items() if match}
    return sorted(numbers, key=lambda name: (numbers[name], name))


def _after_last_piece(
    spec: TokenizerSpec, entries: Sequence[NewEntry]
) -> tuple[TokenizerSpec, IdMap]:
    first, n, old = len(spec.model.vocab), len(entries), all_ids(spec)

    def new_id(id: int) -> int:
        return id + n if id >= first else id

    sources = {first + index: entry.sources for index, entry in enumerate(entries)}
    larger = with_pieces_after(spec, _scored(spec.model, entries))
    return renumbered(larger, larger.model, new_id), map_of(old, new_id, old, sources)


def with_pieces_after(spec: TokenizerSpec, pieces: Iterable[tuple[str, float]]) -> TokenizerSpec:
    """Return a specification with more pieces of a Unigram or SentencePiece model, with their scores."""
    if isinstance(spec.model, SentencePiece):
        return with_pieces(spec, (*spec.model.pieces, *starmap(ScoredPiece, pieces)))
    assert isinstance(spec.model, Unigram)
    return replace(spec, model=replace(spec.model, pieces=(*spec.model.pieces, *pieces)))


def _scored(model: Model, entries: Iterable[NewEntry]) -> list[tuple[str, float]]:
    """Return texts with scores: where none is given, 0, or below all pieces of a SentencePiece model."""
    scores: Iterable[float] = repeat(0.0)
    if isinstance(model, SentencePiece):
        lowest = min((piece.score for piece in model.pieces), default=0.0)
        scores = (lowest - 1.0 - index for index in count())
    return [
        (entry.text, default if entry.score is None else entry.score)
        for entry, default in zip(entries, scores, strict=False)
    ]


def _in_unused(spec: TokenizerSpec, entries: Sequence[NewEntry]) -> tuple[TokenizerSpec, IdMap]:
    unused = unused_entries(spec)
    if len(entries) > len(unused):
        problem = (
            f"have {len(entries)} new entries, and there are "
            f"only {len(unused)} unused ones such as [unused1]"
        )
        raise ArgumentError("words", problem)
    ids = {**spec.model.vocab, **{token.content: token.id for token in spec.added_tokens}}
    place = dict(zip(unused, entries, strict=False))
    tokens = tuple(token for token in spec.added_tokens if token.content not in place)
    changed = replace(_with_places(spec, place, ids), added_tokens=tokens)
    old, taken = all_ids(spec), {ids[name] for name in place}
    sources = {ids[name]: entry.sources for name, entry in place.items()}
    return changed, map_of(old - taken, int, old, sources)


def _with_places(
    spec: TokenizerSpec, place: dict[str, NewEntry], ids: dict[str, int]
) -> TokenizerSpec:
    """Return the specification with new entries in place of others."""
    model = spec.model
    scored = dict(zip(place, _scored(model, place.values()), strict=True))
    if isinstance(model, SentencePiece):
        pieces = (
            ScoredPiece(*scored[piece.text]) if piece.text in scored else piece
            for piece in model.pieces
        )
        return with_pieces(spec, pieces)
    if isinstance(model, Unigram):
        vocab = model.vocab
        for name in place:
            if name not in vocab:
                raise ArgumentError("replace_unused", f"{name!r} is not an entry of the model")
        changed = tuple(scored.get(piece[0], piece) for piece in model.pieces)
        return replace(spec, model=replace(model, pieces=changed))
    kept = {token: id for token, id in model.vocab.items() if token not in place}
    return replace(
        spec,
        model=replace(
            model, vocab={**kept, **{entry.text: ids[name] for name, entry in place.items()}}
        ),
    )
