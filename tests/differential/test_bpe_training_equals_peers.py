"""Byte-pair training gives what `tokenizers` and subword-nmt give when they are set up alike."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

import piecework as pw
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train import BPETrainer, ByteBPETrainer
from tests.data import corpora_dir, missing, need

FULL = bool(os.environ.get("PIECEWORK_FULL"))
SIZE = 32_000 if FULL else 4_000
# The corpus has about 29,600 entries with marks.
MARKED_SIZE = min(SIZE, 24_000)
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SAMPLE_CHARS = 20_000_000 if FULL else 500_000


def corpora() -> list[Any]:
    folder = corpora_dir()
    if folder is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=missing("corpora")))]
    files = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    return [pytest.param(path, id=path.name) for path in files]


def texts_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        return stream.read(SAMPLE_CHARS).splitlines(keepends=True)


def learned_by_tokenizers(texts: list[str], pre_tokenizer: Any, **settings: Any) -> dict[str, Any]:
    theirs = tokenizers.Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizer
    theirs.train_from_iterator(texts, trainers.BpeTrainer(show_progress=False, **settings))
    model: dict[str, Any] = json.loads(theirs.to_str())["model"]
    return model


def merges_of(model: dict[str, Any]) -> list[tuple[str, str]]:
    return [(left, right) for left, right in model["merges"]]


@pytest.mark.slow
@pytest.mark.parametrize("path", corpora())
def test_byte_level_vocabularies_and_merges_are_equal(path: Path) -> None:
    texts = texts_of(path)
    theirs = learned_by_tokenizers(
        texts,
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        vocab_size=SIZE,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=2,
    )
    trainer = ByteBPETrainer(vocab_size=SIZE)
    learned = trainer.learn_vocabulary(pw.count_texts(texts, preset="gpt2"))
    assert [(merge.left, merge.right) for merge in learned.merges] == merges_of(theirs)
    assert {entry: at for at, entry in enumerate(learned.entries)} == theirs["vocab"]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_gives_the_vocabulary_that_tokenizers_learns_from_it(
    end: str, english_corpus: Path, tmp_path: Path
) -> None:
    lines = english_corpus.read_text(encoding="utf-8").splitlines()[::4]
    rng = random.Random(5)
    text = "".join(
        rng.choice(["", "  ", "\t"]) + line + rng.choice(["", " "]) + end * rng.randint(1, 3)
        for line in lines
    )
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    theirs = tokenizers.Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=2,
        show_progress=False,
    )
    theirs.train([str(path)], trainer)
    model = json.loads(theirs.to_str())["model"]
    learned = ByteBPETrainer(vocab_size=2000).learn(pw.count_files(path, preset="gpt2"))
    assert list(learned.merges) == merges_of(model)
    assert learned.vocab == model["vocab"]


def random_texts(seed: int) -> list[str]:
    rng = random.Random(seed)
    letters = "abcdefgh"[: rng.randint(2, 8)]
    return [
        " ".join(
            "".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 40))
        )
        for _ in range(rng.randint(1, 8))
    ]


@pytest.mark.parametrize("seed", range(2000 if FULL else 200))
def test_small_corpora_of_characters_give_equal_merges(seed: int) -> None:
    texts, rng = random_texts(seed), random.Random(-seed)
    settings: dict[str, Any] = {
        "vocab_size": rng.randint(10, 120),
        "min_frequency": rng.randint(0, 4),
        "special_tokens": ["<unk>"][: rng.randint(0, 1)],
        "initial_alphabet": list("xyz")[: rng.randint(0, 3)],
    }
    longest = rng.choice([None, 3, 4, 6])
    # Theirs leaves out joins that reach `max_token_length`; ours those that pass it.
    theirs = learned_by_tokenizers(
        texts,
        pre_tokenizers.WhitespaceSplit(),
        max_token_length=longest and longest + 1,
        **settings,
    )
    trainer = BPETrainer(max_token_length=longest, unk_token=None, **settings)
    learned = trainer.learn_vocabulary(pw.count_texts(texts, preset="whitespace"))
    joined = [merge.left + merge.right for merge in learned.merges]
    if len(set(joined)) < len(joined):
        pytest.skip("an entry was made twice: see docs/reference/conformance.md")
    assert [(merge.left, merge.right) for merge in learned.merges] == merges_of(theirs)
    assert {entry: at for at, entry in enumerate(learned.entries)} == theirs["vocab"]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [30, 60])
def test_a_limited_alphabet_is_equal(english_corpus: Path, limit: int) -> None:
    texts = texts_of(english_corpus)
    theirs = learned_by_tokenizers(
        texts, pre_tokenizers.WhitespaceSplit(), vocab_size=1000, limit_alphabet=limit
    )
    trainer = BPETrainer(
        vocab_size=1000, limit_alphabet=limit, min_frequency=0, special_tokens=(), unk_token=None
    )
    learned = trainer.learn_vocabulary(pw.count_texts(texts, preset="whitespace"))
    assert [(merge.left, merge.right) for merge in learned.merges] == merges_of(theirs)
    assert {entry: at for at, entry in enumerate(learned.entries)} == theirs["vocab"]


@pytest.mark.parametrize(
    "marks",
    [{"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}],
    ids=["prefix", "suffix"],
)
def test_marked_vocabularies_are_equal_but_for_ties(
    english_corpus: Path, marks: dict[str, str]
) -> None:
    texts = texts_of(english_corpus)
    theirs = learned_by_tokenizers(
        texts, pre_tokenizers.WhitespaceSplit(), vocab_size=MARKED_SIZE, min_frequency=2, **marks
    )
    trainer = BPETrainer(vocab_size=MARKED_SIZE, special_tokens=(), unk_token=None, **marks)
    learned = trainer.learn_vocabulary(pw.count_texts(texts, preset="whitespace"))
    ours, other = set(learned.entries), set(theirs["vocab"])
    assert len(ours) == len(other) == MARKED_SIZE
    assert len(ours ^ other) <= MARKED_SIZE // 50


# ---- subword-nmt


def subword_nmt_case() -> Path:
    return need("golden/subword-nmt")


def test_the_published_codes_of_subword_nmt_are_reproduced() -> None:
    folder = subword_nmt_case()
    published = [
        tuple(line.split(" "))
        for line in (folder / "bpe.ref").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    lines = (folder / "corpus.en").read_text("utf-8").split("\n")
    words = [word for line in lines for word in line.strip("\r\n ").split(" ") if word]
    totals: dict[str, int] = {}
    for word in words:
        totals[word] = totals.get(word, 0) + 1
    trainer = BPETrainer(
        vocab_size=100_000,
        special_tokens=(),
        unk_token=None,
        end_of_word_suffix="</w>",
        ties="greatest-strings",
    )
    learned = trainer.learn_vocabulary(pw.Counts(list(totals), list(totals.values())))
    codes = [(merge.left, merge.right) for merge in learned.merges]
    assert codes[: len(published)] == published


@pytest.mark.parametrize("path", corpora()[:3])
def test_byte_merges_by_first_occurrence_equal_the_teaching_module_of_tiktoken(path: Path) -> None:
    educational = pytest.importorskip("tiktoken._educational")
    text = "".join(texts_of(path))[: 20_000 if FULL else 5_000]
    expected = educational.bpe_train(text, 500, GPT2_PATTERN, visualise=None)
    trainer = ByteBPETrainer(
        vocab_size=500,
        min_frequency=1,
        special_tokens=(),
        ties="first-seen",
        alphabet_order="byte-values",
    )
    model = trainer.learn(pw.count_texts([text], preset="gpt2"))
    found = {bytes(BYTE_OF_CHARACTER[c] for c in token): id for token, id in model.vocab.items()}
    assert found == expected
