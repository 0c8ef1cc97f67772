"""What train, count and encode say at the end, as lines and as JSON."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from piecework.cli.summaries import duration

CZECH = "Největší kůň, v pořádku.\nPříliš žluťoučký kůň úpěl.\n" * 20
ENGLISH = "the hug of a pug, and the pun of a bun\n" * 20
SIZE = ("--vocab-size", "60")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cs.txt").write_text(CZECH)
    Path("en.txt").write_text(ENGLISH)


def lines_of(cli: Cli, *arguments: str) -> list[str]:
    code, out, err = cli(*arguments)
    assert (code, out) == (0, "")
    return [
        re.sub(r"\d+\.\d+ s\b", "TIME", line)
        for line in err.splitlines()
        if not line.startswith(("learning:", "piecework: warning: stopped early"))
    ]


def test_train_says_what_the_preset_does_and_which_one_keeps_case_and_accents(cli: Cli) -> None:
    hint, trained, pipeline, decoding, following = lines_of(
        cli, "train", "cs.txt", *SIZE, "-o", "t.json"
    )
    changed = "preset bert-uncased changes 87.5 % of the words of this corpus"
    assert hint == f"{changed}; --preset bert-cased keeps case and accents"
    assert trained == "trained 60 entries from 9 distinct words in TIME, saved as t.json"
    assert pipeline == (
        "wordpiece with preset bert-uncased lowercases and removes accents: 87.5 % of the words, "
        "such as Největší -> nejvetsi"
    )
    assert decoding == "decoding the first texts: no characters lost; no spaces changed"
    assert following == "next: piecework encode t.json FILE -o ids.txt"


@pytest.mark.parametrize("arguments", [["en.txt"], ["cs.txt", "--preset", "bert-cased"]])
def test_no_other_preset_is_named_if_few_words_change(cli: Cli, arguments: list[str]) -> None:
    lines = lines_of(cli, "train", *arguments, *SIZE, "-o", "t.json")
    assert not any("--preset" in line for line in lines)


def test_counts_and_stdin_have_no_texts_to_measure(cli: Cli) -> None:
    lines_of(cli, "count", "cs.txt", "-o", "counts.tsv")
    lines = lines_of(cli, "train", "counts.tsv", *SIZE, "-o", "t.json")
    assert [line.split()[0] for line in lines] == ["trained", "wordpiece", "next:"]
    assert lines[1].endswith("lowercases and removes accents")


def test_a_tokenizer_that_loses_characters_is_warned_of(cli: Cli) -> None:
    lines = lines_of(
        cli, "train", "cs.txt", "--model", "char", "--vocab-size", "9", "--quiet", "-o", "t.json"
    )
    assert len(lines) == 1
    assert re.match(
        r"piecework: warning: t\.json loses text: \d+ of 880 characters lost \(\d+\.\d %\), first N e ",
        lines[0],
    )
    assert lines[0].endswith("; --model byte-bpe loses none, nor does --byte-fallback")


def test_train_says_where_decoding_changes_spaces(cli: Cli) -> None:
    options = ("--model", "bpe", "--preset", "whitespace")
    lines = lines_of(cli, "train", "en.txt", *options, "--vocab-size", "20", "-o", "t.json")
    assert re.search(r"no characters lost; \d\d\.\d % of the spaces changed, such as ", lines[2])


def test_count_says_what_the_preset_does(cli: Cli) -> None:
    assert lines_of(cli, "count", "cs.txt", "-o", "c.tsv") == [
        "220 words, 9 distinct in TIME, saved as c.tsv",
        "preset bert-uncased lowercases and removes accents: 87.5 % of the words, such as Největší -> "
        "nejvetsi",
        "preset bert-uncased changes 87.5 % of the words of this corpus; --preset bert-cased keeps case and "
        "accents",
        "next: piecework train c.tsv --vocab-size 8000 -o tokenizer.json",
    ]


@pytest.mark.parametrize("preset", ["gpt2", "metaspace", "characters", "sentencepiece", "t5"])
def test_the_command_after_count_trains(cli: Cli, preset: str) -> None:
    *_, following = lines_of(cli, "count", "en.txt", "--preset", preset, "-o", "c.tsv")
    verb = "train-sentencepiece" if preset == "t5" else "train"
    assert following.startswith(f"next: piecework {verb} c.tsv --preset {preset} --vocab-size")
    size = {"gpt2": "300", "t5": "25", "sentencepiece": "30"}.get(preset, "60")
    command = [*following.split()[2:-4], "--vocab-size", size, *following.split()[-2:]]
    assert cli(*command)[0] == 0


def test_encode_says_what_the_tokenizer_does_and_how_to_decode(cli: Cli) -> None:
    lines_of(cli, "train", "cs.txt", *SIZE, "-o", "t.json")
    assert lines_of(cli, "encode", "t.json", "en.txt", "-o", "ids.txt")[1:] == [
        "WordPiece tokenizer with 60 entries lowercases and removes accents",
        "next: piecework decode t.json ids.txt -o text.txt",
    ]
    assert cli("encode", "t.json", "en.txt")[2] == ""


def test_encode_says_what_a_document_was(cli: Cli) -> None:
    lines_of(cli, "train", "cs.txt", *SIZE, "-o", "t.json")
    Path("d.txt").write_text("kůň\n\n\nkůň\núpěl\n\n \n")
    Path("e.txt").write_text(" \n")
    Path("r.jsonl").write_text('{"text": "kůň"}\n')
    expected = [
        ("line", "d.txt", "3 documents (a line each), 9 tokens, 1 shard, 4 lines dropped as empty"),
        ("line", "r.jsonl", "1 document (a record each), 3 tokens, 1 shard in"),
        ("line", "d.txt r.jsonl", "4 documents (a line or a record each), 12 tokens, 2 shards,"),
        ("blank-line", "d.txt e.txt", "2 documents (separated by blank lines), 7 tokens, 2 shards"),
        ("file", "d.txt e.txt", "1 document (a file each), 5 tokens, 2 shards, 1 document dropped"),
    ]
    for number, (document, files, text) in enumerate(expected):
        options = ["--document", document, "--out-dir", f"ids-{number}"]
        [summary, *_] = lines_of(cli, "encode", "t.json", *files.split(), *options)
        assert summary.startswith(text)
    Path("r.json").write_text('{"text": "kůň"}\n')
    options = ["--field", "text", "--out-dir", "json-lines"]
    [summary, *_] = lines_of(cli, "encode", "t.json", "r.json", *options)
    assert summary.startswith("1 document (a record each), 3 tokens")
    options = ["--document", "blank-line", "-o", "ids.txt"]
    [summary, *_] = lines_of(cli, "encode", "t.json", "d.txt", *options)
    assert summary.startswith("2 documents (separated by blank lines) read, 2 written, 7 tokens in")
    assert len(Path("ids.txt").read_text().splitlines()) == 2
    encoded = json.loads(cli("encode", "t.json", "d.txt", *options, "--json")[1])
    assert (encoded["document"], encoded["lines_read"]) == ("blank-line", 2)
    options = ["--document", "file", "--out-dir", "json", "--json"]
    assert json.loads(cli("encode", "t.json", "d.txt", *options)[1])["document"] == "file"


def test_compare_says_what_a_text_was(cli: Cli) -> None:
    lines_of(cli, "train", "cs.txt", *SIZE, "-o", "t.json")
    Path("d.txt").write_text("kůň\n\n\nkůň\núpěl\n")
    for document, text in (
        ("line", "3 texts, 3 words"),
        ("blank-line", "2 texts (separated by blank lines), 3 words"),
        ("file", "1 text (a file each), 3 words"),
    ):
        _, out, _ = cli("compare", "t.json", "--corpus", "d.txt", "--document", document)
        assert out.strip().startswith(text)
    _, out, _ = cli("compare", "t.json", "--corpus", "d.txt", "--document", "file", "--json")
    found = json.loads(out)
    assert (found["document"], found["texts"], found["chars"]) == ("file", 1, 15)


@pytest.mark.parametrize("command", ["encode", "compare"])
def test_a_document_of_several_lines_needs_plain_text(cli: Cli, command: str) -> None:
    lines_of(cli, "train", "cs.txt", *SIZE, "-o", "t.json")
    Path("r.jsonl").write_text("not read")
    files = {
        "encode": ["cs.txt", "r.jsonl"],
        "compare": ["--corpus", "cs.txt", "--corpus", "r.jsonl"],
    }
    assert cli(command, "t.json", *files[command], "--document", "file") == (
        2,
        "",
        "piecework: error: --document: 'file' does not support r.jsonl, which is JSON lines; "
        "leave it out: each record is a document\n",
    )


def test_summaries_are_data_with_json(cli: Cli) -> None:
    code, out, _ = cli("train", "cs.txt", *SIZE, "--json", "-o", "t.json")
    trained = json.loads(out)
    assert (code, trained["model"], trained["preset"]) == (0, "wordpiece", "bert-uncased")
    assert trained["changes"] == ["case", "accents"]
    assert (trained["vocab_size"], trained["saved"]) == (60, "t.json")
    assert trained["bytes"] == len(CZECH.encode())
    assert trained["seconds"] >= 0
    assert trained["round_trip"]["changed_share"] == 0.875
    assert trained["next"] == "piecework encode t.json FILE -o ids.txt"

    counted = json.loads(cli("count", "cs.txt", "--json", "-o", "c.tsv")[1])
    assert (counted["words"], counted["distinct_words"], counted["saved"]) == (220, 9, "c.tsv")

    encoded = json.loads(cli("encode", "t.json", "cs.txt", "--json", "-o", "ids.txt")[1])
    assert (encoded["lines_written"], encoded["parsed_special"]) == (40, 0)
    shards = json.loads(cli("encode", "t.json", "cs.txt", "--json", "--out-dir", "ids")[1])
    assert (shards["documents"], shards["saved"]) == (40, "ids")


def test_several_sizes_are_lines_of_json(cli: Cli) -> None:
    _, out, _ = cli(
        "train", "en.txt", "--score", "frequency", "--vocab-size", "55,60", "--json", "-o", "t.json"
    )
    assert [json.loads(line)["saved"] for line in out.splitlines()] == ["t-55.json", "t-60.json"]


def test_json_goes_to_stderr_if_the_output_goes_to_stdout(cli: Cli) -> None:
    _, out, err = cli("train", "en.txt", *SIZE, "--json", "--quiet", "-o", "-")
    assert json.loads(out)["version"] == "1.0"
    summary = next(line for line in err.splitlines() if line.startswith("{"))
    assert (json.loads(summary)["saved"], json.loads(summary)["next"]) == (None, None)


def test_compressed_texts_are_measured(cli: Cli) -> None:
    Path("cs.txt.gz").write_bytes(gzip.compress(CZECH.encode()))
    assert "87.5 % of the words" in cli("train", "cs.txt.gz", *SIZE, "-o", "t.json")[2]


def test_files_with_errors_are_reported_once(cli: Cli) -> None:
    Path("a.jsonl").write_text('{"text": "a hug"}\nnot json\n{"text": "a pug"}\n' * 9)
    lines = lines_of(cli, "train", "a.jsonl", "--on-error", "skip", *SIZE, "-o", "t.json")
    assert sum("skipped" in line for line in lines) == 1


def test_times_are_short() -> None:
    assert [duration(seconds) for seconds in (0.004, 1, 59.94, 61)] == [
        "0.00 s",
        "1.0 s",
        "59.9 s",
        "1 min 1 s",
    ]
