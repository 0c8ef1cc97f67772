"""N-best lists, their scores and drawn segmentations are those of `sentencepiece`, for published models.

Texts are plain words, which every normalizer leaves alone. Sums are 32-bit there, so scores agree to six
digits and segmentations with nearly the same score may change places. PIECEWORK_FULL=1 takes more texts.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests.data import need

sentencepiece = pytest.importorskip("sentencepiece")

MODELS = ["t5", "albert-v2", "xlnet"]
FILES = {"t5": "t5-small", "albert-v2": "albert-v2"}
FULL = bool(os.environ.get("PIECEWORK_FULL"))
TEXTS = 2000 if FULL else 60
N = 40
NEAR = 1e-3

WORDS = """the of segmentation unigrams likelihood international tokenizers a hugs character
pneumonia antidisestablishmentarianism it reproducibility lattice whitespace xylophone""".split()


def folder(name: str) -> Path:
    return need(f"vocab/{name}")


def theirs(name: str) -> Any:
    return sentencepiece.SentencePieceProcessor(model_file=str(folder(name) / "spiece.model"))


def ours_from_pieces(name: str) -> pw.Tokenizer:
    """Return a tokenizer of the same pieces that takes the whole text for one word, as theirs does."""
    sp = theirs(name)
    pieces = tuple((sp.id_to_piece(id), sp.get_score(id)) for id in range(sp.get_piece_size()))
    pre_tokenizer = pw.spec.Metaspace(split=False)
    return pw.Tokenizer(pw.spec.Unigram(pieces, sp.unk_id()), pre_tokenizer=pre_tokenizer)


def ours_from_file(name: str) -> pw.Tokenizer:
    """Return the published `tokenizer.json`, which cuts the text into words."""
    path = folder(FILES[name]) / "tokenizer.json.gz"
    return pw.Tokenizer.from_str(gzip.decompress(path.read_bytes()).decode())


def texts() -> Iterator[str]:
    rng = random.Random(1)
    for _ in range(TEXTS):
        words = rng.choices(WORDS, k=rng.randint(1, 4))
        made_up = "".join(rng.choices("abcdefghiklmnoprstuvwy", k=rng.randint(1, 9)))
        yield " ".join(rng.sample([*words, made_up], len(words)))


def scores_of(serialized: bytes) -> list[float]:
    """Read the scores (field 3, a float) of the segmentations (field 1) of a serialized n-best list."""
    scores = []
    while serialized:
        inner, serialized = take_message(serialized)
        while inner and inner[0] != 0x1D:
            _, inner = take_message(inner)
        scores.append(struct.unpack_from("<f", inner, 1)[0] if inner else 0.0)
    return scores


def take_message(data: bytes) -> tuple[bytes, bytes]:
    """Split off a field whose length is written before it."""
    assert data[0] & 7 == 2
    length, at = 0, 1
    while True:
        length |= (data[at] & 0x7F) << 7 * (at - 1)
        at += 1
        if data[at - 1] < 0x80:
            return data[at : at + length], data[at + length :]


@pytest.mark.parametrize(
    ("name", "load"),
    [*((name, ours_from_pieces) for name in MODELS), *((name, ours_from_file) for name in FILES)],
)
def test_nbest_lists_and_scores_are_equal(name: str, load: Any) -> None:
    sp, tok = theirs(name), load(name)
    for text in texts():
        scores = scores_of(sp.nbest_encode(text, nbest_size=N, return_type="serialized_proto"))
        rows = sp.nbest_encode(text, nbest_size=N, return_type=int)
        listed = pw.tokenizer.lattice.nbest(tok, text, N, add_special_tokens=False)
        assert [s.score for s in listed] == pytest.approx(scores, rel=1e-6, abs=1e-4), text
        assert tok.encode(text, add_special_tokens=False).ids == listed[0].encoding.ids
        # Near the last place the two may list different ones.
        last = scores[-1] + NEAR if len(scores) == N else -math.inf
        expected = {tuple(row) for row, score in zip(rows, scores, strict=True) if score > last}
        found = {tuple(s.encoding.ids): s.score for s in listed}
        assert len(found) == len(listed)
        assert expected <= found.keys(), text
        for row, score in zip(rows, scores, strict=True):
            assert pw.tokenizer.lattice.score_ids(tok, row) == pytest.approx(
                score, rel=1e-6, abs=1e-4
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("alpha", "nbest_size"), [(0.1, -1), (0.5, -1), (0.3, 6)])
def test_segmentations_are_drawn_as_often(name: str, alpha: float, nbest_size: int) -> None:
    """Theirs by the probabilities that ours are proved to have, for all but the rarest."""
    sp, tok, text, draws = theirs(name), ours_from_pieces(name), "the hugs", 20_000
    listed = pw.tokenizer.lattice.nbest(tok, text, 1024 if nbest_size < 0 else nbest_size)
    weights = {tuple(s.encoding.ids): math.exp(alpha * s.score) for s in listed}
    sentencepiece.set_random_generator_seed(1)
    sampled = (
        sp.encode(text, enable_sampling=True, alpha=alpha, nbest_size=nbest_size)
        for _ in range(draws)
    )
    counted = Counter(map(tuple, sampled))
    assert counted.keys() <= weights.keys()
    expected = {way: draws * weight / sum(weights.values()) for way, weight in weights.items()}
    common = [way for way, count in expected.items() if count > 20]
    distance = sum((counted[way] - expected[way]) ** 2 / expected[way] for way in common)
    assert distance < len(common) + 6 * math.sqrt(2 * len(common))
