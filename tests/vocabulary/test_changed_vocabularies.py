"""Changed vocabularies of every family: the ids of text, and the files that other libraries read."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers

import piecework as pw
from piecework.spec import AddedToken, ScoredPiece, SentencePiece, Unigram
from tests.data import need

TEXTS = [
    "hug hugs pug pun bun",
    "the hugs of the pug",
    "punning bugs hug the bun",
    "shrugging huggers bought burning rugs under the thundering roof",
    "nothing is as good as a strong hug from a friendly dog, 42 times or 7",
] * 5
OTHER = ["immunotherapy against lymphoma", "lymphoma and immunology, immunotherapy"] * 8
KINDS = ["unigram", "bpe"]


@cache
def trained(kind: str, *options: str) -> bytes:
    """Train in `sentencepiece`, so that what training gives does not depend on what is tested."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS + OTHER[:1]),
        model_writer=out,
        model_type=kind,
        vocab_size=300 if "bytes" in options else 70,
        hard_vocab_limit=False,
        byte_fallback="bytes" in options,
        user_defined_symbols=["<sep>"] if "symbols" in options else [],
        control_symbols=["<mask>"],
        pad_id=3 if "pad" in options else -1,
        minloglevel=2,
    )
    return out.getvalue()


def loaded(kind: str, *options: str) -> pw.Tokenizer:
    return pw.Tokenizer.from_bytes(trained(kind, *options))


def ids(tok: pw.Tokenizer, text: str) -> list[int]:
    return tok.encode(text, add_special_tokens=False).ids


