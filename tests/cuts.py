"""Tokenizers for which a text can be cut before a space: one for each kind of stages."""

from __future__ import annotations

from collections.abc import Sequence

import piecework as pw

PRESETS = [
    "bert-uncased",
    "bert-cased",
    "gpt2",
    "cl100k",
    "o200k",
    "o200k-r2l",
    "o200k-nl",
    "llama3",
    "qwen2",
    "whitespace",
]


def tokenizers_with_cuts(lines: Sequence[str]) -> list[pw.Tokenizer]:
    """Train one tokenizer for each preset, and add a token to a second one; two for each preset."""
    tokenizers = []
    for preset in PRESETS:
        model = "wordpiece" if preset.startswith(("bert", "white")) else "byte-bpe"
        made = pw.Tokenizer.train_from_iterator(lines, vocab_size=340, model=model, preset=preset)
        tokenizers += [made, made.with_added_tokens([pw.spec.AddedToken("ab", single_word=True)])]
    return tokenizers
