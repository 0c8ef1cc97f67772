r"""The byte-level pipelines of published models cut here as they do in `tokenizers`.

Each as its `tokenizer.json` has it, before a vocabulary that has every pair of bytes: two neighbouring bytes
are one token unless a word ends between them, so that ids tell nearly every cut.
"""

from __future__ import annotations

import json
import os
import random
from functools import lru_cache
from typing import Any

import pytest
import tokenizers

import piecework as pw
from tests.differential import peer

FULL = bool(os.environ.get("PIECEWORK_FULL"))
TEXTS = 60_000 if FULL else 3_000

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = (
    rf"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
)
QWEN35 = (
    rf"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}"
)
NANOCHAT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
TIKTOKEN_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
TIKTOKEN_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
SEED = (
    f"{CONTRACTION}|[^\r\n\\p{{L}}\\p{{N}}]?\\p{{L}}+|\\p{{N}}{{1}}"
    "| ?[^\\s\\p{L}\\p{N}\r\n]+|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
UPPER, LOWER = (
    rf"[{kinds}\p{{M}}&&[^\p{{Han}}]]"
    for kinds in (r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}", r"\p{Ll}\p{Lm}\p{Lo}")
)
KIMI = (
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
)
CLIP = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)
CODER = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")


def byte_level(use_regex: bool, prefix: bool = False) -> dict[str, Any]:
    options = {"add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **options}


def split(pattern: str) -> dict[str, Any]:
    parts = {"pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Split", **parts}


def digits(individual: bool) -> dict[str, Any]:
    return {"type": "Digits", "individual_digits": individual}


PIPELINES = {
    "words between spaces": [{"type": "WhitespaceSplit"}, byte_level(True)],
    "RoBERTa, words given": [byte_level(True, prefix=True)],
    "StarCoder, SmolLM, Command R": [digits(True), byte_level(True)],
    "Qwen 3.5": [split(QWEN35), byte_level(False)],
    "Ling": [split(NANOCHAT.replace("{1,2}", "")), byte_level(False)],
    "nanochat": [split(NANOCHAT), byte_level(False)],
    "tiktoken's cl100k": [split(TIKTOKEN_CL100K), byte_level(False)],
    "tiktoken's GPT-2": [split(TIKTOKEN_GPT2), byte_level(False)],
    "Seed": [split(SEED), byte_level(False)],
    "MiniCPM 5": [
        split(r"\p{N}{1,3}"),
        split(CL100K.replace("{1,3}", "+")),
        byte_level(False),
    ],
    "Kimi K2": [split(KIMI), byte_level(False)],
    "CLIP": [split(CLIP) | {"behavior": "Removed", "invert": True}, byte_level(True)],
    "unknown": [
        split(r"\p{N}{1,2}"),
        split(r"\w+|\s+") | {"behavior": "MergedWithPrevious"},
        byte_level(False),
    ],
    "BLOOM": [split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level(False)],
    "DeepSeek Coder": [*map(split, CODER), digits(True), byte_level(False)],
}


@lru_cache(maxsize=1)
def both(name: str) -> tuple[pw.Tokenizer, tokenizers.Tokenizer]:
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    pairs = [(left, right) for left in alphabet for right in alphabet]
    tokens = [*alphabet, *map("".join, pairs)]
    model = {"type": "BPE", "vocab": {token: id for id, token in enumerate(tokens)}}
    document = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": PIPELINES[name]},
        "post_processor": None,
        "decoder": byte_level(True),
        "model": {**model, "merges": pairs},
    }
    if len(PIPELINES[name]) == 1:
        document["pre_tokenizer"] = PIPELINES[name][0]
    text = json.dumps(document)
    return pw.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)


def random_texts() -> list[str]:
    draw = random.Random(6)
    alphabets = [
        "ab Z'stllreSLſ  ",
        "a1 2½٣९ \n",
        "a \n\r\t\u00a0\u3000!/-.(",
        "漢字かなカナー한국어 、。！・あ1",
        "हिन्दी e\u0301 ไทย \u200d👩🏽 +=$ ",
        "، ۔। | ( [ ] … ,.!?。、",
        "\x00\x85\u2028\u11de5\U00011de5\U00016ff4 1a",
    ]
    texts = []
    for _ in range(TEXTS):
        letters = "".join(draw.sample(alphabets, draw.randint(1, 2)))
        letters = [*letters, *draw.sample(["<|endoftext|>", "<|startoftext|>", "'ll", "\r\n"], 1)]
        length = draw.randint(0, 16) if draw.random() < 0.95 else draw.randint(200, 900)
        texts.append("".join(draw.choices(letters, k=length)))
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES, scope="module")
def test_random_texts_give_the_same_ids(name: str) -> None:
    ours, theirs = both(name)
    texts = random_texts()
    peer.assert_same_ids(ours, theirs, texts)
    peer.assert_same_fields(ours, theirs, texts[:500])


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES, scope="module")
def test_code_points_give_the_same_ids(name: str) -> None:
    ours, theirs = both(name)
    points = peer.code_points([*PIPELINES].index(name), 2 * len(PIPELINES))
    for frame in ("{}", "a{}b", " {} 1{}1", "漢{}.{} {}"):
        texts = [frame.replace("{}", char) for char in points]
        peer.assert_same_ids(ours, theirs, texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES, scope="module")
def test_corpora_give_the_same_ids(name: str) -> None:
    ours, theirs = both(name)
    peer.assert_same_ids(ours, theirs, peer.sample_documents(60))
