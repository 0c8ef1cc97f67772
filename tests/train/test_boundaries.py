"""Boundaries inside words: lexicons, functions, markers, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    FileError,
    FormatError,
    InputTypeError,
    InvalidUtf8Error,
    PieceworkError,
)
from piecework.train import (
    Counts,
    Merges,
    SourceCounts,
    WordPieceTrainer,
    estimated_memory,
    read_boundaries,
)
from piecework.train.learn import fit_to_memory

LEXICON = {"undoing": ["un", "do", "ing"], "redo": ["re", "do"]}
WORDS = {"undoing": 4, "redo": 3, "do": 2}


# ---- lexicon files


@pytest.mark.parametrize(
    ("content", "place", "problem"),
    [
        ("undo\tun do\nredo\tre d o o\n", "lexicon.tsv line 2", "spells 'redoo'"),
        ("undo\n", "lexicon.tsv line 1", "found 'undo', expected a word, a tab"),
        ("undo\tun do\t3\n", "lexicon.tsv line 1", "expected a word, a tab"),
        ("undo\t\n", "lexicon.tsv line 1", "expected a word, a tab"),
        ("\n\nundo\tund\n", "lexicon.tsv line 3", "spells 'und'"),
        ("undo\tun do\n\nundo\tund o\n", "lexicon.tsv line 3", "as in"),
        ("", "lexicon.tsv", "has no words"),
        ("\n \n", "lexicon.tsv", "has no words"),
    ],
)
def test_a_wrong_lexicon_is_named_with_its_line(
    tmp_path: Path, content: str, place: str, problem: str
) -> None:
    path = tmp_path / "lexicon.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError) as error:
        read_boundaries(path)
    assert error.value.place.endswith(place)
    assert problem in str(error.value)
    with pytest.raises(FormatError):
        pw.Tokenizer.train_from_counts(WORDS, vocab_size=30, boundaries=path)


def test_lexicons_may_be_compressed_and_repeat_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv.gz"
    path.write_bytes(gzip.compress("undo\tun do\r\nundo\tun do\nché\tch é\n".encode()))
    assert read_boundaries(path) == {"undo": ("un", "do"), "ché": ("ch", "é")}


def test_lexicons_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        read_boundaries(tmp_path / "missing.tsv")
    path = tmp_path / "latin.tsv"
    path.write_bytes(b"ch\xe9\tch \xe9\n")
    with pytest.raises(InvalidUtf8Error):
        read_boundaries(path)


# ---- mappings and functions


@pytest.mark.parametrize(
    ("boundaries", "error", "problem"),
    [
        ({}, ArgumentError, "boundaries: has no words"),
        (
            {"undoing": ["un", "do"]},
            ArgumentError,
            "boundaries['undoing']: must be parts that spell",
        ),
        ({"undoing": ["un", "", "doing"]}, ArgumentError, "must be parts that spell"),
        ({"undoing": "undoing"}, InputTypeError, "must be a list of strings"),
        ({"undoing": [1]}, InputTypeError, "must be a list of strings"),
        ({"other": ["oth", "er"]}, ArgumentError, "has none of the counted words"),
        (
            lambda word: [word, "s"],
            ArgumentError,
            "boundaries('undoing'): must be parts that spell",
        ),
        (7, InputTypeError, "must be a path, a mapping from words to their parts, or a function"),
    ],
)
def test_parts_that_do_not_spell_their_word_are_refused(
    boundaries: Any, error: type[PieceworkError], problem: str
) -> None:
    with pytest.raises(error) as found:
        Counts(WORDS).with_boundaries(boundaries)
    assert problem in str(found.value)


def test_counts_have_boundaries_once() -> None:
    counts = Counts(WORDS).with_boundaries(LEXICON)
    assert counts.boundaries == [(2, 4), (2,), ()]
    for add in (lambda: counts.with_boundaries(LEXICON), lambda: counts.with_boundary_marker("|")):
        with pytest.raises(ArgumentError, match="have boundaries"):
            add()


@pytest.mark.parametrize(
    ("preset", "word", "boundaries"),
    [
        ("bert-uncased", "undoing", (2, 4)),
        ("gpt2", "Ġundoing", (3, 5)),
        ("metaspace", "▁undoing", (3, 5)),
        ("t5", "▁undoing", (3, 5)),
    ],
)
def test_words_are_looked_up_without_the_mark_of_a_space(
    preset: str, word: str, boundaries: tuple[int, ...]
) -> None:
    counts = pw.count_texts(["it undoing"], preset=preset).with_boundaries(LEXICON)
    assert counts.boundaries is not None
    assert dict(zip(counts.words, counts.boundaries, strict=True))[word] == boundaries


def test_boundaries_of_byte_level_words_are_positions_of_bytes() -> None:
    counts = pw.count_texts([" příjezd"], preset="gpt2")
    assert counts.with_boundaries({"příjezd": ["při"[:2] + "í", "jezd"]}).boundaries == [(6,)]
    asked: list[str] = []
    counts.with_boundaries(lambda word: asked.append(word))  # type: ignore[func-returns-value]
    assert asked == ["příjezd"]


# ---- markers


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("", "must not be empty"),
        (None, "must be a string"),
        ("\u2060", "is in no word"),
        ("|", "is a word of the pipeline"),
    ],
)
def test_a_marker_that_the_pipeline_does_not_keep_is_refused(marker: Any, problem: str) -> None:
    counts = pw.count_texts(["un\u2060do un|do"])
    with pytest.raises(ArgumentError, match="boundary_marker") as error:
        counts.with_boundary_marker(marker)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    "preset", ["bert-uncased", "bert-cased", "gpt2", "o200k", "metaspace", "t5"]
)
def test_a_marker_gives_the_boundaries_of_a_lexicon(preset: str) -> None:
    marked = pw.count_texts(["ǀit unǀdoǀing itǀ", "reǀdo , do"], preset=preset)
    plain = pw.count_texts(["it undoing it", "redo , do"], preset=preset)
    assert marked.with_boundary_marker("ǀ") == plain.with_boundaries(LEXICON)


def test_words_of_one_text_with_several_boundaries_are_several_words() -> None:
    counts = Counts({"unǀion": 2, "unio|n": 1, "union": 3, "uniǀon": 1}).with_boundary_marker("ǀ")
    assert counts.words == ["union", "unio|n", "union", "union"]
    assert counts.boundaries == [(2,), (), (), (3,)]
    assert counts.counts.tolist() == [2, 1, 3, 1]


# ---- columns


def test_wrong_columns_of_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("word\tcount\tboundaries\nundo\t1\t2\nredo\t1\tx\n")
    with pytest.raises(FormatError, match="column 'boundaries' line 3"):
        Counts.load(path)
    for wrong in ("0", "4", "3,2", "2,2"):
        path.write_text(f"word\tcount\tboundaries\nundo\t1\t{wrong}\n")
        with pytest.raises(FormatError, match=r"boundaries\[0\]"):
            Counts.load(path)


def test_a_sum_with_plain_counts_keeps_boundaries_apart() -> None:
    counts = Counts(WORDS).with_boundaries(LEXICON) + Counts({"redo": 5})
    assert counts.boundaries is not None
    assert sorted(zip(counts.words, counts.boundaries, counts.counts.tolist(), strict=True)) == [
        ("do", (), 2),
        ("redo", (), 5),
        ("redo", (2,), 3),
        ("undoing", (2, 4), 4),
    ]
    with pytest.raises(ArgumentError, match="FDD0"):
        counts.merge(Counts({"a\ufdd0b": 1}))


def test_plain_words_may_have_the_noncharacter() -> None:
    words = {"\ufdd0ab": 3, "ab\ufdd0": 2, "a\ufdd0b": 4}
    trainer = WordPieceTrainer(30, special_tokens=("[UNK]",), min_frequency=1)
    entries = trainer.learn(Counts(words)).vocab
    assert {"\ufdd0ab", "##b\ufdd0"} <= entries.keys()


# ---- what cannot keep boundaries


def test_what_cannot_keep_boundaries_refuses_them() -> None:
    counts = Counts(WORDS).with_boundaries(LEXICON)
    tok = pw.Tokenizer.train_from_counts(WORDS, vocab_size=30)
    byte_level = pw.count_texts(["undoing redo"], preset="o200k-superwords")
    for refused in (
        lambda: pw.WordLevelTrainer().learn(counts),
        lambda: SourceCounts({"a": counts, "b": counts}),
        lambda: pw.vocabulary.extend(tok, counts, 4),
        lambda: pw.SentencePieceTrainer(vocab_size=20, model_type="word").learn(counts),
        lambda: pw.Tokenizer.train_from_counts(
            byte_level.with_boundaries(lambda word: None), model="byte-bpe", vocab_size=270
        ),
    ):
        with pytest.raises(ArgumentError, match="boundaries"):
            refused()


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "byte-bpe", "preset": "o200k-superwords"},
        {"model": "byte-bpe", "preset": "gpt2", "parity": True},
        {"boundary_marker": "ǀ"},
    ],
)
def test_options_that_exclude_boundaries_are_named_before_counting(settings: Any) -> None:
    with pytest.raises(ArgumentError, match="cannot be combined"):
        pw.Tokenizer.train("missing.txt", vocab_size=300, boundaries=LEXICON, **settings)


# ---- learning


def test_the_tokenizer_is_an_ordinary_one(tmp_path: Path) -> None:
    settings: Any = {"vocab_size": 40, "min_frequency": 1, "learner": Merges("frequency")}
    kept = pw.Tokenizer.train_from_counts(WORDS, boundaries=LEXICON, **settings)
    plain = pw.Tokenizer.train_from_counts(WORDS, **settings)
    assert kept.encode("undoing", add_special_tokens=False).tokens == ["un", "##do", "##ing"]
    assert plain.encode("undoing", add_special_tokens=False).tokens == ["undoing"]
    for name in ("vocab.txt", "tokenizer.json"):
        kept.save(tmp_path / name)
        assert b"bound" not in (tmp_path / name).read_bytes()
    assert pw.Tokenizer.load(tmp_path / "tokenizer.json") == kept


def test_all_ways_to_pass_boundaries_give_one_result(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("undoing redo do\nredo\n" * 3)
    marked = ["unǀdoǀing reǀdo do", "reǀdo"] * 3
    path = tmp_path / "lexicon.tsv"
    path.write_text("".join(f"{word}\t{' '.join(parts)}\n" for word, parts in LEXICON.items()))
    expected = pw.Tokenizer.train(tmp_path / "text.txt", vocab_size=40, boundaries=path)
    texts = ["undoing redo do", "redo"] * 3
    found = (
        pw.Tokenizer.train_from_iterator(texts, vocab_size=40, boundaries=LEXICON),
        pw.Tokenizer.train_from_iterator(texts, vocab_size=40, boundaries=LEXICON.get),
        pw.Tokenizer.train_from_iterator(marked, vocab_size=40, boundary_marker="ǀ"),
        pw.Tokenizer.train_from_counts(pw.count_texts(texts).with_boundaries(path), vocab_size=40),
    )
    assert all(tok == expected for tok in found)


def test_a_checkpoint_of_other_boundaries_is_refused() -> None:
    counts = Counts(WORDS)
    digests = {
        counts._digest(),
        counts.with_boundaries(LEXICON)._digest(),
        counts.with_boundaries({"redo": ["r", "edo"]})._digest(),
        counts.with_boundaries(lambda word: None)._digest(),
    }
    assert len(digests) == 4


def test_memory_is_estimated_for_the_parts_and_rare_words_are_dropped() -> None:
    words = {f"w{number:030}": 1 + number % 7 for number in range(200_000)}
    plain, trainer = Counts(words), WordPieceTrainer(2_000)
    counts = plain.with_boundaries(lambda word: [word[:28], word[28:]])
    assert estimated_memory(counts, trainer) < estimated_memory(plain, trainer) / 2
    long = plain.with_boundaries(lambda word: [word[:1], word[1:]])
    needed = estimated_memory(long, trainer)
    with pytest.warns(pw.errors.TrainingWarning, match="dropped"):
        kept = fit_to_memory(long, trainer, needed * 3 // 4)
    assert kept.boundaries == [(1,)] * len(kept)
    assert 0 < len(kept) < len(plain)


def test_scores_of_unigram_come_from_whole_words() -> None:
    words = {"union": 4, "undo": 3, "onion": 2}
    tok = pw.Tokenizer.train_from_counts(words, vocab_size=40)
    counts = Counts({"unǀion": 3, "union": 1, "unǀdo": 3, "onion": 2}).with_boundary_marker("ǀ")
    found = pw.vocabulary.to_unigram(tok, counts).tokenizer
    assert found == pw.vocabulary.to_unigram(tok, Counts(words)).tokenizer


def test_a_sum_of_parts_beyond_64_bits_is_an_error() -> None:
    counts = Counts({"undo": 1 << 63, "redo": 1 << 63}).with_boundaries(lambda w: [w[:2], w[2:]])
    with pytest.raises(pw.errors.TrainingError, match="64 bits"):
        WordPieceTrainer(30).learn(counts)
