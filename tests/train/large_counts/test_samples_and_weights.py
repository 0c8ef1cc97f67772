"""Sample, weight and limit what is counted; the options of the command."""

from __future__ import annotations

import subprocess
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piecework.errors import (
    ArgumentError,
    TrainingWarning,
)
from piecework.train import Counts, count_files, count_texts, counting
from piecework.train.source_weights import weights_of_temperature
from tests.train.large_counts.counted import COUNT, interrupted, rows

# ---- samples and long words


def test_a_sample_does_not_depend_on_threads_shards_or_budgets(
    corpus: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled = count_files(corpus, preset="whitespace", sample=0.1, seed=3)
    again = count_files(corpus, preset="whitespace", sample=0.1, seed=3, num_threads=1)
    assert rows(sampled) == rows(again)
    shards = [
        count_files(path, preset="whitespace", sample=0.1, seed=3, first_source=source)
        for source, path in enumerate(corpus)
    ]
    assert rows(shards[0] + shards[1] + shards[2] + shards[3]) == rows(sampled)
    other = count_files(corpus, preset="whitespace", sample=0.1, seed=4)
    assert rows(other) != rows(sampled)


def test_a_sample_has_its_share(corpus: list[Path], plain: Counts) -> None:
    sampled = count_files(corpus, preset="whitespace", sample=0.1)
    assert 0.09 < sampled.total / plain.total < 0.11


@pytest.mark.parametrize("sample", [0, -0.1, 1.5, "half", True])
def test_an_invalid_sample_is_rejected(sample: object) -> None:
    with pytest.raises(ArgumentError, match="sample"):
        count_texts(["a"], sample=sample)  # type: ignore[arg-type]


def test_long_words_are_skipped_and_counted() -> None:
    with pytest.warns(TrainingWarning, match="2 words were skipped: longer than 4 characters"):
        counts = count_texts(
            ["ééééé hugs abcdefghijklmnopqrst"], preset="whitespace", max_word_length=4
        )
    assert counts.most_common() == [("hugs", 1)]


# ---- weights


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(st.text("ab ", min_size=1, max_size=30), min_size=1, max_size=4),
    data=st.data(),
)
def test_weighted_counts_are_rounded_exact_sums(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    weight = st.one_of(st.integers(1, 9), st.sampled_from([0.5, 2.5, "1/3", "0.07"]))
    weights = data.draw(st.lists(weight, min_size=len(texts), max_size=len(texts)))
    folder = tmp_path_factory.mktemp("weights")
    paths = [folder / f"{number}.txt" for number in range(len(texts))]
    sums: Counter[str] = Counter()
    for path, text, factor in zip(paths, texts, weights, strict=True):
        path.write_text(text)
        for word in text.split():
            sums[word] += Fraction(str(factor))  # type: ignore[assignment]
    counts = count_files(paths, preset="whitespace", source_weights=weights)
    rounded = {word: int(total + Fraction(1, 2)) for word, total in sums.items()}
    assert dict(counts) == {word: count for word, count in rounded.items() if count}


def test_a_directory_has_one_weight(tmp_path: Path) -> None:
    for name in ("en/a.txt", "en/b.txt", "cs/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("hug\n")
    paths = [tmp_path / "en", tmp_path / "cs"]
    counts = count_files(paths, preset="whitespace", source_weights=[10, 1])
    assert dict(counts) == {"hug": 21}


def test_a_temperature_flattens_the_shares(tmp_path: Path) -> None:
    for name, words in (("en", 9000), ("cs", 1000)):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n" * words)
    paths = [tmp_path / "en.txt", tmp_path / "cs.txt"]
    flattened = count_files(paths, preset="whitespace", temperature=2.0)
    assert dict(flattened) == {"en": 7500, "cs": 2500}
    assert dict(count_files(paths, preset="whitespace", temperature=1)) == {
        "en": 9000,
        "cs": 1000,
    }


def test_weights_survive_an_interruption(corpus: list[Path], tmp_path: Path) -> None:
    weights = [1, 2, "1/2", 3]
    whole = count_files(corpus, preset="whitespace", source_weights=weights)
    interrupted(corpus, tmp_path, source_weights=weights)
    resumed = count_files(corpus, preset="whitespace", source_weights=weights, checkpoint=tmp_path)
    assert rows(resumed) == rows(whole)


@pytest.mark.parametrize(
    "arguments",
    [
        {"source_weights": [1]},
        {"source_weights": [1, 0]},
        {"source_weights": [1, "x"]},
        {"source_weights": [1, 1e-30]},
        {"source_weights": [1, 2], "temperature": 2},
        {"temperature": 0},
        {"temperature": -1.0},
    ],
)
def test_invalid_weights_are_rejected(tmp_path: Path, arguments: dict[str, object]) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("hug\n")
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        count_files(paths, **arguments)  # type: ignore[arg-type]


# ---- the command


def test_the_command_has_the_options(corpus: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "counts.tsv"
    options = ["--sample", "0.5", "--seed", "2", "--max-word-length", "9"]
    options += ["--memory", "200MB", "--source-weights", "1,2,1,1/2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subprocess.run([*COUNT, *map(str, corpus), *options, "-o", str(output)], check=True)
        expected = count_files(
            corpus,
            preset="whitespace",
            sample=0.5,
            seed=2,
            max_word_length=9,
            source_weights=[1, 2, 1, "1/2"],
        )
    assert rows(Counts.load(output)) == rows(expected)


def test_counts_files_take_no_counting_options(corpus: list[Path], tmp_path: Path) -> None:
    Counts(["hug"], [1]).save(tmp_path / "counts.tsv")
    command = [
        *COUNT,
        str(tmp_path / "counts.tsv"),
        "--sample",
        "0.5",
        "-o",
        str(tmp_path / "o.tsv"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--sample: does not apply to counts files, only to text files" in done.stderr


@pytest.mark.parametrize("temperature", [1e-320, 1e-300, 1e-4, 0.5, 1.0, 5.0, 1e300])
@pytest.mark.parametrize("totals", [[900, 100], [500, 500], [1, 0, 2**70], [7]])
def test_every_temperature_keeps_the_sum_of_the_counts(
    totals: list[int], temperature: float
) -> None:
    numerators, denominator = weights_of_temperature(totals, temperature)
    assert min(numerators) >= 1
    sums = sum(n * total / denominator for n, total in zip(numerators, totals, strict=True))
    assert sums == pytest.approx(sum(totals), rel=1e-3)


def test_a_low_temperature_takes_the_largest_source() -> None:
    numerators, denominator = weights_of_temperature([900, 100], 1e-4)
    assert numerators == [round(denominator * 1000 / 900), 1]


def test_weights_are_checked_before_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("hug\n")
    monkeypatch.setattr(counting, "CorpusReader", lambda *_, **__: pytest.fail("has read"))
    with pytest.raises(ArgumentError, match="source_weights"):
        count_files([tmp_path / "a.txt"], source_weights=[-1.0])
