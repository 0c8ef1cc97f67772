"""Change the vocabulary of a tokenizer: `function(tokenizer, ...)` returns a `ChangedVocabulary`.

- `changed_vocabulary`, `id_map`: the result; the new id of each old one, to move rows of an embedding table
- `alphabet`: the alphabet of a model, and the entries that must not be removed
- `derivations`: the entries that an entry of a BPE model is merged from
- `pruning`, `shrinking`: keep some entries, remove the last ones
- `extension`, `extend_unigram`: learn more entries from counts
- `unigram_scores`: a Unigram model of the entries of a WordPiece one
- `words`: add words as ordinary entries
- `entries`: append entries, or put them in the place of unused ones
- `additions`: add and remove added tokens
- `pieces`, `restriction`: edit SentencePiece pieces, restrict the output to some of them
- `components`: convert SentencePiece to components of tokenizer.json, and back
- `decoding`: the bytes of each token, and those that it adds to a text
- `embeddings`: move the rows of a model to new ids, in files and in torch modules (`module_embeddings`)
- `transplantation`, `matching_pursuit`: tokens that two tokenizers share, and rows from a donor model
- `table_names`, `new_rows`: which tables have a row for each token, and the rows of added tokens
- `safetensors`, `model_config`: the files of a model
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piecework.vocabulary.changed_vocabulary import ChangedVocabulary
    from piecework.vocabulary.components import as_components, as_sentencepiece
    from piecework.vocabulary.decoding import decoded_bytes, vocab_bytes
    from piecework.vocabulary.embeddings import ResizedTable, resize_embeddings
    from piecework.vocabulary.extension import extend
    from piecework.vocabulary.id_map import IdMap
    from piecework.vocabulary.pieces import (
        add_pieces,
        bos_eos_template,
        remove_pieces,
        set_scores,
        set_types,
    )
    from piecework.vocabulary.pruning import prune
    from piecework.vocabulary.restriction import restrict
    from piecework.vocabulary.shrinking import shrink
    from piecework.vocabulary.transplantation import donor_rows, map_between
    from piecework.vocabulary.unigram_scores import to_unigram
    from piecework.vocabulary.words import add_words

__all__ = [
    "ChangedVocabulary",
    "IdMap",
    "ResizedTable",
    "add_pieces",
    "add_words",
    "as_components",
    "as_sentencepiece",
    "bos_eos_template",
    "decoded_bytes",
    "donor_rows",
    "extend",
    "map_between",
    "prune",
    "remove_pieces",
    "resize_embeddings",
    "restrict",
    "set_scores",
    "set_types",
    "shrink",
    "to_unigram",
    "vocab_bytes",
]

# `with_added_tokens` needs a module of this package, and neither training nor embeddings.
__getattr__ = lazy_names(
    __name__,
    {
        "changed_vocabulary": ("ChangedVocabulary",),
        "components": ("as_components", "as_sentencepiece"),
        "decoding": ("decoded_bytes", "vocab_bytes"),
        "embeddings": ("ResizedTable", "resize_embeddings"),
        "extension": ("extend",),
        "id_map": ("IdMap",),
        "pieces": ("add_pieces", "bos_eos_template", "remove_pieces", "set_scores", "set_types"),
        "pruning": ("prune",),
        "restriction": ("restrict",),
        "shrinking": ("shrink",),
        "transplantation": ("donor_rows", "map_between"),
        "unigram_scores": ("to_unigram",),
        "words": ("add_words",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
