"""SentencePiece models give here what they give in `sentencepiece`: ids, pieces, spans and text.

Published `.model` files, and models that `sentencepiece` trains here with every kind of setting.
"""

from __future__ import annotations

import io
import itertools
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework._internal._core import pieces
from tests import data
from tests.differential import peer
from tests.routes import rows_by_every_route
from tests.tie_texts import tie_texts

sentencepiece = pytest.importorskip("sentencepiece")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
CODE_POINTS = peer.CODE_POINTS

HARD_TEXTS = [
    "",
    "\ufdfa a(\ufdfa\ufdfa",  # becomes four words
    " ",
    "   ",
    "  two  spaces  ",
    "\t\n\r tab",
    "a\0b",
    "\0",
    "▁",
    "▁▁a ▁ b▁",
    "<s> </s> <unk> <pad> <0x41>",
    "<s>",
    "user<x>symbol <x><x> a b<x",
    "Ｔｅｓｔ ﬁne ½ ㍿ ｶﾞ",
    "e\u0301 \u1e9b\u0323 \u200b\u200d \ufeff",
    "\ufffd\U0010ffff\U0001f468\u200d\U0001f469",
    "漢字かなカナー한국어각 、。！",
    "don't stop 3.14 1,000 U.S.A.",
    "a" * 3000,
    " " * 500 + "x" + " " * 500,
    "ab" * 1500 + " ab",
]


def published_models() -> list[Path]:
    folder = data.data_dir()
    files = sorted((folder / "vocab").glob("*/*.model*")) if folder else []
    return [file for file in files if file.suffix != ".gz"]


MODELS = published_models()
# Of their files some say that a normal piece is normal, or leave a score of 0 out.
STATES_DEFAULTS = {"mistral", "sentencepiece-tests", "tensorflow-text"}


def code_point_texts() -> Iterator[str]:
    step = 1 if FULL else 29
    for at in range(0, len(CODE_POINTS), 40 * step):
        yield "".join(CODE_POINTS[at : at + 40])
    for c in CODE_POINTS[:: 7 * step]:
        yield f"a{c}b {c}"


def both(path: Path) -> tuple[pw.Tokenizer, Any]:
    theirs = sentencepiece.SentencePieceProcessor()
    theirs.Load(str(path))
    return pw.Tokenizer.load(path), theirs


def pieces_of(ours: pw.Tokenizer, text: str) -> list[str]:
    """Name each piece as they do: an unknown one by the normalized text that stands there."""
    unknown = ours.token_to_id(ours.spec.model.unk_token)  # type: ignore[union-attr, arg-type]
    return [
        text if id == unknown else str(ours.id_to_token(id))
        for id, text, _ in pieces(ours._core, text, sampling=None)
    ]


def assert_same_fields(ours: pw.Tokenizer, theirs: Any, text: str) -> None:
    expected = theirs.encode(text, return_type="offset_mapping")
    encoding = ours.encode(text)
    assert encoding.ids == expected["ids"], f"ids differ in {text!r}"
    assert encoding.offsets == expected["offsets"], f"spans differ in {text!r}"
    assert pieces_of(ours, text) == expected["pieces"], f"pieces differ in {text!r}"
    assert encoding.pieces == expected["pieces"], f"pieces differ in {text!r}"


def assert_same(ours: pw.Tokenizer, theirs: Any, texts: list[str], seed: int) -> None:
    """Compare ids of all texts, every field of some, and what ids of texts and random ids decode to."""
    rows = rows_by_every_route(ours, texts)
    for text, ids, expected in zip(texts, rows, theirs.encode(texts), strict=True):
        assert ids == expected, f"ids differ in {text[:200]!r}"
    for text in texts[:: 1 if FULL else 5]:
        if len(text) < 5000:
            assert_same_fields(ours, theirs, text)
    rng = random.Random(seed)
    ends = (30, ours.get_vocab_size())
    rows += [[rng.randrange(ends[at % 2]) for _ in range(rng.randrange(9))] for at in range(500)]
    for ids, decoded in zip(rows, ours.decode_batch(rows), strict=True):
        assert decoded == theirs.decode(ids), f"text differs for {ids[:50]}"


