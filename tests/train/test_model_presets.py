"""Each model with each preset: it trains and decodes to the same text, or the preset is refused."""

from __future__ import annotations

from itertools import product

import pytest

import piecework as pw
from piecework.analysis import measure_round_trip
from piecework.train import PRESETS, SENTENCEPIECE_PRESETS
from piecework.train.trainer import by_characters
from piecework.train.trainers import TRAINERS

TEXTS = [
    "Hello, world! It isn't so.",
    "Největší kůň, v pořádku.",
    "the quick brown fox jumps over the lazy dog",
] * 20
HELD_OUT = ["over the dogs jumps quickly"]
BYTE_LEVEL = {
    "gpt2",
    "cl100k",
    "o200k",
    "cl100k-r2l",
    "o200k-r2l",
    "cl100k-nl",
    "o200k-nl",
    "llama3",
    "qwen2",
    "o200k-superwords",
}
BERT = {"bert-uncased", "bert-cased", "bert-original-uncased", "bert-original-cased"}
SPLIT_AT_SPACES = BERT | {"whitespace", "punctuation"}
SPACES_AS_CHARACTERS = {"sentencepiece", "metaspace", "characters"}
TRAINED = {
    "wordpiece": SPLIT_AT_SPACES,
    "bpe": SPACES_AS_CHARACTERS | {"whitespace"},
    "byte-bpe": BYTE_LEVEL,
    "unigram": SPACES_AS_CHARACTERS | {"whitespace"},
    "byte-unigram": BYTE_LEVEL,
    "word": set(PRESETS),
    "char": SPACES_AS_CHARACTERS,
    "sentencepiece": set(),
}
# The notation of these shows no words, or words without the punctuation around them.
CHANGE_SPACES = {
    *product(["wordpiece", "word"], [*BERT, "punctuation"]),
    ("bpe", "whitespace"),
    ("unigram", "whitespace"),
}


def trained(model: str, preset: str) -> pw.Tokenizer:
    size = {} if model in ("word", "char") else {"vocab_size": 90 if model == "unigram" else 300}
    return pw.Tokenizer.train_from_iterator(TEXTS, model=model, preset=preset, **size)


@pytest.mark.parametrize(("model", "preset"), list(product(TRAINERS, PRESETS)))
def test_a_model_and_a_preset_decode_to_the_same_text_or_are_refused(
    model: str, preset: str
) -> None:
    if preset not in TRAINED[model]:
        with pytest.raises(pw.errors.ArgumentError, match=f"^preset.*'{preset}'"):
            trained(model, preset)
        return
    tokenizer = trained(model, preset)
    found = measure_round_trip(tokenizer, TEXTS)
    assert found.is_lossless
    assert bool(found.changed_words) == preset.endswith("-uncased")
    if model != "word":
        found = measure_round_trip(tokenizer, TEXTS + HELD_OUT)
        assert found.is_lossless
    assert bool(found.changed_spaces) == ((model, preset) in CHANGE_SPACES)


@pytest.mark.parametrize(("model", "preset"), list(product(TRAINERS, SENTENCEPIECE_PRESETS)))
def test_sentencepiece_presets_take_the_types_of_sentencepiece(model: str, preset: str) -> None:
    settings = {"vocab_size": 400, "hard_vocab_limit": False, "character_coverage": 1.0}
    divides_words = model == "word" and preset in ("albert", "xlnet")
    no_superwords = model not in ("bpe", "sentencepiece") and preset == "llama-superwords"
    if model in ("wordpiece", "byte-bpe", "byte-unigram") or divides_words or no_superwords:
        with pytest.raises(
            pw.errors.ArgumentError, match=f"preset: '{preset}' does not support model '{model}'"
        ):
            pw.Tokenizer.train_from_iterator(TEXTS, model=model, preset=preset, **settings)
        return
    tokenizer = pw.Tokenizer.train_from_iterator(TEXTS, model=model, preset=preset, **settings)
    found = measure_round_trip(tokenizer, TEXTS)
    assert found.is_lossless
    assert bool(found.changed_words) == (preset in ("albert", "xlnet"))
    assert not found.changed_spaces


@pytest.mark.parametrize("preset", sorted(BYTE_LEVEL))
def test_a_byte_level_preset_names_the_model_that_it_needs(preset: str) -> None:
    trainer = pw.BPETrainer(5000)
    with pytest.raises(pw.errors.ArgumentError, match="use model 'byte-bpe', or one of"):
        pw.Tokenizer.train_from_iterator(TEXTS, trainer, preset=preset)
    counts = pw.count_texts(TEXTS, preset=preset)
    with pytest.raises(pw.errors.ArgumentError, match="model 'byte-bpe'"):
        pw.train.learn_spec(counts, trainer, preset)


def test_a_trainer_with_all_bytes_can_have_a_byte_level_preset() -> None:
    trainer = by_characters(pw.ByteBPETrainer(300))
    tokenizer = pw.Tokenizer.train_from_iterator(TEXTS, trainer, preset="gpt2")
    assert measure_round_trip(tokenizer, ["naïve 日 ~\n"]).is_exact


def test_the_default_pipeline_of_bpe_decodes() -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(TEXTS, model="bpe", vocab_size=100)
    text = "Největší kůň, v  pořádku."
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.encode("the fox").tokens[0] == "▁the"
    assert tokenizer.decode(tokenizer.encode("the\tfox\nin").ids) == "the fox in"


def test_retraining_keeps_the_default_pipeline_of_bpe() -> None:
    old = pw.Tokenizer.train_from_iterator(TEXTS, model="bpe", vocab_size=100)
    new = old.train_new_from_iterator(["pug pugs"] * 5, 30)
    assert (new.spec.normalizer, new.spec.pre_tokenizer) == (
        old.spec.normalizer,
        old.spec.pre_tokenizer,
    )
    assert new.decode(new.encode("pugs pug").ids) == "pugs pug"


@pytest.mark.parametrize("preset", [None, *sorted(SPLIT_AT_SPACES - {"bert-uncased"})])
@pytest.mark.parametrize(
    "marker", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}]
)
def test_bpe_that_marks_words_decodes_the_spaces_between_them(
    preset: str | None, marker: dict[str, str]
) -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(
        TEXTS, model="bpe", preset=preset, vocab_size=100, **marker
    )
    text = "the quick dog jumps over the fox"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.mark.parametrize("preset", ["metaspace", "sentencepiece", "characters"])
def test_bpe_marks_words_once(preset: str) -> None:
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"does not support model 'bpe'; use one of whitespace, bert",
    ):
        pw.Tokenizer.train_from_iterator(
            TEXTS, model="bpe", preset=preset, end_of_word_suffix="</w>"
        )


def test_bpe_on_words_split_at_spaces_learns_the_published_vocabulary() -> None:
    words = ["hug"] * 10 + ["pug"] * 5 + ["pun"] * 12 + ["bun"] * 4 + ["hugs"] * 5
    tokenizer = pw.Tokenizer.train_from_iterator(
        words, model="bpe", preset="whitespace", vocab_size=11
    )
    vocabulary = "<unk> b g h n p s u ug un hug"
    assert list(tokenizer.get_vocab()) == vocabulary.split()
    assert tokenizer.encode("bug mug").tokens == ["b", "ug", "<unk>", "ug"]
