"""A `tokenizer.json` gives the same ids in `tokenizers`, or saving raises `PortabilityError`."""

from __future__ import annotations

import pickle
import random
import struct
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers

import piecework as pw
from piecework.cli.app import run
from piecework.errors import PortabilityError, PortabilityWarning
from piecework.spec import (
    BPE,
    NFC,
    AddedToken,
    BertNormalizer,
    BertProcessing,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    SequenceNormalizer,
    SequenceProcessing,
    TokenizerSpec,
    Truncation,
    Unigram,
    WordPiece,
)
from piecework.spec.ranked_merges import ranked_merges
from tests.data import data_dir

CORPUS = [
    "the hugging of pugs, and pugs hugging the sun...... in 2024 and 4000!",
    "anna banana bananas; papa mamma aaaa aaa aa 1000 100 10 --- ---- ------",
    "one two  three   four    (five) [six] {seven} <eight> </nine> été 漢字",
] * 8


def random_text(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return "".join(rng.choices("aabnm. 0▁-", k=rng.randrange(40)))
    if kind < 0.8:
        parts = ["</s>", "<s>", "<unk>", "<0x41>", "a", " ", "  ", "▁", "\n", "é", "漢", "--", "an"]
        return "".join(rng.choices(parts, k=rng.randrange(14)))
    codes = [rng.choice((rng.randrange(1, 0xD800), rng.randrange(32, 127))) for _ in range(12)]
    return "".join(map(chr, codes))


def texts(seed: int, count: int = 1500) -> list[str]:
    rng = random.Random(seed)
    return [random_text(rng) for _ in range(count)] + CORPUS[:3] + ["", " ", "▁", "▁ ▁", "\n"]


def ids_elsewhere(document: str, rows: list[str]) -> list[list[int]]:
    other = tokenizers.Tokenizer.from_str(document)
    return [encoding.ids for encoding in other.encode_batch(rows)]


def portable_json(tokenizer: pw.Tokenizer) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PortabilityWarning)
        return tokenizer.to_str(strict=True)


def single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def score_of(model: SentencePiece, ids: list[int], normalized: str) -> float:
    """Add the scores of the pieces; what they do not cover are unknown characters."""
    known = [model.pieces[id] for id in ids if model.pieces[id].type == "normal"]
    lowest = min(piece.score for piece in model.pieces if piece.type == "normal")
    unknown = len(normalized) - sum(len(piece.text) for piece in known)
    return sum(piece.score for piece in known) + unknown * (lowest - 10)


def check_same_ids(tokenizer: pw.Tokenizer, rows: list[str]) -> int:
    """Compare ids here, after reading again and elsewhere; return how many tied rows differ."""
    document = portable_json(tokenizer)
    here = tokenizer.encode_batch(rows).to_lists()
    again = pw.Tokenizer.from_str(document).encode_batch(rows).to_lists()
    there = ids_elsewhere(document, rows)
    assert again == there
    model = tokenizer.spec.model
    if not (isinstance(model, SentencePiece) and model.kind == "unigram"):
        assert here == there
        return 0
    tied = 0
    for text, mine, other in zip(rows, here, there, strict=True):
        if mine != other:
            tied += 1
            normalized = tokenizer.normalize(text)
            score = score_of(model, mine, normalized)
            difference = abs(score - score_of(model, other, normalized))
            assert difference <= 1e-5 * (1 + abs(score)), text
    return tied


