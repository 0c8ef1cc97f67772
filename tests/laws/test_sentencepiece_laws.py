"""The stages of SentencePiece give the same results in core and reference."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference import sentencepiece_stages
from piecework.reference.aligned import as_text
from piecework.reference.sentencepiece_model import encode_text
from tests.laws.strategies import tie_texts

TEXTS = st.text(st.sampled_from("ab <x>▁é漢\t\0"), max_size=30) | tie_texts()
FLAG = st.booleans()
PIECES = (
    "▁",
    "a",
    "b",
    "ab",
    "▁a",
    "▁ab",
    "bab",
    "▁é",
    "é",
    "<",
    "<x",
    "aa",
    "aaa",
    "bb",
    "0",
    "00",
)


@st.composite
def normalizers(draw: st.DrawFn) -> pw.spec.SentencePieceNormalizer:
    symbols = draw(st.lists(st.sampled_from(["<x>", "<x", " <", "▁a"]), unique=True))
    flags = [draw(FLAG) for _ in range(4)]
    return pw.spec.SentencePieceNormalizer(b"", *flags, tuple(symbols))


@st.composite
def models(draw: st.DrawFn) -> pw.spec.SentencePiece:
    texts = draw(st.lists(st.sampled_from(PIECES), unique=True, min_size=1))
    score = st.one_of(
        st.integers(-9, 0).map(float), st.floats(-60_000, 0, width=32), st.floats(-15, 0, width=32)
    )
    normal = [pw.spec.ScoredPiece(text, draw(score)) for text in texts]
    unknown = pw.spec.ScoredPiece("<unk>", 0.0, "unknown")
    symbol = pw.spec.ScoredPiece("<x>", 0.0, "user_defined")
    return pw.spec.SentencePiece((unknown, *normal, symbol))


@given(text=TEXTS, normalizer=normalizers())
def test_normalized_texts_equal_the_reference(
    text: str, normalizer: pw.spec.SentencePieceNormalizer
) -> None:
    unknown = pw.spec.ScoredPiece("<unk>", 0.0, "unknown")
    model = pw.spec.SentencePiece((unknown,), kind="char")
    tok = pw.Tokenizer(model, normalizer=normalizer)
    expected = sentencepiece_stages.normalize(
        [(c, (at, at + 1)) for at, c in enumerate(text)], normalizer
    )
    assert tok.normalize(text) == as_text(expected)
    if expected:
        span = (expected[0][1][0], expected[-1][1][1])
        assert tok.pre_tokenize(text) == [(as_text(expected), span)]


@settings(max_examples=300)
@given(texts=st.lists(TEXTS, min_size=1, max_size=40), model=models())
def test_segmentations_equal_the_reference(texts: list[str], model: pw.spec.SentencePiece) -> None:
    tok = pw.Tokenizer(
        model, normalizer=pw.spec.SentencePieceNormalizer(user_defined_symbols=("<x>",))
    )
    batch = tok.encode_batch([*texts, "".join(texts)], num_threads=1).to_lists()
    for text, ids in zip([*texts, "".join(texts)], batch, strict=True):
        assert ids == [
            model.vocab[piece.token] for piece in encode_text(tok.normalize(text), model)
        ]
        assert ids == tok.encode(text).ids


@given(
    pieces=st.lists(
        st.sampled_from(["▁", "▁a", "b", "▁▁", "<unk>", "<s>", "<0xE6>", "<0xBC>", "<0xA2>"])
    ),
    flags=st.tuples(FLAG, FLAG),
)
def test_decoded_pieces_equal_the_reference(pieces: list[str], flags: tuple[bool, bool]) -> None:
    bytes_ = [pw.spec.ScoredPiece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256)]
    others = [pw.spec.ScoredPiece(text, -1.0) for text in ("▁", "▁a", "b", "▁▁")]
    special = [
        pw.spec.ScoredPiece("<unk>", 0.0, "unknown"),
        pw.spec.ScoredPiece("<s>", 0.0, "control"),
    ]
    model = pw.spec.SentencePiece((*special, *bytes_, *others), byte_fallback=True)
    decoder = pw.spec.SentencePieceDecoder(*flags, control_symbols=("<s>",), byte_fallback=True)
    tok = pw.Tokenizer(model, decoder=decoder)
    assert tok.decode([model.vocab[piece] for piece in pieces]) == sentencepiece_stages.decode(
        pieces, decoder
    )
