"""Assign ids to the pieces that SentencePiece does not learn: unknown, bos, eos, pad, symbols, bytes.

The four roles have the ids that the settings name; -1 omits one. Control symbols get the lowest free ids,
then user-defined symbols, then the 256 bytes of byte fallback; learned pieces get the rest. A symbol with
the text of bos, eos or pad keeps the id of the role and gets the type of the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from piecework.errors import ArgumentError, TrainingError
from piecework.spec import PieceType, ScoredPiece


class Role(NamedTuple):
    """One of the four roles with its id, -1 to omit it, and its piece."""

    name: str
    id: int
    piece: str


class Symbols(NamedTuple):
    """The pieces without roles."""

    control: tuple[str, ...] = ()
    user_defined: tuple[str, ...] = ()
    byte_fallback: bool = False


def pieces_by_id(roles: Sequence[Role], symbols: Symbols) -> dict[int, ScoredPiece]:
    """Return the pieces by id, in increasing order; the first role is the unknown piece.

    >>> roles = Role("unk", 0, "<unk>"), Role("eos", 2, "</s>")
    >>> [(id, piece.text) for id, piece in pieces_by_id(roles, Symbols(("<a>", "<b>"))).items()]
    [(0, '<unk>'), (1, '<a>'), (2, '</s>'), (3, '<b>')]

    Raises `ArgumentError` for an id or a text that is used twice.
    """
    pieces = _pieces_of_roles(roles)
    role_ids = {piece.text: id for id, piece in pieces.items()}
    free_ids = (id for id in count() if id not in pieces)
    seen = {roles[0].piece}
    for field, text, type in _typed_symbols(symbols):
        if text in seen:
            raise ArgumentError(field, f"contains {text!r} twice, or as another symbol")
        seen.add(text)
        id = role_ids[text] if text in role_ids else next(free_ids)
        pieces[id] = ScoredPiece(text, 0.0, type)
    return dict(sorted(pieces.items()))


def with_learned(
    meta_pieces: dict[int, ScoredPiece], learned: Sequence[tuple[str, float]]
) -> tuple[ScoredPiece, ...]:
    """Return all pieces in the order of their ids; learned pieces fill the free ids.

    >>> meta_pieces = {1: ScoredPiece("<unk>", 0.0, "unknown")}
    >>> [piece.text for piece in with_learned(meta_pieces, [("▁a", -1.0), ("▁b", -2.0)])]
    ['▁a', '<unk>', '▁b']

    Raises `TrainingError` if there are too few learned pieces to fill the gaps.
    """
    size = len(meta_pieces) + len(learned)
    beyond = next((id for id in meta_pieces if id >= size), None)
    if beyond is not None:
        found = f"id {beyond} for {meta_pieces[beyond].text!r}, but only {size} pieces"
        raise TrainingError("vocab_size", f"leaves {found}; ids must be below {size}")
    rest = iter(learned)
    return tuple(
        meta_pieces[id] if id in meta_pieces else ScoredPiece(*next(rest)) for id in range(size)
    )


def _pieces_of_roles(roles: Sequence[Role]) -> dict[int, ScoredPiece]:
    role_of: dict[int, Role] = {}
    for role in roles:
        if role.id < 0:
            continue
        if role.id in role_of:
            problem = f"must be an id of its own: {role.id} is that of {role_of[role.id].name}"
            raise ArgumentError(f"{role.name}_id", problem)
        same = next((other for other in role_of.values() if other.piece == role.piece), None)
        if same is not None:
            problem = f"must be a piece of its own: {role.piece!r} is that of {same.name}"
            raise ArgumentError(f"{role.name}_piece", problem)
        role_of[role.id] = role
    types: dict[str, PieceType] = {roles[0].piece: "unknown"}
    return {
        id: ScoredPiece(role.piece, 0.0, types.get(role.piece, "control"))
        for id, role in role_of.items()
    }


def _typed_symbols(symbols: Symbols) -> Iterator[tuple[str, str, PieceType]]:
    yield from (("control_symbols", text, "control") for text in symbols.control)
    yield from (("user_defined_symbols", text, "user_defined") for text in symbols.user_defined)
    if symbols.byte_fallback:
        yield from (("byte_fallback", f"<0x{byte:02X}>", "byte") for byte in range(256))
