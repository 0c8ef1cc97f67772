"""Boundaries against a gold standard: by hand, against a naive twin, and on the shared task's words."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import Gold, boundary_scores, read_gold
from piecework.analysis.comparison import tables
from piecework.analysis.gold import BoundaryScores
from tests.data import need

PIECES = "[UNK] un ##hap ##py ##happy stride ##s strides h ##a p ##p ##y".split()
TOK = pw.Tokenizer(
    pw.spec.WordPiece({token: id for id, token in enumerate(PIECES)}),
    normalizer=pw.spec.Lowercase(),
    pre_tokenizer=pw.spec.WhitespaceSplit(),
)


def test_only_words_spelt_by_their_morphemes_have_boundaries() -> None:
    gold = Gold.of({"strides": ["stride", "s"], "subneural": ["sub", "neuron", "al"], "a": ["a"]})
    assert gold.boundaries == {"strides": (6,), "a": ()}
    assert gold.total == 3


def test_scores_are_over_all_boundaries_together() -> None:
    gold = Gold.of(
        {
            "Unhappy": ["Un", "happy"],  # un ##happy: right
            "strides": ["stride", "s"],  # whole: missed
            "happy": ["happy"],  # h ##a ##p ##py: three wrong
            "zoo": ["z", "oo"],  # unknown: missed
        }
    )
    scores = boundary_scores(TOK, gold)
    assert scores == BoundaryScores(words=4, correct=1, predicted=4, actual=3)
    assert (scores.precision, scores.recall, scores.f1) == (1 / 4, 1 / 3, 2 / 7)


@pytest.mark.parametrize(
    ("morphemes", "measures"),
    [
        ({"strides": ["strides"]}, (None, None, None)),
        ({"strides": ["stride", "s"]}, (None, 0.0, None)),  # whole: nothing predicted
        ({"happy": ["happy"]}, (0.0, None, None)),  # h ##a ##p ##py: no boundary to find
        ({"unhappy": ["unh", "appy"]}, (0.0, 0.0, 0.0)),
    ],
)
def test_a_measure_that_divides_by_zero_is_none(
    morphemes: dict[str, list[str]], measures: tuple[float | None, ...]
) -> None:
    scores = boundary_scores(TOK, Gold.of(morphemes))
    assert (scores.precision, scores.recall, scores.f1) == measures


def test_an_undefined_measure_is_a_dash_in_tables_and_null_in_json() -> None:
    found = pw.analysis.compare({"a": TOK}, ["strides"], gold=Gold.of({"strides": ["stride", "s"]}))
    rows = {row[0]: row[1:] for table in tables(found) for row in table.rows}
    assert [rows[f"boundary {name} %"] for name in ("precision", "recall", "F1")] == [
        ("-",),
        ("0.0",),
        ("-",),
    ]
    boundaries = json.loads(json.dumps(found.to_dict()))["measures"][0]["boundaries"]
    assert [boundaries[name] for name in ("precision", "recall", "f1")] == [None, 0.0, None]


def test_a_gold_standard_without_words_is_refused() -> None:
    empty = Gold.of({"subneural": ["sub", "neuron", "al"]})
    for call in (
        lambda: boundary_scores(TOK, empty),
        lambda: pw.analysis.compare({"a": TOK}, ["strides"], gold=empty),
    ):
        with pytest.raises(
            pw.errors.CorpusError, match="gold: has no words that their morphemes spell"
        ):
            call()


@pytest.mark.parametrize(("merges", "predicted"), [((), 1), ((("©", "s"),), 0)])
def test_a_cut_inside_a_character_is_not_a_boundary(
    merges: tuple[tuple[str, str], ...], predicted: int
) -> None:
    tok = pw.Tokenizer(
        pw.spec.BPE({token: id for id, token in enumerate("Ġ Ã © s ©s".split())}, merges),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    )
    scores = boundary_scores(tok, Gold.of({"és": ["é", "s"]}))
    assert scores == BoundaryScores(1, correct=predicted, predicted=predicted, actual=1)


WORDS = st.dictionaries(
    st.text(alphabet="unhapys", min_size=1, max_size=9), st.lists(st.integers(1, 8)), min_size=1
)


@given(WORDS)
def test_scores_equal_their_naive_twin(cuts: dict[str, list[int]]) -> None:
    morphemes = {}
    for word, places in cuts.items():
        inner = sorted({place for place in places if place < len(word)})
        bounds = [0, *inner, len(word)]
        morphemes[word] = [word[a:b] for a, b in pairwise(bounds)]
    correct = predicted = actual = 0
    for word, parts in morphemes.items():
        tokens = TOK.encode(word).tokens
        pieces = [word] if tokens == ["[UNK]"] else [token.removeprefix("##") for token in tokens]
        guess = {len("".join(pieces[:n])) for n in range(1, len(pieces))}
        truth = {len("".join(parts[:n])) for n in range(1, len(parts))}
        correct, predicted = correct + len(guess & truth), predicted + len(guess)
        actual += len(truth)
    expected = BoundaryScores(len(morphemes), correct, predicted, actual)
    assert boundary_scores(TOK, Gold.of(morphemes)) == expected
    assert (expected.f1 is None) == (predicted == 0 or actual == 0)
    assert expected.f1 is None or 0 <= expected.f1 <= 1


# ---- files


def test_the_first_of_repeated_words_counts(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_bytes(b"strides\tstride @@s\t100\r\n\nstrides\tstrides\na\ta\n")
    assert read_gold(path) == Gold({"strides": (6,), "a": ()}, 2)
    packed = tmp_path / "gold.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_gold(packed) == read_gold(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\ta\nstrides\n", "gold.tsv line 2: found 'strides', expected a word, a tab"),
        (b"\tstride\n", "gold.tsv line 1: found"),
        (b"strides\t\n", "gold.tsv line 1: found"),
        (
            b"\n",
            "gold.tsv: has no words; it needs lines of a word, a tab and its morphemes, such as",
        ),
        (
            b"strides\tstride-s\nhugs\thug+s\n",
            "gold.tsv: has no word that its morphemes spell; the first is 'strides', 'stride-s'; it",
        ),
        (b"", "gold.tsv: has no words; it needs lines of a word, a tab and its morphemes, such as"),
    ],
)
def test_a_file_without_gold_words_is_an_error(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "gold.tsv"
    path.write_bytes(data)
    with pytest.raises(pw.errors.CorpusError) as caught:
        read_gold(path)
    assert message in str(caught.value)


def test_plain_morphemes_are_separated_by_spaces(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("strides\tstride s\nsubneural\tsub neuron al\na\ta\nice cream\tice cream\n")
    assert read_gold(path).boundaries == {"strides": (6,), "a": (), "ice cream": ()}
    assert read_gold(path).total == 4
    # In the shared task's format, a morpheme can have spaces.
    path.write_text("strides\tstride @@s\ncomeback\tcome back\nmouth harpist\tmouth harp @@ist\n")
    assert read_gold(path).boundaries == {"strides": (6,), "mouth harpist": (10,)}


def test_json_lines_are_not_gold(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(pw.errors.CorpusError, match="JSON lines"):
        read_gold(path)


def shared_gold() -> Gold:
    return read_gold(need("corpora/sigmorphon2022/eng.word.dev.tsv.gz"))


def published(*parts: str) -> pw.Tokenizer:
    path = need("/".join(["vocab", *parts]))
    return pw.Tokenizer.from_str(gzip.decompress(path.read_bytes()).decode())


def test_the_words_of_the_shared_task_that_have_boundaries() -> None:
    gold = shared_gold()
    assert gold.total == 57_371
    assert len(gold.boundaries) == 40_107
    assert gold.boundaries["strides"] == (6,)
    assert "subneural" not in gold.boundaries


def test_published_unigram_follows_morphemes_more_than_published_bpe() -> None:
    gold = shared_gold()
    unigram = boundary_scores(published("t5-small", "tokenizer.json.gz"), gold)
    bpe = boundary_scores(published("gpt2", "tokenizer.json.gz"), gold)
    assert unigram.words == bpe.words == len(gold.boundaries)
    assert unigram.f1 == pytest.approx(0.454, abs=0.0005)
    assert bpe.f1 == pytest.approx(0.263, abs=0.0005)
