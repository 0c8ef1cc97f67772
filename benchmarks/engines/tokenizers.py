"""tokenizers, by its fastest published route (`encode_batch_fast`, `train`)."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

import tokenizers as peer

SCORES = ("frequency", "byte-bpe", "unigram")


def version() -> str:
    """Return the version that runs."""
    return peer.__version__


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import tokenizers; tokenizers.Tokenizer.from_file({str(path)!r})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_file(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens; threads are set by the environment."""
    return tokenizer.encode_batch_fast(texts, add_special_tokens=False)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(encoding.ids for encoding in result))


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return rows(encode(tokenizer, texts, threads))


def load_truncating(path: Path, max_length: int) -> Any:
    """Load a `tokenizer.json` and truncate."""
    tokenizer = load(path)
    tokenizer.enable_truncation(max_length)
    return tokenizer


def encode_truncated(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode with special tokens, truncated; threads are set by the environment."""
    return tokenizer.encode_batch_fast(texts)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text, add_special_tokens=False).ids


def spans(tokenizer: Any, texts: list[str]) -> list[tuple[Any, Any]]:
    """Return the offsets in characters and the word ids of every text."""
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    return [(encoding.offsets, encoding.word_ids) for encoding in encodings]


def read_spans(found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the offsets and word ids of every text as lists."""
    return found


def rows(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return [encoding.ids for encoding in result]


def decode(tokenizer: Any, encoded: Any) -> list[str]:
    """Decode every row; threads are set by the environment."""
    return tokenizer.decode_batch(encoded)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; return the entries learned and the seconds in all (it tells no phases)."""
    make = {"frequency": _wordpiece, "byte-bpe": _byte_bpe, "unigram": _unigram}[score]
    tokenizer, trainer = make(
        vocab_size=vocab_size, min_frequency=min_frequency, show_progress=False
    )
    start = perf_counter()
    tokenizer.train([str(corpus)], trainer)
    return {"entries": tokenizer.get_vocab_size(), "total_s": perf_counter() - start}


def _wordpiece(**settings: Any) -> tuple[Any, Any]:
    tokenizer = peer.Tokenizer(peer.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = peer.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = peer.pre_tokenizers.BertPreTokenizer()
    special_tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return tokenizer, peer.trainers.WordPieceTrainer(special_tokens=special_tokens, **settings)


def _byte_bpe(**settings: Any) -> tuple[Any, Any]:
    tokenizer = peer.Tokenizer(peer.models.BPE())
    tokenizer.pre_tokenizer = peer.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = peer.pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, peer.trainers.BpeTrainer(initial_alphabet=alphabet, **settings)


def _unigram(*, vocab_size: int, min_frequency: int, show_progress: bool) -> tuple[Any, Any]:
    """Take the pipeline of `SentencePieceUnigramTokenizer`; `min_frequency` is no setting of it."""
    tokenizer = peer.Tokenizer(peer.models.Unigram())
    normalizers = peer.normalizers
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(peer.Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = peer.pre_tokenizers.Metaspace()
    special_tokens = ["<unk>", "<s>", "</s>"]
    return tokenizer, peer.trainers.UnigramTrainer(
        vocab_size=vocab_size,
        special_tokens=special_tokens,
        unk_token="<unk>",
        show_progress=show_progress,
    )
