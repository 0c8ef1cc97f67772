"""Trainers, presets and the specifications they make."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

import piecework as pw
from piecework.spec import (
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    BertProcessing,
    Char,
    CharDecoder,
    Padding,
    TemplateProcessing,
    TokenizerSpec,
    Truncation,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
    WordPieceDecoder,
)
from piecework.train import (
    PRESETS,
    BPETrainer,
    CharTrainer,
    Merges,
    Preset,
    WordLevelTrainer,
    WordPieceTrainer,
    count_texts,
    learn_spec,
    pipeline_of,
)
from piecework.train.learners import LEARNERS, one_of
from piecework.train.plan import trainer_for
from piecework.train.relearn import relearn_spec
from piecework.train.trainers import TRAINERS

HUGS = pw.Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5], [0, 1, 2, 3, 4])
SENTENCES = [
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
]
UNK = ("[UNK]",)


def bert_counts() -> pw.Counts:
    return count_texts(SENTENCES, preset="bert-cased")


def wordpiece(size: int = 80, **settings: object) -> WordPieceTrainer:
    return WordPieceTrainer(vocab_size=size, min_frequency=1, **settings)


# ---- WordPiece


def test_merges_have_counts_and_scores() -> None:
    trainer = WordPieceTrainer(
        learner=Merges("pmi"), vocab_size=9, special_tokens=UNK, alphabet_forms="seen"
    )
    learned = trainer.learn_vocabulary(HUGS)
    assert learned.entries == ("[UNK]", "##g", "##n", "##s", "##u", "b", "h", "p", "##gs")
    (merge,) = learned.merges
    assert (merge.left, merge.right, merge.token, merge.pair_count) == ("##g", "##s", "##gs", 5)
    assert merge.score == pytest.approx(1 / 20)
    assert learned.stopped_early is None


def test_wordpiece_without_special_tokens_can_be_learned_but_not_encode() -> None:
    trainer = WordPieceTrainer(
        9, Merges("pmi"), min_frequency=1, special_tokens=[], alphabet_forms="seen"
    )
    counts = pw.Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    model = trainer.learn(counts)
    assert list(model.vocab)[:7] == ["##g", "##n", "##s", "##u", "b", "h", "p"]
    assert list(model.vocab)[7:] == ["##gs", "hu"]
    with pytest.raises(pw.errors.VocabularyError, match=r'model.unk_token: found "\[UNK\]"'):
        pw.Tokenizer(model)


@pytest.mark.parametrize("model", ["wordpiece", "bpe", "unigram", "word", "char"])
def test_an_unknown_token_that_the_special_tokens_lack_follows_them(model: str) -> None:
    tok = pw.Tokenizer.train_from_iterator(
        ["hug pug hug pug"],
        model=model,
        special_tokens=["[PAD]", "[CLS]"],
        unk_token="[U]",
        vocab_size=12,
    )
    assert [tok.id_to_token(id) for id in range(3)] == ["[PAD]", "[CLS]", "[U]"]
    assert tok.unk_token == "[U]"


@pytest.mark.parametrize(
    ("model", "name", "what"),
    [
        (pw.spec.BPE, "bpe", "vocab: is missing: pass a vocabulary"),
        (pw.spec.WordPiece, "wordpiece", "vocab: is missing: pass a vocabulary"),
        (pw.spec.WordLevel, "word", "vocab: is missing: pass a vocabulary"),
        (pw.spec.Char, "char", "vocab: is missing: pass a vocabulary"),
        (pw.spec.Unigram, "unigram", "pieces: is missing: pass pieces"),
    ],
)
def test_a_model_without_vocabulary_names_the_call_that_learns_one(
    model: Any, name: str, what: str
) -> None:
    settings = {} if name == "unigram" else {"unk_token": "[UNK]"}
    call = f'{what}; Tokenizer.train(files, model="{name}", unk_token=...) learns'
    with pytest.raises(pw.errors.InputTypeError, match=re.escape(call)):
        model(**settings)
    with pytest.raises(pw.errors.InputTypeError, match="merges: is missing: pass merges"):
        pw.spec.BPE({"[UNK]": 0})


def test_a_tokenizer_without_unknown_token_is_refused_before_the_corpus_is_read() -> None:
    def corpus() -> Iterator[str]:
        pytest.fail("the corpus was read")
        yield ""

    trainer = WordPieceTrainer(9, special_tokens=())
    expected = r"special_tokens: must contain the unknown token '\[UNK\]', which a tokenizer needs"
    with pytest.raises(pw.errors.ArgumentError, match=expected):
        pw.Tokenizer.train_from_iterator(corpus(), trainer)
    with pytest.raises(pw.errors.ArgumentError, match=expected):
        pw.Tokenizer.train_from_iterator(corpus(), special_tokens=())
    with pytest.raises(pw.errors.ArgumentError, match=expected):
        pw.train.learn_specs(pw.Counts(["hug"], [2]), trainer, [9])


def test_the_model_numbers_special_tokens_first() -> None:
    model = WordPieceTrainer(learner=Merges("frequency"), vocab_size=21).learn(HUGS)
    assert isinstance(model, WordPiece)
    assert list(model.vocab.values()) == list(range(21))
    assert list(model.vocab)[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_prefix_and_unknown_token_reach_the_model() -> None:
    trainer = wordpiece(
        17,
        continuing_subword_prefix="@@",
        special_tokens=("<unk>",),
        unk_token="<unk>",
        learner=Merges("frequency"),
    )
    model = trainer.learn(HUGS)
    assert (model.continuing_subword_prefix, model.unk_token) == ("@@", "<unk>")
    assert "@@u" in model.vocab


def test_a_vocabulary_too_small_for_its_alphabet_is_refused() -> None:
    expected = "vocab_size: must be at least 19 (5 special tokens and an alphabet of 14), not 18"
    with pytest.raises(pw.errors.TrainingError, match=re.escape(expected)):
        WordPieceTrainer(vocab_size=18).learn(HUGS)


@pytest.mark.parametrize("trainer", [WordPieceTrainer(), WordLevelTrainer(), CharTrainer()])
def test_an_empty_corpus_is_refused(trainer: pw.train.Trainer) -> None:
    with pytest.raises(
        pw.errors.CorpusError, match="corpus: has no words; it needs text to learn from"
    ):
        trainer.learn(count_texts(["", " \n"]))


@pytest.mark.parametrize("trainer", [WordPieceTrainer(), WordLevelTrainer(), CharTrainer()])
@pytest.mark.parametrize("counts", [[("hug", 1)], ["hug"], None])
def test_inputs_that_are_not_counts_are_rejected(trainer: pw.train.Trainer, counts: object) -> None:
    found = type(counts).__name__
    with pytest.raises(pw.errors.ArgumentError, match=f"counts: must be Counts.*, not {found}"):
        trainer.learn(counts)  # type: ignore[arg-type]


def test_the_warning_of_stopping_early_names_the_reason() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match=r"stopped early: .*of 1000"):
        WordPieceTrainer(vocab_size=1000).learn(HUGS)


@pytest.mark.parametrize("trainer", [WordPieceTrainer(learner=Merges()), BPETrainer()])
def test_progress_ends_with_the_entries_of_a_run_that_stops_early(
    trainer: pw.train.Trainer,
) -> None:
    reports: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pw.errors.TrainingWarning)
        model = replace(trainer, vocab_size=1000).learn(
            HUGS, progress=lambda *one: reports.append(one)
        )
    assert reports[-1] == (len(model.vocab), 1000)


def test_pmi_on_rare_pairs_is_warned_of() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match=r"with min_frequency=1 .*likelihood"):
        wordpiece(70, learner=Merges("pmi")).learn(bert_counts())


@pytest.mark.parametrize("score", ["pmi", "likelihood", "frequency"])
def test_frequent_merges_give_no_warning(score: str) -> None:
    words = {word: 100 * count for word, count in HUGS}
    counts = pw.Counts(list(words), list(words.values()), first=range(len(words)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WordPieceTrainer(vocab_size=24, learner=Merges(score)).learn(counts)


def test_only_pmi_warns_of_rare_merges() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wordpiece(70, learner=Merges("frequency")).learn(bert_counts())


def test_an_interrupt_in_progress_stops_learning() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wordpiece(learner=Merges("frequency")).learn(bert_counts(), progress=interrupt)


def test_workers_do_not_change_what_is_learned() -> None:
    trainer = wordpiece(70, learner=Merges("frequency"))
    counts = bert_counts()
    assert trainer.learn(counts, num_threads=1) == trainer.learn(counts, num_threads=3)


# ---- words and characters


def test_words_are_taken_by_count_then_code_points() -> None:
    counts = count_texts(["pug hug bug bug"], preset="whitespace")
    assert list(WordLevelTrainer().learn(counts).vocab) == ["[UNK]", "bug", "hug", "pug"]
    assert list(WordLevelTrainer(vocab_size=3).learn(counts).vocab) == ["[UNK]", "bug", "hug"]
    assert list(WordLevelTrainer(min_frequency=2).learn(counts).vocab) == ["[UNK]", "bug"]


def test_characters_are_taken_by_count_then_code_point() -> None:
    counts = count_texts(["pug hug bug bug"], preset="whitespace")
    assert list(CharTrainer().learn(counts).vocab) == ["[UNK]", "g", "u", "b", "h", "p"]
    assert list(CharTrainer(vocab_size=4).learn(counts).vocab) == ["[UNK]", "g", "u", "b"]
    assert list(CharTrainer(min_frequency=2).learn(counts).vocab) == ["[UNK]", "g", "u", "b"]


def test_a_word_spelled_like_a_special_token_is_one_entry() -> None:
    counts = pw.Counts(["[UNK]", "hug"], [5, 1])
    assert WordLevelTrainer().learn(counts).vocab == {"[UNK]": 0, "hug": 1}


@pytest.mark.parametrize(
    "trainer", [WordLevelTrainer(min_frequency=99), CharTrainer(min_frequency=99)]
)
def test_a_frequency_that_nothing_reaches_is_refused(trainer: pw.train.Trainer) -> None:
    with pytest.raises(
        pw.errors.TrainingError,
        match="min_frequency: 99 is too high: nothing in the corpus occurs as often",
    ):
        trainer.learn(HUGS)


# ---- settings


def test_trainers_are_frozen_and_equal_by_value() -> None:
    trainer = WordPieceTrainer(special_tokens=["[UNK]"], initial_alphabet="aab")
    assert trainer == WordPieceTrainer(special_tokens=("[UNK]",), initial_alphabet=("a", "b"))
    with pytest.raises(FrozenInstanceError):
        trainer.vocab_size = 3


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("best", "not 'best'"),
        ("pmi", "not 'pmi'; use Merges(score='pmi'"),
        (Merges, "not <class 'piecework.train.learners.Merges'>"),
    ],
)
def test_values_that_are_not_learners_are_rejected(value: object, message: str) -> None:
    kinds = one_of(f"{kind.__name__}()" for kind in LEARNERS.values())
    expected = f"learner: must be {kinds} of piecework.train, {message}"
    with pytest.raises(pw.errors.InputTypeError, match=re.escape(expected)):
        trainer_for("wordpiece", {"learner": value})


def test_bpe_takes_no_learner() -> None:
    expected = "learner: is not a setting of model 'bpe', .*; models 'wordpiece' and 'unigram' and .* have it"
    with pytest.raises(pw.errors.InputTypeError, match=expected):
        trainer_for("bpe", {"learner": Merges()})
    with pytest.raises(
        pw.errors.InputTypeError, match="learner: is not a setting of BPETrainer, which has"
    ):
        pw.BPETrainer(learner=Merges())  # type: ignore[call-arg]


@pytest.mark.parametrize("model", ["word", "char"])
def test_a_ranking_has_room_for_a_unit(model: str) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="vocab_size: must be .* at least 2.*, not 1"):
        trainer_for(model, {"vocab_size": 1})


def test_an_unknown_setting_lists_the_known_ones() -> None:
    with pytest.raises(
        pw.errors.InputTypeError,
        match="vocabsize: is not a setting of a training of model 'wordpiece', which has vocab_size, ",
    ):
        trainer_for("wordpiece", {"vocabsize": 3})
    with pytest.raises(
        pw.errors.InputTypeError,
        match=r"min_frequenzy: is not a setting of a training of model 'word', which has",
    ):
        trainer_for("word", {"min_frequenzy": 3})


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"vocabsize": 3}, r"; did you mean 'vocab_size'\?$"),
        ({"num_thread": 3}, r"; did you mean 'num_threads'\?$"),
        (
            {"model": "bpe", "seed_vocab_size": 9},
            "; models 'unigram' and 'byte-unigram' have it$",
        ),
        (
            {"model": "bpe", "balance": 1.0},
            r"; model 'wordpiece' has learner=Pruning\(balance=1.0\)$",
        ),
        ({"colour": 3}, "alphabet_forms, model, preset, .*, boundary_marker$"),
        ({"score": "pmi"}, r"; model 'wordpiece' has learner=Merges\(score='pmi'\)$"),
        ({"max_word_length": 9}, "; count_files has max_word_length; learn .* train_from_counts$"),
        ({"preset": "bert-uncasd"}, r", not 'bert-uncasd'; did you mean 'bert-uncased'\?$"),
        ({"model": "wordpeice"}, r", not 'wordpeice'; did you mean 'wordpiece'\?$"),
        ({"preset": "unheard-of"}, "xlnet, not 'unheard-of'$"),
    ],
)
def test_a_misspelled_name_is_answered_with_the_nearest(settings: Any, hint: str) -> None:
    with pytest.raises((pw.errors.InputTypeError, pw.errors.ArgumentError), match=hint):
        pw.Tokenizer.train_from_iterator(["hug pug"], **settings)


def test_an_unknown_model_lists_the_known_ones() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match="model: must be one of wordpiece, bpe.*, not 'bpm'"
    ):
        trainer_for("bpm", {})


# ---- presets


def test_each_model_has_a_usual_preset() -> None:
    kinds = ("wordpiece", "bpe", "byte-bpe", "unigram", "byte-unigram", "word", "char")
    assert [TRAINERS[kind]()._preset_for(None, None).name for kind in kinds] == [
        "bert-uncased",
        "metaspace",
        "gpt2",
        "sentencepiece",
        "gpt2",
        "punctuation",
        "characters",
    ]
    assert WordLevelTrainer()._preset_for("whitespace") is PRESETS["whitespace"]


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match="preset: must be one of bert-uncased.*, not 'gpt9'"
    ):
        WordPieceTrainer()._preset_for("gpt9")


# ---- specifications


def test_original_bert_presets_clean_as_the_published_code() -> None:
    texts = ["ΟΔΟΣ a\ue000b ΟΔΟΣ a\ue000b"] * 3
    for name, words in (
        ("bert-original-uncased", ["οδος", "a\ue000b"]),
        ("bert-original-cased", ["ΟΔΟΣ", "a\ue000b"]),
        ("bert-uncased", ["οδοσ", "ab"]),
    ):
        tok = pw.Tokenizer.train_from_iterator(texts, preset=name, vocab_size=40)
        assert [word for word, _ in tok.pre_tokenize("ΟΔΟΣ a\ue000b")] == words
        assert tok.encode("ΟΔΟΣ a\ue000b").tokens == ["[CLS]", *words, "[SEP]"]


def test_a_bert_preset_gives_the_whole_bert_pipeline() -> None:
    spec = learn_spec(bert_counts(), wordpiece(learner=Merges("frequency")), "bert-cased")
    assert spec.normalizer == BertNormalizer(lowercase=False)
    assert spec.pre_tokenizer == BertPreTokenizer()
    assert spec.post_processor == TemplateProcessing.bert(cls_id=2, sep_id=3)
    assert spec.decoder == WordPieceDecoder()
    assert [(token.content, token.id, token.special) for token in spec.added_tokens] == [
        ("[PAD]", 0, True),
        ("[UNK]", 1, True),
        ("[CLS]", 2, True),
        ("[SEP]", 3, True),
        ("[MASK]", 4, True),
    ]


def test_a_pipeline_without_cls_or_sep_has_no_template() -> None:
    trainer = wordpiece(learner=Merges("frequency"), special_tokens=("[UNK]", "[CLS]"))
    assert learn_spec(bert_counts(), trainer, "bert-cased").post_processor is None


def test_teaching_pipelines_have_no_template() -> None:
    counts = count_texts(SENTENCES, preset="whitespace")
    spec = learn_spec(counts, wordpiece(learner=Merges("frequency")), "whitespace")
    assert (spec.normalizer, spec.pre_tokenizer) == (None, WhitespaceSplit())
    assert spec.post_processor is None


def test_words_and_characters_get_their_models_and_decoders() -> None:
    words = learn_spec(
        count_texts(["Hi!"], preset="punctuation"), WordLevelTrainer(), "punctuation"
    )
    assert (words.model, words.decoder) == (WordLevel({"[UNK]": 0, "!": 1, "Hi": 2}), None)
    chars = learn_spec(count_texts(["a b"], preset="characters"), CharTrainer(), "characters")
    assert chars.model == Char({"[UNK]": 0, " ": 1, "a": 2, "b": 3})
    assert (chars.decoder, chars.pre_tokenizer) == (CharDecoder(), None)


def test_counts_of_another_pipeline_are_refused_and_those_of_none_accepted() -> None:
    with pytest.raises(
        pw.errors.ArgumentError,
        match="preset: 'whitespace' does not fit counts of preset 'bert-cased'; pass no preset, or",
    ):
        learn_spec(bert_counts(), wordpiece(), "whitespace")
    assert learn_spec(HUGS, WordLevelTrainer(), "whitespace").model.vocab["pun"] == 1


def test_pipeline_of_a_specification_counts_its_words() -> None:
    spec = learn_spec(bert_counts(), WordLevelTrainer(), "bert-cased")
    assert count_texts(SENTENCES, preset=pipeline_of(spec)) == bert_counts()


# ---- new vocabulary, same pipeline


OLD = TokenizerSpec(
    model=WordPiece({"[UNK]": 0, "x": 1, "[CLS]": 7, "[SEP]": 8, "[PAD]": 9}, unk="char"),
    normalizer=BertNormalizer(lowercase=False),
    pre_tokenizer=BertPreTokenizer(),
    post_processor=TemplateProcessing.bert(cls_id=7, sep_id=8),
    decoder=WordPieceDecoder(cleanup=False),
    added_tokens=(
        AddedToken("<x>", 12, lstrip=True, special=False),
        AddedToken("[CLS]", 7),
        AddedToken("[SEP]", 8),
        AddedToken("[PAD]", 9),
    ),
    truncation=Truncation(max_length=8),
    padding=Padding(pad_id=9),
)


def test_relearning_keeps_the_pipeline_and_moves_the_ids() -> None:
    new = relearn_spec(OLD, bert_counts(), 80, {"learner": Merges("frequency"), "min_frequency": 1})
    assert isinstance(new.model, WordPiece)
    assert len(new.model.vocab) == 80
    assert list(new.model.vocab)[:5] == ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "<x>"]
    assert new.model.unk == "char"
    assert new.post_processor == TemplateProcessing.bert(cls_id=1, sep_id=2)
    assert new.padding == Padding(pad_id=3)
    assert AddedToken("<x>", 4, lstrip=True, special=False) in new.added_tokens
    unchanged = ("normalizer", "pre_tokenizer", "decoder", "truncation")
    assert [getattr(new, name) for name in unchanged] == [getattr(OLD, name) for name in unchanged]


def test_relearning_moves_the_ids_of_bert_processing() -> None:
    old = replace(OLD, post_processor=BertProcessing(sep=("[SEP]", 8), cls=("[CLS]", 7)))
    new = relearn_spec(old, bert_counts(), 80, {"learner": Merges("frequency")})
    assert new.post_processor == BertProcessing(sep=("[SEP]", 2), cls=("[CLS]", 1))


def test_relearning_reserves_tokens_that_only_post_processor_and_padding_insert() -> None:
    old = replace(OLD, added_tokens=OLD.added_tokens[:1])
    new = relearn_spec(old, bert_counts(), 80, {"learner": Merges("frequency")})
    vocab = new.model.vocab
    assert [token.content for token in new.added_tokens] == ["[UNK]", "<x>"]
    assert new.post_processor == TemplateProcessing.bert(
        cls_id=vocab["[CLS]"], sep_id=vocab["[SEP]"]
    )
    assert new.padding == Padding(pad_id=vocab["[PAD]"])


@pytest.mark.parametrize(
    ("trainer", "kind"), [(WordLevelTrainer(), WordLevel), (CharTrainer(), Char)]
)
def test_relearning_keeps_the_kind_of_model(trainer: pw.train.Trainer, kind: type) -> None:
    preset = Preset("words", PRESETS["bert-cased"].pipeline)
    new = relearn_spec(learn_spec(bert_counts(), trainer, preset), bert_counts(), 10)
    assert isinstance(new.model, kind)
    assert len(new.model.vocab) == 10


def test_relearning_refuses_special_tokens_without_those_of_the_template() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match=r"special_tokens: must contain '\[(CLS|SEP|PAD)\]'"
    ):
        relearn_spec(OLD, bert_counts(), 60, {"special_tokens": ["[UNK]"]})


def test_relearning_refuses_what_the_tokenizer_decides() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match="unk_token: does not apply: the tokenizer determines it"
    ):
        relearn_spec(OLD, bert_counts(), 60, {"unk_token": "?"})


def test_relearning_refuses_counts_of_another_pipeline() -> None:
    with pytest.raises(
        pw.errors.ArgumentError,
        match="counts: have words of .*, not of the pipeline of the tokenizer",
    ):
        relearn_spec(OLD, count_texts(SENTENCES), 60)
