"""Match the tokens of two tokenizers, and make rows of added tokens from the rows of a donor model.

Tokens match by the bytes that they add to a text, special tokens by name. The donor rows are one array by new
id, so that a caller sees which tokens matched and can pass rows from elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework.errors import ArgumentError, InputTypeError
from piecework.integrations.embeddings.tables import Combination
from piecework.vocabulary import decoded_bytes
from piecework.vocabulary.changed_vocabulary import IdMap, map_of

Floats: TypeAlias = npt.NDArray[np.floating[Any]]

_BLOCK_SCORES = 4 << 20  # numbers, of the products of a block of targets and all anchors
_NOTHING_LEFT = 1e-6  # of the length of a target or an anchor

# What two tokenizers have in common: the bytes that a token adds to a text, with its rank among tokens of the
# same bytes; of a special token, its name.
_Key: TypeAlias = tuple[bytes | str, int]


def map_between(old: Tokenizer, new: Tokenizer) -> IdMap:
    """Return the map from the ids of one tokenizer to the ids of another, which was not made from it.

    >>> import piecework as pw
    >>> old = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2, "un": 3}),
    ...     decoder=pw.spec.WordPieceDecoder(),
    ... )
    >>> new = pw.Tokenizer(
    ...     pw.spec.BPE({"Ġ": 0, "s": 1, "Ġhug": 2, "Ġhugs": 3}, ()),
    ...     decoder=pw.spec.ByteLevelDecoder(),
    ... )
    >>> id_map = map_between(old, new)
    >>> id_map.new_ids, id_map.sources
    (array([-1,  2,  1, -1]), [(), (2,), (1,), (1, 2)])

    A token is kept if both have one that adds the same bytes to a text (`decoded_bytes`), whatever the
    notation: `hug` of WordPiece is `Ġhug` of byte-level BPE. Special tokens are kept if they are spelled
    alike. The sources of an added token are the longest old tokens that add the same bytes together.
    """
    old_keys, new_keys = _token_keys(old), _token_keys(new)
    new_of = {old_keys[key]: id for key, id in new_keys.items() if key in old_keys}
    text_ids = {data: id for (data, _), id in reversed(old_keys.items()) if isinstance(data, bytes)}
    longest = max(map(len, text_ids), default=0)
    kept = set(new_of.values())
    added = {
        id: _longest_tokens(key[0], text_ids, longest)
        for key, id in new_keys.items()
        if id not in kept
    }
    vocab = old.get_vocab()
    return map_of(new_of, new_of.__getitem__, vocab.values(), added).with_checks(vocab)


def donor_rows(tokenizer: Tokenizer, donor: Tokenizer, table: Any) -> npt.NDArray[Any]:
    """Return the row of a donor model's table for each id of a tokenizer; NaN where the donor has no token.

    >>> import numpy as np
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}), decoder=pw.spec.WordPieceDecoder())
    >>> donor = pw.Tokenizer(pw.spec.BPE({"a": 0, "Ġhug": 1}, ()), decoder=pw.spec.ByteLevelDecoder())
    >>> donor_rows(tok, donor, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[nan, nan],
           [ 3.,  4.]])

    `resize_embeddings` takes the result as `donor`. Tokens match as in `map_between`. `table` is a matrix of
    floating-point numbers with a row for each id of the donor, such as its input embeddings; more rows are
    not read.
    """
    rows = _matrix("table", table)
    ids = donor.get_vocab().values()
    if len(rows) <= max(ids, default=-1):
        problem = f"has {len(rows)} rows, and the donor's tokenizer the id {max(ids)}"
        raise ArgumentError("table", problem)
    donor_keys = _token_keys(donor)
    found = np.full((max(tokenizer.get_vocab().values(), default=-1) + 1, rows.shape[1]), np.nan)
    found = found.astype(rows.dtype)
    for key, id in _token_keys(tokenizer).items():
        if key in donor_keys:
            found[id] = rows[donor_keys[key]]
    return found


def donor_combinations(id_map: IdMap, donor: Any, num_anchors: int) -> dict[int, Combination]:
    """Return the combination of kept tokens for each added token that the donor has.

    In the donor's table the row of an added token is near the sum of a few rows of kept tokens, its anchors.
    The same sum of their old rows is its new row.

    Source: Goddard and Fernandes Neto 2025, "Training-Free Tokenizer Transplantation via Orthogonal Matching
    Pursuit" (arXiv 2506.06607).
    """
    rows, old_ids = _matrix("donor", donor), id_map.old_ids
    if len(rows) != len(old_ids):
        problem = f"has {len(rows)} rows, and the map {len(old_ids)} new ids; donor_rows makes it"
        raise ArgumentError("donor", problem)
    usable = np.isfinite(rows).all(axis=1) & rows.any(axis=1)
    anchors, targets = np.flatnonzero(usable & (old_ids >= 0)), id_map.added[usable[id_map.added]]
    if not len(anchors):
        raise ArgumentError(
            "donor", "has no row of a token that is kept; the vocabularies share none"
        )
    if num_anchors > len(anchors):
        problem = f"is {num_anchors}, and the donor has rows of {len(anchors)} tokens that are kept"
        raise ArgumentError("num_anchors", problem)
    positions, coefficients = sparse_combinations(rows[targets], rows[anchors], num_anchors)
    return {
        id: Combination(old_ids[anchors[chosen]], numbers)
        for id, chosen, numbers in zip(targets.tolist(), positions, coefficients, strict=True)
    }


def _matrix(name: str, value: Any) -> npt.NDArray[Any]:
    """Return a matrix of float32 or float64."""
    try:
        found = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputTypeError(
            name,
            "must be a matrix of floating-point numbers, such as a numpy array, not "
            f"{type(value).__name__} ({error})",
        ) from error
    if found.ndim != 2 or found.dtype.kind != "f":
        problem = f"is of shape {found.shape} and type {found.dtype}"
        raise ArgumentError(name, problem + "; it must be a matrix of floating-point numbers")
    return found if found.dtype == np.float64 else found.astype(np.float32)


def _token_keys(tokenizer: Tokenizer) -> dict[_Key, int]:
    """Return the id of each token by its key, in the order of ids; matching tokens have equal keys."""
    texts = decoded_bytes(tokenizer)
    seen: Counter[bytes | str] = Counter()
    found: dict[_Key, int] = {}
    for token, id in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
        key = texts.get(id, token)
        found[key, seen[key]] = id
        seen[key] += 1
    return found


def _longest_tokens(data: bytes | str, ids: Mapping[bytes, int], longest: int) -> tuple[int, ...]:
    """Return ids that together have the bytes of a token, the longest match first; () if none do."""
    found, start = [], 0
    while isinstance(data, bytes) and start < len(data):
        ends = range(min(start + longest, len(data)), start, -1)
        end = next((end for end in ends if data[start:end] in ids), None)
        if end is None:
            return ()
        found.append(ids[data[start:end]])
        start = end
    return tuple(found)


def sparse_combinations(
    targets: Floats, anchors: Floats, size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the positions of `size` anchors for each target, and their coefficients, both (targets, size).

    >>> anchors = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
    >>> positions, coefficients = sparse_combinations(np.array([[3.0, 1.0]]), anchors, 2)
    >>> positions, coefficients.round(6)
    (array([[0, 1]]), array([[3. , 0.5]]))

    Each step takes the anchor whose direction is nearest to what is left of the target, of equal ones the
    first; then the coefficients of all anchors taken are chosen to leave the shortest rest. When nothing is
    left, the others have the coefficient 0. The time is targets * size * anchors * width.

    Source: Pati, Rezaiifar and Krishnaprasad 1993, "Orthogonal Matching Pursuit".
    """
    lengths = np.linalg.norm(anchors, axis=1)
    directions = anchors / np.maximum(lengths, np.finfo(anchors.dtype).tiny)[:, None]
    positions = np.zeros((len(targets), size), np.int64)
    coefficients = np.zeros((len(targets), size), np.float64)
    step = max(_BLOCK_SCORES // max(len(anchors), 1), 1)
    for start in range(0, len(targets), step):
        block = slice(start, start + step)
        found = _block_combinations(targets[block].astype(np.float64), directions, size)
        positions[block] = found[0]
        coefficients[block] = found[1] / np.where(lengths > 0, lengths, 1)[found[0]]
    return positions, coefficients


def _block_combinations(
    targets: npt.NDArray[np.float64], directions: Floats, size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return positions and coefficients of anchors of length 1."""
    rows, width = targets.shape
    positions, each = np.zeros((rows, size), np.int64), np.arange(rows)
    chosen, coefficients = np.zeros((rows, size, width)), np.zeros((rows, size))
    left, taken = targets, np.zeros((rows, len(directions)), bool)
    least = _NOTHING_LEFT * np.linalg.norm(targets, axis=1)
    for at in range(size):
        scores = np.abs(left.astype(directions.dtype) @ directions.T)
        scores[taken] = -1.0
        positions[:, at] = scores.argmax(axis=1)
        taken[each, positions[:, at]] = True
        useful = np.linalg.norm(left, axis=1) > least
        chosen[useful, at] = directions[positions[useful, at]]
        products = chosen @ chosen.transpose(0, 2, 1)  # rows of zeros for anchors that add nothing
        inverse = np.linalg.pinv(products, rcond=_NOTHING_LEFT**2, hermitian=True)
        coefficients = (inverse @ chosen @ targets[..., None])[..., 0]
        left = targets - np.einsum("rs,rsw->rw", coefficients, chosen)
    return positions, np.where(chosen.any(axis=2), coefficients, 0.0)