SETTINGS = [
    {},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    {"treat_whitespace_as_suffix": True},
    {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    {"byte_fallback": True},
    {"split_by_whitespace": False},
]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_sentencepiece_models_without_rules_give_the_same_ids_and_text(
    kind: str, settings: dict[str, bool]
) -> None:
    size = 400 if settings.get("byte_fallback") else 140
    tok = pw.Tokenizer.train_from_iterator(
        CORPUS,
        model="sentencepiece",
        model_type=kind,  # type: ignore[arg-type]
        normalization_rule_name="identity",
        vocab_size=size,
        hard_vocab_limit=False,
        **settings,  # type: ignore[arg-type]
    )
    rows = texts(1)
    try:
        check_same_ids(tok, rows)
    except PortabilityError as error:
        assert kind == "bpe"
        assert "no ranks" in error.message  # noqa: PT017
        return
    other = tokenizers.Tokenizer.from_str(portable_json(tok))
    batch = tok.encode_batch(rows)
    assert tok.decode_batch(batch) == [other.decode(ids) for ids in batch.to_lists()]


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["t5", "llama", "albert", "xlnet"])
def test_presets_are_portable_or_refused_when_strict(preset: str, tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(
        CORPUS, preset=preset, vocab_size=400, hard_vocab_limit=False
    )
    path = tmp_path / "tokenizer.json"
    if preset == "llama":
        tok.save(path)
        check_same_ids(tok, texts(2))
        assert tokenizers.Tokenizer.from_file(str(path)).encode("hug").ids == tok.encode("hug").ids
    else:
        with pytest.raises(PortabilityError, match=r"normalizer\.charsmap: .*'\.model'"):
            tok.save(path, strict=True)
        with pytest.raises(PortabilityError, match=r"normalizer\.charsmap: .*'\.model'"):
            tok.save(f"{tmp_path}/folder/", strict=True)
        assert list(tmp_path.iterdir()) == []
        with pytest.warns(PortabilityWarning, match="normalization rules within grapheme clusters"):
            tok.save(path)
        assert ids_elsewhere(path.read_text(), ["hug"]) == [tok.encode("hug").ids]
    assert pickle.loads(pickle.dumps(tok)) == tok


def random_bpe(rng: random.Random) -> pw.Tokenizer:
    pieces = ["▁", "a", "b", "n"]
    while len(pieces) < rng.randrange(8, 30):
        piece = rng.choice(pieces) + rng.choice(pieces)
        if piece not in pieces and len(piece) < 9:
            pieces.append(piece)
    scored = [ScoredPiece(piece, -float(rank)) for rank, piece in enumerate(pieces)]
    if rng.random() < 0.6:
        order = [piece.score for piece in scored]
        rng.shuffle(order)
        scored = [piece._replace(score=new) for piece, new in zip(scored, order, strict=True)]
    if rng.random() < 0.1:
        scored[-1] = scored[-1]._replace(score=scored[-2].score)
    unknown = ScoredPiece("<unk>", 0.0, "unknown")
    model = SentencePiece((unknown, *scored), kind="bpe")
    normalizer = SentencePieceNormalizer(remove_extra_whitespaces=rng.random() < 0.5)
    return pw.Tokenizer(model, normalizer=normalizer, decoder=SentencePieceDecoder())


@pytest.mark.slow
def test_random_bpe_scores_become_ranks_with_the_same_ids_or_raise() -> None:
    portable = refused = 0
    for seed in range(400):
        rng = random.Random(seed)
        tok = random_bpe(rng)
        rows = ["".join(rng.choices("aaabbn x", k=rng.randrange(30))) for _ in range(150)]
        try:
            check_same_ids(tok, rows)
            portable += 1
        except PortabilityError:
            refused += 1
    assert portable > 100
    assert refused > 10


def test_random_unigram_models_differ_only_in_ties() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        words = {"".join(rng.choices("▁aabn0.", k=rng.randrange(2, 5))) for _ in range(30)}
        pieces = [ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("</s>", 0.0, "control")]
        pieces += [
            ScoredPiece(text, single(-rng.uniform(1, 9))) for text in sorted(words | {*"▁abu", "s"})
        ]
        tok = pw.Tokenizer(SentencePiece(tuple(pieces)), normalizer=SentencePieceNormalizer())
        check_same_ids(tok, texts(seed, 200))


def test_unigram_warns_that_ties_can_fall_differently(tmp_path: Path) -> None:
    model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("u", -1.0)))
    with pytest.warns(PortabilityWarning, match="ids can differ"):
        pw.Tokenizer(model).save(tmp_path / "tokenizer.json")


def test_merges_that_overlap_are_ranked_from_left_to_right() -> None:
    scores = {"a": -8.0, "b": -9.0, "ab": -2.0, "ba": -3.0, "aba": -4.0}
    merges = ranked_merges(scores, {piece: id for id, piece in enumerate(scores)})
    assert merges.index(("ab", "a")) < merges.index(("a", "ba"))
    with pytest.raises(PortabilityError, match="scores of .* that merge ranks cannot express"):
        ranked_merges({**scores, "aba": -2.0}, {piece: id for id, piece in enumerate(scores)})


PIECES = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("u", -1.0), ScoredPiece("x", -2.0))
NATIVE = TokenizerSpec(SentencePiece(PIECES), SentencePieceNormalizer())
PLAIN = WordPiece({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3})
WORDS = TokenizerSpec(PLAIN)
ORIGINAL = BertNormalizer(cleaning="original")
FRAME = BertProcessing(sep=("[SEP]", 2), cls=("[CLS]", 1))