def assert_as_sentencepiece(tok: pw.Tokenizer, path: Path, texts: list[str]) -> None:
    """Save a `.model`, and compare the ids of texts with those of `sentencepiece`."""
    tok.save(path / "changed.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path / "changed.model"))
    assert theirs.get_piece_size() == tok.get_vocab_size()
    for text in texts:
        assert theirs.encode(text) == ids(tok, text), text
        assert theirs.decode(theirs.encode(text)) == tok.decode(ids(tok, text))
    assert pw.Tokenizer.load(path / "changed.model") == tok


def assert_as_tokenizers(tok: pw.Tokenizer, path: Path, texts: list[str]) -> None:
    tok.save(path / "changed.json")
    theirs = tokenizers.Tokenizer.from_file(str(path / "changed.json"))
    for text in texts:
        assert theirs.encode(text, add_special_tokens=False).ids == ids(tok, text), text


def texts_at_random(seed: int, n: int = 60) -> list[str]:
    rng = random.Random(seed)
    words = " ".join(TEXTS[:5] + OTHER[:2]).split()
    made = [" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(n // 2)]
    made += ["".join(rng.choices("hugpnbs 漢é<sep>", k=rng.randint(1, 20))) for _ in range(n // 2)]
    return made + TEXTS[:5] + OTHER[:2]


def assert_kept_text_maps(tok: pw.Tokenizer, changed: pw.Tokenizer, id_map: pw.IdMap) -> int:
    """Check the law of pruning: text whose tokens are all kept has the mapped ids."""
    mapped = 0
    for text in texts_at_random(5, 200):
        new_ids = id_map.new_ids[ids(tok, text)]
        if (new_ids >= 0).all():
            assert ids(changed, text) == new_ids.tolist(), text
            mapped += 1
    return mapped


def unigram_at_random(seed: int) -> pw.Tokenizer:
    rng = random.Random(seed)
    texts = {"▁", *"abcd"} | {
        rng.choice(["", "▁"]) + "".join(rng.choices("abcd", k=rng.randint(2, 5))) for _ in range(30)
    }
    pieces = [(text, round(-rng.uniform(1, 12), 1)) for text in sorted(texts)]
    rng.shuffle(pieces)
    pieces.insert(2, ("<unk>", 0.0))
    first = AddedToken("<first>", 0, special=True)
    return pw.Tokenizer(
        Unigram((("<first>", 0.0), *pieces), unk_id=3),
        pre_tokenizer=pw.spec.Metaspace(),
        decoder=pw.spec.MetaspaceDecoder(),
        added_tokens=[first, AddedToken("<last>", len(pieces) + 1, special=True)],
    )


# ---- pruning and shrinking


def test_pruned_unigram_gives_the_mapped_ids_and_those_of_tokenizers(tmp_path: Path) -> None:
    mapped = 0
    for seed in range(60):
        tok, rng = unigram_at_random(seed), random.Random(seed)
        keep = rng.sample(sorted(tok.get_vocab()), rng.randrange(8, 30))
        smaller, id_map = pw.vocabulary.prune(tok, keep, keep_alphabet=rng.random() < 0.5)
        assert {"<unk>", "<first>", "<last>", *keep} <= smaller.get_vocab().keys()
        texts = ["".join(rng.choices("abcdé ", k=rng.randint(1, 20))) for _ in range(40)]
        for text in [*texts, "<first>a<last>"]:
            new_ids = id_map.new_ids[ids(tok, text)]
            if (new_ids >= 0).all():
                assert ids(smaller, text) == new_ids.tolist(), (seed, text)
                mapped += 1
        if seed % 10 == 0:
            assert_as_tokenizers(smaller, tmp_path, texts)
    assert mapped > 300


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [(), ("bytes",), ("symbols", "pad")], ids=str)
def test_pruned_sentencepiece_gives_the_mapped_ids_and_those_of_sentencepiece(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    tok = loaded(kind, *options)
    rng = random.Random(9)
    mapped = 0
    for share in (0.2, 0.5, 0.9):
        vocab = tok.get_vocab()
        smaller, id_map = pw.vocabulary.prune(
            tok, rng.sample(sorted(vocab), int(share * len(vocab)))
        )
        mapped += assert_kept_text_maps(tok, smaller, id_map)
        assert_as_sentencepiece(smaller, tmp_path, texts_at_random(2))
        protected = [p for p in tok.spec.model.pieces if p.type not in ("normal", "unused")]
        kept = {piece.text: piece for piece in smaller.spec.model.pieces}
        assert all(kept[piece.text] == piece for piece in protected)
        scores = {piece.text: piece.score for piece in tok.spec.model.pieces}
        assert all(piece.score == scores[piece.text] for piece in kept.values())
    assert mapped > 100


def test_a_piece_of_which_others_are_merged_stays() -> None:
    pieces = [("<unk>", 0.0), *((char, -9.0) for char in "abcd"), ("ab", -1.0), ("abc", -2.0)]
    types = {"<unk>": "unknown"}
    model = SentencePiece(
        tuple(ScoredPiece(text, score, types.get(text, "normal")) for text, score in pieces),
        kind="bpe",
    )
    tok = pw.Tokenizer(model)
    assert "ab" in pw.vocabulary.prune(tok, ["abc"])[0].get_vocab()
    without = pw.vocabulary.prune(tok, ["abc"], keep_alphabet=False)[0]
    assert without.get_vocab().keys() == {"<unk>", "a", "b", "c", "ab", "abc"}
    assert pw.vocabulary.shrink(tok, 6)[0].get_vocab().keys() == {"<unk>", *"abcd", "ab"}


def test_shrinking_takes_the_pieces_that_are_merged_from_a_removed_one() -> None:
    scores = {"a": -0.1, "b": -0.2, "c": -0.3, "ab": -9.0, "abc": -1.0}
    pieces = [ScoredPiece(text, score) for text, score in scores.items()]
    model = SentencePiece((ScoredPiece("<unk>", 0.0, "unknown"), *pieces), kind="bpe")
    tok = pw.Tokenizer(model)
    assert tok.encode("abc").tokens == ["abc"]
    assert pw.vocabulary.shrink(tok, 5)[0].get_vocab().keys() == {"<unk>", "a", "b", "c"}


def test_the_score_of_unknown_characters_does_not_change() -> None:
    pieces = (
        ("<unk>", 0.0),
        ("a", -1.0),
        ("b", -1.0),
        ("rare", -20.0),
        ("aé", -25.0),
        ("éa", -4.0),
    )
    tok = pw.Tokenizer(Unigram(pieces, unk_id=0))
    smaller, _ = pw.vocabulary.prune(tok, ["a", "b"], keep_alphabet=False)
    assert "aé" in smaller.get_vocab()
    assert pw.tokenizer.lattice.score(smaller, "é") == pw.tokenizer.lattice.score(tok, "é") == -35.0


def test_shrinking_removes_the_lowest_scores_but_the_protected() -> None:
    tok = loaded("unigram", "symbols")
    smaller, id_map = pw.vocabulary.shrink(tok, 50)
    removed = {tok.id_to_token(id) for id in id_map.removed.tolist()}
    assert smaller.get_vocab_size() == 50
    assert len(removed) == tok.get_vocab_size() - 50
    scores = {p.text: p.score for p in tok.spec.model.pieces if len(p.text) > 1}
    kept = {t for t in scores if t in smaller.get_vocab() and t not in ("<sep>", "<mask>")}
    lowest = min(p.score for p in tok.spec.model.pieces if p.type == "normal")
    kept = {t for t in kept if scores[t] not in (0.0, lowest)}
    assert max(scores[t] for t in removed) <= min(scores[t] for t in kept)
    with pytest.raises(pw.errors.ArgumentError, match="size: 8 is too small: .* need 28"):
        pw.vocabulary.shrink(tok, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_shrunk_sentencepiece_is_read_by_sentencepiece(kind: str, tmp_path: Path) -> None:
    tok = loaded(kind)
    smaller, id_map = pw.vocabulary.shrink(tok, tok.get_vocab_size() - 8)
    assert assert_kept_text_maps(tok, smaller, id_map)
    assert_as_sentencepiece(smaller, tmp_path, texts_at_random(4))


def test_shrinking_a_bpe_model_of_sentencepiece_is_having_trained_less() -> None:
    tok = loaded("bpe")
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS + OTHER[:1]),
        model_writer=out,
        model_type="bpe",
        vocab_size=55,
        control_symbols=["<mask>"],
        minloglevel=2,
    )
    theirs = pw.Tokenizer.from_bytes(out.getvalue())
    assert pw.vocabulary.shrink(tok, 55)[0].get_vocab() == theirs.get_vocab()


# ---- extending


@pytest.mark.parametrize("kind", KINDS)
def test_extended_sentencepiece_keeps_ids_and_scores_and_needs_fewer_tokens(
    kind: str, tmp_path: Path
) -> None:
    tok = loaded(kind)
    larger, id_map = pw.vocabulary.extend(tok, OTHER, 4)
    assert larger.get_vocab_size() == tok.get_vocab_size() + 4
    assert larger.spec.model.pieces[: tok.get_vocab_size()] == tok.spec.model.pieces
    scores = [piece.score for piece in tok.spec.model.pieces if piece.type == "normal"]
    for piece in larger.spec.model.pieces[tok.get_vocab_size() :]:
        assert (piece.score >= min(scores)) == (
            kind == "unigram"
        )  # that of unknown characters stays
    assert id_map.new_ids.tolist() == list(range(tok.get_vocab_size()))
    assert sum(map(len, larger.encode_batch(OTHER))) < 0.8 * sum(map(len, tok.encode_batch(OTHER)))
    assert_as_sentencepiece(larger, tmp_path, texts_at_random(4))
    for text in texts_at_random(6):
        if max(ids(larger, text), default=0) < tok.get_vocab_size():
            assert ids(larger, text) == ids(tok, text)
    vocab = {id: token for token, id in tok.get_vocab().items()}
    for new in id_map.added.tolist():
        assert "".join(vocab[id] for id in id_map.sources[new]) == larger.id_to_token(new)


def test_extended_unigram_moves_added_tokens_after_the_last_piece(tmp_path: Path) -> None:
    tok = unigram_at_random(3)
    size = len(tok.spec.model.pieces)
    larger, id_map = pw.vocabulary.extend(tok, ["abcdabcd dcbadcba"] * 5, 2)
    assert larger.token_to_id("<last>") == size + 2
    assert id_map.new_ids.tolist() == [*range(size), size + 2]
    assert id_map.added.tolist() == [size, size + 1]
    assert_as_tokenizers(larger, tmp_path, ["abcdabcd abcd", "dcbadcba <last> dcba"])
    assert larger.spec.model.pieces[:size] == tok.spec.model.pieces


def test_counts_of_the_pipeline_extend_as_texts_do() -> None:
    tok = loaded("unigram")
    counts = pw.count_texts(OTHER, preset=pw.train.pipeline_of(tok.spec))
    assert pw.vocabulary.extend(tok, counts, 4)[0] == pw.vocabulary.extend(tok, OTHER, 4)[0]


def test_too_little_text_to_extend_warns() -> None:
    tok = loaded("unigram")
    with pytest.warns(pw.errors.TrainingWarning, match="stopped early"):
        larger, id_map = pw.vocabulary.extend(tok, ["hug"], 5)
    assert len(id_map.added) == larger.get_vocab_size() - tok.get_vocab_size() < 5
    words = pw.Tokenizer.train_from_iterator(
        TEXTS, trainer=pw.SentencePieceTrainer(model_type="word", vocab_size=10, use_all_vocab=True)
    )
    with pytest.raises(pw.errors.ArgumentError, match="kind 'word'"):
        pw.vocabulary.extend(words, OTHER, 1)


# ---- words


def bert() -> pw.Tokenizer:
    specials = ["[PAD]", *(f"[unused{n}]" for n in range(6)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = "the of hug pug ##s im ##mun ##o ##ther ##a ##py lymph ##oma".split()
    chars = [p + c for c in sorted({*"".join(TEXTS + OTHER)} - {" "}) for p in ("", "##")]
    vocab = {token: id for id, token in enumerate(dict.fromkeys(specials + words + chars))}
    special = [
        AddedToken(t, vocab[t], special=True) for t in specials if not t.startswith("[unused")
    ]
    return pw.Tokenizer(
        pw.spec.WordPiece(vocab),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(
            cls_id=vocab["[CLS]"], sep_id=vocab["[SEP]"]
        ),
        added_tokens=special,
    )


def gpt() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(
        TEXTS, model="byte-bpe", vocab_size=300, special_tokens=["<|endoftext|>"]
    )


def plain_bpe(**options: Any) -> pw.Tokenizer:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", **options))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=90, special_tokens=["<unk>"], show_progress=False, **options
    )
    theirs.train_from_iterator(TEXTS, trainer)
    return pw.Tokenizer.from_str(theirs.to_str())


MAKERS: dict[str, Callable[[], pw.Tokenizer]] = {
    "WordPiece": bert,
    "byte-level BPE": gpt,
    "BPE": plain_bpe,
    "BPE with prefix": lambda: plain_bpe(continuing_subword_prefix="##"),
    "BPE with suffix": lambda: plain_bpe(end_of_word_suffix="</w>"),
    "Unigram": lambda: pw.Tokenizer.train_from_iterator(TEXTS, model="unigram", vocab_size=60),
    "SentencePiece unigram": lambda: loaded("unigram"),
    "SentencePiece bpe": lambda: loaded("bpe"),
}
WORDS = ["lymphoma", "immunotherapy", "immunology", "hughug", "banabanabana", "日本語"]


@pytest.mark.parametrize("name", MAKERS)
def test_added_words_are_one_token_each(name: str, tmp_path: Path) -> None:
    tok = MAKERS[name]()
    words = WORDS[:-1] if name == "WordPiece" else WORDS  # BERT splits Chinese characters
    larger, id_map = pw.vocabulary.add_words(tok, words)
    for word in words:
        assert len(ids(larger, word)) == 1, word
    assert ids(larger, "lymphoma") != ids(larger, "immunology")
    assert id_map.added.tolist() == [
        id for id in sorted(larger.get_vocab().values()) if id not in set(id_map.new_ids.tolist())
    ]
    assert all(
        larger.token_to_id(token) == id_map.new_ids[id] for token, id in tok.get_vocab().items()
    )
    texts = [*texts_at_random(8), " ".join(WORDS), "immunotherapyhughug lymphomas"]
    if name.startswith("SentencePiece"):
        assert_as_sentencepiece(larger, tmp_path, texts)
    else:
        assert_as_tokenizers(larger, tmp_path, texts)
    if "BPE" in name or "bpe" in name:
        for text in texts:
            if not set(ids(larger, text)) & set(id_map.added.tolist()):
                assert ids(larger, text) == id_map.new_ids[ids(tok, text)].tolist()
    again, same = pw.vocabulary.add_words(larger, words)
    assert again == larger
    assert same.added.tolist() == []


@pytest.mark.parametrize("name", MAKERS)
def test_the_sources_of_an_added_word_are_the_old_ids_of_its_text(name: str) -> None:
    tok = MAKERS[name]()
    larger, id_map = pw.vocabulary.add_words(tok, ["hugpug"])
    new = ids(larger, "hugpug")[0]
    unknown = tok.token_to_id("<unk>")
    assert id_map.sources[new] == tuple(id for id in ids(tok, "hugpug") if id != unknown)
    for new, old in enumerate(id_map.old_ids.tolist()):
        assert old < 0 or id_map.sources[new] == (old,)


def test_unused_entries_give_their_ids_to_words(tmp_path: Path) -> None:
    tok = bert()
    changed, id_map = pw.vocabulary.add_words(tok, ["lymphoma", "Immunology"], replace_unused=True)
    assert changed.token_to_id("lymphoma") == tok.token_to_id("[unused0]") == 1
    assert changed.token_to_id("immunology") == tok.token_to_id("[unused1]") == 2
    assert changed.get_vocab_size() == tok.get_vocab_size()
    rest = {t: id for t, id in tok.get_vocab().items() if t not in ("[unused0]", "[unused1]")}
    assert rest.items() < changed.get_vocab().items()
    assert (id_map.added.tolist(), id_map.removed.tolist()) == ([1, 2], [1, 2])
    assert id_map.sources[1] == tuple(ids(tok, "lymphoma"))
    assert changed.encode("the lymphoma").tokens == ["[CLS]", "the", "lymphoma", "[SEP]"]
    changed.save(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text().splitlines()[:4] == [
        "[PAD]",
        "lymphoma",
        "immunology",
        "[unused2]",
    ]
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"words: have 7 new entries, and there are only 6 unused ones such as \[unused1\]",
    ):
        pw.vocabulary.add_words(tok, [f"word{'a' * n}" for n in range(7)], replace_unused=True)


def test_unused_pieces_and_added_tokens_give_their_ids_too(tmp_path: Path) -> None:
    pieces = loaded("unigram").spec.model.pieces
    spec = pw.vocabulary.add_pieces(
        loaded("unigram").spec, [ScoredPiece(f"<unused{n}>", 0.0, "user_defined") for n in range(3)]
    )
    tok = pw.Tokenizer.from_spec(spec)
    changed, _ = pw.vocabulary.add_words(tok, ["lymphoma"], replace_unused=True)
    assert ids(changed, "lymphoma") == [len(pieces)]
    assert_as_sentencepiece(changed, tmp_path, ["lymphoma hug", "<unused1>", *TEXTS[:5]])
    modern = gpt().with_added_tokens(["[unused0]", "[unused1]"], special=False)
    first = modern.token_to_id("[unused0]")
    changed, _ = pw.vocabulary.add_words(modern, ["hugd"], replace_unused=True)
    assert changed.token_to_id("[unused0]") is None
    assert ids(changed, "hugd") == [first]
    assert_as_tokenizers(changed, tmp_path, ["hugd hug [unused1]", "[unused0]"])


def test_a_mapping_gives_the_scores_of_unigram_entries() -> None:
    tok = loaded("unigram")
    larger, _ = pw.vocabulary.add_words(tok, {"lymphoma": -3.5})
    assert larger.spec.model.pieces[-1] == ScoredPiece("▁lymphoma", -3.5)
    with pytest.raises(pw.errors.ArgumentError, match="only Unigram has scores"):
        pw.vocabulary.add_words(bert(), {"lymphoma": -3.5})
    with pytest.raises(pw.errors.ArgumentError, match="log probability"):
        pw.vocabulary.add_words(tok, {"lymphoma": float("nan")})


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("WordPiece", ["two words"], "splits into"),
        ("WordPiece", ["a-b"], "splits into"),
        ("WordPiece", [""], "splits into"),
        ("WordPiece", ["a" * 101], "the limit is 100, max_input_chars_per_word"),
        ("byte-level BPE", ["two words"], "splits into"),
        ("BPE", ["a" * 300], "the limit is 256"),
        ("SentencePiece unigram", ["two words"], "splits into"),
        ("Unigram", ["two words"], "splits into"),
        ("BPE", "word", "must be a list of words"),
        ("BPE", [3], ", not int"),
        ("BPE", None, ", not NoneType"),
    ],
)
def test_words_that_cannot_be_entries_are_named(name: str, words: Any, message: str) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=f"words:? .*{message}"):
        pw.vocabulary.add_words(MAKERS[name](), words)


@pytest.mark.parametrize("kind", ["word", "char"])
def test_sentencepiece_models_of_words_and_characters_change_too(kind: Any, tmp_path: Path) -> None:
    tok = loaded_of_words(kind)
    smaller, id_map = pw.vocabulary.prune(
        tok, ["▁hug", "▁the"] if kind == "word" else ["h", "u", "▁"]
    )
    assert {"<unk>", "<s>", "</s>", "<mask>"} < smaller.get_vocab().keys()
    assert_kept_text_maps(tok, smaller, id_map)
    assert_as_sentencepiece(smaller, tmp_path, texts_at_random(4))
    shrunk, _ = pw.vocabulary.shrink(tok, len(tok) - 3)
    assert shrunk.get_vocab().items() == dict(list(tok.get_vocab().items())[:-3]).items()
    assert_as_sentencepiece(shrunk, tmp_path, texts_at_random(4))
    if kind == "word":
        larger, _ = pw.vocabulary.add_words(tok, ["lymphoma"])
        assert larger.encode("lymphoma hug").tokens == ["▁lymphoma", "▁hug"]
        assert_as_sentencepiece(larger, tmp_path, ["the lymphoma", *TEXTS[:5]])
    else:
        with pytest.raises(pw.errors.ArgumentError, match="words: .* must be one character"):
            pw.vocabulary.add_words(tok, ["lymphoma"])


def loaded_of_words(kind: str) -> pw.Tokenizer:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=out,
        model_type=kind,
        control_symbols=["<mask>"],
        use_all_vocab=True,
        minloglevel=2,
    )
    return pw.Tokenizer.from_bytes(out.getvalue())


