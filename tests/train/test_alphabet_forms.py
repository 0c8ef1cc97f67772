"""The alphabet of WordPiece: where the pipeline can produce a character, it is an entry."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.reference.wordpiece_training import isolated_characters
from piecework.spec import Split, TokenizerSpec, WhitespaceSplit, WordLevel
from piecework.train import LEARNERS, PRESETS, Learner, Merges, Pipeline, Preset
from piecework.train.counts import isolated_characters as isolated_in
from piecework.train.learners import SCORES

LEARNERS_BY_NAME: dict[str, Learner] = {
    **{score: Merges(score) for score in SCORES},  # type: ignore[arg-type]
    **{name: kind() for name, kind in LEARNERS.items() if name != Merges.name},
}
BERT_PRESETS = [name for name in PRESETS if name.startswith("bert-")]
each_learner = pytest.mark.parametrize("learner", LEARNERS_BY_NAME.values(), ids=LEARNERS_BY_NAME)

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")


def trained(texts: list[str], learner: Learner, **how: Any) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(texts, learner=learner, **{"vocab_size": 200, **how})


def forms_of(tok: pw.Tokenizer, character: str) -> list[str]:
    return [entry for entry in (character, f"##{character}") if entry in tok.get_vocab()]


@each_learner
def test_a_letter_that_the_corpus_has_only_inside_words_can_begin_one(learner: Learner) -> None:
    tok = trained(["aqua squad unique"] * 20, learner)
    tokens = tok.encode("queen", add_special_tokens=False).tokens
    assert tokens[0] == "q"
    assert "".join(token.removeprefix("##") for token in tokens) == "queen"


@each_learner
def test_a_letter_that_the_corpus_has_only_at_the_start_can_continue_a_word(
    learner: Learner,
) -> None:
    tok = trained(["Xenon Max xylem"] * 20, learner, preset="bert-cased")
    assert "[UNK]" not in tok.encode("MX aXM").tokens
    # A letter that is a word of its own is no exception.
    tok = trained(["λ calculus"] * 20, learner)
    assert "[UNK]" not in tok.encode("aλ").tokens


@each_learner
@pytest.mark.parametrize("preset", BERT_PRESETS)
def test_characters_that_the_pipeline_isolates_have_no_entry_inside_words(
    learner: Learner, preset: str
) -> None:
    tok = trained(["漢字 and 日本, words."] * 20, learner, preset=preset, initial_alphabet="語q!")
    for character in "漢字日本語,.!":
        assert forms_of(tok, character) == [character]
    for character in "andwosrq":
        assert forms_of(tok, character) == [character, f"##{character}"]


def test_the_same_characters_continue_words_of_a_pipeline_that_joins_them() -> None:
    tok = trained(["漢 , x"] * 20, LEARNERS["pruning"](), preset="whitespace")
    for character in "漢,x":
        assert forms_of(tok, character) == [character, f"##{character}"]


def test_words_of_an_unknown_pipeline_equal_those_of_the_preset() -> None:
    counts = pw.Counts(["漢", "qua"], [5, 5])
    trainer = pw.WordPieceTrainer(60)
    assert "##漢" in trainer.learn(counts).vocab
    by_preset = {
        preset: forms_of(pw.Tokenizer.train_from_counts(counts, trainer, preset=preset), "漢")
        for preset in ("bert-uncased", "whitespace")
    }
    assert by_preset == {"bert-uncased": ["漢"], "whitespace": ["漢", "##漢"]}


def test_a_pipeline_with_functions_isolates_characters_too() -> None:
    def apart(text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at, c in enumerate(text) if not c.isspace()]

    pipeline = Pipeline(None, pw.spec.CustomPreTokenizer(apart))
    tok = trained(["ab"] * 5, Merges(), preset=Preset("apart", pipeline))
    assert (forms_of(tok, "a"), tok.encode("ba", add_special_tokens=False).tokens) == (
        ["a"],
        ["b", "a"],
    )


def test_a_retrained_vocabulary_isolates_as_its_pipeline_does() -> None:
    tok = trained(["old words"] * 5, LEARNERS["pruning"]())
    assert forms_of(tok.train_new_from_iterator(["漢 new"] * 5, vocab_size=60), "漢") == ["漢"]


def test_several_sizes_have_the_same_alphabet() -> None:
    counts = pw.count_texts(["aqua squad unique 漢"] * 20)
    sizes = pw.WordPieceTrainer()._learn_models(counts, [25, 40])
    for model in sizes.values():
        entries = {"q", "##q", "漢"}
        assert entries <= model.vocab.keys()
        assert "##漢" not in model.vocab


def test_a_size_below_both_forms_is_refused_with_the_size_that_is_needed() -> None:
    counts = pw.count_texts(["ab ba ."])
    with pytest.raises(pw.errors.TrainingError, match=r"at least 10 \(5 .* an alphabet of 5\)"):
        pw.WordPieceTrainer(9).learn(counts)


def test_a_limit_counts_characters_not_entries() -> None:
    tok = trained(["aab."] * 5, Merges(), limit_alphabet=2)
    assert [forms_of(tok, character) for character in "ab."] == [["a", "##a"], [], ["."]]


# ---- laws

characters = st.sampled_from("ab漢.é1Ж")
texts = st.lists(st.text(st.sampled_from("ab漢.é1Ж "), max_size=12), min_size=1, max_size=8)


@each_learner
@given(texts=texts, word=st.text(characters, min_size=1, max_size=8))
@settings(max_examples=60)
@pytest.mark.parametrize("preset", ["bert-uncased", "bert-cased", "whitespace", "punctuation"])
def test_no_word_of_known_characters_is_unknown(
    learner: Learner, preset: str, texts: list[str], word: str
) -> None:
    counts = pw.count_texts(texts, preset=preset)
    if not counts:
        return
    tok = pw.Tokenizer.train_from_counts(counts, learner=learner, vocab_size=60)
    known = set("".join(counts.words))
    for part, _ in tok.pre_tokenize(word):
        assert ("[UNK]" in tok.encode(part).tokens) == (not known.issuperset(part))


@given(texts=texts, word=st.text(characters, min_size=1, max_size=8))
@settings(max_examples=60)
@pytest.mark.parametrize("preset", ["bert-uncased", "bert-cased", "whitespace", "punctuation"])
def test_no_entry_of_the_alphabet_is_one_that_the_pipeline_cannot_produce(
    preset: str, texts: list[str], word: str
) -> None:
    counts = pw.count_texts(texts, preset=preset)
    if not counts:
        return
    tok = pw.Tokenizer.train_from_counts(counts, learner=Merges(), vocab_size=60)
    produced = tok.pre_tokenize(word)
    for inner in itertools.chain.from_iterable(text[1:] for text, _ in produced):
        assert forms_of(tok, inner) in ([], [inner, f"##{inner}"])
    isolated = [c for c in "".join(counts.words) if forms_of(tok, c) == [c]]
    for character in isolated:
        text = f"a{character}{character}b{character}1"
        words = [found for found, _ in tok.pre_tokenize(text) if character in found]
        assert set(words) == {character}


STAGES: dict[str, Pipeline] = {
    **{name: PRESETS[name].pipeline for name in ("bert-uncased", "bert-cased", "whitespace")},
    "digits apart": Pipeline(None, Split(pw.spec.Regex(r"\d|\D+"), "isolated")),
    "numbers": Pipeline(None, Split(pw.spec.Regex(r"\d+"), "isolated")),
    "capitals": Pipeline(None, Split(pw.spec.Regex(r"[A-Z]"), "isolated")),
    "spaces": Pipeline(None, WhitespaceSplit()),
}


@given(texts=st.lists(st.text("aA0.漢 é\u0301", max_size=8), min_size=1), more=st.text("bB1!北"))
@settings(max_examples=60)
@pytest.mark.parametrize("stages", STAGES)
def test_isolated_characters_equal_those_of_the_reference(
    stages: str, texts: list[str], more: str
) -> None:
    from piecework.reference.aligned import align, as_text

    pipeline = STAGES[stages]
    counts = pw.count_texts(texts, preset=pipeline)
    spec = TokenizerSpec(WordLevel({}), pipeline.normalizer, pipeline.pre_tokenizer)
    reference = ReferenceTokenizer(spec)

    def split(text: str) -> list[str]:
        return [as_text(run) for run in reference.pre_tokenize(align(text))]

    assert isolated_in(counts, more) == isolated_characters(list(counts), split, more)
