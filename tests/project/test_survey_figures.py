"""Figures of a survey of subword tokenization: vocabulary sizes, numeric tokens, words as bytes."""

from __future__ import annotations

import pytest

import piecework as pw
from piecework.analysis.entry_bytes import family
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
def test_p50k_adds_whitespace_tokens_of_2_to_25_spaces() -> None:
    tok = pw.Tokenizer.load("p50k_base")
    added = [tok.token_bytes(id) for id in range(50_257, 50_281)]
    assert sorted(added) == [b" " * spaces for spaces in range(2, 26)]  # printed: 2 to 24


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


# ---- the table of 26 models

PAGE = data.ROOT / "docs" / "reference" / "published-models.md"
FILES = {
    "albert-v2": "vocab/albert-v2/spiece.model",
    "bert-base-uncased": "vocab/bert-base-uncased",
    "gpt2": "vocab/gpt2/tokenizer.json.gz",
    "openai-gpt": "vocab/openai-gpt",
    "roberta-base": "vocab/roberta-base",
    "t5": "vocab/t5/spiece.model",
    "xlnet": "vocab/xlnet/spiece.model",
}


def rows_of_page() -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return rows[2:]


def test_the_page_has_the_26_models() -> None:
    rows = rows_of_page()
    named = [name for model, *_ in rows for name in model.split(", ")]
    assert len(rows) == 26
    assert len(set(named)) == len(named) == 27
    checked = [checked for *_, checked in rows if checked.startswith("`")]
    assert len(checked) == 13


@pytest.mark.parametrize(
    "row", [row for row in rows_of_page() if row[4].startswith("`")], ids=lambda row: row[0]
)
@pytest.mark.usefixtures("ranks")
def test_the_kind_and_the_size_of_a_model_equal_those_of_its_file(row: list[str]) -> None:
    _, _, kind, entries, checked = row
    name = checked.split("`")[1]
    path = data.need(FILES[name]) if name in FILES else None
    tok = pw.Tokenizer.load(name if path is None else path.parent if name == "gpt2" else path)
    assert (family(tok.spec), f"{len(tok):,}") == (kind, entries)


def test_cased_bert_has_its_size() -> None:
    assert len(pw.Tokenizer.load(data.need("vocab/bert-base-cased"))) == 28_996
