"""The commands `encode` and `decode`."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest

import piecework as pw
from tests.cli.commands.streams import Run, assert_one_line, piped, start
from tests.processes import POSIX

KEEPS_CASE = "WordPiece tokenizer with 70 entries keeps case and accents"


def without_time(stderr: str) -> str:
    """Return a summary with TIME in place of the seconds."""
    return re.sub(r"\bin \d+\.\d+ s", "in TIME", stderr)


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
        "piecework: error: --strip-lines: cannot be combined with --out-dir; use -o per file\n",
    )


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ("blank-line", ["[CLS] Hugg ##i is [SEP]", "[CLS] is [SEP]"]),
        ("file", ["[CLS] Hugg ##i is is [SEP]"]),
    ],
)
def test_encode_reads_documents_of_several_lines_from_a_pipe(
    tokenizer: str, document: str, lines: list[str]
) -> None:
    options = ["--format", "tokens", "--document", document]
    code, out, err = piped("Huggi\nis\n\n\nis\n", "encode", tokenizer, *options)
    assert (code, out.splitlines(), err) == (0, lines, "")


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
        err, f"{right}: ends after line 1, and {left} does not; parallel files must have"
    )


def test_encode_reads_stdin_beside_a_file(tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text("Hug\n")
    options = ["--format", "tokens", "--no-special-tokens", "-o", "-", "-o", str(tmp_path / "o")]
    assert piped("is\n", "encode", tokenizer, "-", str(tmp_path / "r"), *options) == (0, "is\n", "")
    assert (tmp_path / "o").read_text() == "Hug\n"


@POSIX
def test_encode_answers_each_line_typed_on_a_terminal(tokenizer: str) -> None:
    import pty

    parent, child = pty.openpty()
    options = ["--format", "tokens", "--no-special-tokens"]
    process = start("encode", tokenizer, *options, stdin=child)
    os.close(child)
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    assert process.stdout is not None
    for line in (b"is\n", b"Hug\n"):
        os.write(parent, line)
        assert process.stdout.readline() == line
    os.write(parent, b"\x04")
    _, err = process.communicate(timeout=300)
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
    out, err = process.communicate(b"is\nHug\n", timeout=300)
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
def test_decode_names_the_line_without_an_id(tokenizer: str, bad: str) -> None:
    code, out, err = piped(f"1 2\n3 {bad}\n", "decode", tokenizer)
    assert (code, out) == (2, "")
    assert_one_line(
        err, f"<stdin> line 2: must be ids from 0 to 4294967295 between spaces, not '{bad}'"
    )


def test_decode_skips_and_counts_ids_that_are_not_in_the_vocabulary(tokenizer: str) -> None:
    _, ids, _ = piped("Hug\n", "encode", tokenizer, "--no-special-tokens")
    padded = f"70 {ids.strip()} 999999\n"
    code, out, err = piped(padded, "decode", tokenizer)
    assert (code, out) == (0, "Hug\n")
    assert err == "ids that are not in the vocabulary: 2 skipped\n"
    assert piped(padded, "decode", tokenizer, "--quiet") == (0, "Hug\n", "")
