"""The help, `train` and `count`."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import VERBS
from tests.cli.commands.streams import PMI, SENTENCES, Run, piped

# ---- help


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_every_help_shows_an_example(cli: Run, verb: str | None) -> None:
    code, out, err = cli(*filter(None, [verb]), "--help")
    assert (code, err) == (0, "")
    assert "Example:\n  " in out
    assert f"piecework {verb or 'train'} " in out.split("Example:")[1]


def test_the_verbs_are_those_documented() -> None:
    verbs = (
        "train train-sentencepiece count choose encode decode normalize find-drift inspect explain"
    )
    verbs += (
        " explain-training serve check compare verify golden bench convert extend add prune shrink"
    )
    verbs += " completion"
    assert list(VERBS) == verbs.split()


def test_the_package_runs_as_a_module() -> None:
    code, out, _ = piped("", "--help")
    assert code == 0
    assert out.startswith("Usage: piecework ")


# ---- train and count


def test_train_learns_the_vocabulary_of_the_worked_example(tokenizer: str) -> None:
    vocab = pw.Tokenizer.load(tokenizer).get_vocab()
    assert len(vocab) == 70
    assert [vocab[token] for token in ("[PAD]", "ab", "##fu", "Hugg", "##ut")] == [
        0,
        45,
        46,
        62,
        69,
    ]


def test_train_warns_and_reports_in_one_line_each(cli: Run, corpus: str, tmp_path: Path) -> None:
    code, out, err = cli("train", corpus, *PMI, "-o", str(tmp_path / "t.json"))
    assert (code, out) == (0, "")
    estimate, warning, report, pipeline, decoding, following = err.splitlines()
    assert estimate.startswith("learning: about 48")
    assert warning.startswith("piecework: warning: 25 of 25 merged pairs occur fewer than 10")
    assert re.match(r"trained 70 entries from 30 distinct words in \d\.\d\d s, saved as /", report)
    assert pipeline == "wordpiece with preset bert-cased keeps case and accents"
    assert decoding == "decoding the first texts: no characters lost; no spaces changed"
    assert following == f"next: piecework encode {tmp_path / 't.json'} FILE -o ids.txt"


@pytest.mark.parametrize("name", ["counts.tsv", "counts.parquet"])
def test_training_from_counts_gives_the_same_tokenizer(
    cli: Run, corpus: str, tokenizer: str, tmp_path: Path, name: str
) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    counts, other = str(tmp_path / name), tmp_path / "other.json"
    assert cli("count", corpus, "--preset", "bert-cased", "-o", counts)[0] == 0
    assert cli("train", counts, *PMI, "-o", str(other))[0] == 0
    assert other.read_bytes() == Path(tokenizer).read_bytes()


def test_every_training_option_reaches_the_learner(cli: Run, corpus: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    options = "--model wordpiece --preset bert-uncased --score frequency --vocab-size 40".split()
    options += "--min-frequency 1 --limit-alphabet 12 --initial-alphabet qe".split()
    options += (
        "--special-token [UNK] --special-token <s> --max-token-length 2 --num-threads 2".split()
    )
    assert cli("train", corpus, *options, "-o", str(path))[0] == 0
    vocab = pw.Tokenizer.load(path).get_vocab()
    assert (vocab.pop("[UNK]"), vocab.pop("<s>")) == (0, 1)
    assert "q" in vocab
    assert "z" not in vocab
    assert max(len(token.removeprefix("##")) for token in vocab) == 2


@pytest.mark.parametrize(
    ("model", "text", "tokens"),
    [("word", "This is new", "This is [UNK]"), ("char", "This", "T h i s")],
)
def test_the_teaching_models_train_and_encode(
    cli: Run, corpus: str, tmp_path: Path, model: str, text: str, tokens: str
) -> None:
    path = str(tmp_path / "t.json")
    assert cli("train", corpus, "--model", model, "-o", path)[0] == 0
    assert piped(text, "encode", path, "--format", "tokens") == (0, tokens + "\n", "")


def test_train_reads_compressed_json_lines_and_the_given_field(cli: Run, tmp_path: Path) -> None:
    rows = [json.dumps({"body": line}) for line in SENTENCES.splitlines()]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    code, out, _ = cli("count", str(tmp_path), "--field", "body", "-o", "-")
    assert code == 0
    assert "tokenization\t1\t" in out


def test_train_reads_stdin_and_writes_stdout() -> None:
    code, out, _ = piped(SENTENCES, "train", "-", *PMI, "-o", "-")
    assert code == 0
    assert len(json.loads(out)["model"]["vocab"]) == 70


def test_train_writes_a_vocabulary_file(cli: Run, corpus: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    assert cli("train", corpus, *PMI, "-o", str(path))[0] == 0
    assert path.read_text().splitlines()[:2] == ["[PAD]", "[UNK]"]
