"""Published worked examples: each row of the page has its test, and the claims that have no other test."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis.readable import text_of_bytes
from piecework.reference import wordpiece
from tests import data

PAGE = data.ROOT / "docs" / "reference" / "worked-examples.md"
LABELS = [
    f"{system}{number}"
    for system, numbers in (
        ("W", 11),
        ("B", 3),
        ("Y", 5),
        ("K", 3),
        ("U", 3),
        ("S", 11),
        ("H", 1),
        ("T", 1),
        ("A", 3),
    )
    for number in range(1, numbers + 1)
]

# What the pages of each row show of its example.
SHOWN = {
    "W1": ["1/20", "1/36", "2/45"],
    "W2": ["'ab'", "0.0119"],
    "W3": ["Hugg", "HOgging"],
    "W4": ["hug', '##s", "hu', '##gs", "bugs"],
    "W5": ["0.00019"],
    "W6": ["[101, 7592, 2088, 102]", "Hello world"],
    "W7": ['unk="char"', "##believ"],
    "W8": ["train_new_from_iterator"],
    "W9": ["力加勝北区ᴵᴺᵀᵃছজটডণত", "'勝'"],
    "W10": ["gp ##u !", "##word units ."],
    "W11": ["abcd", "##bcd"],
    "B1": ["['b', 'ug']", "['<unk>', 'ug']"],
    "B2": ["Do n't", "sacremoses", "ftfy"],
    "B3": ["40,478"],
    "Y1": ["50,257"],
    "Y2": ["encoder.json", "vocab.bpe"],
    "Y3": ["--parallel", "--strip-lines"],
    "Y4": ["å¥½ãģį"],
    "Y5": ["punctuation"],
    "K1": ["get_encoding", "encoding_for_model"],
    "K2": ["SimpleBytePairEncoding", "explain"],
    "K3": ["parse_special"],
    "U1": ["h ug s"],
    "U2": ["hard EM", "survey_unigram.py"],
    "U3": ["BPE-dropout", "survey_unigram.py"],
    "S1": ["▁Don ' t ▁you ▁love ▁ 🤗 ▁ Transform ers ?"],
    "S2": ["thisisatesthelloworld", "'llow', 'or', 'ld'", "ArgumentError"],
    "S3": ["I am"],
    "S4": ["user_defined_symbols", "control_symbols", "([3, 4]"],
    "S5": ["character_coverage", "byte_fallback"],
    "S6": ["split_by_whitespace"],
    "S7": ["restrict(", "threshold=1000", "restrict(frequent, None)"],
    "S8": ["ｈｅｌｌｏ", "[(0, 6), (6, 12), (12, 15)]"],
    "S9": ["add_pieces(", "set_scores("],
    "S10": ["remove_extra_whitespaces=False", "two  spaces\\nand a line"],
    "S11": [".model", ".vocab"],
    "H1": ["tokenizer.json"],
    "T1": ["Don ' t", "Do n't", "267,735"],
    "A1": ["1,691", "1,122"],
    "A2": ["Unigram", "morphemes"],
    "A3": ['model="word"', 'model="char"', "unknown_rate"],
}


def rows() -> list[list[str]]:
    """Return the cells of the rows by system."""
    section = PAGE.read_text(encoding="utf-8").split("## All rows\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_page_has_a_row_for_each_example() -> None:
    assert [label for label, *_ in rows()] == LABELS
    assert len(LABELS) == 41
    assert all("](" in follow for _, _, follow, _ in rows())


def pages_of(follow: str) -> str:
    """Return the text of the pages that a cell links to, or of the section below the table."""
    targets = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", follow)]
    pages = [(PAGE.parent / target).read_text(encoding="utf-8") for target in targets if target]
    below = PAGE.read_text(encoding="utf-8").split("## Figures of the survey\n")[-1]
    return "\n".join([*pages, below] if "" in targets else pages)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_pages_of_a_row_show_its_example(row: list[str]) -> None:
    text = pages_of(row[2])
    assert [shown for shown in SHOWN[row[0]] if shown not in text] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_tests_of_a_row_exist(row: list[str]) -> None:
    label, checked = row[0], row[3]
    named = re.findall(r"`([^`]+)`", checked)
    assert named
    for reference in named:
        file, _, test = reference.partition("::")
        text = (data.ROOT / file).read_text(encoding="utf-8")
        if file.endswith(".toml"):
            assert f'row = "{label}"' in text, reference
        else:
            assert re.search(rf"^def {test}\(", text, re.MULTILINE), reference


# ---- WordPiece: the loop of the course


def test_an_entry_that_is_half_of_the_prefix_ends_the_search() -> None:
    entries = ["[UNK]", "a", "b", "#"]
    # The printed loop puts the prefix before each rest, so that "#" matches the prefix, and the rest grows.
    rest, lengths = "##b", []
    for _ in range(5):
        match = next(rest[:end] for end in range(len(rest), 0, -1) if rest[:end] in entries)
        assert match == "#"
        rest = f"##{rest[len(match) :]}"
        lengths.append(len(rest))
    assert lengths == [4, 5, 6, 7, 8]
    model = pw.spec.WordPiece({entry: id for id, entry in enumerate(entries)})
    assert pw.Tokenizer(model).encode("ab").tokens == ["[UNK]"]
    assert wordpiece.encode("ab", entries) == ["[UNK]"]
    with_hash = pw.spec.WordPiece({entry: id for id, entry in enumerate([*entries, "###"])})
    assert pw.Tokenizer(with_hash).encode("a#").tokens == ["a", "###"]


# ---- byte-level BPE


@pytest.fixture(scope="module")
def byte_level() -> pw.Tokenizer:
    texts = ["The -ing. of walking-ing. and running-ing. in 2024-ing. it's 10-ing."] * 20
    return pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=320)


@given(text=st.text())
def test_every_text_is_256_bytes_and_none_is_unknown(text: str, byte_level: pw.Tokenizer) -> None:
    encoding = byte_level.encode(text)
    assert byte_level.spec.model.unk_token is None
    assert byte_level.decode(encoding.ids) == text
    assert len(pw.vocabulary.shrink(byte_level, 257)[0]) == 257  # 256 bytes and one special token


def kinds_of(token: str) -> set[str]:
    """Return which of letters, digits and other characters a token has, without its leading space."""
    kinds = {"letter": str.isalpha, "digit": str.isdigit}
    text = text_of_bytes(token).removeprefix(" ")
    return {next((k for k, has in kinds.items() if has(c)), "other") for c in text}


def test_no_token_joins_letters_digits_and_punctuation(byte_level: pw.Tokenizer) -> None:
    learned = [token for token in byte_level.get_vocab() if 1 < len(token) < 12]
    assert {"Ġrunning", "ing"} <= set(learned)
    # A leading space and the apostrophe of a contraction are the exceptions of the pattern.
    mixed = [token for token in learned if len(kinds_of(token)) > 1 and token != "'s"]
    assert mixed == []
    # Words that are split at spaces only have such tokens.
    texts = ["walking-ing. running-ing."] * 20
    spaces = pw.Tokenizer.train_from_iterator(
        texts, model="bpe", preset="whitespace", vocab_size=40
    )
    assert "ing-ing." in spaces.get_vocab()


def test_bytes_that_are_not_text_decode_to_the_replacement_character() -> None:
    folder = data.need("vocab/gpt2/encoder.json").parent
    tok = pw.Tokenizer.load(folder / "encoder.json", merges=folder / "vocab.bpe")
    ids = tok.encode("naïve 日本 🤗").ids
    assert len(tok) == 50_257
    assert tok.decode(ids) == "naïve 日本 🤗"
    assert tok.decode(ids[:-1]) == "naïve 日本 \ufffd"


# ---- words


def test_a_word_model_can_have_the_vocabulary_of_transformer_xl() -> None:
    counts = pw.Counts([f"w{number}" for number in range(267_734)], [1] * 267_734)
    model = pw.train.WordLevelTrainer(vocab_size=267_735, min_frequency=1).learn(counts)
    tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    assert len(tok) == 267_735
    assert tok.encode("w267733 w0 absent").tokens == ["w267733", "w0", "[UNK]"]
