"""BPE models made up at random segment random texts as they do in `tokenizers`.

Merges in any order, twice, of entries that nothing makes; ids with gaps; prefixes and suffixes; unknown
characters with and without an entry, bytes that are not all there. A seed each, so that a failure can
be looked at; PIECEWORK_FULL=1 tries a hundred times as many.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
import tokenizers

import piecework as pw

LETTERS = "aaabbcdé世𝄞"
STRANGE = "xyß界#</w>"
FULL = bool(os.environ.get("PIECEWORK_FULL"))
MODELS = 20_000 if FULL else 200
TEXTS = 20

Document = dict[str, Any]


def character_document(rng: random.Random) -> Document:
    """Return a model over a few letters, with every option at random."""
    prefix = rng.choice([None, None, "", "##", "é"])
    suffix = rng.choice([None, None, "", "</w>"])
    forms = {
        p + letter + s
        for letter in LETTERS
        for p in ("", prefix or "")
        for s in ("", suffix or "")
        if rng.random() < 0.9
    }
    tokens = [*sorted(forms), "<unk>"]
    byte_fallback = rng.random() < 0.4
    if byte_fallback:
        share = rng.choice([0.5, 0.95, 1.0])
        tokens += [f"<0x{byte:02X}>" for byte in range(256) if rng.random() < share]
    merges = random_merges(rng, tokens, prefix or "", rng.randrange(40))
    return document_of(
        rng,
        tokens,
        merges,
        unk_token=rng.choice([None, "<unk>", "<unk>"]),
        fuse_unk=rng.random() < 0.5,
        byte_fallback=byte_fallback,
        ignore_merges=rng.random() < 0.3,
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        pre_tokenizer=rng.choice([None, {"type": "WhitespaceSplit"}]),
    )


def byte_level_document(rng: random.Random) -> Document:
    """Return a byte-level model that has all bytes, or nearly all."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    share = rng.choice([0.97, 1.0, 1.0])
    tokens = [letter for letter in alphabet if rng.random() < share]
    likely = [letter for letter in tokens if letter in "abcĠÃ©ä¸Ċ"] * 9
    merges = random_merges(rng, tokens, "", rng.randrange(60), likely)
    return document_of(
        rng,
        tokens,
        merges,
        unk_token=None,
        fuse_unk=False,
        byte_fallback=False,
        ignore_merges=rng.random() < 0.3,
        continuing_subword_prefix=rng.choice([None, ""]),
        end_of_word_suffix=rng.choice([None, ""]),
        pre_tokenizer={
            "type": "ByteLevel",
            "add_prefix_space": rng.random() < 0.5,
            "trim_offsets": True,
            "use_regex": rng.random() < 0.5,
        },
    )


def random_merges(
    rng: random.Random, tokens: list[str], prefix: str, count: int, likely: list[str] | None = None
) -> list[list[str]]:
    """Return merges of entries, adding what they make to `tokens`, and more entries that none makes."""
    pool = list(likely or tokens)
    rights = [token for token in pool if token.startswith(prefix)]
    merges = []
    for _ in range(count if rights else 0):
        left, right = rng.choice(pool[-12:] + pool[:12]), rng.choice(rights[-12:] + rights[:12])
        joined = left + right[len(prefix) :]
        if len(joined) > 24:
            continue
        merges.append([left, right])
        pool.append(joined)
        if joined.startswith(prefix):
            rights.append(joined)
    if rng.random() < 0.3:
        merges += rng.choices(merges, k=3) if merges else []
    if rng.random() < 0.4:
        rng.shuffle(merges)
    unreached = [
        "".join(rng.choices(LETTERS, k=rng.randint(2, 5))) for _ in range(rng.randrange(4))
    ]
    tokens += [token for token in dict.fromkeys(pool + unreached) if token not in set(tokens)]
    return merges


def document_of(
    rng: random.Random,
    tokens: list[str],
    merges: list[list[str]],
    *,
    pre_tokenizer: Any,
    **options: Any,
) -> Document:
    rng.shuffle(tokens)
    ids = (
        rng.sample(range(2 * len(tokens)), len(tokens))
        if rng.random() < 0.5
        else range(len(tokens))
    )
    vocab = dict(zip(tokens, ids, strict=True))
    model = {"type": "BPE", "dropout": None, **options, "vocab": vocab, "merges": merges}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


def random_text(rng: random.Random) -> str:
    letters = rng.choice([LETTERS, LETTERS + " ", LETTERS + STRANGE + " ", "ab", "a"])
    return "".join(rng.choices(letters, k=rng.choice([1, 2, 5, 12, 30, 80])))


@pytest.mark.parametrize("make", [character_document, byte_level_document])
def test_random_models_segment_as_in_tokenizers(
    make: Callable[[random.Random], Document],
) -> None:
    compared = 0
    for seed in range(MODELS):
        rng = random.Random(seed)
        document = make(rng)
        text = json.dumps(document)
        ours, theirs = pw.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)
        texts = [random_text(rng) for _ in range(TEXTS)]
        for given, ids in zip(
            texts, ours.encode_batch(texts, num_threads=1).to_lists(), strict=True
        ):
            expected = theirs.encode(given)
            assert ids == expected.ids, f"seed {seed}: {given!r}"
            encoding = ours.encode(given)
            assert encoding.ids == ids, f"seed {seed}: {given!r}"
            assert encoding.tokens == expected.tokens, f"seed {seed}: {given!r}"
            if offsets_are_theirs_too(document["model"]):
                assert encoding.offsets == expected.offsets, f"seed {seed}: {given!r}"
            compared += len(ids)
    assert compared > MODELS * TEXTS


def offsets_are_theirs_too(model: Document) -> bool:
    """Whether no character is dropped and none becomes bytes: there offsets differ on purpose."""
    return model["unk_token"] is not None and not model["byte_fallback"]
