"""BERT's tokenizers give what `tokenizers` gives: ids, offsets, word ids, masks, on every input."""

from __future__ import annotations

import itertools
import os
import random
import unicodedata
from functools import cache

import pytest
import tokenizers

import piecework as pw
from tests import data
from tests.differential import peer

# A full run compares all of the corpora at every cut; the usual one a tenth of them.
FULL = bool(os.environ.get("PIECEWORK_FULL"))
CUTS = 70
CUT_BYTES = 2000
CODE_POINTS = peer.CODE_POINTS
FRAMES = ["{}", "a{}b", "x {} y", "Él{}", "{}{}", "é{}\u0301z", "漢{}"]


@cache
def both(name: str) -> tuple[pw.Tokenizer, tokenizers.Tokenizer]:
    pair = peer.pair_of(name)
    if pair is None:
        pytest.skip(data.missing(f"vocab/{name}/vocab.txt"))
    return pair


@pytest.mark.slow
@pytest.mark.parametrize("name", peer.MODELS, scope="module")
def test_corpora_give_the_same_fields(name: str) -> None:
    """Every document with one of the models, with each of them in a full run."""
    ours, theirs = both(name)
    for _, text in peer.all_corpora():
        documents = peer.documents(text)
        own = documents if FULL else documents[peer.MODELS.index(name) :: len(peer.MODELS)]
        peer.assert_same_ids(ours, theirs, own)
        peer.assert_same_fields(ours, theirs, documents if FULL else own[::10])


@pytest.mark.slow
@pytest.mark.parametrize("name", peer.MODELS, scope="module")
def test_corpora_cut_at_seventy_places_give_the_same_fields(name: str) -> None:
    """Every cut with one of the models, with each of them in a full run."""
    ours, theirs = both(name)
    corpora = [text.encode() for _, text in peer.all_corpora()]
    step = CUT_BYTES if FULL else 150 * CUT_BYTES
    for cut in range(CUTS) if FULL else range(peer.MODELS.index(name), CUTS, len(peer.MODELS)):
        first = cut if FULL else cut + cut % 150 * CUT_BYTES
        documents = [
            raw[start : start + CUT_BYTES].decode("utf-8", errors="replace")
            for raw in corpora
            for start in range(first, len(raw), step)
        ]
        assert documents
        peer.assert_same_ids(ours, theirs, documents)
        peer.assert_same_fields(ours, theirs, documents[:: 10 if FULL else 5])


@pytest.mark.slow
@pytest.mark.parametrize("name", peer.MODELS, scope="module")
@pytest.mark.parametrize("frame", FRAMES)
def test_code_points_give_the_same_ids(name: str, frame: str) -> None:
    """Every code point in every frame, or a sample in each frame unless everything is asked for."""
    ours, theirs = both(name)
    points = peer.code_points(FRAMES.index(frame), len(FRAMES))
    peer.assert_same_ids(ours, theirs, [frame.replace("{}", char) for char in points])


@pytest.mark.parametrize("name", peer.MODELS[:2], scope="module")
@pytest.mark.parametrize("frame", ["{}", "a{}b"])
def test_every_assigned_code_point_gives_the_same_offsets(name: str, frame: str) -> None:
    ours, theirs = both(name)
    assigned = [c for c in CODE_POINTS if unicodedata.category(c) not in ("Cn", "Co")]
    sample = assigned if FULL else assigned[::7]
    peer.assert_same_fields(ours, theirs, [frame.replace("{}", char) for char in sample])


@pytest.mark.slow
@pytest.mark.parametrize("options", list(itertools.product([True, False], repeat=4)))
def test_every_normalizer_setting_agrees_on_every_code_point(
    options: tuple[bool, bool, bool, bool],
) -> None:
    clean, chinese, strip, lower = options
    theirs = tokenizers.normalizers.BertNormalizer(clean, chinese, strip, lower)
    ours = pw.Tokenizer(
        pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.BertNormalizer(clean, chinese, strip, lower)
    )
    # A line feed is never touched but for becoming a space: it keeps the characters apart.
    text = "\n".join(f"A{char}b" for char in peer.code_points(0, 1))
    for start in range(0, len(text), 1 << 18):
        part = text[start : start + (1 << 18)]
        assert ours.normalize(part) == theirs.normalize_str(part)


@pytest.mark.parametrize("name", peer.MODELS, scope="module")
def test_random_text_gives_the_same_ids_and_offsets(name: str) -> None:
    ours, theirs = both(name)
    rng = random.Random(1)
    alphabets = [
        "abcdefgh .,'",
        "aàáéñüßøčşİıΣσς ẞﬁ",
        "\u0300\u0301\u0327\u0345\u20d0ae\u200d\u00ad\u0000\ufffd\u0085\u000b ",
        "漢字かなカナ한국어가각 、。！",
        "हिन्दीবাংলাதமிழ்ไทย ",
        "👩‍👩‍👧🏽🇫🇷#️⃣ ✓",
        "[CLS][SEP][MASK][UNK][PAD] []x",
        "##ing##ab #a",
    ]
    texts = []
    for _ in range(20_000):
        letters = "".join(rng.sample(alphabets, rng.randint(1, 3)))
        texts.append("".join(rng.choice(letters) for _ in range(rng.randint(0, 30))))
    peer.assert_same_ids(ours, theirs, texts)
    peer.assert_same_fields(ours, theirs, texts[:8000])


