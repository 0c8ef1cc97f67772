"""Published `tokenizer.json` files give here what they give in `tokenizers`: every field, every way."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest
import tokenizers

import piecework as pw
from tests import data
from tests.differential import peer
from tests.tie_texts import tie_texts

FILES = data.tokenizer_files()
NAMES = [path.parent.name for path in FILES]


@lru_cache(maxsize=1)
def both(path: Path) -> tuple[pw.Tokenizer, tokenizers.Tokenizer]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    document = json.loads(text)
    document["truncation"] = document["padding"] = None
    text = json.dumps(document, ensure_ascii=False)
    return pw.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)


def random_texts(ours: pw.Tokenizer, count: int) -> list[str]:
    rng = random.Random(count)
    alphabets = [
        "abcdefgh .,'12",
        "aàéñüßİıΣς ẞﬁ \u0301\u0327\u200d",
        "\u0000\u0085\u00a0\u2581 \t\n\r\n  ",
        "漢字かなカナー한국어각 、。！",
        "हिन्दीবাংলাதமிழ்ไทย ",
        "👩‍👩‍👧🏽🇫🇷#️⃣ ✓½²",
        "ＦｕｌｌＷｉｄｔｈ ①㍿",
    ]
    specials = [token.content for token in ours.spec.added_tokens][:50] or [""]
    texts = []
    for _ in range(count):
        letters = "".join(rng.sample(alphabets, rng.randint(1, 3)))
        parts = ["".join(rng.choice(letters) for _ in range(rng.randint(0, 12))) for _ in range(3)]
        joint = rng.choice(specials) if rng.random() < 0.3 else ""
        texts.append(joint.join(parts))
    return texts


def without_dropped_bytes(ours: pw.Tokenizer, texts: Sequence[str]) -> list[str]:
    """Leave out texts with bytes that a byte-level vocabulary lacks: they shift what follows there."""
    if not isinstance(ours.spec.decoder, pw.spec.ByteLevelDecoder):
        return list(texts)
    symbols = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    vocab = ours.get_vocab()

    def is_spelled(text: str) -> bool:
        return all(set(word) <= vocab.keys() for word, _ in symbols.pre_tokenize_str(text))

    return list(filter(is_spelled, texts))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_corpora_give_the_same_fields(path: Path) -> None:
    ours, theirs = both(path)
    documents = peer.sample_documents(40)
    peer.assert_same_ids(ours, theirs, documents)
    peer.assert_same_fields(ours, theirs, without_dropped_bytes(ours, documents[::4]))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_random_texts_give_the_same_fields(path: Path) -> None:
    ours, theirs = both(path)
    texts = [*random_texts(ours, 4000), *tie_texts(1000)]
    peer.assert_same_ids(ours, theirs, texts)
    peer.assert_same_fields(ours, theirs, texts[:1500])


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_code_points_give_the_same_ids(path: Path) -> None:
    ours, theirs = both(path)
    points = peer.code_points(FILES.index(path), len(FILES))
    for frame in ("{}", "a{}b"):
        texts = [frame.replace("{}", char) for char in points]
        peer.assert_same_ids(ours, theirs, texts)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_decoding_gives_the_same_text(path: Path) -> None:
    ours, theirs = both(path)
    rng = random.Random(5)
    size = ours.get_vocab_size()
    rows = [[rng.randrange(size) for _ in range(rng.randint(0, 12))] for _ in range(3000)]
    rows += ours.encode_batch(peer.sample_documents(40)[:200]).to_lists()
    for skip in (True, False):
        expected = [theirs.decode(row, skip_special_tokens=skip) for row in rows]
        assert ours.decode_batch(rows, skip_special_tokens=skip) == expected


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_written_files_equal_those_of_tokenizers(path: Path) -> None:
    ours, theirs = both(path)
    written = ours.to_str()
    assert written == theirs.to_str()
    assert pw.Tokenizer.from_str(written).to_str() == written
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_vocab_size() == theirs.get_vocab_size()
