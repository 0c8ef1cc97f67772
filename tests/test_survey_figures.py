"""Figures of a survey of subword tokenization: vocabulary sizes, numeric tokens, words as bytes."""

from __future__ import annotations

import pytest

import piecework as pw
from tests import data

# Printed without the special tokens for cl100k_base, and with them for the others.
PRINTED = {
    "gpt2": (50_257, 1_691),
    "r50k_base": (50_257, 1_691),
    "p50k_base": (50_281, 1_691),
    "p50k_edit": (50_284, 1_691),
    "cl100k_base": (100_256, 1_122),
}
SIZES = {
    "openai-gpt": 40_478,
    "gpt2": 50_257,
    "bert-base-uncased": 30_522,  # printed as 30k
    "t5/spiece.model": 32_000,
    "xlnet/spiece.model": 32_000,
    "albert-v2/spiece.model": 30_000,
}


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder with the ranks of tiktoken."""
    folder = data.need("vocab/tiktoken/cl100k_base.tiktoken").parent
    monkeypatch.setenv("PIECEWORK_TIKTOKEN_DIR", str(folder))


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.usefixtures("ranks")
def test_encodings_have_the_printed_sizes_and_numeric_tokens(name: str) -> None:
    if name == "gpt2":
        tok = pw.Tokenizer.load(data.need("vocab/gpt2/tokenizer.json.gz").parent)
    else:
        tok = pw.Tokenizer.load(name)
    found = pw.analysis.inspect(tok)
    size = len(tok) - (len(found.special) if name == "cl100k_base" else 0)
    assert (size, len(found.numeric)) == PRINTED[name]


@pytest.mark.usefixtures("ranks")
def test_the_ids_of_the_example_are_a_sentence() -> None:
    tok = pw.Tokenizer.load("cl100k_base")
    assert tok.decode([83, 1609, 5963, 374, 2294, 0]) == "tiktoken is great!"


@pytest.mark.parametrize("name", SIZES)
def test_models_have_the_printed_vocabulary_sizes(name: str) -> None:
    assert len(pw.Tokenizer.load(data.need(f"vocab/{name}"))) == SIZES[name]


def test_roberta_adds_eight_entries_to_the_printed_ones() -> None:
    tok = pw.Tokenizer.load(data.need("vocab/roberta-base"))
    added = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "madeupword0000", "madeupword0001"]
    assert len(tok) == 50_257 + 8
    assert {*added, "madeupword0002"} <= tok.get_vocab().keys()


def test_japanese_words_are_their_bytes() -> None:
    printed = ["ç§ģ", "ãģ¯", "ãĤĬãĤĵãģĶ", "ãģĮ", "å¥½ãģį", "ãģ§ãģĻ"]  # the fifth is misprinted
    tok = pw.Tokenizer(
        pw.spec.WordLevel({"[UNK]": 0, **{word: id for id, word in enumerate(printed, 1)}}),
        pre_tokenizer=pw.spec.SequencePreTokenizer(
            [
                pw.spec.WhitespaceSplit(),
                pw.spec.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    )
    found = tok.encode("私 は りんご が 好き です")
    assert found.tokens == printed
    assert list(found.offsets) == [(0, 1), (2, 3), (4, 7), (8, 9), (10, 12), (13, 15)]
