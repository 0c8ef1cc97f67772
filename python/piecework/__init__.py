"""piecework: subword tokenization, from text to ids and from corpora to vocabularies.

In the order of the data: a corpus is counted and learned from, a tokenizer is loaded or composed,
text is encoded into `Encoding` and `Batch`, and decoded again.

>>> import piecework as pw
>>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
>>> tok.encode_batch(["hugs", "pun"], add_special_tokens=False).to_lists()
[[21], [23]]
"""

from __future__ import annotations

from piecework.errors import PieceworkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from piecework import (
        analysis,
        chat,
        corpus,
        errors,
        export,
        generation,
        lattice,
        spec,
        stages,
        train,
        vocabulary,
    )
    from piecework._core import UNICODE_VERSION, __version__
    from piecework.batch import Batch
    from piecework.encoding import Encoding
    from piecework.export import EncodedFiles, encode_files
    from piecework.normalization_rules import NormalizationRules
    from piecework.sampling import Sampling, Segmentation
    from piecework.spec import TokenizerSpec
    from piecework.tokenizer import Tokenizer
    from piecework.train import (
        BPETrainer,
        ByteBPETrainer,
        ByteUnigramTrainer,
        CharTrainer,
        Counts,
        SentencePieceTrainer,
        UnigramTrainer,
        WordPieceTrainer,
        WordTrainer,
        count_files,
        count_texts,
    )
    from piecework.vocabulary import IdMap

# Where the other names live. They are imported when first asked for, so that a program that loads a
# tokenizer and encodes does not wait for what learns, compares and draws.
_MODULES = (
    "analysis",
    "chat",
    "corpus",
    "export",
    "generation",
    "lattice",
    "spec",
    "stages",
    "train",
    "vocabulary",
)
_HOMES = {
    "export": ("EncodedFiles", "encode_files"),
    "normalization_rules": ("NormalizationRules",),
    "sampling": ("Sampling", "Segmentation"),
    "spec": ("TokenizerSpec",),
    "train": (
        "BPETrainer",
        "ByteBPETrainer",
        "ByteUnigramTrainer",
        "CharTrainer",
        "Counts",
        "SentencePieceTrainer",
        "UnigramTrainer",
        "WordPieceTrainer",
        "WordTrainer",
        "count_files",
        "count_texts",
    ),
    "vocabulary": ("IdMap",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
# These names need the extension module. The first use of one imports them all, so that
# `piecework.reference` also runs without the extension module.
_CORE_NAMES = ("UNICODE_VERSION", "Batch", "Encoding", "Tokenizer", "__version__")


def __getattr__(name: str) -> Any:
    if name in _CORE_NAMES:
        _import_core_names()
        return globals()[name]
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"piecework.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(f"piecework.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    from piecework.attributes.names_of_other_libraries import use_of_module_name

    raise AttributeError(
        f"module 'piecework' has no attribute {name!r}{use_of_module_name(name)}", name=name
    )


def _import_core_names() -> None:
    """Import the names of `_CORE_NAMES` into this module."""
    import gc

    # Modules leave no garbage, and looking for it takes a quarter of the time of importing them.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        _import_core_modules()
    finally:
        if was_enabled:
            gc.enable()


def _import_core_modules() -> None:
    try:
        from piecework._core import UNICODE_VERSION, __version__
    except ModuleNotFoundError as error:
        raise ImportError("piecework's extension module is missing: run `make build`") from error
    from piecework.batch import Batch
    from piecework.encoding import Encoding
    from piecework.tokenizer import Tokenizer

    for value in (Batch, Encoding, Tokenizer):
        globals()[value.__name__] = value
    globals().update(UNICODE_VERSION=UNICODE_VERSION, __version__=__version__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "UNICODE_VERSION",
    "BPETrainer",
    "Batch",
    "ByteBPETrainer",
    "ByteUnigramTrainer",
    "CharTrainer",
    "Counts",
    "EncodedFiles",
    "Encoding",
    "IdMap",
    "NormalizationRules",
    "PieceworkError",
    "Sampling",
    "Segmentation",
    "SentencePieceTrainer",
    "Tokenizer",
    "TokenizerSpec",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "__version__",
    "analysis",
    "chat",
    "corpus",
    "count_files",
    "count_texts",
    "encode_files",
    "errors",
    "export",
    "generation",
    "lattice",
    "spec",
    "stages",
    "train",
    "vocabulary",
]
