"""Change the vocabulary of a tokenizer: specification in, specification and `IdMap` out.

- `id_map`: the new id of each old one, to move rows of an embedding table
- `alphabet`: the alphabet of a model, and the entries that must not be removed
- `derivations`: the entries that an entry of a BPE model is merged from
- `segmenter`: a model without the other stages
- `prune`, `shrink`: keep some entries, remove the last ones
- `extend`, `extend_unigram`: learn more entries from counts
- `unigram_scores`: a Unigram model of the entries of a WordPiece one
- `words`: add words as ordinary entries
- `entries`: append entries, or put them in the place of unused ones
- `additions`: add and remove added tokens
- `pieces`, `kept_pieces`: edit SentencePiece pieces, restrict the output to some of them
- `components`: convert SentencePiece to components of tokenizer.json, and back
- `embeddings`: move the rows of a model to new ids, in files and in torch modules (`module_embeddings`)
- `table_names`, `new_rows`: which tables have a row for each token, and the rows of added tokens
- `safetensors`, `model_config`: the files of a model

`Tokenizer.prune`, `shrink`, `extend`, `add_words`, `to_unigram` and `with_vocabulary` call these modules.
"""

from piecework.vocabulary.components import as_components, as_sentencepiece
from piecework.vocabulary.embeddings import ResizedTable, resize_embeddings
from piecework.vocabulary.id_map import IdMap
from piecework.vocabulary.pieces import add_pieces, remove_pieces, set_scores, set_types

__all__ = [
    "IdMap",
    "ResizedTable",
    "add_pieces",
    "as_components",
    "as_sentencepiece",
    "remove_pieces",
    "resize_embeddings",
    "set_scores",
    "set_types",
]
