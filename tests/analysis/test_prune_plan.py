"""Pruning by use: what is kept, what it costs, and residues of merges."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import tokenizers

import piecework as pw
from piecework.analysis import plan_prune
from piecework.corpus import read_corpus
from tests.data import need
from tests.vocabulary.test_changed_vocabularies import (
    MAKERS,
    OTHER,
    TEXTS,
    assert_as_sentencepiece,
    assert_as_tokenizers,
    ids,
    loaded,
)


def tokens_of(tok: pw.Tokenizer, texts: list[str]) -> int:
    return sum(map(len, tok.encode_batch(texts, add_special_tokens=False)))


@pytest.mark.parametrize("name", MAKERS)
def test_a_plan_has_the_tokens_before_and_after(name: str) -> None:
    tok = MAKERS[name]()
    plan = plan_prune(tok, TEXTS, min_count=8)
    assert plan.tokens_before == tokens_of(tok, TEXTS)
    assert plan.tokens_after == tokens_of(plan.tokenizer, TEXTS)
    assert len(plan.tokenizer) == len(tok) - len(plan.removed)
    assert {one.id for one in plan.removed} == set(plan.id_map.removed.tolist())
    for token, id, uses in plan.removed:
        assert tok.token_to_id(token) == id
        assert uses < 8
    assert f"{plan.tokens_before:,} -> {plan.tokens_after:,}" in str(plan)


@pytest.mark.parametrize("name", MAKERS)
def test_pruning_what_a_corpus_does_not_use_costs_nothing(name: str) -> None:
    tok = MAKERS[name]()
    texts = TEXTS[1:3]
    plan = plan_prune(tok, texts, min_count=1)
    assert plan.loss == 0.0
    for text in texts:
        assert ids(plan.tokenizer, text) == plan.id_map.new_ids[ids(tok, text)].tolist()


@pytest.mark.parametrize("name", MAKERS)
def test_a_size_keeps_the_most_used_tokens(name: str, tmp_path: Path) -> None:
    tok = MAKERS[name]()
    with pytest.raises(pw.errors.ArgumentError, match=r"size: must be at least (\d+)") as refused:
        plan_prune(tok, TEXTS, size=1)
    least = refused.value.limit
    assert least is not None
    size = (least + len(tok)) // 2
    plan = plan_prune(tok, TEXTS, size=size)
    assert len(plan.tokenizer) == size
    whole = plan_prune(tok, TEXTS, size=len(tok))
    assert (whole.removed, whole.loss, whole.tokenizer) == ((), 0.0, tok)
    with pytest.raises(pw.errors.ArgumentError, match="is more than"):
        plan_prune(tok, TEXTS, size=len(tok) + 1)
    if name.startswith("SentencePiece"):
        assert_as_sentencepiece(plan.tokenizer, tmp_path, TEXTS)
    else:
        assert_as_tokenizers(plan.tokenizer, tmp_path, TEXTS)


def test_files_are_planned_as_texts_are(tmp_path: Path) -> None:
    tok = MAKERS["byte-level BPE"]()
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    one = plan_prune(tok, read_corpus(tmp_path / "corpus.txt"), min_count=3, keep=["hug"])
    two = plan_prune(tok, TEXTS, min_count=3, keep=["hug"])
    assert (one.tokenizer, one.id_map, str(one)) == (two.tokenizer, two.id_map, str(two))


# ---- residues


def test_removing_a_residue_keeps_the_tokens_merged_from_it(tmp_path: Path) -> None:
    tokens = "a b c d bc ab abc abcd".split()
    merges = (("a", "b"), ("b", "c"), ("ab", "c"), ("abc", "d"))
    tok = pw.Tokenizer(
        pw.spec.BPE({token: id for id, token in enumerate(tokens)}, merges),
        pre_tokenizer=pw.spec.WhitespaceSplit(),
    )
    plan = plan_prune(tok, ["abc bc abcd abc"], residues=True)
    assert [one.token for one in plan.removed] == ["ab"]
    assert plan.tokenizer.spec.model.merges == (("b", "c"), ("a", "bc"), ("abc", "d"))
    assert plan.loss == 0.0
    assert plan.tokenizer.encode("abcd abc ab").tokens == ["abcd", "abc", "a", "b"]
    assert_as_tokenizers(plan.tokenizer, tmp_path, ["abcd abcab dabc bcbc"])
    assert "ab" in plan_prune(tok, ["abc bc abcd ab"], residues=True).tokenizer.get_vocab()
    rare = plan_prune(tok, ["abc ab"], residues=True, min_count=2).removed
    assert {one.token for one in rare} == {"ab", "abc", "bc", "abcd"}


@pytest.mark.parametrize("seed", range(40))
def test_every_entry_that_is_kept_is_still_merged(seed: int) -> None:
    rng = random.Random(seed)
    texts = [" ".join("".join(rng.choices("abc", k=rng.randint(2, 14))) for _ in range(60))] * 3
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    options = {"continuing_subword_prefix": "##"} if seed % 2 else {}
    theirs.train_from_iterator(
        texts, tokenizers.trainers.BpeTrainer(vocab_size=250, show_progress=False, **options)
    )
    tok = pw.Tokenizer.from_str(theirs.to_str())
    plan = plan_prune(tok, texts, residues=True)
    words = set(texts[0].split()) | {token.replace("##", "") for token in tok.get_vocab()}
    for word in words:
        old = tok.encode(word)
        if len(old.tokens) == 1 and plan.id_map.new_ids[old.ids[0]] >= 0:
            assert plan.tokenizer.encode(word).tokens == old.tokens
    back = tokenizers.Tokenizer.from_str(plan.tokenizer.to_str())
    assert all(back.encode(word).ids == plan.tokenizer.encode(word).ids for word in words)


@pytest.mark.slow
def test_residues_of_published_models_go_without_a_loss(tmp_path: Path) -> None:
    tok = pw.Tokenizer.load(need("vocab/gpt2/tokenizer.json.gz"))
    texts = need("corpora/botchan.txt").read_text(encoding="utf-8").splitlines()
    plan = plan_prune(tok, texts, residues=True)
    assert len(plan.removed) > 500
    assert abs(plan.loss) < 0.001
    assert_as_tokenizers(plan.tokenizer, tmp_path, [*texts[:300], "Ġincluding differences 日本"])
    mistral = pw.Tokenizer.load(need("vocab/mistral/tokenizer.model.v1"))
    plan = plan_prune(mistral, texts, residues=True)
    assert len(plan.removed) > 100
    assert abs(plan.loss) < 0.001
    assert_as_sentencepiece(plan.tokenizer, tmp_path, texts[:300])


def test_models_without_merges_have_no_residues() -> None:
    for tok in (loaded("unigram"), MAKERS["WordPiece"]()):
        plan = plan_prune(tok, OTHER, residues=True)
        assert (plan.tokenizer, plan.removed) == (tok, ())
        assert np.array_equal(plan.id_map.new_ids, np.arange(len(tok)))


# ---- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {},
            "min_count, size: pass one of them, or keep or residues: there is nothing to prune by",
        ),
        ({"size": 60, "min_count": 2}, "size, min_count: cannot be combined"),
        ({"size": 60, "keep_alphabet": False}, "keep_alphabet: must be True with a size"),
        ({"size": -1}, "size"),
        ({"min_count": 1.5}, "min_count"),
        (
            {"min_count": 1, "keep": ["absent"]},
            "keep: 'absent' is not a token or id of the tokenizer",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_named(settings: dict, message: str) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=message):
        plan_prune(MAKERS["BPE"](), TEXTS, **settings)
    with pytest.raises(pw.errors.InputTypeError, match="texts"):
        plan_prune(MAKERS["BPE"](), "text", min_count=1)
    with pytest.raises(
        pw.errors.ArgumentError,
        match="texts: must be files, which are read twice; '-' is the standard input",
    ):
        plan_prune(MAKERS["BPE"](), read_corpus("-"), min_count=1)
