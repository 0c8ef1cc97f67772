"""The rank of tokenizers: unknown words cost their bytes, and differences have intervals by texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import compare
from piecework.analysis.comparison import tables
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.analysis.metrics import TokenSums

WORD = "έταιραι"  # 7 characters of 2 bytes


def wordpiece(*entries: str, **settings: Any) -> pw.Tokenizer:
    vocab = {token: id for id, token in enumerate(("[UNK]", *entries))}
    return pw.Tokenizer(
        pw.spec.WordPiece(vocab, **settings),
        pre_tokenizer=pw.spec.WhitespaceSplit(),
        decoder=pw.spec.WordPieceDecoder(),
    )


LETTERS = (*"hugsp", *(f"##{letter}" for letter in "hugsp"))
GREEK = (*WORD, *(f"##{letter}" for letter in WORD))
TEXTS = ["hugs hugs pugs hug"] * 200 + [f"hugs {WORD}"]


# ---- the charge


def test_one_unknown_word_does_not_decide_the_rank() -> None:
    tokenizers = {
        "letters": wordpiece(*LETTERS, *GREEK),
        "hug": wordpiece(*LETTERS, *GREEK, "hug"),
        "hugs": wordpiece(*LETTERS, "hug", "hugs", "pug"),
        "hug and pug": wordpiece(*LETTERS, "hug", "pug"),
    }
    found = compare(tokenizers, TEXTS)
    assert [one.name for one in found.ranks] == ["hugs", "hug and pug", "hug", "letters"]
    by_name = {one.name: one for one in found.measures}
    assert [one.unknown_tokens for one in found.measures] == [0, 0, 1, 1]
    # hugs, hugs, pug ##s, hug: 5 tokens; hugs and an unknown word of 14 bytes: 15
    assert by_name["hugs"].tokens == 200 * 5 + 2
    assert by_name["hugs"].charged_tokens == 200 * 5 + 15
    assert by_name["hugs"].unknown_bytes == len(WORD.encode()) == 14


def test_a_word_that_all_others_split_is_not_cheaper_if_it_is_unknown() -> None:
    found = compare({"lacks": wordpiece("hug"), "spells": wordpiece("hug", *GREEK)}, [WORD])
    assert [(one.name, one.charged_tokens) for one in found.ranks] == [("spells", 7), ("lacks", 14)]


@pytest.mark.parametrize(
    ("tokenizer", "text", "charged"),
    [
        (wordpiece("hug", "##s"), "hug hugs 日本 x", 1 + 2 + 6 + 1),
        (wordpiece("hug", "##s", unk="char"), "hug日s", 1 + 3 + 1),
        (pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})), "aé日a", 1 + 2 + 3 + 1),
        (
            pw.Tokenizer(pw.spec.Unigram((("<unk>", 0.0), ("a", -1.0)), unk_id=0)),
            "aé日a",
            1 + 5 + 1,
        ),
    ],
)
def test_an_unknown_token_costs_the_bytes_of_the_text_that_it_covers(
    tokenizer: pw.Tokenizer, text: str, charged: int
) -> None:
    [one] = compare({"a": tokenizer}, [text]).measures
    assert one.charged_tokens == charged


def test_the_charge_is_of_the_text_before_normalization() -> None:
    model = pw.spec.Char({"[UNK]": 0, "a": 1})
    tokenizer = pw.Tokenizer(model, normalizer=pw.spec.NFKD())
    # ½ becomes three characters, all unknown, which cover the same two bytes.
    [one] = compare({"a": tokenizer}, ["a½"]).measures
    assert (one.tokens, one.unknown_bytes, one.charged_tokens) == (4, 2, 3)


def test_characters_that_a_model_drops_are_charged_as_unknown_ones() -> None:
    drops = pw.Tokenizer(pw.spec.BPE({"a": 0}, ()))
    keeps = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1}, ()))
    byte_level = pw.Tokenizer(
        pw.spec.BPE({"a": 0, "Ã": 1}, ()),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
    )
    found = compare({"drops": drops, "keeps": keeps, "byte-level": byte_level}, ["ab", "aé"])
    figures = {one.name: (one.tokens, one.unknown_bytes) for one in found.measures}
    assert figures == {"drops": (2, 3), "keeps": (3, 2), "byte-level": (3, 3)}


def test_the_space_before_a_word_is_not_part_of_its_charge() -> None:
    letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    [band] = compare({"letters": letters}, ["é é"]).word_differences.by_frequency
    assert band.tokens == (2 * 2,)


def charged_twin(tokenizer: pw.Tokenizer, text: str) -> int:
    """One token after the other, and one byte of the text after the other."""
    [encoding] = tokenizer.encode_batch([text], **PLAIN_TEXT, offsets="bytes")
    known, unknown_bytes = 0, set[int]()
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if token == "[UNK]":
            unknown_bytes.update(range(start, end))
        else:
            known += 1
    return known + len(unknown_bytes)


@given(st.lists(st.text(alphabet="hugsé日½ \t", min_size=1, max_size=12), min_size=1, max_size=8))
def test_charged_tokens_equal_their_naive_twin(texts: list[str]) -> None:
    folding = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1}), normalizer=pw.spec.NFKD())
    tokenizers = {"words": wordpiece(*LETTERS, "hug"), "folding": folding}
    found = compare(tokenizers, {"first": texts[:1], "all": texts})
    for one, in_source in zip(found.measures, found.sources[1].measures, strict=True):
        expected = sum(charged_twin(tokenizers[one.name], text) for text in texts)
        first = charged_twin(tokenizers[one.name], texts[0])
        assert (in_source.charged_tokens, one.charged_tokens) == (expected, first + expected)


# ---- intervals


def ranks_of(*columns: Sequence[int]) -> list[tuple[str, int, int]]:
    """Return the names and ranks of tokenizers `a`, `b`, ... with these tokens of each text."""
    sums = TokenSums(len(columns))
    sums.add(np.array(columns, np.int64))
    return [(one.name, one.best, one.worst) for one in sums.ranks("abcdefg"[: len(columns)])]


def test_a_difference_that_the_texts_do_not_show_is_a_shared_rank() -> None:
    random = np.random.default_rng(1)
    texts = random.integers(50, 150, 400)
    noise = random.integers(-20, 21, 400)
    assert ranks_of(texts, texts + noise, 2 * texts) == [
        *((name, 1, 2) for name in ("ab" if noise.sum() > 0 else "ba")),
        ("c", 3, 3),
    ]
    # The same mean difference, but in every text.
    assert ranks_of(texts, texts + 1) == [("a", 1, 1), ("b", 2, 2)]


def test_equal_numbers_share_a_rank() -> None:
    texts = [3, 4] * 5
    assert ranks_of(texts, texts, [9, 12] * 5) == [("a", 1, 2), ("b", 1, 2), ("c", 3, 3)]
    assert ranks_of([3], [3], [4]) == [("a", 1, 2), ("b", 1, 2), ("c", 3, 3)]


@pytest.mark.parametrize("texts", [1, 9])
def test_few_texts_have_no_interval(texts: int) -> None:
    found = compare({"a": wordpiece("hug"), "b": wordpiece("h", "##u", "##g")}, ["hug"] * texts)
    assert [(one.more, one.interval) for one in found.ranks] == [(0.0, None), (2.0, None)]
    assert [(one.best, one.worst) for one in found.ranks] == [(1, 1), (2, 2)]


def test_a_tokenizer_without_tokens_has_no_interval() -> None:
    sums = TokenSums(2)
    sums.add(np.array([[0] * 20, [1] * 20], np.int64))
    assert [(one.more, one.interval) for one in sums.ranks(("a", "b"))] == [(0, None), (0, None)]


def test_the_interval_by_hand() -> None:
    # Ratio 33/30; residuals y - 1.1 x are -1, 0.9 and 0.1, their sum of squares 1.82; four times.
    sums = TokenSums(2)
    sums.add(np.array([[10, 11, 9] * 4, [10, 13, 10] * 4], np.int64))
    first, second = sums.ranks(("a", "b"))
    assert (first.more, first.interval) == (0.0, (0.0, 0.0))
    assert second.more == pytest.approx(0.1)
    margin = 2.201 * (12 / 11 * 4 * 1.82) ** 0.5 / 120
    assert second.interval == pytest.approx((0.1 - margin, 0.1 + margin), rel=1e-4)


def test_the_interval_equals_that_of_a_paired_bootstrap() -> None:
    random = np.random.default_rng(7)
    first = random.integers(20, 400, 500)
    second = first + random.integers(-5, 9, 500)
    sums = TokenSums(2)
    sums.add(np.array([first, second]))
    drawn = random.integers(0, 500, (4000, 500))
    ratios = second[drawn].sum(axis=1) / first[drawn].sum(axis=1) - 1
    interval = sums.ranks(("a", "b"))[1].interval
    assert interval is not None
    expected = np.quantile(ratios, [0.025, 0.975])
    assert np.abs(np.array(interval) - expected).max() < 0.1 * (expected[1] - expected[0])


@given(
    st.lists(st.tuples(*[st.integers(0, 10**9)] * 3), min_size=10, max_size=20), st.integers(1, 9)
)
def test_batches_and_their_order_change_no_rank(rows: list[tuple[int, ...]], cut: int) -> None:
    texts = np.array(rows, np.int64).T
    whole, parts = TokenSums(3), TokenSums(3)
    whole.add(texts)
    parts.add(texts[:, cut:])
    parts.add(texts[:, :cut])
    assert whole.ranks("abc") == parts.ranks("abc")
    for one in whole.ranks("abc"):
        assert 1 <= one.best <= one.worst <= 3


def test_the_table_shows_ranks_and_intervals() -> None:
    tokenizers = {"a": wordpiece("hug", "##s", "hugs"), "b": wordpiece("hug", "##s")}
    measures = tables(compare(tokenizers, ["hug hugs"] * 9 + ["hugs"]))[0]
    rows = {name: cells for name, *cells in measures.rows}
    assert rows["rank"] == ["1", "2"]
    assert rows["more tokens %"][0] == "-"
    assert rows["more tokens %"][1].startswith("52.6 ±")
