"""The matrix of the language model: its text, vocabularies, n-gram model, record and tables."""

from __future__ import annotations

import doctest
import itertools
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import language_model
import language_model_report as report
import n_gram_bits
import n_gram_ranking
import novels
from judging import kneser_ney, recipe
from judging import lines as judged_lines
from judging.kneser_ney import KneserNey
from judging.lines import PRESETS, LineVocabulary, lines
from judging.matrix import (
    Run,
    append_record,
    missing,
    planned,
    read_definition,
    read_record,
    recipe_checksum,
    together,
)
from judging.recipe import Recipe
from judging.text import Text, TextTooShortError, first_lines, read_text
from judging.vocabularies import (
    BITS_OF_A_BYTE,
    LEARNERS,
    Vocabulary,
    VocabularyTooSmallError,
    learn,
)
from language_model import MissingCorpusError, corpus, training_ids

TEXTS = {
    number: "\n".join(f"Novel {number} has line {line}, isn't it?" for line in range(40))
    for number in range(20)
}


@pytest.fixture(scope="module")
def text(english_corpus: Path) -> Text:
    lines = english_corpus.read_text(encoding="utf-8").split("\n")[:6000]
    parts = ["\n".join(lines[start : start + 100]) for start in range(0, len(lines), 100)]
    parts.insert(9, "\n".join(["ḧere is a rare word"] * 9))  # held out
    return read_text("\n\n".join(parts), 150_000, 9_000)


