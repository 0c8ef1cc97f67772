"""The command line: what each verb does, and that every failure is one line and an exit code."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import VERBS, run
from tests.processes import heed_signals

SENTENCES = """\
This is the Hugging Face Course.
This chapter is about tokenization.
This section shows several tokenizer algorithms.
Hopefully, you will be able to understand how they are trained and generate tokens.
"""
PMI = ("--preset", "bert-cased", "--score", "pmi", "--min-frequency", "1", "--vocab-size", "70")
NEEDS_SIGNALS = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text(SENTENCES)
    return str(path)


@pytest.fixture
def tokenizer(corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "tokenizer.json")
    assert run(["train", corpus, *PMI, "-o", path]) == 0
    capsys.readouterr()
    return path


Run = Callable[..., tuple[int, str, str]]


def start(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own, with pipes."""
    command: Sequence[str] = [sys.executable, "-m", "piecework", *arguments]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    return subprocess.Popen(command, preexec_fn=heed_signals, **pipes)


def piped(text: str | bytes, *arguments: str) -> tuple[int, str, str]:
    """Run a command as a process of its own with the text on stdin."""
    process = start(*arguments)
    out, err = process.communicate(text.encode() if isinstance(text, str) else text, timeout=60)
    return process.returncode, out.decode(), err.decode()


KEEPS_CASE = "WordPiece tokenizer with 70 entries keeps case and accents"


def without_time(stderr: str) -> str:
    """Return a summary with TIME in place of the seconds."""
    return re.sub(r"\bin \d+\.\d+ s", "in TIME", stderr)


def assert_one_line(stderr: str, *parts: str) -> None:
    assert stderr.startswith("piecework: ")
    assert stderr.count("\n") == 1
    assert stderr.endswith("\n")
    for part in parts:
        assert part in stderr


# ---- help


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_every_help_shows_an_example(cli: Run, verb: str | None) -> None:
    code, out, err = cli(*filter(None, [verb]), "--help")
    assert (code, err) == (0, "")
    assert "Example:\n  " in out
    assert f"piecework {verb or 'train'} " in out.split("Example:")[1]


def test_the_verbs_are_those_documented() -> None:
    verbs = "train train-sentencepiece count encode concat decode inspect explain explain-training serve"
    verbs += " compare bench extend add prune shrink convert normalize completion"
    assert list(VERBS) == verbs.split()


def test_it_runs_as_a_module() -> None:
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


def test_train_reads_json_lines_compressed_and_the_field_asked_for(
    cli: Run, tmp_path: Path
) -> None:
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


# ---- encode and decode


def test_encode_gives_a_line_for_each_line(tokenizer: str) -> None:
    options = ["--format", "tokens", "--keep-empty"]
    code, out, err = piped("Hugging\n\nHOgging\r\nis", "encode", tokenizer, *options)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "[CLS] Hugg ##i ##n ##g [SEP]",
        "[CLS] [SEP]",
        "[CLS] [UNK] [SEP]",
        "[CLS] is [SEP]",
    ]


