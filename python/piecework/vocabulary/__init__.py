"""Changing the vocabulary of a tokenizer: specification in, specification and map of ids out.

id_map     where each old id went, for the rows of an embedding table
entries    which entries are the alphabet, and which nothing may remove
merges     what BPE entries are made of
prune      only some entries
shrink     fewer entries, the last learned going first
pieces     pieces of SentencePiece, one by one
components SentencePiece as other libraries put it together, and back
extend     further entries, learned after those that are there
"""

from piecework.vocabulary.components import as_components, as_sentencepiece
from piecework.vocabulary.extend import extended
from piecework.vocabulary.id_map import IdMap
from piecework.vocabulary.pieces import (
    add_pieces,
    extras,
    remove_pieces,
    restricted,
    set_scores,
    set_types,
)
from piecework.vocabulary.prune import pruned
from piecework.vocabulary.shrink import shrunk

__all__ = [
    "IdMap",
    "add_pieces",
    "as_components",
    "as_sentencepiece",
    "extended",
    "extras",
    "pruned",
    "remove_pieces",
    "restricted",
    "set_scores",
    "set_types",
    "shrunk",
]
