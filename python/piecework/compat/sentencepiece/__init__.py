"""sentencepiece's API on top of piecework: the same names, pieces, ids, spans and text.

It has the calls of 0.2.3 (`return_type`, "proto", "numpy", "offset_mapping") and the calls of earlier
versions: "immutable_proto", `set_vocabulary`, `set_encode_extra_options`, `sample_encode_and_score`,
`calculate_entropy` and others. Each method has both spellings, such as `EncodeAsIds` and
`encode_as_ids`. The sentencepiece package need not be installed.

>>> import io
>>> model = io.BytesIO()
>>> sentences = iter(["hug hugs bug bugs", "bug hug"] * 20)
>>> SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=12)
>>> sp = SentencePieceProcessor(model_proto=model.getvalue())
>>> sp.encode("hug bugs", out_type=str)
['▁hug', '▁bugs']
>>> sp.decode(sp.encode("hug bugs"))
'hug bugs'
"""

from __future__ import annotations

from piecework.compat.sentencepiece.normalizer import SentencePieceNormalizer
from piecework.compat.sentencepiece.options import (
    SetRandomGeneratorSeed,
    set_random_generator_seed,
)
from piecework.compat.sentencepiece.processor import SentencePieceProcessor
from piecework.compat.sentencepiece.trainer import SentencePieceTrainer

# The version of sentencepiece whose names these are.
__version__ = "0.2.3"

__all__ = [
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetRandomGeneratorSeed",
    "set_random_generator_seed",
]
