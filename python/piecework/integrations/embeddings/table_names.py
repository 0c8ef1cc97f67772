"""Find the tables of a model that have a row for each token, by the names that transformers gives them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from piecework.errors import ArgumentError, FormatError

_INPUT = re.compile(
    r"(^|\.)(word_embeddings|word_embedding|wte|embed_tokens|tok_embeddings|tokens_embed|embed_in|shared)"
    r"\.weight$"
)
_OUTPUT = re.compile(
    r"(^|\.)(lm_head|lm_head\.decoder|predictions\.decoder|predictions|vocab_projector|generator_lm_head"
    r"|embed_out|lm_loss|pred_layer\.proj)\.(weight|bias)$"
    r"|^decoder\.(weight|bias)$"
    r"|(^|\.)final_logits_bias$"
)

Shape = tuple[int, ...]


def token_tables(
    shapes: Mapping[str, Shape], tables: Collection[str] | None, rows: int | None, place: str
) -> dict[str, int]:
    """Return the tables with a row for each token, and their number of rows.

    `tables` names them, None for tables with known names. `rows` is the number of old ids; None for any.
    Raises `FormatError` if the tables differ in rows, if there are none, or if another tensor has as many
    rows as they have.
    """
    chosen = _named(shapes, tables) if tables is not None else _known(shapes)
    if not chosen:
        problem = "has no embedding table with a known name, such as wte.weight; name the tables"
        raise FormatError(place, problem)
    counts = {name: table_rows(shapes[name]) for name in chosen}
    first = next((name for name in chosen if _INPUT.search(name)), chosen[0])
    for name, count in counts.items():
        if count != counts[first]:
            found = f"{name!r} of shape {list(shapes[name])}"
            raise FormatError(
                place,
                f"has {found}, and {first!r} has {counts[first]} rows; all tables must have the same number",
            )
    if rows is not None and counts[first] < rows:
        found = f"{counts[first]} rows in {first!r}"
        raise FormatError(place, f"has {found}, and the map {rows} ids")
    if tables is None:
        _check_others(shapes, counts, counts[first], place)
    return counts


def table_rows(shape: Shape) -> int:
    """Return the number of rows of a table or of a bias; a bias of shape (1, n) has n.

    >>> table_rows((5, 8)), table_rows((5,)), table_rows((1, 5))
    (5, 5, 5)
    """
    return shape[1] if len(shape) == 2 and shape[0] == 1 else shape[0] if shape else 0


def _known(shapes: Mapping[str, Shape]) -> list[str]:
    inputs = [name for name, shape in shapes.items() if _INPUT.search(name) and len(shape) == 2]
    outputs = [
        name for name, shape in shapes.items() if _OUTPUT.search(name) and len(shape) in (1, 2)
    ]
    return inputs + outputs if inputs else []


def _named(shapes: Mapping[str, Shape], tables: Collection[str]) -> Sequence[str]:
    for name in tables:
        if name not in shapes:
            raise ArgumentError("tables", f"{name!r} is not a tensor of the model")
    return list(dict.fromkeys(tables))


def _check_others(
    shapes: Mapping[str, Shape], counts: Mapping[str, int], rows: int, place: str
) -> None:
    for name, shape in shapes.items():
        if name not in counts and shape and rows == shape[0]:
            found = f"{name!r} of shape {list(shape)}, which may have a row for each token"
            problem = f"has {found}; pass the names of all such tensors as tables"
            raise FormatError(place, problem)
