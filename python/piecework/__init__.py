"""piecework: subword tokenization, from text to ids and from corpora to vocabularies.

In the order of the data: a corpus is counted and learned from, a tokenizer is loaded or composed,
text is encoded into `Encoding` and `Batch`, and decoded again.

>>> import piecework as pw
>>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
>>> tok.encode_batch(["hugs", "pun"], add_special_tokens=False).to_lists()
[[21], [23]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework import errors as errors
from piecework._internal.lazy_names import lazy_names
from piecework.errors import PieceworkError as PieceworkError

try:
    from piecework._internal._core import __version__ as __version__
    from piecework.tokenizer import Tokenizer as Tokenizer
    from piecework.tokenizer.batch import Batch as Batch
    from piecework.tokenizer.encoding import Encoding as Encoding
except ModuleNotFoundError as error:
    if error.name != "piecework._internal._core":  # `piecework.reference` runs without it
        raise

if TYPE_CHECKING:
    from piecework import analysis as analysis
    from piecework import chat as chat
    from piecework import corpus as corpus
    from piecework import export as export
    from piecework import spec as spec
    from piecework import train as train
    from piecework import vocabulary as vocabulary
    from piecework.export import encode_files as encode_files
    from piecework.spec import TokenizerSpec as TokenizerSpec
    from piecework.tokenizer.sampling import Sampling as Sampling
    from piecework.train import BPETrainer as BPETrainer
    from piecework.train import ByteBPETrainer as ByteBPETrainer
    from piecework.train import ByteUnigramTrainer as ByteUnigramTrainer
    from piecework.train import CharTrainer as CharTrainer
    from piecework.train import Counts as Counts
    from piecework.train import SentencePieceTrainer as SentencePieceTrainer
    from piecework.train import UnigramTrainer as UnigramTrainer
    from piecework.train import WordLevelTrainer as WordLevelTrainer
    from piecework.train import WordPieceTrainer as WordPieceTrainer
    from piecework.train import count_files as count_files
    from piecework.train import count_texts as count_texts
    from piecework.vocabulary.changed_vocabulary import IdMap as IdMap

# Each is imported when it is first read: loading and encoding need none of them.
_HOMES = {
    "BPETrainer": "train",
    "ByteBPETrainer": "train",
    "ByteUnigramTrainer": "train",
    "CharTrainer": "train",
    "Counts": "train",
    "IdMap": "vocabulary.changed_vocabulary",
    "Sampling": "tokenizer.sampling",
    "SentencePieceTrainer": "train",
    "TokenizerSpec": "spec",
    "UnigramTrainer": "train",
    "WordLevelTrainer": "train",
    "WordPieceTrainer": "train",
    "analysis": "analysis",
    "chat": "chat",
    "corpus": "corpus",
    "count_files": "train",
    "count_texts": "train",
    "encode_files": "export",
    "export": "export",
    "spec": "spec",
    "train": "train",
    "vocabulary": "vocabulary",
}
__all__ = [
    "Batch",
    "Encoding",
    "PieceworkError",
    "Tokenizer",
    "__version__",
    "errors",
]
__all__ += list(_HOMES)

if not TYPE_CHECKING:
    _imported, _ = lazy_names("piecework", _HOMES)

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            return _imported(name)
        if name in __all__:
            raise ImportError("piecework's extension module is missing: run `make build`")
        from piecework._internal.names_of_other_libraries import use_of_module_name

        hint = use_of_module_name(name)
        raise AttributeError(f"module 'piecework' has no attribute {name!r}{hint}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
