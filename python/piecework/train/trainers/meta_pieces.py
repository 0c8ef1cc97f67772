"""Which ids the pieces have that nothing is learned about: unknown, bos, eos, pad, symbols, bytes.

The four roles stand at the ids that are asked for, -1 leaves one out. Control symbols take the lowest ids
that are free, then user-defined symbols, then with byte fallback the 256 bytes; learned pieces take what
is left. A symbol with the name of bos, eos or pad stays at that id and takes the symbol's type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from piecework.errors import ArgumentError, TrainingError
from piecework.spec import PieceType, ScoredPiece


class Role(NamedTuple):
    """What one of the four roles is called, and where it is to stand; -1 is nowhere."""

    name: str
    id: int
    piece: str


class Symbols(NamedTuple):
    """The pieces that are asked for beside the roles."""

    control: tuple[str, ...] = ()
    user_defined: tuple[str, ...] = ()
    byte_fallback: bool = False


def placed(roles: Sequence[Role], symbols: Symbols) -> dict[int, ScoredPiece]:
    """Return the pieces by id, in the order of the ids; the first of the roles is the unknown one.

    >>> roles = Role("unk", 0, "<unk>"), Role("eos", 2, "</s>")
    >>> [(id, piece.text) for id, piece in placed(roles, Symbols(("<a>", "<b>"))).items()]
    [(0, '<unk>'), (1, '<a>'), (2, '</s>'), (3, '<b>')]

    Raises `ArgumentError` for an id or a name that is asked for twice.
    """
    pieces = _roles(roles)
    role_ids = {piece.text: id for id, piece in pieces.items()}
    free = (id for id in count() if id not in pieces)
    seen = {roles[0].piece}
    for field, text, type in _symbols(symbols):
        if text in seen:
            raise ArgumentError(field, f"{text!r} twice", "symbols that differ from all others")
        seen.add(text)
        id = role_ids[text] if text in role_ids else next(free)
        pieces[id] = ScoredPiece(text, 0.0, type)
    return dict(sorted(pieces.items()))


def merged(
    meta: dict[int, ScoredPiece], learned: Sequence[tuple[str, float]]
) -> tuple[ScoredPiece, ...]:
    """Return all pieces in id order, the learned ones in the gaps and after the others.

    >>> meta = {1: ScoredPiece("<unk>", 0.0, "unknown")}
    >>> [piece.text for piece in merged(meta, [("▁a", -1.0), ("▁b", -2.0)])]
    ['▁a', '<unk>', '▁b']

    Raises `TrainingError` when there are too few learned pieces to fill the gaps.
    """
    size = len(meta) + len(learned)
    beyond = next((id for id in meta if id >= size), None)
    if beyond is not None:
        found = f"id {beyond} for {meta[beyond].text!r}, beyond the {size} pieces that there are"
        raise TrainingError("vocab_size", found, f"ids below {size}")
    rest = iter(learned)
    return tuple(meta[id] if id in meta else ScoredPiece(*next(rest)) for id in range(size))


def _roles(roles: Sequence[Role]) -> dict[int, ScoredPiece]:
    at: dict[int, Role] = {}
    for role in roles:
        if role.id < 0:
            continue
        if role.id in at:
            found = f"{role.id}, that of {at[role.id].name}"
            raise ArgumentError(f"{role.name}_id", found, "an id of its own")
        same = next((other for other in at.values() if other.piece == role.piece), None)
        if same is not None:
            found = f"{role.piece!r}, that of {same.name}"
            raise ArgumentError(f"{role.name}_piece", found, "a piece of its own")
        at[role.id] = role
    types: dict[str, PieceType] = {roles[0].piece: "unknown"}
    return {
        id: ScoredPiece(role.piece, 0.0, types.get(role.piece, "control"))
        for id, role in at.items()
    }


def _symbols(symbols: Symbols) -> Iterator[tuple[str, str, PieceType]]:
    yield from (("control_symbols", text, "control") for text in symbols.control)
    yield from (("user_defined_symbols", text, "user_defined") for text in symbols.user_defined)
    if symbols.byte_fallback:
        yield from (("byte_fallback", f"<0x{byte:02X}>", "byte") for byte in range(256))
