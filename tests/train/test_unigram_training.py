"""Training Unigram models: worked examples, pipelines, files, wrong use, interruption."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import CorpusError, TrainingError
from piecework.reference import unigram_training as reference
from piecework.reference.lattice import Lattice
from piecework.spec import ByteFallback, MetaspaceDecoder, SequenceDecoder, Unigram
from piecework.train import PRESETS, Preset, UnigramTrainer
from tests.case_files import read_cases

TEXTS = [
    "The quick brown fox jumps over the lazy dog; the dog is not amused.",
    "Only upon reflection did the fox regret it: the dog was fast, and so it ran.",
    "A fox runs, a dog runs; only the lazy one stays where it is, upon the hill.",
] * 3


def cases(file: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", read_cases(file)["case"], ids=lambda case: case["name"])


def counts_of(words: list[list[Any]]) -> pw.Counts:
    return pw.Counts([word for word, _ in words], [count for _, count in words])


# ---- worked examples


@cases("unigram.toml")
def test_all_segmentations_are_scored(case: dict[str, Any]) -> None:
    scores = {piece: math.log(share) for piece, share in case["pieces"].items()}
    lattice = Lattice(case["word"], scores)
    found = [(pieces, math.exp(score)) for pieces, score in lattice.n_best(100)]
    assert [pieces for pieces, _ in found] == [pieces for pieces, _ in case["segmentations"]]
    assert [p for _, p in found] == pytest.approx([p for _, p in case["segmentations"]])
    assert lattice.probability() == pytest.approx(case["total"])


@cases("unigram.toml")
def test_the_best_segmentation_is_chosen(case: dict[str, Any]) -> None:
    pieces = tuple((piece, math.log(share)) for piece, share in case["pieces"].items())
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(Unigram(pieces)))
    assert tokenizer.encode(case["word"]).tokens == case["segmentations"][0][0]


@cases("unigram_training.toml")
def test_seeds_and_entries_equal_the_worked_examples(case: dict[str, Any]) -> None:
    settings = reference.Settings(**case["settings"])
    alphabet = reference.alphabet(case["words"], settings)
    segments = reference.within_alphabet(case["words"], alphabet)
    assert list(reference.seeds(segments, ["<unk>"], settings)) == case["seeds"]
    for learn in (learned_by_core, learned_by_reference):
        end = case.get("vocab_end", case.get("vocab"))
        assert learn(case, case["vocab_size"])[-len(end) :] == end
        least, most = case["sizes"]
        assert (len(learn(case, least)), len(learn(case, most))) == (least, most)
        with pytest.raises(TrainingError, match=f"must be at least {least} "):
            learn(case, least - 1)
        settings_of_most = learn(case, most + 1)
        assert settings_of_most == learn(case, most + 100)
        assert len(settings_of_most) == most


def learned_by_core(case: dict[str, Any], vocab_size: int) -> list[str]:
    trainer = UnigramTrainer(vocab_size=vocab_size, **case["settings"])
    return list(trainer.learn(counts_of(case["words"])).vocab)


def learned_by_reference(case: dict[str, Any], vocab_size: int) -> list[str]:
    settings = reference.Settings(vocab_size=vocab_size, **case["settings"])
    return [piece for piece, _ in reference.learn(case["words"], settings)]


# ---- whole tokenizers


def train(**settings: Any) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, model="unigram", **settings)


def test_the_usual_pipeline_marks_spaces_and_gives_text_back() -> None:
    tokenizer = train(vocab_size=90)
    assert tokenizer.get_vocab_size() == 90
    encoded = tokenizer.encode("the  lazy ﬁxed dog")
    assert encoded.tokens[:2] == ["▁the", "▁lazy"]
    assert tokenizer.decode(encoded.ids) == "the lazy fixed dog"
    assert tokenizer.spec.decoder == MetaspaceDecoder()


def test_every_frequent_word_is_a_piece_though_it_is_part_of_no_other() -> None:
    assert {"▁only", "▁upon"} <= train(vocab_size=90).get_vocab().keys()


def test_bytes_replace_characters_without_an_entry() -> None:
    tokenizer = train(vocab_size=400, byte_fallback=True, special_tokens=("<unk>",))
    assert isinstance(tokenizer.spec.decoder, SequenceDecoder)
    assert tokenizer.spec.decoder.decoders == (ByteFallback(), MetaspaceDecoder())
    encoded = tokenizer.encode("the 北 dog")
    assert encoded.tokens[2:5] == ["<0xE5>", "<0x8C>", "<0x97>"]
    assert tokenizer.decode(encoded.ids) == "the 北 dog"


def test_user_defined_symbols_are_always_tokens_of_their_own() -> None:
    tokenizer = train(vocab_size=90, user_defined_symbols=("<sep>", "dog"))
    assert [tokenizer.id_to_token(id) for id in range(3, 5)] == ["<sep>", "dog"]
    assert "dog" in tokenizer.encode("adogb<sep>c").tokens
    assert not any("dog" in token and token != "dog" for token in tokenizer.get_vocab())


FRAMED = Preset(
    "framed",
    PRESETS["sentencepiece"].pipeline,
    single=("$A:0", "</s>:0"),
    pair=("$A:0", "</s>:0", "$B:0", "</s>:0"),
    special_tokens=("<pad>", "</s>", "<unk>"),
)


def test_presets_bring_their_tokens_and_frames() -> None:
    tokenizer = train(vocab_size=90, preset=FRAMED)
    ids = {token: tokenizer.token_to_id(token) for token in FRAMED.special_tokens}
    assert ids == {"<pad>": 0, "</s>": 1, "<unk>": 2}
    assert tokenizer.encode("the dog").tokens == ["▁the", "▁dog", "</s>"]


def test_special_tokens_given_go_before_those_of_the_preset() -> None:
    tokenizer = train(vocab_size=90, preset=FRAMED, special_tokens=("<unk>", "<x>"))
    assert tokenizer.token_to_id("<x>") == 1
    assert tokenizer.encode("the dog").tokens == ["▁the", "▁dog"]


def test_files_and_a_new_vocabulary_keep_what_was_learned(tmp_path: Path) -> None:
    tokenizer = train(vocab_size=90, preset=FRAMED)
    tokenizer.save(tmp_path / "tokenizer.json")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.json").spec == tokenizer.spec
    fresh = tokenizer.train_new_from_iterator(["other words, other pieces"] * 4, 30)
    assert fresh.get_vocab_size() == 30
    assert fresh.token_to_id("<unk>") == 2
    assert fresh.encode("other").tokens == ["▁other", "</s>"]


def test_steps_tell_how_the_likelihood_grows_within_a_round() -> None:
    counts = pw.count_texts(TEXTS, preset="sentencepiece")
    learned = UnigramTrainer(vocab_size=70).learn_pieces(counts)
    first, second = learned.steps[:2]
    assert second.log_likelihood > first.log_likelihood
    assert len(learned.pieces) == 70


def test_there_are_sixteen_seeds_for_each_entry_by_default() -> None:
    words = ["".join(letters) for letters in product("abcd", repeat=5)]
    counts = pw.Counts(words, [1 + 7 * row % 50 for row in range(len(words))])
    settings: dict[str, Any] = {"vocab_size": 20, "special_tokens": ("<unk>",)}
    found = UnigramTrainer(**settings).learn_pieces(counts)
    assert found == UnigramTrainer(**settings, seed_vocab_size=320).learn_pieces(counts)
    assert found.steps[0].pieces == 320


def test_a_lower_count_exponent_reduces_the_effect_of_frequent_words() -> None:
    counts = pw.Counts(["hug", "pun"], [600, 20])
    settings: dict[str, Any] = {
        "vocab_size": 8,
        "special_tokens": ("<unk>",),
        "character_coverage": 1,
    }

    def gap(exponent: float) -> float:
        trainer = UnigramTrainer(**settings, count_exponent=exponent)
        scores = dict(trainer.learn(counts).pieces)
        return scores["hug"] - scores["pun"]

    assert gap(1.0) > gap(0.8) > gap(0.5) > 0


# ---- wrong use


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(CorpusError):
        pw.Tokenizer.train_from_iterator([], model="unigram")


def test_an_exception_of_progress_ends_the_training() -> None:
    counts = pw.count_texts(TEXTS, preset="sentencepiece")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        UnigramTrainer(vocab_size=70).learn(counts, progress=stop)