@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.name}")
class TestPublishedModels:
    @pytest.mark.slow
    def test_models_give_the_same_ids_pieces_spans_and_text(self, path: Path) -> None:
        texts = [*peer.sample_documents(60), *HARD_TEXTS, *code_point_texts(), *tie_texts(1000)]
        assert_same(*both(path), texts, seed=1)

    def test_models_are_written_as_they_were_read(self, path: Path, tmp_path: Path) -> None:
        ours = pw.Tokenizer.load(path)
        ours.save(tmp_path / "x.model")
        assert pw.Tokenizer.load(tmp_path / "x.model") == ours
        if path.parent.name not in STATES_DEFAULTS:
            assert (tmp_path / "x.model").read_bytes() == path.read_bytes()

    @pytest.mark.slow
    def test_a_file_and_a_specification_give_the_same_tokenizer(
        self, path: Path, tmp_path: Path
    ) -> None:
        ours = pw.Tokenizer.load(path)
        ours.save(tmp_path / "x.piecework")
        assert pw.Tokenizer.load(tmp_path / "x.piecework") == ours
        assert pw.Tokenizer.from_spec(ours.spec) == ours


# ---- models trained here

CORPUS = (
    """The quick brown fox jumps over the lazy dog. Ｔｈｅ ﬁrst   two  spaces.
In 1984 she sold sea shells by the sea shore; 3.14 is pi, 2,718 is not.
吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。
Ünïcödé wörds, naïve café, straße, ÆON, and e\u0301 with a combining mark.
<x>user<x> defined symbols stay whole, <y z> too, while <s> does not.
aaaa aaaaaaa abababab banana bananas bandana bandanas an and ant ants
""".splitlines()
    * 12
)

FLAGS: list[dict[str, Any]] = [
    {},
    {"byte_fallback": True},
    {"treat_whitespace_as_suffix": True},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"user_defined_symbols": ["<x>", "<y z>", "an"], "control_symbols": ["<c>", "<2en>"]},
    {"split_by_whitespace": False},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {
        "byte_fallback": True,
        "treat_whitespace_as_suffix": True,
        "remove_extra_whitespaces": False,
        "user_defined_symbols": ["<x>", "\n"],
    },
    {"bos_id": -1, "eos_id": 1, "unk_id": 2, "pad_id": 0, "unk_surface": "?"},
    {"add_dummy_prefix": False, "user_defined_symbols": ["▁<x>"], "byte_fallback": True},
]
TYPES = ["unigram", "bpe", "word", "char"]
RULES = ["nmt_nfkc", "identity", "nfkc_cf"]
COMBINATIONS = list(itertools.product(TYPES, RULES, range(len(FLAGS))))


@cache
def trained(kind: str, rules: str, flags: int) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type=kind,
        normalization_rule_name=rules,
        vocab_size=420,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **FLAGS[flags],
    )
    return model.getvalue()


def combination(kind: str, rules: str, flags: int, folder: Path) -> tuple[pw.Tokenizer, Any]:
    try:
        raw = trained(kind, rules, flags)
    except (RuntimeError, OSError) as error:
        pytest.skip(f"sentencepiece does not train this: {error}")
    path = folder / "trained.model"
    path.write_bytes(raw)
    return both(path)


@pytest.mark.parametrize(("kind", "rules", "flags"), COMBINATIONS[:: 1 if FULL else 5])
def test_trained_models_give_the_same_fields(
    kind: str, rules: str, flags: int, tmp_path: Path
) -> None:
    ours, theirs = combination(kind, rules, flags, tmp_path)
    rng = random.Random(flags)
    letters = "abnd aaa  <x>\t漢é.1▁ﬁ<y z>"
    drawn = ["".join(rng.choices(letters, k=rng.randrange(60))) for _ in range(150)]
    texts = [
        *CORPUS[:6],
        " ".join(CORPUS),
        *HARD_TEXTS,
        *drawn,
        *itertools.islice(code_point_texts(), 60),
        *tie_texts(100, seed=flags),
    ]
    assert_same(ours, theirs, [text for text in texts if not refused(theirs, text)], seed=flags)
    ours.save(tmp_path / "x.model")
    assert (tmp_path / "x.model").read_bytes() == (tmp_path / "trained.model").read_bytes()


def refused(theirs: Any, text: str) -> bool:
    """Whether they fail: a control symbol stands in the text as a word or a character."""
    try:
        theirs.encode(text, return_type="offset_mapping")
    except RuntimeError:
        return True
    return False


@pytest.fixture(scope="module")
def hypothesis_pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[pw.Tokenizer, Any]]:
    folder = tmp_path_factory.mktemp("models")
    return [
        combination(kind, "nmt_nfkc", flags, folder) for kind in TYPES[:2] for flags in (0, 1, 5)
    ]