@pytest.mark.parametrize(
    "module", [judged_lines, kneser_ney, n_gram_ranking, novels, recipe, report]
)
def test_doctests_of_the_modules_pass(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# ---- text


def test_every_tenth_novel_is_held_out() -> None:
    text = read_text("\n\n".join(TEXTS.values()), 6_000, 1_000)
    said = {text.words[index] for index in text.held_out.tolist() if index < text.line_end}
    assert {"9", "19"} <= said
    assert text.word_bytes[text.held_out].sum() <= 1_000 * 1.5  # a space beside punctuation
    trained = np.concatenate(text.training)
    rows = np.split(trained, np.flatnonzero(trained == text.line_end) + 1)[:-1]
    lines = {" ".join(text.words[index] for index in row[:-1].tolist()) for row in rows}
    assert "novel 3 has line 0 , isn ' t it ?" in lines
    assert not any(line.startswith(("novel 9 ", "novel 19 ")) for line in lines)


def test_novels_give_as_many_bytes_and_longer_ones_what_short_ones_lack() -> None:
    novels = [["a" * 9] * 100, ["b" * 9] * 3, ["c" * 9] * 100]
    chosen = first_lines(novels, 1_000, "setting")
    assert [len(novel) for novel in chosen] == [48, 3, 48]


@pytest.mark.parametrize(
    ("training", "held_out", "setting"),
    [(100_000, 1_000, "training_megabytes"), (6_000, 9_000, "held_out_kilobytes")],
)
def test_a_short_text_is_an_error_that_names_the_setting(
    training: int, held_out: int, setting: str
) -> None:
    with pytest.raises(TextTooShortError, match=f"set {setting} lower"):
        read_text("\n\n".join(TEXTS.values()), training, held_out)
    with pytest.raises(TextTooShortError, match="empty line between novels"):
        read_text("one novel only\n" * 1000, 1_000, 1_000)


def test_documents_are_in_the_order_of_the_seed(text: Text) -> None:
    first, ends = text.documents(1)
    again, other = text.documents(1)[0], text.documents(2)[0]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(np.sort(first), np.sort(other))
    assert ends[-1] == len(first)


# ---- vocabularies


@pytest.mark.parametrize("learner", LEARNERS)
def test_ids_of_a_vocabulary_are_the_words_again(learner: str, text: Text) -> None:
    vocabulary = learn(learner, text, 600)
    assert vocabulary.size == 601
    rows = np.split(vocabulary.ids, vocabulary.starts[1:-1])
    # No two known words have the same ids: nothing is lost but unknown words.
    known = [tuple(row) for row, bits in zip(rows, vocabulary.extra_bits, strict=True) if not bits]
    assert len(set(known)) == len(known)
    assert rows[text.line_end].tolist() == [600]
    assert max(itertools.chain.from_iterable(known[:-1])) < 600
    order = text.held_out
    assert np.array_equal(
        vocabulary.stream(order), np.concatenate([rows[index] for index in order])
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_ids_of_lines_are_their_text_again(preset: str, text: Text) -> None:
    vocabulary = learn(preset, text, 600)
    assert isinstance(vocabulary, LineVocabulary)
    for order in (text.held_out, text.held_out[:-3], np.append(text.line_end, text.held_out)):
        ids = vocabulary.stream(order)
        assert max(ids) == vocabulary.size - 1
        rows = np.split(ids, np.flatnonzero(ids == vocabulary.size - 1) + 1)
        found = [
            vocabulary.tokenizer.decode(row[row < vocabulary.size - 1].tolist()) for row in rows
        ]
        expected = list(lines(order, text.words))
        assert found[: len(expected)] == expected
        assert vocabulary.lengths(order).sum() == len(ids)
    crossing = [token for token in vocabulary.tokenizer.get_vocab() if "Ġ" in token[1:]]
    assert bool(crossing) == (preset == "o200k-superwords")


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_unknown_word_is_one_token_and_eight_bits_a_byte(learner: str, text: Text) -> None:
    vocabulary = learn(learner, text, 600)
    index = text.words.index("ḧere")
    row = vocabulary.ids[vocabulary.starts[index] : vocabulary.starts[index + 1]]
    if learner.startswith("byte-bpe"):
        assert vocabulary.extra_bits[index] == 0
        assert len(row) > 1
    else:
        assert row.tolist() == [0]
        assert vocabulary.extra_bits[index] == BITS_OF_A_BYTE * len("ḧere ".encode())


def test_a_vocabulary_too_small_for_its_alphabet_is_an_error(text: Text) -> None:
    with pytest.raises(VocabularyTooSmallError, match="set sizes to 512 or more"):
        learn("byte-bpe", text, 300)
    with pytest.raises(VocabularyTooSmallError, match="or give text with fewer characters"):
        learn("pruning", text, 2 * len(text.alphabet))


# ---- budgets


RECIPE = Recipe(2, 24, 2, 32, 4, 1e-3, 8, 0.3, 0.1, text_megabytes=0.03, teraflop=0.002)


def test_budgets_are_equal_bytes_and_equal_ids(text: Text) -> None:
    spent = {}
    for learner in ("frequency", "byte-bpe"):
        vocabulary = learn(learner, text, 600)
        for budget in ("text", "compute"):
            run = Run("english", 600, budget, learner, 1)
            ids, used = training_ids(run, text, vocabulary, RECIPE)
            spent[learner, budget] = used if budget == "text" else len(ids)
    assert spent["frequency", "text"] == spent["byte-bpe", "text"]
    assert 30_000 <= spent["frequency", "text"] < 30_100
    wanted = RECIPE.ids_of_compute(601)
    for learner in ("frequency", "byte-bpe"):
        assert wanted <= spent[learner, "compute"] < wanted + 40


@pytest.mark.parametrize(
    ("budget", "recipe", "message"),
    [
        ("text", replace(RECIPE, text_megabytes=1), "bytes of text_megabytes; set text_megabytes"),
        ("compute", replace(RECIPE, teraflop=1), "ids of teraflop; set teraflop lower"),
    ],
)
def test_too_little_text_for_a_budget_is_an_error(
    budget: str, recipe: Recipe, message: str, text: Text
) -> None:
    run = Run("english", 600, budget, "frequency", 1)
    with pytest.raises(TextTooShortError, match=message):
        training_ids(run, text, learn("frequency", text, 600), recipe)


# ---- the n-gram model


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_add_up_to_one(order: int) -> None:
    random = np.random.default_rng(order)
    ids = random.integers(0, 7, 500) ** 2 // 8
    model = KneserNey.learn(ids, 7, order)
    for context in random.integers(0, 7, (20, 5)):
        each = [2.0 ** -model.bits(np.array([*context, id]))[-1] for id in range(7)]
        assert sum(each) == pytest.approx(1)
        assert min(each) > 0


def test_bits_equal_those_of_the_formula() -> None:
    ids = np.array([0, 1, 0, 1, 0, 2, 0, 1, 2, 2])
    model = KneserNey.learn(ids, 4, 2)
    pairs = list(itertools.pairwise(ids.tolist()))
    single = kneser_ney.discounts_of(
        np.array([len({a for a, b in pairs if b == id}) for id in range(3)])
    )
    double = kneser_ney.discounts_of(np.array([pairs.count(pair) for pair in set(pairs)]))

    def lower(id: int) -> float:
        before = [len({a for a, b in pairs if b == each}) for each in range(4)]
        left = sum(single[min(count, 3)] for count in before) / sum(before)
        return (before[id] - single[min(before[id], 3)]) / sum(before) + left / 4

    def higher(first: int, id: int) -> float:
        seen = {pair: pairs.count(pair) for pair in pairs if pair[0] == first}
        count, total = seen.get((first, id), 0), sum(seen.values())
        left = sum(double[min(each, 3)] for each in seen.values()) / total
        return (count - double[min(count, 3)]) / total + left * lower(id)

    for pair in [(0, 1), (0, 3), (1, 2), (2, 2)]:
        assert 2.0 ** -model.bits(np.array(pair))[0] == pytest.approx(higher(*pair))


def test_numbers_of_n_grams_must_fit() -> None:
    with pytest.raises(ValueError, match="use a lower order"):
        KneserNey.learn(np.arange(9), 60_000)


def test_n_grams_hold_if_they_rank_learners_alike_in_both_languages() -> None:
    names = [report.BASELINE, *"abcdef"]

    def bits(languages: dict[str, list[int]]) -> report.Bits:
        return {
            report.Setting(language, size, "text"): {
                name: {1: float(rank)} for name, rank in zip(names, ranks, strict=True)
            }
            for language, ranks in languages.items()
            for size in (2000, 8000)
        }

    rising, mixed = [0, 1, 2, 3, 4, 5, 6], [3, 6, 0, 5, 2, 1, 4]
    transformer = bits({"english": rising, "czech": rising})
    for english, verdict in ((rising, "met"), (mixed, "not met")):
        rows = list(n_gram_ranking.table(transformer, bits({"english": english, "czech": rising})))
        assert rows[-1] == f"The criterion is {verdict}."
        assert f"Czech: mean +1.000, p = {2 / 5040:.4f}" in rows


def test_vocabularies_of_the_record_have_the_alphabet_of_the_text(text: Text) -> None:
    now, former = (
        learn("pruning", text, 400, learners) for learners in (None, n_gram_ranking.FORMER_LEARNERS)
    )
    assert isinstance(former, Vocabulary)
    assert now.size == former.size == 401
    run = Run("english", 400, "text", "pruning", 1)
    small = replace(Recipe(**read_definition()["recipe"]), text_megabytes=0.02)
    found = n_gram_ranking.bits_of_orders(run, text, former, small, (2, 4))
    assert found[2] != found[4] == n_gram_bits.n_gram_bits(run, text, former, small)


def test_the_table_of_the_n_gram_model_has_each_learner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(n_gram_bits, "read_definition", lambda: read_definition(smoke=True))
    n_gram_bits.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "±" in line]
    assert [row[0] for row in rows] == ["| pruning", "| byte-bpe"] * 2
    bits = [float(row[1].partition(" ")[0]) for row in rows]
    assert 1 < bits[0] < 4
    assert abs(bits[1]) < 0.5


# ---- the matrix and its record


def made(run: Run, definition: dict[str, Any], bits: float = 2.0) -> dict[str, Any]:
    return {
        **asdict(run),
        "bits_per_byte": bits,
        "kneser_ney": bits + 0.25,
        "held_out_bytes": 300,
        "held_out_ids": 100,
        "recipe": recipe_checksum(definition),
        "text": f"text of {run.language}",
    }


def test_all_learners_come_before_more_seeds() -> None:
    definition = read_definition()
    runs = list(planned(definition))
    once = len(definition["learners"]) * len(definition["corpora"]) * 2 * 2
    assert len(set(runs)) == len(runs)
    assert set(definition["superwords"]["learners"]) == set(PRESETS)
    runs = [run for run in runs if run.learner not in PRESETS]
    kept = set(definition["boundaries"]["learners"])
    assert {run.seed for run in runs[:once]} == {1}
    assert {run.learner for run in runs[once:]} == {*definition["main_learners"], *kept}
    assert set(definition["main_learners"]) <= set(definition["learners"])
    assert {*definition["learners"], *kept} == set(LEARNERS)
    assert report.BASELINE in definition["main_learners"]


def test_budgets_of_a_vocabulary_and_seed_are_made_together() -> None:
    definition = read_definition()
    runs = list(planned(definition))
    groups = list(together(runs))
    assert [run for group in groups for run in group] == runs
    for group in groups:
        assert [run.budget for run in group] == definition["budgets"]
        assert len({(run.language, run.size, run.learner, run.seed) for run in group}) == 1
    assert next(together(runs[1:])) == [runs[1]]


def test_an_interrupted_matrix_continues(tmp_path: Path) -> None:
    definition, path = read_definition(), tmp_path / "record.jsonl"
    checksums = {language: f"text of {language}" for language in definition["corpora"]}
    runs = list(planned(definition))
    for run in runs[:3]:
        append_record(path, made(run, definition))
    assert missing(definition, read_record(path), checksums) == runs[3:]
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"language": "eng')  # stopped while writing
    assert missing(definition, read_record(path), checksums) == runs[3:]
    append_record(path, made(runs[3], definition))
    assert path.read_bytes().startswith(whole)
    assert missing(definition, read_record(path), checksums) == runs[4:]


def test_another_recipe_or_text_is_another_matrix() -> None:
    definition = read_definition()
    runs = list(planned(definition))
    records = [made(run, definition) for run in runs]
    checksums = {language: f"text of {language}" for language in definition["corpora"]}
    assert missing(definition, records, checksums) == []
    other = {**definition, "recipe": {**definition["recipe"], "layers": 5}}
    assert missing(other, records, checksums) == runs
    changed = missing(definition, records, {**checksums, "czech": "another"})
    assert changed == [run for run in runs if run.language == "czech"]


def test_a_missing_corpus_is_an_error_that_says_how_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIECEWORK_BENCH_CORPORA", str(tmp_path))
    with pytest.raises(MissingCorpusError, match=r"'novels-english'.*novels\.py"):
        corpus("novels-english")


def test_only_the_program_changes_the_environment() -> None:
    # Settings of the C library were inherited by every program that later tests ran.
    program = (
        "import os; before = dict(os.environ); import language_model; assert os.environ == before"
    )
    places = str(Path(language_model.__file__).parent)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": places}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_the_smoke_definition_changes_only_what_it_names() -> None:
    usual, smoke = read_definition(), read_definition(smoke=True)
    assert usual.keys() == smoke.keys()
    assert usual["recipe"].keys() == smoke["recipe"].keys()
    assert smoke["recipe"]["learning_rate"] == usual["recipe"]["learning_rate"]
    assert language_model.SMALL in smoke["corpora"].values()


# ---- the tables


def records_of(bits: dict[str, list[float]]) -> list[dict[str, Any]]:
    definition = read_definition()
    return [
        made(Run(language, size, budget, learner, seed), definition, value)
        for language in ("english", "czech")
        for size in (2000, 8000)
        for budget in ("text", "compute")
        for learner, values in bits.items()
        for seed, value in enumerate(values, 1)
    ]


def test_tables_have_paired_differences_and_their_spread() -> None:
    # The seeds differ by more than the learners, which differ by the same for each seed.
    bits = {"pruning": [2.0, 2.1, 2.2], "frequency": [2.02, 2.121, 2.219], "byte-bpe": [2.5]}
    found = report.figures(records_of(bits))
    assert "| pruning | 2.1000 ± 0.1000 | 3 | - | 3.000 |" in found
    assert "| frequency | 2.1200 ± 0.0995 | 3 | +0.0200 ± 0.0010 | 3.000 |" in found
    assert "| byte-bpe | 2.5000 | 1 | +0.5000 | 3.000 |" in found
    assert "| better in all | pruning |" in found
    assert "| Czech, 8,000 entries, equal compute | 3 | +1.00 |" in found


def test_learners_with_one_seed_have_the_place_of_their_difference() -> None:
    # The first seed is the easiest one: by their bits, the learner that has no other would be the best.
    bits = {"pruning": [2.0, 2.1, 2.2], "top-down": [2.01], "frequency": [1.99, 2.09, 2.19]}
    table = report.figures(records_of(bits)).partition("**Czech")[0]
    names = [
        line.split(" | ")[0] for line in table.splitlines() if " ± " in line or "top-down" in line
    ]
    assert names == 2 * 2 * ["| frequency", "| pruning", "| top-down"]


def test_a_difference_within_the_spread_decides_nothing() -> None:
    bits = {"pruning": [2.0, 2.1, 2.2], "frequency": [2.02, 2.2, 2.21]}
    assert "| better in all | neither |" in report.figures(records_of(bits))
    two = {name: values[:2] for name, values in bits.items()}
    assert "No pair of learners has 3 seeds yet" in report.figures(records_of(two))


def test_superwords_have_tables_of_their_own() -> None:
    definition = read_definition()
    bits = {"o200k": [1.9, 2.0, 1.95], "o200k-superwords": [1.95, 2.05, 2.001]}
    records = [
        made(Run(language, 8000, budget, learner, seed), definition, value)
        for language in ("english", "czech")
        for budget in ("text", "compute")
        for learner, values in bits.items()
        for seed, value in enumerate(values, 1)
    ]
    found = report.figures(records)
    assert "language-model.svg" not in found
    assert "| o200k-superwords | 2.0003 ± 0.0500 | 3 | +0.0503 ± 0.0006 | 3.000 |" in found
    assert "| better in all | o200k |" in found
    both = report.figures([*records_of({"pruning": [2.0]}), *records])
    assert both.endswith(found.lstrip())
    assert "language-model.svg" in both


def test_figures_replace_the_old_ones_of_the_page() -> None:
    page = report.PAGE.read_text(encoding="utf-8")
    changed = report.with_figures(page, "\nNew tables.\n\n")
    assert "New tables." in changed
    again = report.with_figures(changed, page.partition(report.START)[2].partition(report.END)[0])
    assert again == page


def test_the_chart_says_what_it_shows() -> None:
    bits = {"pruning": [2.0, 2.1], "unigram": [1.9]}
    shown = " ".join(report.texts(report.in_both_themes(report.chart(records_of(bits)))))
    for words in (
        "equal text",
        "equal compute",
        "Czech",
        "8,000 entries",
        "unigram",
        "from pruning",
    ):
        assert words in shown


# ---- the novels


def test_novels_of_a_clone_are_written_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = tmp_path / "clone"
    (clone / "level1").mkdir(parents=True)
    for name, words in (("a", "One <hi>two</hi>"), ("b", "Three"), ("c", "x " * 1_100_000)):
        body = f"<text><body><head>I</head><p>{words}\n<note>no</note>four.</p></body></text>"
        markup = f'<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0">{body}</TEI>'
        (clone / "level1" / f"{name}.xml").write_text(markup)
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "novels"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setenv("PIECEWORK_BENCH_CORPORA", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["novels.py", str(clone), "both"])
    novels.main()
    assert (tmp_path / "both.txt").read_text() == "I\nOne two four.\n\nI\nThree four.\n"
    assert "2 novels" in capsys.readouterr().out
