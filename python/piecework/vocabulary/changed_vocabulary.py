"""The result of a change of a vocabulary: a tokenizer and the map of its ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from piecework.spec import TokenizerSpec
from piecework.vocabulary.id_map import IdMap, map_of

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


class ChangedVocabulary(NamedTuple):
    """A tokenizer with another vocabulary, and the map from the old ids to the new ones.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=19)
    >>> smaller, id_map = pw.vocabulary.shrink(tok, 17)
    >>> len(smaller), id_map
    (17, IdMap(17 of 19 ids kept, 0 added))
    """

    tokenizer: Tokenizer
    id_map: IdMap


def changed(tokenizer: Tokenizer, spec: TokenizerSpec, id_map: IdMap) -> ChangedVocabulary:
    """Compile a specification with another vocabulary; add the checks of the old one to the map."""
    compiled = type(tokenizer).from_spec(spec, like=tokenizer)
    return ChangedVocabulary(compiled, id_map.with_checks(tokenizer.get_vocab()))


def same_ids(ids: Iterable[int]) -> IdMap:
    """Return the map of ids that do not change."""
    ids = list(ids)
    return map_of(ids, int, ids)