@settings(max_examples=2000 if FULL else 60)
@given(text=st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("ab <x>▁\0é漢 "))))
def test_random_texts_give_the_same_fields(
    text: str, hypothesis_pairs: list[tuple[pw.Tokenizer, Any]]
) -> None:
    for ours, theirs in hypothesis_pairs:
        assert_same_fields(ours, theirs, text)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_restricted_vocabulary_gives_the_same_ids(kind: str, tmp_path: Path) -> None:
    """Their Python package no longer restricts a loaded model; unused pieces of a file do the same."""
    ours, theirs = combination(kind, "nmt_nfkc", 5, tmp_path)
    pieces = [theirs.id_to_piece(id) for id in range(theirs.get_piece_size())]
    rng = random.Random(7)
    for share in (0.0, 0.3, 0.9):
        kept = [piece for piece in pieces if rng.random() < share]
        restricted = pw.vocabulary.restrict(ours, kept).tokenizer
        restricted.save(tmp_path / "restricted.model")
        saved, theirs = both(tmp_path / "restricted.model")
        for text in [*CORPUS[:6], *HARD_TEXTS]:
            assert saved.encode(text).ids == theirs.encode(text), f"{text!r}"
            assert restricted.encode(text).ids == saved.encode(text).ids
        assert (
            pw.vocabulary.restrict(restricted, None).tokenizer.encode(CORPUS[0]).ids
            == ours.encode(CORPUS[0]).ids
        )


def test_a_vocabulary_is_restricted_by_counts(tmp_path: Path) -> None:
    ours, _ = combination("unigram", "nmt_nfkc", 0, tmp_path)
    counts = {piece: at for at, piece in enumerate(ours.get_vocab())}
    (tmp_path / "counts").write_text("".join(f"{piece}\t{at}\n" for piece, at in counts.items()))
    by_file = pw.vocabulary.restrict(ours, tmp_path / "counts", threshold=200).tokenizer
    assert by_file == pw.vocabulary.restrict(ours, counts, threshold=200).tokenizer
    assert (
        by_file
        == pw.vocabulary.restrict(
            ours, [piece for piece, at in counts.items() if at >= 200]
        ).tokenizer
    )
    used = by_file.encode(" ".join(CORPUS)).tokens
    assert all(len(token) == 1 or counts[token] >= 200 or token == "<unk>" for token in used)


@pytest.mark.parametrize("kind", TYPES)
def test_changed_models_are_read_by_their_owner(kind: str, tmp_path: Path) -> None:
    ours, _ = combination(kind, "nmt_nfkc", 0, tmp_path)
    added = [pw.spec.ScoredPiece("<new>", 0.0, "user_defined"), pw.spec.ScoredPiece("qu", -1.0)]
    spec = pw.vocabulary.add_pieces(
        ours.spec, [piece for piece in added if piece.text not in ours.get_vocab()]
    )
    spec = pw.vocabulary.set_scores(spec, {spec.model.pieces[9].text: -7.25})  # type: ignore[union-attr]
    spec = pw.vocabulary.remove_pieces(spec, [spec.model.pieces[12].text])  # type: ignore[union-attr]
    path = tmp_path / "changed.model"
    changed = pw.Tokenizer.from_spec(spec)
    changed.save(path)
    assert pw.Tokenizer.load(path) == changed
    _, theirs = both(path)
    assert_same(changed, theirs, [*CORPUS[:6], *HARD_TEXTS, "a<new>b"], seed=3)


def test_vocab_files_are_equal(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(CORPUS))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=110, minloglevel=2
    )
    pw.Tokenizer.load(tmp_path / "m.model").save(tmp_path / "ours.vocab")
    assert (tmp_path / "ours.vocab").read_bytes() == (tmp_path / "m.vocab").read_bytes()


def test_bos_and_eos_are_added_alike(tmp_path: Path) -> None:
    ours, theirs = combination("unigram", "nmt_nfkc", 0, tmp_path)
    for bos, eos in itertools.product((False, True), repeat=2):
        expected = theirs.encode("a fox", add_bos=bos, add_eos=eos)
        extras = pw.vocabulary.bos_eos_template(ours.spec.model, bos=bos, eos=eos)
        assert ours.with_post_processor(extras).encode("a fox").ids == expected


def test_spans_point_into_the_text_before_normalization(tmp_path: Path) -> None:
    ours, theirs = combination("unigram", "nmt_nfkc", 0, tmp_path)
    text = "Ｔｈｅ ﬁrst"
    encoding = ours.encode(text)
    assert encoding.offsets == theirs.encode(text, return_type="offset_mapping")["offsets"]
    assert "".join(text[start:end] for start, end in encoding.offsets) == text
