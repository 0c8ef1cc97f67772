"""Tokens that two tokenizers share, and rows of added tokens from those of a donor model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError
from piecework.vocabulary import decoded_bytes, donor_rows, map_between, resize_embeddings

SIZES = {"byte-bpe": 275, "unigram": 30, "sentencepiece": 40, "wordpiece": 55}
TEXTS = ["hug hugs pug pun bun hugging", "the hugs of the pug, and a bug"] * 5


@pytest.fixture(scope="module")
def old() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=45)


@pytest.fixture(scope="module", params=list(SIZES))
def new(request: pytest.FixtureRequest) -> pw.Tokenizer:
    size = SIZES[request.param]
    return pw.Tokenizer.train_from_iterator(TEXTS, model=request.param, vocab_size=size)


def normal(rows: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width))


# ---- tokens of two tokenizers


def test_tokens_with_the_same_bytes_are_kept(old: pw.Tokenizer, new: pw.Tokenizer) -> None:
    id_map = map_between(old, new)
    old_bytes, new_bytes = decoded_bytes(old), decoded_bytes(new)
    kept = np.flatnonzero(id_map.new_ids >= 0)
    assert len(kept) > 5
    for id in kept.tolist():
        assert old_bytes.get(id) == new_bytes.get(int(id_map.new_ids[id]))
    shared = set(old_bytes.values()) & set(new_bytes.values())
    assert {old_bytes[id] for id in kept.tolist() if id in old_bytes} == shared
    assert len(id_map.old_ids) == len(new)
    assert sorted([*id_map.new_ids[kept].tolist(), *id_map.added.tolist()]) == list(range(len(new)))


def test_sources_are_old_tokens_with_the_bytes_of_the_new_one(
    old: pw.Tokenizer, new: pw.Tokenizer
) -> None:
    id_map = map_between(old, new)
    old_bytes, new_bytes = decoded_bytes(old), decoded_bytes(new)
    for id, sources in id_map.added_sources.items():
        assert b"".join(old_bytes[source] for source in sources) == new_bytes[id]


def test_the_map_of_a_tokenizer_to_itself_keeps_all(new: pw.Tokenizer) -> None:
    assert map_between(new, new).new_ids.tolist() == list(range(len(new)))


def test_tokens_of_the_same_bytes_are_paired_in_the_order_of_ids() -> None:
    # `A` and `<0x41>` add the same byte.
    pieces = (("<unk>", 0.0), ("A", -1.0), ("<0x41>", -2.0))
    model = pw.spec.Unigram(pieces, 0, byte_fallback=True)
    decoder = pw.spec.SequenceDecoder((pw.spec.ByteFallback(), pw.spec.Fuse()))
    tok = pw.Tokenizer(model, decoder=decoder)
    other = pw.Tokenizer(pw.spec.BPE({"x": 0, "A": 1}, ()), decoder=pw.spec.Fuse())
    assert map_between(tok, tok).new_ids.tolist() == [0, 1, 2]
    assert map_between(tok, other).new_ids.tolist() == [-1, 1, -1]


def test_the_map_names_its_tokenizers(old: pw.Tokenizer, new: pw.Tokenizer) -> None:
    id_map = map_between(old, new)
    assert id_map.is_of(old.get_vocab())
    assert not id_map.is_of({"other": 0, "tokens": 1})


# ---- rows of a donor


def test_rows_of_a_donor_are_at_the_ids_of_the_tokenizer(
    old: pw.Tokenizer, new: pw.Tokenizer
) -> None:
    table = normal(len(new) + 3, 4)
    rows = donor_rows(old, new, table)
    assert rows.shape == (len(old), 4)
    id_map = map_between(old, new)
    for id, found in enumerate(rows):
        other = int(id_map.new_ids[id])
        assert np.array_equal(found, table[other]) if other >= 0 else np.isnan(found).all()


@pytest.mark.parametrize(
    ("table", "kept"),
    [(np.zeros((60, 2), np.float16), np.float32), (normal(60, 2), np.float64)],
)
def test_the_type_of_rows(old: pw.Tokenizer, table: np.ndarray, kept: type) -> None:
    assert donor_rows(old, old, table).dtype == kept


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (np.zeros((3, 2)), ArgumentError, r"table.*3 rows, and the donor's tokenizer the id"),
        (np.zeros(60), ArgumentError, r"table.*shape \(60,\).*must be a matrix"),
        (np.zeros((60, 2), np.int64), ArgumentError, r"table.*type int64.*floating-point"),
        ([[1.0], [2.0, 3.0]], InputTypeError, "table"),
    ],
)
def test_an_unusable_table_is_named(
    old: pw.Tokenizer, table: Any, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        donor_rows(old, old, table)


# ---- rows by orthogonal matching pursuit


@pytest.fixture
def larger(old: pw.Tokenizer) -> pw.vocabulary.ChangedVocabulary:
    return pw.vocabulary.add_words(old, ["hughug", "pugnug", "bunbun"])


def planted(
    larger: pw.vocabulary.ChangedVocabulary, width: int = 30
) -> tuple[np.ndarray, dict[int, dict[int, float]]]:
    """Return donor rows, and added ids with the old ids and numbers that their rows are sums of."""
    donor = normal(len(larger.tokenizer), width, seed=1)
    sums = {
        int(new): {4 + at: 2.0, 9 + at: -1.0, 15: 0.5} for at, new in enumerate(larger.id_map.added)
    }
    for new, parts in sums.items():
        donor[new] = sum(number * donor[larger.id_map.new_ids[id]] for id, number in parts.items())
    return donor, sums


def test_rows_planted_in_the_donor_are_found_in_every_table(
    old: pw.Tokenizer, larger: pw.vocabulary.ChangedVocabulary, tmp_path: Path
) -> None:
    donor, sums = planted(larger)
    tables = {"wte.weight": normal(len(old), 6), "lm_head.weight": normal(len(old), 6, 2)}
    tables["lm_head.bias"] = normal(len(old), 1, 3)[:, 0]
    save_file(tables, tmp_path / "model.safetensors")
    resize_embeddings(
        tmp_path / "model.safetensors", larger.id_map, init="omp", donor=donor, num_anchors=3
    )
    for name, rows in load_file(tmp_path / "model.safetensors").items():
        for new, parts in sums.items():
            expected = sum(number * tables[name][id] for id, number in parts.items())
            assert rows[new] == pytest.approx(expected)
        assert np.array_equal(rows[larger.id_map.new_ids], tables[name])


def test_a_token_that_the_donor_lacks_has_the_mean_of_its_pieces(
    old: pw.Tokenizer, larger: pw.vocabulary.ChangedVocabulary, tmp_path: Path
) -> None:
    donor, _ = planted(larger)
    lacking = larger.tokenizer.token_to_id("pugnug")
    donor[lacking] = np.nan
    save_file({"wte.weight": normal(len(old), 6)}, tmp_path / "model.safetensors")
    found = []
    for settings in ({"init": "omp", "donor": donor, "num_anchors": 3}, {"init": "mean-of-pieces"}):
        output = tmp_path / f"{settings['init']}.safetensors"
        resize_embeddings(tmp_path / "model.safetensors", larger.id_map, output=output, **settings)
        found.append(load_file(output)["wte.weight"])
    differing = np.flatnonzero((found[0] != found[1]).any(axis=1))
    assert set(differing.tolist()) == set(larger.id_map.added.tolist()) - {lacking}


def test_a_whole_vocabulary_is_replaced(
    old: pw.Tokenizer, new: pw.Tokenizer, tmp_path: Path
) -> None:
    # The two models agree up to a rotation, so the donor's own rows are found again, rotated.
    rotation = np.linalg.qr(normal(5, 5))[0]
    donor, id_map = normal(len(new), 5), map_between(old, new)
    table = np.zeros((len(old), 5))
    kept = np.flatnonzero(id_map.new_ids >= 0)
    table[kept] = donor[id_map.new_ids[kept]] @ rotation
    save_file({"wte.weight": table}, tmp_path / "model.safetensors")
    resize_embeddings(
        tmp_path / "model.safetensors", id_map, init="omp", donor=donor, num_anchors=5
    )
    rows = load_file(tmp_path / "model.safetensors")["wte.weight"]
    assert rows == pytest.approx(donor @ rotation, abs=1e-6)


def refused(
    id_map: pw.IdMap, rows: int, folder: Path, error: type, message: str, **settings: Any
) -> None:
    path = folder / "model.safetensors"
    save_file({"wte.weight": normal(rows, 6)}, path)
    before = path.read_bytes()
    with pytest.raises(error, match=message):
        resize_embeddings(path, id_map, **settings)
    assert path.read_bytes() == before


def test_unusable_donors_are_named(
    old: pw.Tokenizer, larger: pw.vocabulary.ChangedVocabulary, tmp_path: Path
) -> None:
    size, id_map = len(larger.tokenizer), larger.id_map
    nothing = np.full((size, 4), np.nan)
    nothing[id_map.added] = 1.0
    for settings, error, message in (
        ({"init": "omp"}, ArgumentError, r"init: \"omp\" needs a donor, .*donor_rows"),
        ({"donor": normal(size, 4)}, ArgumentError, 'donor: applies to init "omp" only'),
        ({"num_anchors": 3}, ArgumentError, 'num_anchors: applies to init "omp" only'),
        (
            {"init": "omp", "donor": normal(size + 1, 4)},
            ArgumentError,
            f"donor: has {size + 1} rows, and the map {size} new ids; vocabulary.donor_rows",
        ),
        ({"init": "omp", "donor": normal(size, 4)[0]}, ArgumentError, "must be a matrix"),
        ({"init": "omp", "donor": "rows.npy"}, ArgumentError, "donor: is of shape"),
        ({"init": "omp", "donor": nothing}, ArgumentError, "the vocabularies share none"),
        (
            {"init": "omp", "donor": normal(size, 4), "num_anchors": 1000},
            ArgumentError,
            rf"num_anchors: is 1000, and the donor has rows of {len(old)} tokens that are kept",
        ),
        ({"init": "omp", "donor": normal(size, 4), "num_anchors": 0}, ArgumentError, "num_anchors"),
    ):
        refused(id_map, len(old), tmp_path, error, message, **settings)
