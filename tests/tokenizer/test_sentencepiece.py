"""SentencePiece tokenizers: what bad files get, what conversions give, what is remembered of a text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.spec import (
    PreTokenizer,
    Punctuation,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceKind,
    SentencePieceNormalizer,
    WhitespaceSplit,
)

PIECES = (
    ScoredPiece("<unk>", 0.0, "unknown"),
    ScoredPiece("<s>", 0.0, "control"),
    ScoredPiece("<x>", 0.0, "user_defined"),
    *(ScoredPiece(text, -float(rank)) for rank, text in enumerate("▁ a b ▁a ab ▁b ba".split(), 1)),
)
NORMALIZER = SentencePieceNormalizer(user_defined_symbols=("<x>",))
DECODER = SentencePieceDecoder(control_symbols=("<s>",))


def tokenizer(**settings: object) -> pw.Tokenizer:
    model = SentencePiece(PIECES, **settings)  # type: ignore[arg-type]
    return pw.Tokenizer(model, normalizer=NORMALIZER, decoder=DECODER)


def test_a_model_file_is_detected_by_its_content(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "m.model")
    (tmp_path / "any.name").write_bytes((tmp_path / "m.model").read_bytes())
    assert pw.Tokenizer.load(tmp_path / "any.name") == pw.Tokenizer.load(tmp_path / "m.model")
    (tmp_path / "vocab.txt").write_bytes(b"\n[UNK]\na\n")
    assert pw.Tokenizer.load(tmp_path / "vocab.txt").encode("a").ids == [2]


def test_a_model_that_is_cut_off_names_what_is_wrong(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "m.model")
    raw = (tmp_path / "m.model").read_bytes()
    (tmp_path / "m.model").write_bytes(raw[:-3])
    with pytest.raises(pw.errors.FormatError, match=r"m\.model: .*cut off"):
        pw.Tokenizer.load(tmp_path / "m.model")


@pytest.mark.parametrize(
    ("pieces", "place"),
    [
        ([ScoredPiece("", -1.0)], r"model\.pieces\[10\]: found an empty piece"),
        ([ScoredPiece("a", -1.0)], r'model\.pieces\[10\]: found "a" as in \[4\]'),
        ([ScoredPiece("<u>", 0.0, "unknown")], r"model\.pieces\[10\]: found the unknown piece"),
        ([ScoredPiece("<0x00>", 0.0, "byte")], r"model\.pieces\[10\]: found the byte piece"),
        ([ScoredPiece("c", 1e39)], "32-bit"),
    ],
)
def test_bad_pieces_are_named(pieces: list[ScoredPiece], place: str) -> None:
    with pytest.raises(pw.errors.FormatError, match=place):
        pw.Tokenizer(SentencePiece((*PIECES, *pieces)), normalizer=NORMALIZER)


def test_other_models_are_not_saved_as_sentencepiece_models(tmp_path: Path) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="added_tokens"):
        tokenizer().with_added_tokens(["<y>"]).save(tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_long_text_is_segmented_alike_in_batches_and_alone(kind: str) -> None:
    tok = tokenizer(kind=kind)
    text = " ".join("ab a b ba abba baab x <x>".split() * 3000)
    assert tok.encode_batch([text]).to_lists() == [tok.encode(text).ids]
    assert tok.decode(tok.encode("ab <x>ba").ids) == "ab <x>ba"


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
@pytest.mark.parametrize("pre_tokenizer", [None, WhitespaceSplit(), Punctuation()])
def test_only_the_last_byte_of_a_character_covers_it(
    kind: SentencePieceKind, pre_tokenizer: PreTokenizer | None
) -> None:
    bytes_ = tuple(ScoredPiece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256))
    model = SentencePiece((*PIECES, *bytes_), kind, byte_fallback=True)
    tok = pw.Tokenizer(model, pre_tokenizer=pre_tokenizer)
    expected = [(0, 0), (0, 0), (0, 1), (1, 2), (2, 2), (2, 2), (2, 3)]
    assert tok.encode("漢a漢").offsets == expected
    [row] = tok.encode_batch(["漢a漢"], offsets=True)
    assert row.offsets == expected


def test_components_give_the_same_ids(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "m.model")
    (tmp_path / "corpus.txt").write_text("ab a b ba abba\nbaab x\n")
    paths = [str(tmp_path / name) for name in ("m.model", "t.json", "again.model", "corpus.txt")]
    assert run(["convert", paths[0], paths[1]]) == 2
    for source, target in pairwise(paths[:3]):
        assert run(["convert", source, target, "--force", "--verify", paths[3]]) == 0
    again, first = pw.Tokenizer.load(paths[2]), pw.Tokenizer.load(paths[0])
    assert again.spec.model.vocab == first.spec.model.vocab  # type: ignore[union-attr]
    assert again.encode("ab <x> ba").ids == first.encode("ab <x> ba").ids


def test_words_have_no_components() -> None:
    with pytest.raises(pw.errors.ArgumentError, match="'word'"):
        pw.vocabulary.as_components(tokenizer(kind="word").spec)