def with_piece(piece: ScoredPiece) -> TokenizerSpec:
    return replace(NATIVE, model=SentencePiece((*PIECES, piece)))


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        (replace(WORDS, model=replace(PLAIN, unk="char")), "model.unk"),
        (replace(WORDS, model=replace(PLAIN, segmentation="shortest")), "model.segmentation"),
        (replace(WORDS, parse_special=False), "parse_special"),
        (replace(WORDS, normalizer=ORIGINAL), "normalizer.cleaning"),
        (replace(WORDS, normalizer=SequenceNormalizer((NFC(), ORIGINAL))), "normalizer.cleaning"),
        (replace(WORDS, added_tokens=(AddedToken("<x>", 9),)), "added_tokens"),
        (
            replace(
                WORDS,
                post_processor=SequenceProcessing((FRAME, FRAME)),
                truncation=Truncation(max_length=8),
            ),
            "post_processor",
        ),
        (replace(NATIVE, model=SentencePiece(PIECES, kind="word")), "model.kind"),
        (replace(NATIVE, model=SentencePiece(PIECES, lowest_score=-30.0)), "model.lowest_score"),
        (with_piece(ScoredPiece("<m>", 0.0, "user_defined")), "model.pieces"),
        (with_piece(ScoredPiece("xu", -3.0, "unused")), "model.pieces"),
        (with_piece(ScoredPiece("c", 0.0, "control")), "model.pieces"),
        (with_piece(ScoredPiece("yz", 0.0, "control")), "model.pieces"),
        (replace(NATIVE, pre_tokenizer=pw.spec.WhitespaceSplit()), "pre_tokenizer"),
        (
            replace(
                NATIVE,
                model=SentencePiece((*PIECES, ScoredPiece("uq", -1.0)), kind="bpe"),
            ),
            "model.pieces",
        ),
        (
            replace(NATIVE, decoder=SentencePieceDecoder(denormalizer=SentencePieceNormalizer())),
            "decoder.denormalizer",
        ),
    ],
)
def test_settings_that_others_read_differently_are_rejected_except_in_own_files(
    spec: TokenizerSpec, place: str, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.from_spec(spec)
    strict = (lambda: tok.to_str(strict=True), lambda: tok.save(tmp_path / "t.json", strict=True))
    for refused in (*strict, lambda: pw.spec.portable_json(spec)):
        with pytest.raises(PortabilityError, match=r"\.piecework") as caught:
            refused()
        assert caught.value.place == place
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "tokenizer.piecework"
    tok.save(path)
    assert pw.Tokenizer.load(path) == tok == pickle.loads(pickle.dumps(tok))
    with pytest.raises(Exception, match=r"(?i)missing|unknown|expected|error"):
        tokenizers.Tokenizer.from_file(str(path))


def test_added_tokens_of_bpe_keep_ids_that_others_would_renumber() -> None:
    model = BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),))
    added = (AddedToken("<x>", 7), AddedToken("<y>", 9, special=False))
    tok = pw.Tokenizer(model, added_tokens=added)
    rows = ["ab<x>b<y>", "<y><x>aab"]
    assert ids_elsewhere(tok.to_str(), rows) == tok.encode_batch(rows).to_lists()


@pytest.mark.slow
@pytest.mark.skipif(data_dir() is None, reason="needs the rank files of the data folder")
@pytest.mark.parametrize("name", ["cl100k_base", "p50k_base", "r50k_base", "o200k_base"])
def test_special_tokens_of_ranks_keep_their_ids_elsewhere(name: str) -> None:
    folder = data_dir()
    assert folder is not None
    tok = pw.Tokenizer.load(folder / f"vocab/tiktoken/{name}.tiktoken", encoding_name=name)
    text = "one" + "".join(token.content for token in tok.added_tokens) + " two"
    expected = tok.encode(text, parse_special=True).ids
    assert ids_elsewhere(tok.to_str(), [text]) == [expected]


def test_training_refuses_an_unportable_output_before_it_reads_the_corpus(tmp_path: Path) -> None:
    target = tmp_path / "t.json"
    options = ["--preset", "llama", "--model-type", "word"]
    assert run(["train-sentencepiece", "no-such-corpus.txt", *options, "-o", str(target)]) == 2
    assert not target.exists()


def test_converting_refuses_and_force_says_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "m.model", tmp_path / "t.json"
    tok = pw.Tokenizer.train_from_iterator(
        CORPUS, preset="t5", vocab_size=90, hard_vocab_limit=False
    )
    tok.save(source)
    assert run(["convert", str(source), str(target)]) == 2
    refused = capsys.readouterr().err
    assert "normalizer.charsmap" in refused
    assert "or use --force" in refused
    assert not target.exists()
    assert run(["convert", str(source), str(target), "--force"]) == 0
    assert "ids can differ" in capsys.readouterr().err
    assert isinstance(pw.Tokenizer.load(target).spec.model, Unigram)