def test_random_code_points_give_the_same_ids() -> None:
    ours, theirs = both("bert-base-uncased")
    rng = random.Random(2)
    assigned = [c for c in CODE_POINTS if unicodedata.category(c) not in ("Cn", "Co")]
    number = 50_000 if FULL else 10_000
    texts = ["".join(rng.choices(assigned, k=rng.randint(1, 40))) for _ in range(number)]
    peer.assert_same_ids(ours, theirs, texts)


def test_long_words_and_hostile_texts_agree() -> None:
    ours, theirs = both("bert-base-uncased")
    texts = ["a" * length for length in (14, 15, 16, 17, 31, 32, 99, 100, 101, 200, 5000)] + [
        "é" * 100,
        "é" * 101,
        "漢" * 300,
        "\u0301" * 500,
        "a" + "\u0301" * 500,
        " " * 5000,
        "." * 3000,
    ]
    peer.assert_same_ids(ours, theirs, texts)
    peer.assert_same_fields(ours, theirs, texts)


@pytest.mark.slow
def test_pairs_truncation_and_padding_agree() -> None:
    ours, theirs = both("bert-base-uncased")
    rng = random.Random(3)
    words = "the cat sat on unaffable mats, didn't it? 漢字 naïve".split(" ")
    settings = itertools.product(
        (5, 8, 13), (0, 1, 2), ("longest_first", "only_first", "only_second"), ("right", "left")
    )
    for max_length, stride, strategy, direction in settings:
        theirs.enable_truncation(max_length, stride=stride, strategy=strategy, direction=direction)
        if stride >= max_length - 2:
            with pytest.raises(pw.errors.ArgumentError):
                ours.with_truncation(max_length, stride=stride)
            continue
        cut = ours.with_truncation(max_length, stride=stride, strategy=strategy, side=direction)
        for _ in range(40):
            text = " ".join(rng.choices(words, k=rng.randint(0, 9)))
            pair = " ".join(rng.choices(words, k=rng.randint(0, 9)))
            compare_cut(cut, theirs, text, pair)
            if strategy != "only_second":
                compare_cut(cut, theirs, text, None)
    theirs.no_truncation()


def compare_cut(
    ours: pw.Tokenizer, theirs: tokenizers.Tokenizer, text: str, pair: str | None
) -> None:
    try:
        expected = theirs.encode(text, pair) if pair is not None else theirs.encode(text)
    except Exception:
        with pytest.raises(pw.errors.ArgumentError):
            ours.encode(text, pair)
        return
    except BaseException as panic:
        # A window no longer than the stride makes them panic; ours moves on by one token.
        if type(panic).__name__ != "PanicException":
            raise
        ours.encode(text, pair)
        return
    encoding = ours.encode(text, pair)
    assert (encoding.ids, encoding.offsets) == (expected.ids, expected.offsets)
    assert (encoding.type_ids, encoding.word_ids) == (expected.type_ids, expected.word_ids)
    assert [e.ids for e in encoding.overflowing] == [e.ids for e in expected.overflowing]
    assert [e.offsets for e in encoding.overflowing] == [e.offsets for e in expected.overflowing]
    pairs = None if pair is None else [pair]
    assert ours.encode_batch([text], pairs).ids.tolist() == expected.ids


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize(("length", "multiple"), [(None, None), (None, 8), (12, None), (10, 4)])
def test_padding_agrees(direction: str, length: int | None, multiple: int | None) -> None:
    ours, theirs = both("bert-base-uncased")
    theirs.enable_padding(direction=direction, length=length, pad_to_multiple_of=multiple, pad_id=0)
    padded = ours.with_padding(length, side=direction, pad_to_multiple_of=multiple)
    texts = [
        "a",
        "the unaffable cat",
        "",
        "one two three four five six seven eight nine ten eleven",
    ]
    batch = padded.encode_batch(texts)
    expected = theirs.encode_batch(texts)
    assert batch.to_lists() == [e.ids for e in expected]
    assert batch.attention_mask.tolist() == [bit for e in expected for bit in e.attention_mask]
    single = theirs.encode(texts[1])
    assert padded.encode(texts[1]).ids == single.ids
    assert padded.encode(texts[1]).tokens == single.tokens
    assert padded.encode(texts[1]).special_tokens_mask == single.special_tokens_mask
    theirs.no_padding()


@pytest.mark.parametrize("name", peer.MODELS, scope="module")
@pytest.mark.parametrize("clean_up", [True, False])
def test_decoding_agrees(name: str, clean_up: bool) -> None:
    ours, theirs = both(name)
    theirs.decoder = tokenizers.decoders.WordPiece(cleanup=clean_up)
    rng = random.Random(4)
    size = ours.get_vocab_size()
    for skip in (True, False):
        for _ in range(3000):
            ids = [rng.randrange(size) for _ in range(rng.randint(0, 12))]
            decoded = ours.decode(ids, skip_special_tokens=skip, clean_up=clean_up)
            assert decoded == theirs.decode(ids, skip_special_tokens=skip)
