"""piecework, through its public API."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import piecework as pw
from piecework._internal import _core

SCORES = (
    "frequency",
    "likelihood",
    "pmi",
    "top-down",
    "byte-bpe",
    "unigram",
    "sentencepiece-unigram",
    "sentencepiece-bpe",
)
# The buffer is an Arrow column, which pyarrow makes.
INPUTS = ("str", "file", "buffer") if find_spec("pyarrow") else ("str", "file")
_PIPELINES = {"byte-bpe": "gpt2", "unigram": "sentencepiece"}


def version() -> str:
    """Return the version that runs and the profile that compiled it."""
    return f"{pw.__version__} ({_core.BUILD_PROFILE} build)"


def levels() -> list[str]:
    """Return the kernel levels of this processor, the best last."""
    return _core.kernel_levels()


def use_level(name: str) -> None:
    """Run every kernel at this level."""
    _core.use_kernel_level(name)


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import piecework; piecework.Tokenizer.load({_arguments(path)})"


def start_cached(path: Path) -> str:
    """Return the same where the first such program keeps its tables in a file, which others read."""
    cache = str(path.with_suffix(".pwc"))
    return (
        f"import piecework; piecework.Tokenizer.load({_arguments(path)}, compiled_cache={cache!r})"
    )


def _arguments(path: Path) -> str:
    """Return the arguments of `load` in a program; ranks are read as ranks if they are the published file."""
    ranks = path.with_suffix(".tiktoken")
    if (
        ranks.exists()
        and path.stem in pw.spec.NAMED_PATTERNS
        and not path.with_suffix(".merges.txt").exists()
    ):
        return f"{str(ranks)!r}, pattern={path.stem!r}, special_tokens={{}}"
    return repr(str(_source(path)))


def load(path: Path) -> Any:
    """Load what there is to load."""
    return pw.Tokenizer.load(_source(path))


def _source(path: Path) -> Path:
    """Return the `.model` where there is one: the `tokenizer.json` is made of it."""
    model = path.with_suffix(".model")
    return model if model.exists() else path


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens, into flat arrays."""
    return tokenizer.encode_batch(texts, add_special_tokens=False, num_threads=threads)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return result.ids


def buffer(texts: list[str]) -> Any:
    """Return the texts as an Arrow column: one buffer of UTF-8, 64-bit offsets."""
    import pyarrow

    return pyarrow.array(texts, pyarrow.large_string())


def encode_buffer(tokenizer: Any, column: Any, threads: int) -> Any:
    """Encode an Arrow column without special tokens, into flat arrays."""
    return tokenizer.encode_batch(column, add_special_tokens=False, num_threads=threads)


def file_source(path: Path) -> Path:
    """Return the path, and import what encodes files, as the other engines do when they are loaded."""
    assert pw.export.encode_lines
    return path


def encode_file(tokenizer: Any, path: Path, threads: int) -> Any:
    """Encode the lines of a file into flat arrays in memory, as the other engines do."""
    return pw.export.encode_lines(tokenizer, path, add_special_tokens=False, num_threads=threads)


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return encode(tokenizer, texts, threads).to_lists()


def load_for_calls(path: Path) -> Any:
    """Load a `tokenizer.json` into transformers and accelerate the tokenizer."""
    from transformers import TokenizersBackend

    from piecework.integrations.transformers import accelerate

    return accelerate(TokenizersBackend(tokenizer_file=str(path)))


def call(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Call a tokenizer of transformers; threads are set by the environment."""
    return tokenizer(texts, add_special_tokens=False)["input_ids"]


def load_truncating(path: Path, max_length: int) -> Any:
    """Load a tokenizer that truncates."""
    return load(path).with_truncation(max_length)


def encode_truncated(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode with special tokens, truncated, into flat arrays."""
    return tokenizer.encode_batch(texts, num_threads=threads)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text, add_special_tokens=False).ids


def spans(tokenizer: Any, texts: list[str]) -> tuple[Any, ...]:
    """Return where rows start, the offsets in characters and the word ids of every token, as arrays."""
    batch = tokenizer.encode_batch(texts, add_special_tokens=False, offsets=True, num_threads=1)
    return batch.row_offsets, batch.offsets, batch.word_ids


def read_spans(found: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Return the offsets and word ids of every text as lists."""
    row_offsets, offsets, words = (column.tolist() for column in found)
    pairs = list(map(tuple, offsets))
    return [(pairs[start:end], words[start:end]) for start, end in pairwise(row_offsets)]


def rows(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return result


def decode(tokenizer: Any, encoded: Any) -> list[str]:
    """Decode every row."""
    return tokenizer.decode_batch(encoded)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; return the entries learned and the seconds of each phase."""
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)  # pmi's doubts are well known
    if score.startswith("sentencepiece-"):
        return _train_sentences(corpus, score.removeprefix("sentencepiece-"), vocab_size)
    start = perf_counter()
    counts = pw.count_files([corpus], preset=_PIPELINES.get(score, "bert-uncased"))
    counted = perf_counter()
    settings = _settings(score, min_frequency)
    tokenizer = pw.Tokenizer.train_from_counts(counts, vocab_size=vocab_size, **settings)
    learned = perf_counter()
    return {
        "entries": tokenizer.get_vocab_size(),
        "count_s": counted - start,
        "learn_s": learned - counted,
        "total_s": learned - start,
    }


def _train_sentences(corpus: Path, model_type: str, vocab_size: int) -> dict[str, float]:
    """Learn from raw sentences, by the settings that `sentencepiece` is given."""
    trainer = pw.SentencePieceTrainer(
        model_type=model_type,
        vocab_size=vocab_size,
        max_sentence_length=65_536,
        split_by_unicode_script=False,
        split_by_number=False,
    )
    start = perf_counter()
    tokenizer = pw.Tokenizer.train(corpus, trainer)
    return {"entries": tokenizer.get_vocab_size(), "total_s": perf_counter() - start}


def _settings(score: str, min_frequency: int) -> dict[str, Any]:
    if score == "unigram":
        return {"model": "unigram"}
    if score == "byte-bpe":
        return {"model": "byte-bpe", "special_tokens": (), "min_frequency": min_frequency}
    learner = pw.train.TopDown() if score == "top-down" else pw.train.Merges(score)
    return {"learner": learner, "min_frequency": min_frequency}
