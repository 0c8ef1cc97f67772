"""Training SentencePiece models: ids, sizes, sentences, wrong use, interruption, the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.errors import (
    ArgumentError,
    CorpusError,
    InvalidUtf8Error,
    TrainingError,
    TrainingWarning,
)
from piecework.train import NormalizationRules, SentencePieceTrainer, count_texts

TEXTS = [
    "The quick brown fox jumps over the lazy dog; the dog is not amused.",
    "Only upon reflection did the fox regret it: the dog was fast, and so it ran.",
    "A fox runs, a dog runs; only the lazy one stays where it is, upon the hill.",
] * 3
TYPES = ("unigram", "bpe", "word", "char")


def train(texts: list[str] | None = None, **settings: Any) -> pw.Tokenizer:
    trainer = SentencePieceTrainer(**{"vocab_size": 60, **settings})
    return pw.Tokenizer.train_from_iterator(TEXTS if texts is None else texts, trainer)


def entries(tokenizer: pw.Tokenizer) -> list[str]:
    return list(tokenizer.get_vocab())


# ---- ids


@pytest.mark.parametrize("kind", TYPES)
def test_training_learns_a_native_model(kind: str, tmp_path: Path) -> None:
    ours = train(model_type=kind, hard_vocab_limit=False)
    assert entries(ours)[:3] == ["<unk>", "<s>", "</s>"]
    assert (ours.spec.model.kind, ours.spec.pre_tokenizer) == (kind, None)  # type: ignore[union-attr]
    assert ours.decode(ours.encode("the  lazy dog").ids) == "the lazy dog"
    ours.save(tmp_path / "x.model")
    assert pw.Tokenizer.load(tmp_path / "x.model") == ours


def test_symbols_have_the_given_ids() -> None:
    ours = train(
        vocab_size=360,
        **{"unk_id": 3, "bos_id": -1, "eos_id": 0, "pad_id": 300, "pad_piece": "[PAD]"},
        control_symbols=("<c>",),
        user_defined_symbols=("dog", "</s>"),
        byte_fallback=True,
        hard_vocab_limit=False,
    )
    assert entries(ours)[:5] == ["</s>", "<c>", "dog", "<unk>", "<0x00>"]
    assert ours.id_to_token(300) == "[PAD]"
    types = [ours.spec.model.pieces[id].type for id in (0, 1, 2, 3, 4)]  # type: ignore[union-attr]
    assert types == ["user_defined", "control", "user_defined", "unknown", "byte"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pad_id": 1}, "pad_id: must be an id of its own: 1 already belongs to bos"),
        (
            {"eos_piece": "<s>"},
            "eos_piece: must be a piece of its own: '<s>' already belongs to bos",
        ),
        (
            {"control_symbols": ("a",), "user_defined_symbols": ("a",)},
            "user_defined_symbols: contains 'a' twice, or as another symbol",
        ),
        (
            {"user_defined_symbols": ("<unk>",)},
            "user_defined_symbols: contains '<unk>' twice, or as another symbol",
        ),
        (
            {"byte_fallback": True, "control_symbols": ("<0x0A>",)},
            "byte_fallback: contains '<0x0A>' twice, or as another symbol",
        ),
        ({"byte_fallback": True}, "vocab_size: 60 is too small: 259 pieces"),
        ({"pad_id": 60}, "vocab_size: 60 is too small: 61 pieces"),
        ({"use_all_vocab": True}, "use_all_vocab: must be False: only word and char"),
        (
            {"model_type": "word", "pretokenization_delimiter": "|"},
            "pretokenization_delimiter: must be empty: only",
        ),
        ({"escape_whitespaces": False}, "escape_whitespaces: must be True: the trainer"),
        (
            {"model_type": "bpe", "seed_sentencepieces_file": "x"},
            "seed_sentencepieces_file: must be None: only unigram models start with seed",
        ),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        train(**settings)
    assert message in str(caught.value)


def test_a_trainer_takes_no_settings_or_preset_beside_it() -> None:
    trainer = SentencePieceTrainer(vocab_size=60)
    with pytest.raises(
        ArgumentError,
        match="vocab_size, trainer: cannot be combined; pass settings or a trainer",
    ):
        pw.Tokenizer.train_from_iterator(TEXTS, trainer, vocab_size=9)
    with pytest.raises(ArgumentError, match="preset: must be None.*, not 't5'"):
        pw.Tokenizer.train_from_iterator(TEXTS, trainer, preset="t5")
    by_name = pw.Tokenizer.train_from_iterator(TEXTS, model="sentencepiece", vocab_size=60)
    assert by_name == pw.Tokenizer.train_from_iterator(TEXTS, trainer)


def test_other_trainers_can_be_given_too() -> None:
    trainer = pw.BPETrainer(vocab_size=40, min_frequency=1)
    given = pw.Tokenizer.train_from_iterator(TEXTS, trainer)
    named = pw.Tokenizer.train_from_iterator(TEXTS, model="bpe", vocab_size=40, min_frequency=1)
    assert given == named


# ---- sizes


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word"])
def test_the_error_for_too_many_pieces_names_the_maximum(kind: str) -> None:
    with pytest.raises(
        TrainingError, match=r"vocab_size: must be at most \d+.*, not 5000"
    ) as caught:
        train(model_type=kind, vocab_size=5000, hard_vocab_limit=True)
    most = caught.value.limit
    assert most is not None
    assert f"at most {most}" in str(caught.value)
    assert len(entries(train(model_type=kind, vocab_size=most))) == most
    with pytest.raises(TrainingError):
        train(model_type=kind, vocab_size=most + 1, hard_vocab_limit=True)
    with pytest.warns(TrainingWarning, match=f"no more pieces: {most} of 5000 entries learned"):
        learned = train(model_type=kind, vocab_size=5000)
    assert learned == train(model_type=kind, vocab_size=most)
    assert len(entries(train(model_type=kind, vocab_size=5000, hard_vocab_limit=False))) <= most


def test_the_error_for_too_few_pieces_names_the_minimum() -> None:
    for kind in ("unigram", "bpe"):
        with pytest.raises(TrainingError, match=r"must be at least \d+ \(3 symbols and"):
            train(model_type=kind, vocab_size=10)


def test_a_word_model_takes_all_words_on_request() -> None:
    words = {word for text in TEXTS for word in text.split()}
    assert len(entries(train(model_type="word", vocab_size=9, use_all_vocab=True))) == 3 + len(
        words
    )


# ---- sentences


def test_long_sentences_are_left_out_with_a_warning() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match="1 sentence was skipped: longer than 80"):
        ours = train([*TEXTS, "xyzzy " * 20], model_type="char", max_sentence_length=80)
    assert ours.token_to_id("y") is not None
    assert ours.token_to_id("z") is not None
    counts = count_texts(["ab", "▅ab", ""], preset=SentencePieceTrainer().pipeline)
    kept = SentencePieceTrainer().sentences
    less = count_texts(["ab", "▅ab", ""], preset=SentencePieceTrainer().pipeline, sentences=kept)
    assert (dict(counts), dict(less)) == ({"▁ab": 1, "▁▅ab": 1}, {"▁ab": 1})


def test_sentences_are_drawn_from_a_seed_or_are_the_first(tmp_path: Path) -> None:
    texts = [chr(ord("a") + at) for at in range(26)]
    (tmp_path / "corpus.txt").write_text("\n".join(texts), encoding="utf-8")
    common: dict[str, Any] = {"model_type": "char", "vocab_size": 60, "input_sentence_size": 5}

    def drawn(**settings: Any) -> list[str]:
        trainer = SentencePieceTrainer(**common, **settings)
        one = pw.Tokenizer.train(tmp_path / "corpus.txt", trainer)
        assert one == pw.Tokenizer.train_from_iterator(texts, trainer)
        return sorted(entries(one)[4:])

    assert drawn(shuffle_input_sentence=False) == list("abcde")
    assert len(drawn(seed=1)) == 5
    assert drawn(seed=1) == drawn(seed=1)
    assert drawn(seed=1) != drawn(seed=2)


def test_bytes_that_are_not_text_are_named_when_sentences_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_bytes(b"good\nb\xffd\n")
    trainer = SentencePieceTrainer(model_type="char", input_sentence_size=5)
    with pytest.raises(InvalidUtf8Error, match=r"line 2: found invalid UTF-8 at byte 1 "):
        pw.Tokenizer.train(tmp_path / "corpus.txt", trainer, encoding_errors="strict")


def test_nothing_to_learn_from_is_an_error() -> None:
    for texts in ([], ["", "   "]):
        with pytest.raises(CorpusError, match="no words"):
            train(texts)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_sentences_without_a_space_are_learned_from_in_reasonable_memory(kind: str) -> None:
    texts = ["ab" * 50_000, "a" * 100_000, "\0x\0" * 1000]
    ours = train(
        texts,
        model_type=kind,
        split_by_whitespace=False,
        max_sentence_length=1_000_000,
        hard_vocab_limit=False,
    )
    assert max(map(len, entries(ours)[3:])) <= 16


def test_a_user_can_stop_it() -> None:
    trainer = SentencePieceTrainer(model_type="bpe", vocab_size=60)
    counts = count_texts(TEXTS, preset=trainer.pipeline)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.learn(counts, stop)


# ---- rules


def test_rules_of_ones_own_take_the_place_of_the_named_ones(tmp_path: Path) -> None:
    rules = NormalizationRules.from_mapping({"the": "THE", "ﬁ": "FI"})
    rules.save_tsv(tmp_path / "rules.tsv")
    back = NormalizationRules.from_mapping({"THE": "the"})
    ours = train(normalization_rule_tsv=tmp_path / "rules.tsv", denormalization_rule_tsv=back)
    assert ours == train(normalization_rule_tsv=rules, denormalization_rule_tsv=back)
    assert "▁THE" in entries(ours)
    assert ours.decode(ours.encode("the dog").ids) == "the dog"
    ours.save(tmp_path / "x.model")
    assert pw.Tokenizer.load(tmp_path / "x.model") == ours


# ---- the command line


def command_for(model: Path) -> list[str]:
    """Return a command that learns 60 pieces of `TEXTS` by BPE."""
    corpus = model.with_name("corpus.txt")
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    options = ["--model-type", "bpe", "--vocab-size", "60", "-o", str(model)]
    return ["train-sentencepiece", str(corpus), *options]


def test_the_command_line_has_every_setting(tmp_path: Path) -> None:
    model = tmp_path / "x.model"
    arguments = command_for(model)
    arguments += ["--no-split-by-whitespace", "--control-symbol", "<c>", "--pad-id", "3"]
    assert run(arguments) == 0
    expected = train(
        model_type="bpe", split_by_whitespace=False, control_symbols=("<c>",), pad_id=3
    )
    assert pw.Tokenizer.load(model) == expected


def test_the_command_line_refuses_a_setting_of_another_trainer(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    arguments = ["train-sentencepiece", str(corpus), "--min-frequency", "2"]
    assert run([*arguments, "-o", str(tmp_path / "x.model")]) == 2


def test_the_seed_of_the_command_line_draws_the_sentences(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(chr(ord("a") + at) for at in range(26)), encoding="utf-8")
    options = ["--model-type", "char", "--vocab-size", "60", "--input-sentence-size", "5"]

    def drawn(*more: str) -> pw.Tokenizer:
        path = tmp_path / "x.model"
        assert run(["train-sentencepiece", str(corpus), *options, *more, "-o", str(path)]) == 0
        return pw.Tokenizer.load(path)

    trainer = SentencePieceTrainer("char", 60, input_sentence_size=5, seed=2)
    assert drawn("--seed", "2") == pw.Tokenizer.train(corpus, trainer)
    assert drawn("--seed", "2") != drawn("--seed", "1")


# ---- sentences with counts


def write_tsv(path: Path) -> Path:
    path.write_text("hug pug\t4\n\nabc\t1\nhugs\t2\n", encoding="utf-8")
    return path


def test_counts_behind_sentences_are_added_up(tmp_path: Path) -> None:
    trainer = SentencePieceTrainer(input_format="tsv", max_sentence_length=8)
    kept: dict[str, Any] = {"preset": trainer.pipeline, "sentences": trainer.sentences}
    counts = pw.count_files(write_tsv(tmp_path / "c.tsv"), **kept)
    assert dict(counts) == {"▁hug": 4, "▁pug": 4, "▁abc": 1, "▁hugs": 2}
    with pytest.warns(pw.errors.TrainingWarning, match="1 sentence was skipped"):
        assert len(count_texts(["hug\t1234567", "hug hug hug\t1", ""], **kept)) == 1


def test_a_sentence_is_drawn_with_its_count(tmp_path: Path) -> None:
    trainer = SentencePieceTrainer(
        input_format="tsv", input_sentence_size=1, shuffle_input_sentence=False
    )
    corpus = write_tsv(tmp_path / "c.tsv")
    counts = pw.count_files(corpus, preset=trainer.pipeline, sentences=trainer.sentences)
    assert dict(counts) == {"▁hug": 4, "▁pug": 4}


def test_the_command_line_takes_counts(tmp_path: Path) -> None:
    corpus, model = write_tsv(tmp_path / "c.tsv"), tmp_path / "x.model"
    arguments = [
        "train-sentencepiece",
        str(corpus),
        "--model-type",
        "word",
        "--use-all-vocab",
        "-o",
        str(model),
    ]
    assert run([*arguments, "--input-format", "tsv"]) == 0
    assert entries(pw.Tokenizer.load(model))[3:] == ["▁hug", "▁pug", "▁hugs", "▁abc"]
    assert run([*arguments, "--input-format", "csv"]) == 2
    assert run(arguments) != 0


# ---- files of settings


def test_files_list_more_of_symbols_and_characters(tmp_path: Path) -> None:
    (tmp_path / "control").write_text("<a>\r\n<b>\n")
    (tmp_path / "symbols").write_text("fox\n\nthe dog")
    (tmp_path / "characters").write_text("é\nßø\n")
    from_files = train(
        control_symbols_file=tmp_path / "control",
        user_defined_symbols=("<x>",),
        user_defined_symbols_file=str(tmp_path / "symbols"),
        required_chars_file=tmp_path / "characters",
        required_chars="ü",
    )
    assert from_files == train(
        control_symbols=("<a>", "<b>"),
        user_defined_symbols=("<x>", "fox", "the dog"),
        required_chars="üéßø",
    )
    (tmp_path / "bad").write_bytes(b"a\xff")
    with pytest.raises(pw.errors.FormatError, match=r"bad: found invalid UTF-8 at byte 1"):
        train(control_symbols_file=tmp_path / "bad")
    with pytest.raises(pw.errors.FileError, match="nowhere"):
        train(control_symbols_file=tmp_path / "nowhere")


def write_seeds(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_given_seeds_take_the_place_of_the_substrings_of_the_corpus(tmp_path: Path) -> None:
    rows = ["▁fox\t6\tmore", "the\t9", "do\t3", "▁the▁fox\t3", "unseen\t8", "the\t1", "x\t7"]
    seeds = write_seeds(tmp_path / "seeds.tsv", rows)
    learned = entries(train(seed_sentencepieces_file=seeds, hard_vocab_limit=False))[3:]
    assert {piece for piece in learned if len(piece) > 1} == {"▁fox", "the", "do"}
    assert {piece for piece in learned if len(piece) == 1} == set("▁".join("".join(TEXTS).split()))
    with pytest.raises(TrainingError, match=r"at most \d+, not \d+; no more of the seeds occur"):
        train(seed_sentencepieces_file=seeds, hard_vocab_limit=True)


@pytest.mark.parametrize(
    "line", ["▁fox", "▁fox\t", "▁fox\t0", "▁fox\t-1", "▁fox\t1.5", "▁fox\tx", ""]
)
def test_seeds_without_a_count_are_refused(line: str, tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path / "seeds.tsv", ["the\t9", line, "do\t3"])
    with pytest.raises(pw.errors.FormatError, match=r"seeds\.tsv line 2: found .*a piece, a tab"):
        train(seed_sentencepieces_file=seeds)