def test_encode_strips_lines_on_request(cli: Run, tokenizer: str, tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(["hug"], model="byte-bpe", vocab_size=257)
    tok.save(tmp_path / "gpt.json")
    options = ["--format", "tokens", "--strip-lines"]
    assert piped("  hu \n", "encode", str(tmp_path / "gpt.json"), *options) == (0, "h u\n", "")
    code, _, err = cli("encode", tokenizer, "-", "--strip-lines", "--out-dir", str(tmp_path / "o"))
    assert (code, err) == (
        2,
        "piecework: error: --strip-lines cannot be combined with --out-dir; use -o per file\n",
    )


def test_encode_gives_ids_or_json_lines(tokenizer: str) -> None:
    vocab = pw.Tokenizer.load(tokenizer).get_vocab()
    ids = [vocab[token] for token in ("Hugg", "##i")]
    line = "--no-special-tokens"
    assert piped("Huggi", "encode", tokenizer, line, "-") == (0, f"{ids[0]} {ids[1]}\n", "")
    _, out, _ = piped("Huggi", "encode", tokenizer, line, "--format", "jsonl")
    expected = {"line": 1, "ids": ids, "tokens": ["Hugg", "##i"], "offsets": [[0, 4], [4, 5]]}
    assert json.loads(out) == expected


def test_encode_takes_files_in_order_and_writes_one(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("is\n")
    (tmp_path / "b").write_text("Hug\n")
    out = tmp_path / "out.txt"
    files = [str(tmp_path / "b"), str(tmp_path / "a")]
    report = f"2 lines read, 2 written, 6 tokens in TIME, saved as {out}"
    options = ["--format", "tokens", "-o", str(out)]
    code, text, err = cli("encode", tokenizer, *files, *options)
    assert (code, text, without_time(err).splitlines()) == (0, "", [report, KEEPS_CASE])
    assert out.read_text() == "[CLS] Hug [SEP]\n[CLS] is [SEP]\n"


def test_encode_replaces_invalid_utf8_or_refuses_it(tokenizer: str) -> None:
    code, _, err = piped(b"is\nis\xff\n", "encode", tokenizer)
    assert (code, err) == (0, "2 lines read, 2 written, 1 invalid UTF-8 sequences replaced\n")
    code, _, err = piped(b"is\nis\xff\n", "encode", tokenizer, "--encoding-errors", "strict")
    assert code == 2
    assert_one_line(err, "<stdin> line 2: found invalid UTF-8 at byte 2")


def test_encode_drops_lines_empty_on_one_side_and_says_how_many(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    left, right = tmp_path / "t.de", tmp_path / "t.en"
    left.write_text("is\n\nHug\n")
    right.write_text("Hug\nis\nis\n")
    outputs = [str(tmp_path / "o.de"), str(tmp_path / "o.en")]
    options = ["--no-special-tokens", "--format", "tokens", "-o", outputs[0], "-o", outputs[1]]
    code, out, err = cli("encode", tokenizer, "--parallel", str(left), str(right), *options)
    saved = f"2 + 2 tokens in TIME, saved as {' '.join(outputs)}"
    assert (code, out) == (0, "")
    report = f"3 lines read, 2 written, 1 dropped as empty, {saved}"
    assert without_time(err).splitlines() == [report, KEEPS_CASE]
    assert [Path(path).read_text() for path in outputs] == ["is\nHug\n", "Hug\nis\n"]
    right.write_text("Hug\n")
    code, _, err = cli("encode", tokenizer, "--parallel", str(left), str(right), *options)
    assert code == 2
    assert_one_line(
        err, f"{right} ends after line 1, and {left} does not; parallel files must have"
    )


def test_encode_reads_stdin_beside_a_file(tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text("Hug\n")
    options = ["--format", "tokens", "--no-special-tokens", "-o", "-", "-o", str(tmp_path / "o")]
    assert piped("is\n", "encode", tokenizer, "-", str(tmp_path / "r"), *options) == (0, "is\n", "")
    assert (tmp_path / "o").read_text() == "Hug\n"


@NEEDS_SIGNALS
def test_encode_answers_each_line_typed_on_a_terminal(tokenizer: str) -> None:
    import pty

    parent, child = pty.openpty()
    options = ["--format", "tokens", "--no-special-tokens"]
    process = start("encode", tokenizer, *options, stdin=child)
    os.close(child)
    watchdog = threading.Timer(30, process.kill)
    watchdog.start()
    assert process.stdout is not None
    for line in (b"is\n", b"Hug\n"):
        os.write(parent, line)
        assert process.stdout.readline() == line
    os.write(parent, b"\x04")
    _, err = process.communicate(timeout=60)
    watchdog.cancel()
    os.close(parent)
    assert (process.returncode, err) == (0, b"")


def test_encode_writes_megatron_files(cli: Run, tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "is"}\n')
    options = ["--field", "body", "--format", "megatron", "--append-eod", "[SEP]"]
    options += ["--no-special-tokens", "--num-threads", "1", "-o", str(tmp_path / "out")]
    assert cli("encode", tokenizer, str(tmp_path / "a.jsonl"), *options)[0] == 0
    vocab = pw.Tokenizer.load(tokenizer).get_vocab()
    expected = b"".join(vocab[token].to_bytes(2, "little") for token in ("is", "[SEP]"))
    assert (tmp_path / "out.bin").read_bytes() == expected
    assert (tmp_path / "out.idx").stat().st_size == 34 + 4 + 8 + 16


def test_encode_writes_arrow_to_a_pipe(tokenizer: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    process = start("encode", tokenizer, "--format", "arrow", "--no-special-tokens")
    out, err = process.communicate(b"is\nHug\n", timeout=60)
    assert (process.returncode, err) == (0, b"")
    rows = pyarrow.ipc.open_stream(out).read_all().column("ids").to_pylist()
    vocab = pw.Tokenizer.load(tokenizer).get_vocab()
    assert rows == [[vocab["is"]], [vocab["Hug"]]]


def test_decode_undoes_encode(tokenizer: str) -> None:
    text = "This is the Hugging Face Course.\n\nHug\n"
    _, ids, _ = piped(text, "encode", tokenizer, "--keep-empty")
    assert piped(ids, "decode", tokenizer) == (0, text, "")
    _, out, _ = piped(ids, "decode", tokenizer, "--keep-special-tokens", "--no-clean-up")
    assert out.splitlines()[0] == "[CLS] This is the Hugging Face Course . [SEP]"


@pytest.mark.parametrize("bad", ["x", "-1", "1.5", "4294967296", "99999999999999999999", "٣"])
def test_decode_names_the_line_of_what_is_not_an_id(tokenizer: str, bad: str) -> None:
    code, out, err = piped(f"1 2\n3 {bad}\n", "decode", tokenizer)
    assert (code, out) == (2, "")
    assert_one_line(
        err, f"<stdin> line 2 must be ids from 0 to 4294967295 between spaces, not '{bad}'"
    )


def test_decode_skips_and_counts_ids_that_are_not_in_the_vocabulary(tokenizer: str) -> None:
    _, ids, _ = piped("Hug\n", "encode", tokenizer, "--no-special-tokens")
    padded = f"70 {ids.strip()} 999999\n"
    code, out, err = piped(padded, "decode", tokenizer)
    assert (code, out) == (0, "Hug\n")
    assert err == "ids that are not in the vocabulary: 2 skipped\n"
    assert piped(padded, "decode", tokenizer, "--quiet") == (0, "Hug\n", "")


# ---- inspect and explain


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


def test_explain_hides_what_a_terminal_would_obey(cli: Run, tokenizer: str) -> None:
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
        ([], "CORPUS is missing; give files with text, or --example"),
        (
            ["--example", "hugs", "x.txt"],
            "CORPUS cannot be combined with --example",
        ),
        (
            ["--example", "hugs", "--steps", "9"],
            "--steps must be at most 4, not 9",
        ),
        (
            ["--example", "hugs", "--steps", "x"],
            '--steps must be step numbers from 1, such as "3,5-8" or "10-", or "all", not \'x\'',
        ),
        (["--example", "hugs", "--all"], "No such option '--all'; use --steps all"),
        (
            ["--example", "hugs", "--json", "--html", "-"],
            "--html - and --json cannot both write to stdout; give --html a file",
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


def test_train_takes_the_largest_vocabulary_that_can_be(
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
    assert "--vocab-size must be at most 82, not 8000" in err


@pytest.mark.parametrize(
    "options", [["--learner", "top-down"], ["--learner", "pruning"], ["--model", "word"]]
)
def test_explain_training_knows_learners_without_joins(
    cli: Run, corpus: str, options: list[str]
) -> None:
    code, out, _ = cli("explain-training", corpus, "--vocab-size", "60", *options)
    assert code == 0
    assert "vocabulary (" in out


def test_output_is_utf8_whatever_the_terminal_claims(tokenizer: str) -> None:
    process = start("explain", tokenizer, "é 中", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert "'é 中'" in out.decode()


# ---- bad usage and bad input


def test_bad_usage_is_one_line_and_code_two(
    cli: Run, corpus: str, tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = tmp_path / "a.tsv"
    counts.write_text("word\tcount\nhug\t3\n")
    files = set(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    for arguments, part in (
        (
            ["tain"],
            "No such command 'tain'; did you mean 'train'? (see piecework --help)",
        ),
        (["train"], "Missing argument 'CORPUS...'. (see piecework train --help)"),
        (["train", corpus], "Missing option '-o'"),
        (["train", corpus, "--scor", "pmi", "-o", "x.json"], "--scor"),
        (["train", corpus, "--score", "best", "-o", "x.json"], "'best' is not one of"),
        (
            ["train", corpus, "--vocab-size", "many", "-o", "x.json"],
            "'many' is not a valid integer",
        ),
        (
            ["train", corpus, "--vocab-size", "0", "-o", "x.json"],
            "--vocab-size must be an integer of at least 1 and at most 4294967295, not 0",
        ),
        (
            ["train", corpus, "--preset", "gpt9", "-o", "x.json"],
            "'--preset': 'gpt9' is not a known preset; choose one of",
        ),
        (
            ["train", corpus, "--model", "word", "--score", "pmi", "-o", "x.json"],
            "No such option '--score'; it is an option of --model wordpiece",
        ),
        (
            ["train", corpus, str(counts), "-o", "x.json"],
            "CORPUS has both text files and counts files (text: ",
        ),
        (
            ["count", corpus, "-o", "counts.csv"],
            "--output must be a file name that ends in .parquet or .tsv, or - for stdout, not 'counts.csv'",
        ),
        (["encode", tokenizer, "--format", "xml"], "'xml' is not one of"),
        (["encode", tokenizer, corpus, "--format", "npy"], "--output must be a path, not '-'"),
        (["encode", tokenizer, corpus, "-o", corpus], "corpus.txt', which is an input"),
        (["encode", tokenizer, "a", "b", "-o", "c", "-o", "d", "-o", "e"], "3 for 2 inputs"),
        (
            ["encode", tokenizer, corpus, "--append-eod", "</s>", "-o", "x.json"],
            "--append-eod must be a token of the vocabulary, not",
        ),
        (
            ["explain", tokenizer],
            "there is 1 argument; give TOKENIZER... and TEXT (in quotes), or TOKENIZER and --token",
        ),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, ""), arguments
        assert_one_line(err, part)
    assert set(tmp_path.iterdir()) == files


def test_bad_input_is_one_line_and_leaves_no_file(cli: Run, tokenizer: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = {
        "empty.txt": b"",
        "blank.txt": b" \n\n",
        "bad.txt": b"hug \xff\n",
        "bad.jsonl": b'{"text": "a"}\n{"text": 3}\n',
        "cut.gz": gzip.compress(b"hug " * 1000)[:-9],
        "bad.tsv": b"word\tcount\na\tb\n",
        "small.txt": b"abcdefghij\n",
        "dup.txt": b"[UNK]\na\na\n",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "none").mkdir()
    out = tmp_path / "out.json"
    for name, options, parts in (
        ("empty.txt", [], ["empty.txt has no words; give files with text"]),
        ("blank.txt", [], ["blank.txt has no words; give files with text"]),
        ("bad.txt", ["--encoding-errors", "strict"], ["bad.txt", "byte 4"]),
        ("bad.jsonl", [], ["bad.jsonl line 2 field 'text': found a number"]),
        ("cut.gz", [], ["cut.gz: found truncated gzip data"]),
        ("bad.tsv", [], ["bad.tsv column 'count' line 2: found 'b'"]),
        (
            "small.txt",
            ["--vocab-size", "6"],
            ["--vocab-size must be at least 15 (5 special tokens and an alphabet of 10), not 6"],
        ),
        ("missing.txt", [], ["missing.txt: no such file"]),
        (
            "none",
            [],
            [
                (
                    "none is a directory without text files; it needs files named .txt .text "
                    ".md .rst .jsonl"
                )
            ],
        ),
    ):
        code, stdout, err = cli("train", str(folder / name), *options, "-o", str(out))
        assert (code, stdout) == (2, ""), name
        estimate, _, problem = err.partition("\n")
        assert_one_line(problem if estimate.startswith("learning: about") else err, *parts)
        assert not out.exists()
    for verb in (["encode"], ["decode"], ["inspect"], ["explain", "x"]):
        for name in ("missing.json", "dup.txt", "bad.jsonl", "none"):
            code, _, err = cli(verb[0], str(folder / name), *verb[1:])
            assert code == 2
            assert_one_line(err, name)
    code, _, err = cli("encode", tokenizer, str(folder / "missing.txt"), "-o", str(out))
    assert code == 2
    assert_one_line(err, "missing.txt: no such file")
    assert sorted(path.name for path in tmp_path.iterdir() if path != folder) == [
        "corpus.txt",
        "tokenizer.json",
    ]


def test_an_output_that_cannot_be_written_is_told_before_the_work(
    cli: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("worked before checking")

    monkeypatch.setattr(pw, "count_files", never)
    for path in ("missing/t.json", "missing/folder/", f"{Path(corpus).name}/"):
        code, _, err = cli("train", corpus, "-o", f"{tmp_path}/{path}")
        assert code == 2
        assert_one_line(err, path.split("/")[0])


def test_a_failure_while_encoding_leaves_the_old_output(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    (tmp_path / "bad").write_bytes(b"is\n\xff\n")
    options = ["--encoding-errors", "strict", "-o", str(out)]
    assert cli("encode", tokenizer, str(tmp_path / "bad"), *options)[0] == 2
    assert out.read_text() == "old"


@NEEDS_SIGNALS
@pytest.mark.parametrize("verb", ["encode", "train"])
def test_a_closed_stdin_is_told(tokenizer: str, verb: str) -> None:
    arguments = "train - -o -" if verb == "train" else f"encode {tokenizer} -"
    shell = f"exec {sys.executable} -m piecework {arguments} <&-"
    result = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert_one_line(result.stderr, "cannot read <stdin>: the stream is closed")


def test_a_device_is_written_to_and_not_replaced(cli: Run, corpus: str) -> None:
    assert cli("train", corpus, *PMI, "-o", os.devnull)[0] == 0
    assert not Path(os.devnull).is_file()


# ---- signals and pipes


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Send Ctrl-C: exit code and stderr. A process that does not stop is killed after a while."""
    process.send_signal(signal.SIGINT)
    watchdog = threading.Timer(30, process.kill)
    watchdog.start()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    code = process.wait(timeout=30)
    watchdog.cancel()
    return code, err


@NEEDS_SIGNALS
def test_ctrl_c_while_reading_stdin_gives_130_and_no_file(tmp_path: Path) -> None:
    process = start("train", "-", "-o", str(tmp_path / "t.json"))
    assert process.stdin is not None
    begun, stop = threading.Event(), threading.Event()

    def feed(stream: object = process.stdin) -> None:
        with suppress(OSError, ValueError):
            while not stop.is_set():
                # More than a pipe holds: when it is written, some of it is read.
                stream.write(b"hug pug\n" * 100_000)
                begun.set()

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert begun.wait(timeout=60)
    code, err = interrupted(process)
    stop.set()
    feeder.join()
    assert (code, err) == (130, "piecework: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@NEEDS_SIGNALS
@pytest.mark.parametrize(
    ("option", "value", "vocab_size"),
    [
        ("--score", "frequency", 4_000_000),
        ("--learner", "top-down", 4_000_000),
        ("--learner", "pruning", 50_000),
    ],
)
def test_ctrl_c_while_learning_gives_130_and_no_file(
    tmp_path: Path, option: str, value: str, vocab_size: int
) -> None:
    letters, rng = "abcdefghijklmnopqrstuvwxyz", random.Random(1)
    words = ["".join(rng.choices(letters, k=14)) for _ in range(300_000)]
    counts, out = tmp_path / "counts.tsv", tmp_path / "t.json"
    counts.write_text("word\tcount\n" + "".join(f"{word}\t2\n" for word in set(words)))
    options = [option, value, "--min-frequency", "1", "--vocab-size", str(vocab_size)]
    process = start("train", str(counts), *options, "-o", str(out))
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"learning: about")
    time.sleep(0.5)
    assert interrupted(process) == (130, "piecework: interrupted\n")
    assert list(tmp_path.iterdir()) == [counts]


@NEEDS_SIGNALS
def test_a_broken_pipe_ends_quietly(tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("This is the Hugging Face Course.\n" * 50_000)
    process = start("encode", tokenizer, str(tmp_path / "big.txt"))
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


@NEEDS_SIGNALS
@pytest.mark.parametrize(
    ("verb", "line", "answer"),
    [
        (["normalize", "--rules", "nfkc"], "ｈｕｇ\n", "hug\n"),
        (["decode", "TOKENIZER", "--keep-special-tokens"], "0 1\n", "[PAD] [UNK]\n"),
    ],
)
def test_a_line_from_a_pipe_is_answered_at_once(
    tokenizer: str, verb: list[str], line: str, answer: str
) -> None:
    process = start(*[tokenizer if word == "TOKENIZER" else word for word in verb])
    assert process.stdin is not None
    assert process.stdout is not None
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    for _ in range(2):
        process.stdin.write(line.encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == answer
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    watchdog.cancel()


def test_binary_input_is_refused_by_every_command_that_reads_lines(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    archive = str(tmp_path / "a.txt")
    Path(archive).write_bytes(b"PK\x03\x04" + bytes(100))
    for arguments in (
        ["normalize", "--rules", "nfkc", archive],
        ["encode", tokenizer, archive],
        ["count", archive, "-o", str(tmp_path / "c.tsv")],
        ["train", archive, "-o", str(tmp_path / "t.json")],
        ["compare", tokenizer, "--corpus", archive],
        ["prune", tokenizer, "--keep", archive, "-o", str(tmp_path / "t.json")],
        ["convert", tokenizer, str(tmp_path / "c.json"), "--verify", archive],
        ["decode", tokenizer, archive],
    ):
        code, _, err = cli(*arguments)
        assert (code, "found a zip archive" in err) == (2, True), (arguments, err)
