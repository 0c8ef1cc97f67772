"""The tokenizers whose golden files are judged: published ones, and small ones with flagged added tokens."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import piecework as pw
from piecework.spec import (
    NFC,
    NFKC,
    AddedToken,
    ByteLevel,
    Lowercase,
    Metaspace,
    SequenceNormalizer,
    TemplateProcessing,
)

# File of the folder of vocabularies, and the options of `Tokenizer.load`.
PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "bert-base-uncased": ("bert-base-uncased/tokenizer.json", {}),
    "bert-base-cased": ("bert-base-cased/vocab.txt", {}),
    "gpt2": ("gpt2/tokenizer.json.gz", {}),
    "roberta-base": ("roberta-base/tokenizer.json.gz", {}),
    "cl100k": ("tiktoken/cl100k_base.tiktoken", {"encoding_name": "cl100k_base"}),
    "o200k": ("tiktoken/o200k_base.tiktoken", {"encoding_name": "o200k_base"}),
    "qwen2.5": ("qwen2.5/tokenizer.json.gz", {}),
    "deepseek-v3": ("deepseek-v3/tokenizer.json.gz", {}),
    "whisper-tiny": ("whisper-tiny/tokenizer.json.gz", {}),
    "clip": ("clip/tokenizer.json.gz", {}),
    "t5-small": ("t5-small/tokenizer.json.gz", {}),
    "albert-v2": ("albert-v2/tokenizer.json.gz", {}),
    "mistral-7b-v0.1": ("mistral-7b-v0.1/tokenizer.json.gz", {}),
    "mistral-v3 (.model)": ("mistral/mistral_instruct_tokenizer_240323.model.v3", {}),
    "maxtext (.model)": ("maxtext-default/tokenizer.model", {}),
}
# One token for each flag, and one that begins another and is listed first.
FLAGGED = (
    AddedToken("[SOLO]", single_word=True),
    AddedToken("[LEFT]", lstrip=True),
    AddedToken("[RIGHT]", rstrip=True),
    AddedToken("[Nörm]", normalized=True, special=False),
    AddedToken("<call"),
    AddedToken("<call>"),
)
SIZE = 2_000
END_OF_CYRILLIC = "\u0500"


def subjects(vocabularies: Path, texts: Sequence[str]) -> Iterator[tuple[str, pw.Tokenizer]]:
    """Yield each tokenizer whose file is at hand, then those that are trained on `texts`."""
    for name, (file, options) in PUBLISHED.items():
        if (vocabularies / file).is_file():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tokenizer = pw.Tokenizer.load(vocabularies / file, **options)
            yield name, tokenizer.without_truncation().without_padding()
    for name, train in TRAINED.items():
        yield name, train(texts)


def trained(texts: Sequence[str], **options: Any) -> pw.Tokenizer:
    """Train a small tokenizer on texts in Latin, Greek and Cyrillic letters; add the flagged tokens."""
    texts = [text for text in texts if max(text) < END_OF_CYRILLIC]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "texts.txt"
        path.write_text("\n".join(texts), encoding="utf-8")
        return pw.Tokenizer.train(path, **options).with_added_tokens(FLAGGED)


def wordpiece(texts: Sequence[str]) -> pw.Tokenizer:
    """Train WordPiece with BERT's pipeline."""
    return trained(texts, model="wordpiece", preset="bert-uncased", vocab_size=SIZE)


def bpe(texts: Sequence[str]) -> pw.Tokenizer:
    """Train BPE over characters, behind NFKC and lower case."""
    tokenizer = trained(texts, model="bpe", vocab_size=SIZE)
    lower = SequenceNormalizer((NFKC(), Lowercase()))
    return tokenizer.with_normalizer(lower).with_pre_tokenizer(Metaspace(prepend_scheme="first"))


def byte_level(texts: Sequence[str]) -> pw.Tokenizer:
    """Train byte-level BPE behind NFC, with a prefix space and an end-of-text token."""
    tokenizer = trained(texts, model="byte-bpe", preset="gpt2", vocab_size=SIZE)
    tokenizer = tokenizer.with_added_tokens([AddedToken("<end>")])
    end = {"<end>": tokenizer.token_to_id("<end>")}
    template = TemplateProcessing(
        ("$A:0", "<end>:0"), ("$A:0", "<end>:0", "$B:1", "<end>:1"), {"<end>": (end["<end>"],)}
    )
    tokenizer = tokenizer.with_normalizer(NFC()).with_pre_tokenizer(ByteLevel())
    return tokenizer.with_post_processor(template)


def unigram(texts: Sequence[str]) -> pw.Tokenizer:
    """Train Unigram behind NFKC."""
    tokenizer = trained(texts, model="unigram", vocab_size=SIZE)
    metaspace = Metaspace(prepend_scheme="first", split=False)
    return tokenizer.with_normalizer(NFKC()).with_pre_tokenizer(metaspace)


TRAINED: dict[str, Callable[[Sequence[str]], pw.Tokenizer]] = {
    "small WordPiece": wordpiece,
    "small BPE": bpe,
    "small byte-level BPE": byte_level,
    "small Unigram": unigram,
}
