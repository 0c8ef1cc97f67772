"""Growing, pruning and shrinking a vocabulary, and where the ids go."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.vocabulary.pieces import restrict_pieces

TEXTS = [
    "hug hugs pug pun bun",
    "the hugs of the pug",
    "punning bugs hug the bun",
    "shrugging huggers bought burning rugs under the thundering roof",
    "nothing is as good as a strong hug from a friendly dog",
] * 5
OTHER = ["pugs running under the sun", "bugs shun the running pugs"] * 6


def bpe_trained(texts: list[str], size: int, **options: object) -> pw.Tokenizer:
    """Train in `tokenizers`, so that what training gives does not hang on what is tested."""
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", **options))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<unk>", "<s>"], show_progress=False, **options
    )
    theirs.train_from_iterator(texts, trainer)
    return pw.Tokenizer.from_str(theirs.to_str())


def word_piece_trained(texts: list[str], size: int, score: str = "likelihood") -> pw.Tokenizer:
    learner = pw.train.Merges(score)
    return pw.Tokenizer.train_from_iterator(
        texts, vocab_size=size, learner=learner, min_frequency=1
    )


TRAINERS = pytest.mark.parametrize("train", [bpe_trained, word_piece_trained])


def ids(tok: pw.Tokenizer, text: str) -> list[int]:
    return tok.encode(text, add_special_tokens=False).ids


# ---- extending


@TRAINERS
def test_extending_leaves_every_id_and_numbers_new_entries_after_the_highest(train) -> None:
    tok = train(TEXTS, 50)
    larger, id_map = pw.vocabulary.extend(tok, OTHER, 6)
    assert tok.get_vocab().items() <= larger.get_vocab().items()
    assert id_map.new_ids.tolist() == list(range(50))
    assert id_map.added.tolist() == list(range(50, 56))
    assert larger.get_vocab_size() == 56
    assert any(id >= 50 for text in OTHER for id in ids(larger, text))
    untouched = [text for text in TEXTS + OTHER if not any(id >= 50 for id in ids(larger, text))]
    assert all(ids(tok, text) == ids(larger, text) for text in untouched)


@TRAINERS
def test_shrinking_what_was_extended_gives_the_tokenizer_back(train) -> None:
    tok = train(TEXTS, 50)
    larger, _ = pw.vocabulary.extend(tok, OTHER, 6)
    smaller, id_map = pw.vocabulary.shrink(larger, 50)
    assert smaller == tok
    assert id_map.new_ids.tolist() == [*range(50), *[-1] * 6]
    assert id_map.added.tolist() == []


SMALL_CORPORA = st.lists(st.text("aabc ", min_size=1, max_size=30), min_size=1, max_size=6)


@settings(max_examples=100)
@given(texts=SMALL_CORPORA, first=st.integers(0, 12), more=st.integers(1, 12))
def test_extending_bpe_on_its_corpus_is_training_on(
    texts: list[str], first: int, more: int
) -> None:
    assume(not "".join(texts).isspace())
    alphabet = bpe_trained(texts, 0).get_vocab_size()
    whole = bpe_trained(texts, alphabet + first + more)
    assume(whole.get_vocab_size() == alphabet + first + more)
    tok = bpe_trained(texts, alphabet + first)
    assert pw.vocabulary.extend(tok, texts, more, min_frequency=1)[0] == whole


@pytest.mark.parametrize(
    "options",
    [{}, {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}],
    ids=["plain", "prefix", "suffix"],
)
@settings(max_examples=50)
@given(texts=SMALL_CORPORA, first=st.integers(0, 8), more=st.integers(0, 8))
def test_extending_bpe_twice_is_extending_it_once_by_as_much(
    options: dict[str, str], texts: list[str], first: int, more: int
) -> None:
    assume(not "".join(texts).isspace())
    tok = bpe_trained(texts, 0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pw.errors.TrainingWarning)
        once, _ = pw.vocabulary.extend(tok, texts, first + more, min_frequency=1)
        half, _ = pw.vocabulary.extend(tok, texts, first, min_frequency=1)
        twice, _ = pw.vocabulary.extend(half, texts, more, min_frequency=1)
    assume(once.get_vocab_size() == tok.get_vocab_size() + first + more)
    assert once == twice


def test_extending_byte_level_numbers_after_added_tokens() -> None:
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = pw.spec.BPE({letter: number for number, letter in enumerate(letters)}, ())
    tok = pw.Tokenizer(
        model,
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
        added_tokens=[pw.spec.AddedToken("<|end|>", 256, special=True)],
    )
    larger, id_map = pw.vocabulary.extend(tok, ["日本 日本 日本<|end|>"], 3)
    assert id_map.added.tolist() == [257, 258, 259]
    assert larger.token_to_id("<|end|>") == 256
    assert len(ids(larger, "日本")) < len(ids(tok, "日本"))
    assert larger.decode(ids(larger, "日本<|end|>é")) == "日本é"


def test_unknown_tokens_bytes_and_special_tokens_are_never_joined() -> None:
    tokens = ["<unk>", "a", "b", "<0xC3>", "<0xA9>"]
    model = pw.spec.BPE(
        {token: number for number, token in enumerate(tokens)},
        (),
        unk_token="<unk>",
        byte_fallback=True,
    )
    tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    with pytest.warns(pw.errors.TrainingWarning, match="stopped early"):
        larger, _ = pw.vocabulary.extend(tok, ["aéb xxb ab ab xx"] * 5, 9)
    assert set(larger.get_vocab()) - set(tok.get_vocab()) == {"ab"}


def test_an_entry_that_is_an_added_token_already_keeps_its_id() -> None:
    model = pw.spec.BPE({"h": 0, "i": 1}, (), unk_token=None)
    tok = pw.Tokenizer(model, added_tokens=[pw.spec.AddedToken("hi", 7, single_word=True)])
    larger, id_map = pw.vocabulary.extend(tok, ["hihi hihi"], 1, min_frequency=1)
    assert larger.get_vocab() == {"h": 0, "i": 1, "hi": 7}
    assert id_map.added.tolist() == []


@pytest.mark.parametrize("score", ["likelihood", "frequency", "pmi"])
def test_word_piece_extends_by_each_score(score: str) -> None:
    tok = word_piece_trained(TEXTS, 50)
    larger, id_map = pw.vocabulary.extend(tok, OTHER, 4, learner=pw.train.Merges(score))
    assert larger.get_vocab_size() == 54
    assert len(id_map.added) == 4


def test_counts_serve_as_texts_do_when_the_pipeline_is_the_same() -> None:
    tok = word_piece_trained(TEXTS, 50)
    counts = pw.count_texts(OTHER, preset=pw.train.pipeline_of(tok.spec))
    assert pw.vocabulary.extend(tok, counts, 5)[0] == pw.vocabulary.extend(tok, OTHER, 5)[0]
    with pytest.raises(pw.errors.ArgumentError, match="corpus"):
        pw.vocabulary.extend(tok, pw.count_texts(OTHER, preset="whitespace"), 5)


def test_extending_refuses_what_it_cannot_do() -> None:
    word = pw.Tokenizer.train_from_iterator(TEXTS, model="word")
    with pytest.raises(
        pw.errors.ArgumentError,
        match="WordLevel cannot be extended; BPE, Char, Unigram and WordPiece can",
    ):
        pw.vocabulary.extend(word, OTHER, 1)
    tok = bpe_trained(TEXTS, 30)
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"learner: Merges\(.*\) does not support a BPE model; it takes Merges",
    ):
        pw.vocabulary.extend(tok, OTHER, 1, learner=pw.train.Merges())
    same = pw.vocabulary.extend(tok, OTHER, 1, learner=pw.train.Merges("frequency"))
    assert same.tokenizer == pw.vocabulary.extend(tok, OTHER, 1).tokenizer
    for learner in (pw.train.Pruning(), "frequency"):
        with pytest.raises(
            pw.errors.InputTypeError,
            match=r"learner: must be Merges\(\) of piecework\.train, not ",
        ):
            pw.vocabulary.extend(tok, OTHER, 1, learner=learner)
    with pytest.raises(pw.errors.CorpusError):
        pw.vocabulary.extend(tok, [], 1)
    with pytest.raises(pw.errors.InputTypeError, match="corpus"):
        pw.vocabulary.extend(tok, "text", 1)
    with pytest.raises(pw.errors.ArgumentError, match="n"):
        pw.vocabulary.extend(tok, OTHER, -1)


# ---- pruning


def bpe_at_random(seed: int) -> pw.Tokenizer:
    """Return a model with merges in any order, some of them unreachable, and gaps between ids."""
    rng = random.Random(seed)
    prefix = rng.choice([None, "##"])
    tokens = [p + letter for letter in "abcd" for p in {"", prefix or ""}]
    merges = []
    for _ in range(rng.randrange(1, 30)):
        left = rng.choice(tokens)
        right = rng.choice([token for token in tokens if token.startswith(prefix or "")])
        joined = left + right[len(prefix or "") :]
        if len(joined) < 16:
            merges.append((left, right))
            tokens += [] if joined in tokens else [joined]
    if rng.random() < 0.5:
        rng.shuffle(merges)
    numbers = rng.sample(range(2 * len(tokens)), len(tokens))
    unk = pw.spec.AddedToken("<unk>", 2 * len(tokens), special=True)
    vocab = dict(zip(tokens, numbers, strict=True)) | {"<unk>": unk.id}
    model = pw.spec.BPE(
        vocab,
        tuple(merges),
        unk_token="<unk>",
        continuing_subword_prefix=prefix,
        ignore_merges=rng.random() < 0.2,
    )
    return pw.Tokenizer(
        model,
        pre_tokenizer=pw.spec.WhitespaceSplit(),
        added_tokens=[unk, pw.spec.AddedToken("<x>", unk.id + 3)],
    )


def word_piece_at_random(seed: int) -> pw.Tokenizer:
    rng = random.Random(seed)
    entries = {prefix + letter for letter in "abcd" for prefix in ("", "##")}
    for _ in range(rng.randrange(1, 30)):
        entries.add(rng.choice(["", "##"]) + "".join(rng.choices("abcd", k=rng.randint(2, 5))))
    vocab = {token: number for number, token in enumerate(["[UNK]", *sorted(entries)])}
    segmentation = rng.choice(["greedy", "shortest"])
    return pw.Tokenizer(
        pw.spec.WordPiece(vocab, segmentation=segmentation), pre_tokenizer=pw.spec.WhitespaceSplit()
    )


def reachable(tok: pw.Tokenizer, texts: list[str]) -> set[str]:
    return {token for text in texts for token in tok.encode(text).tokens}


@pytest.mark.parametrize("make", [bpe_at_random, word_piece_at_random])
@pytest.mark.parametrize("keep_alphabet", [True, False])
def test_pruning_keeps_what_text_makes_of_kept_tokens(make, keep_alphabet: bool) -> None:
    unchanged = 0
    for seed in range(150):
        tok, rng = make(seed), random.Random(seed)
        vocab = tok.spec.model.vocab
        keep = rng.sample(sorted(vocab), rng.randrange(len(vocab)))
        smaller, id_map = pw.vocabulary.prune(tok, keep, keep_alphabet=keep_alphabet)
        new_ids = id_map.new_ids
        assert {tok.token_to_id(token) for token in keep} <= set(np.flatnonzero(new_ids >= 0))
        gone = set(np.flatnonzero(new_ids < 0).tolist())
        for _ in range(50):
            text = "".join(rng.choices("abcd ", k=rng.randint(1, 24)))
            before, after = ids(tok, text), ids(smaller, text)
            assert not {smaller.id_to_token(id) for id in after} - smaller.get_vocab().keys()
            if not gone & set(before):
                unchanged += 1
                assert after == new_ids[before].tolist(), f"seed {seed}: {text!r}"
    assert unchanged > 100


@pytest.mark.parametrize("make", [bpe_at_random, word_piece_at_random])
def test_kept_entries_stay_reachable(make) -> None:
    for seed in range(150):
        tok, rng = make(seed), random.Random(seed)
        texts = ["".join(rng.choices("abcd", k=rng.randint(1, 9))) for _ in range(60)]
        texts += [token.removeprefix("##") for token in tok.get_vocab()]
        keep = set(rng.sample(sorted(tok.get_vocab()), len(tok.get_vocab()) // 2))
        smaller, _ = pw.vocabulary.prune(tok, keep)
        # Each token's own text, framed as it was, still gives the token.
        for text in texts:
            encoding = tok.encode(text)
            for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
                if token in keep and (start, end) == (0, len(text)):
                    assert smaller.encode(text).tokens == [token]


@pytest.mark.parametrize("make", [bpe_at_random, word_piece_at_random])
def test_ids_keep_their_order_and_those_above_a_removed_one_move_down(make) -> None:
    for seed in range(50):
        tok, rng = make(seed), random.Random(seed)
        keep = rng.sample(sorted(tok.get_vocab()), 3)
        smaller, id_map = pw.vocabulary.prune(tok, keep)
        kept = np.flatnonzero(id_map.new_ids >= 0)
        old_ids = set(tok.get_vocab().values())
        for old in kept.tolist():
            below = sum(id < old and id_map.new_ids[id] < 0 for id in old_ids)
            assert id_map.new_ids[old] == old - below
            assert smaller.id_to_token(old - below) == tok.id_to_token(old)
        assert set(id_map.old_ids[id_map.old_ids >= 0]) == set(kept)


def test_pruning_by_ids_that_a_corpus_uses() -> None:
    tok = bpe_trained(TEXTS, 60)
    used = np.unique(tok.encode_batch(TEXTS[:1]).ids)
    smaller, id_map = pw.vocabulary.prune(tok, used)
    assert smaller.get_vocab_size() < tok.get_vocab_size()
    assert ids(smaller, TEXTS[0]) == id_map.new_ids[ids(tok, TEXTS[0])].tolist()


def test_template_padding_and_added_tokens_follow_their_ids() -> None:
    tok = word_piece_trained(TEXTS, 50)
    vocab = tok.get_vocab()
    last = {token: (number + 5) % 50 for token, number in vocab.items()}  # special tokens not first
    spec = tok.spec
    model = replace(spec.model, vocab=last)
    frame = pw.spec.TemplateProcessing.bert(cls_id=last["[CLS]"], sep_id=last["[SEP]"])
    moved = [replace(token, id=last[token.content]) for token in spec.added_tokens]
    spec = replace(spec, model=model, post_processor=frame, added_tokens=tuple(moved))
    shuffled = pw.Tokenizer.from_spec(spec).with_padding(12)
    smaller, _ = pw.vocabulary.prune(shuffled, ["hug"])
    encoding = smaller.encode("hug hug")
    assert encoding.tokens[:4] == ["[CLS]", "hug", "hug", "[SEP]"]
    assert [smaller.id_to_token(id) for id in encoding.ids] == encoding.tokens
    assert encoding.tokens[-1] == "[PAD]"
    assert smaller.spec.added_tokens[0].id == smaller.token_to_id("[PAD]")


@pytest.mark.parametrize(
    "frame",
    [
        pw.spec.RobertaProcessing(sep=("c", 2), cls=("b", 1)),
        pw.spec.SequenceProcessing((pw.spec.BertProcessing(sep=("c", 2), cls=("b", 1)),)),
    ],
)
def test_tokens_that_a_frame_uses_stay(frame) -> None:
    vocab = {token: number for number, token in enumerate(["a", "b", "c", "ab"])}
    tok = pw.Tokenizer(pw.spec.BPE(vocab, (("a", "b"),)), post_processor=frame)
    smaller, id_map = pw.vocabulary.prune(tok, [], keep_alphabet=False)
    assert smaller.get_vocab() == {"b": 0, "c": 1}
    assert smaller.encode("").ids == [0, 1]
    assert id_map.new_ids.tolist() == [-1, 0, 1, -1]


def test_pruning_rejects_unknown_tokens() -> None:
    tok = bpe_trained(TEXTS, 30)
    for keep in (["absent"], [99], [None]):
        with pytest.raises(pw.errors.ArgumentError, match="keep"):
            pw.vocabulary.prune(tok, keep)
    with pytest.raises(pw.errors.InputTypeError, match="keep"):
        pw.vocabulary.prune(tok, "hug")


# ---- shrinking


@pytest.mark.parametrize("size", [35, 45, 59])
def test_shrinking_bpe_is_having_trained_less(size: int) -> None:
    assert pw.vocabulary.shrink(bpe_trained(TEXTS, 60), size)[0] == bpe_trained(TEXTS, size)


@pytest.mark.parametrize("score", ["likelihood", "frequency", "pmi"])
@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
def test_shrinking_word_piece_is_having_trained_less(score: str) -> None:
    shrunk, _ = pw.vocabulary.shrink(word_piece_trained(TEXTS, 80, score), 60)
    assert shrunk == word_piece_trained(TEXTS, 60, score)


@TRAINERS
def test_alphabet_and_special_tokens_outlast_any_shrinking(train) -> None:
    tok = train(TEXTS, 65)
    with pytest.raises(pw.errors.ArgumentError, match=r"size: ") as refused:
        pw.vocabulary.shrink(tok, 5)
    least = refused.value.limit
    assert least is not None
    assert str(least) in refused.value.message
    smallest, _ = pw.vocabulary.shrink(tok, least)
    assert smallest.get_vocab_size() == least
    assert (
        "".join(smallest.encode("hug", add_special_tokens=False).tokens).replace("#", "") == "hug"
    )
    with pytest.raises(pw.errors.ArgumentError, match="size: 66 is more than the 65 tokens"):
        pw.vocabulary.shrink(tok, 66)


def test_removing_a_token_removes_the_merges_made_of_it() -> None:
    vocab = {token: number for number, token in enumerate("a b c ab abc cc".split())}
    merges = (("ab", "c"), ("c", "c"), ("a", "b"))
    smaller, id_map = pw.vocabulary.shrink(pw.Tokenizer(pw.spec.BPE(vocab, merges)), 5)
    assert smaller.spec.model.merges == (("c", "c"),)
    assert id_map.new_ids.tolist() == [0, 1, 2, -1, -1, 3]


def test_word_models_shrink_to_their_first_words(tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, model="word")
    smaller, _ = pw.vocabulary.shrink(tok, 3)
    assert list(smaller.get_vocab()) == list(tok.get_vocab())[:3]
    smaller.save(tmp_path / "tokenizer.json")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.json") == smaller


# ---- the map


def test_embedding_rows_follow_the_map() -> None:
    tok = bpe_trained(TEXTS, 60)
    rows = np.arange(60.0)[:, None] + np.zeros(3)
    smaller, first = pw.vocabulary.prune(tok, ["hug", "pug"])
    larger, second = pw.vocabulary.extend(smaller, OTHER, 4)
    for id_map in (first, second):
        rows = rows[id_map.old_ids]
        rows[id_map.added] = -1
    for token, number in larger.get_vocab().items():
        old = tok.token_to_id(token)
        was_kept = token in smaller.get_vocab()
        assert rows[number, 0] == (old if was_kept else -1)
    assert "added" in repr(second)


# ---- what is no specification


@pytest.mark.parametrize(
    "change",
    [
        lambda tok: pw.vocabulary.add_pieces(tok, []),
        lambda tok: pw.vocabulary.remove_pieces(tok, []),
        lambda tok: pw.vocabulary.set_scores(tok, {}),
        lambda tok: pw.vocabulary.set_types(tok, {}),
        lambda tok: restrict_pieces(tok, None),
        pw.vocabulary.as_components,
        pw.vocabulary.as_sentencepiece,
        pw.Tokenizer.from_spec,
    ],
)
def test_a_tokenizer_in_place_of_its_specification_is_refused(change: Callable[..., Any]) -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    with pytest.raises(pw.errors.InputTypeError, match="spec: must be Tokeniz.*, not Tokenizer"):
        change(tok)
