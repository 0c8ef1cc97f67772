"""Changing the vocabulary of a tokenizer: specification in, specification and map of ids out.

id_map     where each old id went, for the rows of an embedding table
renumber   a specification whose ids have moved
entries    which entries are the alphabet, and which nothing may remove
merges     what BPE entries are made of
prune      only some entries
shrink     fewer entries, the last learned going first
extend     further entries, learned after those that are there
"""

from piecework.vocabulary.extend import extended
from piecework.vocabulary.id_map import IdMap
from piecework.vocabulary.prune import pruned
from piecework.vocabulary.shrink import shrunk

__all__ = ["IdMap", "extended", "pruned", "shrunk"]
