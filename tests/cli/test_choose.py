"""`piecework choose`: tables, JSON, a chart, sources, and input that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import piecework as pw
from tests.analysis.test_choose import TEXTS, made_up
from tests.cli.start.command_names import Run

SMALL = ["--sizes", "60,90", "--preset", "bert-cased", "--learners", "frequency,pruning"]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(TEXTS))
    return str(path)


def test_the_tables_and_the_json_are_those_of_the_function(cli: Run, corpus: str) -> None:
    code, out, err = cli("choose", corpus, *SMALL, "--quiet")
    assert (code, err) == (0, "")
    texts = pw.corpus.read_corpus(corpus)
    learners = ["frequency", "pruning"]
    found = pw.analysis.choose(texts, [60, 90], preset="bert-cased", learners=learners)
    assert found.verdict in out
    assert [line for line in out.splitlines() if "pruning   " in line] == [
        line for line in str(found).splitlines() if "pruning   " in line
    ]
    assert json.loads(cli("choose", corpus, *SMALL, "--json")[1]) == found.to_dict()


def test_the_size_of_a_model_gives_the_share_of_its_embedding(cli: Run, corpus: str) -> None:
    model = ["--model-size", "0.1M", "--width", "64"]
    code, out, err = cli("choose", corpus, *SMALL, *model, "--json")
    assert code == 0, err
    data = json.loads(out)
    assert data["least_gain"] == pytest.approx(0.64)
    assert [one["embedding_share"] for one in data["candidates"][::2]] == pytest.approx(
        [0.0384, 0.0576]
    )


def test_sources_have_parity_and_a_chart_is_written(cli: Run, corpus: str, tmp_path: Path) -> None:
    other, chart = tmp_path / "other.txt", tmp_path / "chart.svg"
    other.write_text("\n".join(made_up(300, seed=9)))
    paths = [f"one={corpus}", f"two={other}"]
    code, out, err = cli("choose", *paths, *SMALL, "--chart", str(chart), "--json")
    assert code == 0, err
    data = json.loads(out)
    assert data["sources"] == ["one", "two"]
    assert all(one["parity"] > 1 for one in data["candidates"])
    assert chart.read_text().startswith("<svg")
    assert cli("choose", *paths, *SMALL, "--chart", "-")[1].startswith("<svg")


def test_other_tokenizers_are_shown_beside(cli: Run, corpus: str, tmp_path: Path) -> None:
    path = tmp_path / "letters.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).save(path)
    code, out, err = cli("choose", corpus, *SMALL, "--against", str(path))
    assert code == 0, err
    assert "letters.json" in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "Missing option '--sizes'"),
        (["--sizes", "60,60"], "'60,60' repeats a size"),
        (["--sizes", "60,x"], "'60,x' is not a valid integer"),
        (["--sizes", "10,60"], "vocab_size: must be at least 21"),
        ([*SMALL, "--model", "sentencepiece"], "use piecework train-sentencepiece"),
        (["--sizes", "60", "--learners", "prunning"], "--learners: "),
        ([*SMALL, "--model-size", "big", "--width", "8"], "'big' is not a number of parameters"),
        ([*SMALL, "--model-size", "1M"], "--width: is missing"),
        ([*SMALL, "--hold-out", "2"], "--hold-out: must be a number above 0"),
        ([*SMALL, "--least-gain", "0"], "--least-gain: must be a number greater than 0"),
        ([*SMALL, "--pattern", "gpt2"], "--pattern: does not apply"),
        ([*SMALL, "--document", "file"], "CORPUS: has 1 document, none of which is held out"),
    ],
)
def test_bad_input_is_refused(cli: Run, corpus: str, options: list[str], says: str) -> None:
    code, out, err = cli("choose", corpus, *options)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_the_standard_input_is_refused(cli: Run) -> None:
    code, _, err = cli("choose", "-", *SMALL)
    assert code == 2
    assert "choose reads CORPUS three times; give files, not -" in err
