"""Change the vocabulary of a tokenizer: `function(tokenizer, ...)` returns a `ChangedVocabulary`.

- `changed_vocabulary`: the result; the new id of each old one, to move rows of an embedding table
- `alphabet`: the alphabet of a model, and the entries that must not be removed
- `derivations`: the entries that an entry of a BPE model is merged from
- `pruning`, `residues`: keep some entries, remove the last ones or entries that texts rarely use
- `extension`: learn more entries from counts
- `unigram_scores`: a Unigram model of the entries of a WordPiece one
- `words`: add words as ordinary entries
- `entries`: append entries, or put them in place of unused ones
- `additions`: add and remove added tokens
- `pieces`: edit SentencePiece pieces, restrict the output to some of them
- `components`: convert SentencePiece to components of tokenizer.json, and back
- `decoding`: the bytes of each token, and the bytes that it adds to a text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from piecework.vocabulary.components import as_components as as_components
    from piecework.vocabulary.components import as_sentencepiece as as_sentencepiece
    from piecework.vocabulary.decoding import decoded_bytes as decoded_bytes
    from piecework.vocabulary.decoding import vocab_bytes as vocab_bytes
    from piecework.vocabulary.extension import extend as extend
    from piecework.vocabulary.pieces import add_pieces as add_pieces
    from piecework.vocabulary.pieces import bos_eos_template as bos_eos_template
    from piecework.vocabulary.pieces import remove_pieces as remove_pieces
    from piecework.vocabulary.pieces import restrict as restrict
    from piecework.vocabulary.pieces import set_scores as set_scores
    from piecework.vocabulary.pieces import set_types as set_types
    from piecework.vocabulary.pruning import prune as prune
    from piecework.vocabulary.pruning import shrink as shrink
    from piecework.vocabulary.unigram_scores import to_unigram as to_unigram
    from piecework.vocabulary.words import add_words as add_words

# Each is imported when it is first read: `Tokenizer.with_added_tokens` needs neither training nor embeddings.
_HOMES = {
    "add_pieces": "pieces",
    "add_words": "words",
    "as_components": "components",
    "as_sentencepiece": "components",
    "bos_eos_template": "pieces",
    "decoded_bytes": "decoding",
    "extend": "extension",
    "prune": "pruning",
    "remove_pieces": "pieces",
    "restrict": "pieces",
    "set_scores": "pieces",
    "set_types": "pieces",
    "shrink": "pruning",
    "to_unigram": "unigram_scores",
    "vocab_bytes": "decoding",
}
__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
