"""The commands `inspect` and `explain`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import piecework as pw
from tests.cli.commands.streams import PMI, Run, start


def test_inspect_prints_pipeline_sizes_and_doubtful_tokens(
    cli: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vocab.txt"
    tokens = "[PAD] [UNK] [CLS] [SEP] [MASK] hug ##s ##1 ##! 12 ٣ Ab don't a h b s".split()
    path.write_text("".join(f"{token}\n" for token in tokens))
    code, out, _ = cli("inspect", str(path))
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["normalizer"].startswith("BertNormalizer(")
    assert lines["model"].startswith("WordPiece(unk_token='[UNK]'")
    assert lines["truncation"] == "none"
    assert lines["vocabulary"] == "17 tokens, 3 with a continuation prefix"
    assert "numeric tokens  3  (##1 12 ٣)" in out
    assert "##!" in lines["unreachable"]
    assert "don't" in lines["unreachable"]
    assert not {"hug", "##s", "##1", "12", "٣", "a"} & set(lines["unreachable"].split())


def test_explain_prints_each_stage_of_a_text(cli: Run, tokenizer: str) -> None:
    code, out, _ = cli("explain", tokenizer, "Hugging [MASK]  is")
    assert code == 0
    titles = [line for line in out.splitlines() if not line.startswith(" ")]
    assert titles == [
        *("text", "special tokens", "normalized", "words (3)", "search of Hugging", "search of is"),
        *("tokens (8)", "tokens in the text"),
    ]
    assert "  [MASK]  8:14" in out
    assert "  is       16:18" in out
    assert "   0  Hugg   Hugging Huggin Huggi Hugg" in out
    assert "  tokens: Hugg ##i ##n ##g" in out
    assert out.endswith("tokens in the text\n  [CLS]|Hugg|##i|##n|##g|[MASK]|is|[SEP]\n")


def test_explain_gives_the_reason_for_an_unknown_word(cli: Run, tokenizer: str) -> None:
    _, out, _ = cli("explain", tokenizer, "HOgging")
    assert "   1  none   ##Ogging ##Oggin ##Oggi ##Ogg ##Og ##O\n" in out
    reason = "tokens: [UNK], because no prefix of 'Ogging' at position 1 is an entry"
    assert reason in out


def test_explain_prints_json_and_writes_a_page(cli: Run, tokenizer: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    code, out, _ = cli("explain", tokenizer, "Hugging <b>", "--json", "--html", str(path))
    assert code == 0
    assert json.loads(out)["words"][0]["search"]["tokens"] == ["Hugg", "##i", "##n", "##g"]
    page = path.read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_explain_prints_each_merge(cli: Run, tmp_path: Path) -> None:
    merges = (("u", "g"), ("Ġ", "h"), ("Ġh", "ug"))
    entries = ["h", "u", "g", "Ġ", "ug", "Ġh", "Ġhug", "Ã", "©"]
    path = str(tmp_path / "t.json")
    pw.Tokenizer(
        pw.spec.BPE({entry: id for id, entry in enumerate(entries)}, merges),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    ).save(path)
    code, out, _ = cli("explain", path, "hug hugé", "--lines", "2")
    assert code == 0
    merges = out.split("merges of ␣hugé (3)\n")[1].split("tokens (")[0].splitlines()
    assert [line.split() for line in merges] == [
        ["rank", "merge", "symbols"],
        ["␣", "h", "u", "g", r"\xc3", r"\xa9"],
        ["0", "u", "g", "->", "ug", "␣", "h", "ug", r"\xc3", r"\xa9"],
        ["1", "␣", "h", "->", "␣h", "␣h", "ug", r"\xc3", r"\xa9"],
        ["...", "and", "1", "more"],
    ]
    assert out.endswith("tokens in the text\n  h|ug|␣hug|\\xc3|\\xa9\n")
    _, chosen, _ = cli("explain", path, "hug hugé", "--steps", "2")
    assert "␣ h -> ␣h" in chosen
    assert "u g -> ug" not in chosen


def test_explain_prints_the_scores_of_unigram_pieces(cli: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    pieces = (("<unk>", 0.0), ("hug", -2.5), ("s", -1.25))
    pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0)).save(path)
    code, out, _ = cli("explain", path, "hugsx")
    assert code == 0
    lattice = out.split("lattice of hugsx\n")[1].split("best segmentations")[0].splitlines()
    assert lattice[:3] == [
        "   span  piece  score",
        ">  0:3   hug    -2.5000",
        "   0:1   h      -12.5000 unknown",
    ]
    assert "  id  token  span    score  text\n   1  hug     0:3  -2.5000  hug\n" in out


def test_explain_escapes_control_characters_for_terminals(cli: Run, tokenizer: str) -> None:
    code, out, _ = cli("explain", tokenizer, "is\x1b[31m")
    assert code == 0
    assert "\x1b" not in out


def test_explain_training_prints_the_worked_example(cli: Run, corpus: str) -> None:
    code, out, _ = cli("explain-training", corpus, *PMI, "--steps", "1")
    assert code == 0
    for line in (
        "  This              3",
        "alphabet (40)",
        "  T ##h ##i ##s                                      3",
        "best pairs (of 92)",
        ">  a ##b        2     5      2    1/5         0.2  ab",
        "   T ##h        3     3      8    1/8       0.125  Th",
        "      1  a ##b ##o ##u ##t  ab ##o ##u ##t",
        "  vocabulary (46): alphabet, ab",
        "  1 of 25 steps are shown",
        "vocabulary (70)",
    ):
        assert line in out.splitlines()


def test_explain_training_has_the_published_examples(cli: Run, corpus: str) -> None:
    _, out, _ = cli("explain-training", "--example", "course", "--steps", "all")
    assert out == cli("explain-training", corpus, *PMI, "--steps", "all")[1]
    code, out, _ = cli("explain-training", "--example", "hugs", "--steps", "1,3")
    assert code == 0
    assert "  the best score, 5 / (20 x 5) = 1/20; h ##u is second" in out
    assert "  Erratum: the published text merges hu ##g here" in out
    assert "merge 2" not in out


def test_explain_training_replaces_settings_of_an_example(cli: Run) -> None:
    for options in (
        ["--score", "likelihood"],
        ["--learner", "pruning", "--vocab-size", "10"],
        ["--model", "bpe"],
        ["--model", "unigram"],
    ):
        code, out, err = cli("explain-training", "--example", "hugs", *options, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["vocab"]


def test_explain_training_writes_a_page(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    code, out, _ = cli("explain-training", "--example", "hugs", "--html", str(path))
    assert code == 0
    assert "merge 1: ##g ##s" in out
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert "<td>##g ##s</td>" in page
    shown = cli("explain-training", "--example", "hugs", "--html", "-")[1]
    assert shown == page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "CORPUS: is missing; give files with text, or --example"),
        (
            ["--example", "hugs", "x.txt"],
            "CORPUS: cannot be combined with --example",
        ),
        (
            ["--example", "hugs", "--steps", "9"],
            "--steps: must be at most 4, not 9",
        ),
        (
            ["--example", "hugs", "--steps", "x"],
            '--steps: must be step numbers from 1, such as "3,5-8" or "10-", or "all", not \'x\'',
        ),
        (
            ["--example", "hugs", "--json", "--html", "-"],
            "--html, --json: cannot both write to stdout; give --html a file",
        ),
    ],
)
def test_explain_training_rejects_wrong_arguments(cli: Run, words: list[str], message: str) -> None:
    code, out, err = cli("explain-training", *words)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("model", ["bpe", "byte-bpe"])
def test_explain_training_shows_merges(cli: Run, corpus: str, model: str) -> None:
    code, out, _ = cli("explain-training", corpus, "--model", model, "--vocab-size", "270")
    assert code == 0
    for title in ("word counts", "alphabet", "splits", "best pairs", "changed words", "vocabulary"):
        assert f"{title} (" in out


def test_explain_training_shows_estimates(cli: Run, corpus: str) -> None:
    size = ("--model", "unigram", "--vocab-size", "45")
    code, out, _ = cli("explain-training", corpus, *size, "--steps", "2", "--lines", "4")
    assert code == 0
    assert "pieces, log-likelihood -" in out
    assert "scores (42)" in out
    assert "vocabulary (45)" in out


def test_train_learns_as_many_entries_as_the_corpus_allows(
    cli: Run, corpus: str, tmp_path: Path
) -> None:
    for verb, name in (
        (["train", "--model", "unigram"], "u.json"),
        (["train-sentencepiece"], "u.model"),
    ):
        code, _, err = cli(*verb, corpus, "-o", str(tmp_path / name))
        assert code == 0
        assert "of 8000 entries learned" in err
    hard = ("--hard-vocab-limit", "-o", str(tmp_path / "hard.model"))
    code, _, err = cli("train-sentencepiece", corpus, *hard)
    assert code == 2
    assert "--vocab-size: must be at most 82, not 8000" in err


@pytest.mark.parametrize(
    "options", [["--learner", "top-down"], ["--learner", "pruning"], ["--model", "word"]]
)
def test_explain_training_shows_learners_without_merges(
    cli: Run, corpus: str, options: list[str]
) -> None:
    code, out, _ = cli("explain-training", corpus, "--vocab-size", "60", *options)
    assert code == 0
    assert "vocabulary (" in out


def test_output_is_utf8_in_every_locale(tokenizer: str) -> None:
    process = start("explain", tokenizer, "é 中", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")
    assert "'é 中'" in out.decode()