def test_bytes_of_a_unigram_model_stay() -> None:
    texts = [*TEXTS, "é"]
    tok = pw.Tokenizer.train_from_iterator(
        texts, model="unigram", vocab_size=310, byte_fallback=True
    )
    smaller, id_map = pw.vocabulary.prune(tok, ["▁hug"], keep_alphabet=False)
    assert {f"<0x{byte:02X}>" for byte in range(256)} < smaller.get_vocab().keys()
    assert smaller.decode(ids(smaller, "hug 漢字")) == "hug 漢字"
    assert_kept_text_maps(tok, smaller, id_map)


# ---- published vocabularies


def real(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.load(need(name))


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
@pytest.mark.parametrize(
    "name", ["vocab/albert-v2/spiece.model", "vocab/mistral/tokenizer.model.v1"]
)
def test_published_models_change_and_sentencepiece_reads_them(name: str, tmp_path: Path) -> None:
    tok = real(name)
    texts = need("corpora/botchan.txt").read_text(encoding="utf-8").splitlines()[:400]
    texts += ["Immunotherapy — lymphoma", "日本語 漢字", "\u0000 🤗 <s>"]
    used = np.unique(tok.encode_batch(texts, add_special_tokens=False).ids)
    smaller, id_map = pw.vocabulary.prune(tok, used)
    assert smaller.get_vocab_size() < 0.6 * tok.get_vocab_size()
    for text in texts:
        assert ids(smaller, text) == id_map.new_ids[ids(tok, text)].tolist()
    words, second = pw.vocabulary.add_words(smaller, ["immunotherapy", "lymphoma"])
    assert_as_sentencepiece(words, tmp_path, texts)
    larger, third = pw.vocabulary.extend(words, texts, 50)
    assert_as_sentencepiece(larger, tmp_path, texts)
    shrunk, fourth = pw.vocabulary.shrink(larger, larger.get_vocab_size() - 200)
    assert_as_sentencepiece(shrunk, tmp_path, texts)
    whole = id_map.then(second).then(third).then(fourth)
    for token, old in tok.get_vocab().items():
        new = whole.new_ids[old]
        assert new == -1 or shrunk.id_to_token(int(new)) == token
    assert len(whole.old_ids) == shrunk.get_vocab_size()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
@pytest.mark.parametrize(
    "name",
    [
        "vocab/gpt2/tokenizer.json.gz",
        "vocab/t5-small/tokenizer.json.gz",
        "vocab/mistral-7b-v0.1/tokenizer.json.gz",
        "vocab/bert-base-cased/vocab.txt",
    ],
)
def test_published_tokenizers_change_and_tokenizers_reads_them(name: str, tmp_path: Path) -> None:
    tok = real(name)
    texts = need("corpora/botchan.txt").read_text(encoding="utf-8").splitlines()[:400]
    texts += ["Immunotherapy — lymphoma", "日本語 漢字"]
    larger, first = pw.vocabulary.add_words(
        tok, [" immunotherapy" if "gpt2" in name else "immunotherapy", "lymphoma"]
    )
    for text in texts[:-2]:
        assert ids(larger, text) == first.new_ids[ids(tok, text)].tolist()
    assert len(ids(larger, "a immunotherapy")) == len(ids(larger, "a the"))
    assert_as_tokenizers(larger, tmp_path, texts)
    extended, second = pw.vocabulary.extend(larger, texts, 30)
    assert_as_tokenizers(extended, tmp_path, texts)
    plan = pw.analysis.plan_prune(extended, texts, min_count=1)
    assert plan.loss == 0.0
    assert_as_tokenizers(plan.tokenizer, tmp_path, texts)
    whole = first.then(second).then(plan.id_map)
    assert len(whole.old_ids) == len(plan.tokenizer)
    for token, old in tok.get_vocab().items():
        assert whole.new_ids[old] in (-1, plan.tokenizer.token_to_id(token))
