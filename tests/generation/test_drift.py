"""Drift in single rows, batches and files, of models of every family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.generation import append_ids, find_drift, find_drift_batch, find_drift_files
from tests.data import need

Run = Callable[..., tuple[int, str, str]]

WORD_PIECES = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "hug": 3, "##s": 4, "h": 5, "##ug": 6}


@pytest.fixture(scope="module")
def word_piece() -> pw.Tokenizer:
    return pw.Tokenizer(
        pw.spec.WordPiece(WORD_PIECES),
        pre_tokenizer=pw.spec.WhitespaceSplit(),
        decoder=pw.spec.WordPieceDecoder(),
    ).with_added_tokens(["[CLS]", "[SEP]"], special=True)


@pytest.fixture(scope="module")
def ranks() -> pw.Tokenizer:
    tokens = [*(bytes([byte]) for byte in range(256)), b"hu", b"hug", b" hug", b"\xc3\xa9"]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return pw.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={"<end>": 300})


def test_stable_ids_have_no_spans(word_piece: pw.Tokenizer) -> None:
    drift = find_drift(word_piece, word_piece.encode("[CLS] hugs hug [SEP]").ids)
    assert (drift.is_stable, drift.spans, drift.ids) == (True, (), (1, 3, 4, 3, 2))
    assert drift.new_ids == drift.ids


def test_a_span_has_positions_tokens_bytes_and_text(word_piece: pw.Tokenizer) -> None:
    [span] = find_drift(word_piece, [1, 3, 5, 6, 4, 2]).spans
    assert (span.start, span.end, span.ids, span.tokens) == (2, 4, (5, 6), ("h", "##ug"))
    assert (span.new_start, span.new_ids, span.new_tokens) == (2, (3,), ("hug",))
    assert (span.data, span.text) == (b" hug", " hug")
    assert span.to_dict()["bytes"] == "20687567"


def test_each_difference_is_a_span_of_its_own(ranks: pw.Tokenizer) -> None:
    ids = [*b"hug", 300, 257, *b" hug", *b" x", 258]
    drift = find_drift(ranks, ids)
    assert [(one.start, one.end, one.new_ids) for one in drift.spans] == [
        (0, 3, (257,)),
        (5, 9, (258,)),
    ]
    assert drift.text == "hug<end>hug hug x hug"


def test_half_a_character_differs_alone(ranks: pw.Tokenizer) -> None:
    drift = find_drift(ranks, [257, 0xC3, 257, 257])
    assert [(one.start, one.end, one.data) for one in drift.spans] == [(1, 2, b"\xc3")]
    assert find_drift(ranks, [257, 0xC3]).spans[0].new_ids == tuple("\ufffd".encode())


@pytest.mark.parametrize("name", ["mistral/tokenizer.model.v1", "t5/spiece.model"])
def test_control_pieces_of_sentencepiece_are_kept(name: str) -> None:
    tok = pw.Tokenizer.load(need(f"vocab/{name}"))
    end = tok.token_to_id("</s>")
    ids = tok.encode_segments([("Hello  there</s> You</s></s>good", True)]).ids
    assert ids.count(end) == 3
    assert find_drift(tok, ids).is_stable
    split = [*tok.encode("Hello").ids, *map(tok.token_to_id, "▁ t h e r e".split()), end]
    [span] = find_drift(tok, split).spans
    assert (span.text, span.new_tokens) == (" there", ("▁there",))


def test_decoders_that_look_at_neighbours_are_supported() -> None:
    model = pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),))
    tok = pw.Tokenizer(model, decoder=pw.spec.CTC(pad_token="<pad>", word_delimiter_token="|"))
    drift = find_drift(tok, [0, 0, 1])
    assert (drift.text, drift.new_ids) == ("ab", (2,))


def test_stored_truncation_and_padding_do_not_apply(word_piece: pw.Tokenizer) -> None:
    cut = word_piece.with_truncation(2).with_padding(9, pad_id=0)
    assert find_drift(cut, [3, 3, 3, 4]).is_stable


def test_batches_and_arrays_are_read_row_by_row(word_piece: pw.Tokenizer) -> None:
    batch = word_piece.encode_batch(["hugs", "hug hug"])
    assert [one.is_stable for one in find_drift_batch(word_piece, batch)] == [True, True]
    rows = np.array([[3, 4], [5, 6]], np.int64)
    assert [one.is_stable for one in find_drift_batch(word_piece, rows)] == [True, False]
    assert find_drift(word_piece, rows[1]).new_ids == (3,)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([3, 4, 99], pw.errors.IdRangeError, r"^ids\[2\]: is 99, which is not in the vocabulary$"),
        ([3, -100], pw.errors.ArgumentError, r"ids\[1\]: must be an id from 0 to .*, not -100"),
        ([3, "a"], pw.errors.InputTypeError, r"ids\[1\]: must be an id, not str"),
        (3, pw.errors.InputTypeError, "ids: must be a sequence of ids, not int"),
    ],
)
def test_ids_out_of_range_are_errors_with_the_position(
    word_piece: pw.Tokenizer, ids: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        find_drift(word_piece, ids)


def test_errors_of_batches_name_the_row(word_piece: pw.Tokenizer) -> None:
    with pytest.raises(pw.errors.IdRangeError, match=r"^batch\[1\]\[2\]: is 99, which is not"):
        list(find_drift_batch(word_piece, [[3], [3, 3, 99]]))
    for batch in (3, "3 4"):
        with pytest.raises(
            pw.errors.InputTypeError, match="batch: must be a Batch, or rows of ids"
        ):
            list(find_drift_batch(word_piece, batch))  # type: ignore[arg-type]


# ---- prompts with completions


def test_appended_ids_are_kept_and_the_drift_is_reported(ranks: pw.Tokenizer) -> None:
    both = append_ids(ranks, [300, *b"h"], [*b"ug", 257])
    assert both.ids == [300, *b"hug", 257]
    assert both.completion_mask == [0, 0, 1, 1, 1]
    [span] = both.crossing_spans
    assert (span.start, span.end, span.new_ids) == (1, 4, (257,))
    assert both.drift.spans == (span,)


def test_a_difference_inside_the_completion_crosses_nothing(ranks: pw.Tokenizer) -> None:
    both = append_ids(ranks, [257], [*b"hug"])
    assert (len(both.drift.spans), both.crossing_spans) == (1, ())
    assert append_ids(ranks, [], []).ids == []


def test_errors_of_appended_ids_name_the_argument_and_the_position(ranks: pw.Tokenizer) -> None:
    for prompt, completion, place in (
        ([257, 999], [257], r"^prompt_ids\[1\]: is 999"),
        ([257], [257, 257, 999], r"^completion_ids\[2\]: is 999"),
    ):
        with pytest.raises(pw.errors.IdRangeError, match=place):
            append_ids(ranks, prompt, completion)


# ---- files


@pytest.fixture
def files(word_piece: pw.Tokenizer, tmp_path: Path) -> tuple[str, str]:
    """A tokenizer, and four rows of ids with two differences."""
    word_piece.save(tmp_path / "tokenizer.json")
    (tmp_path / "ids.txt").write_text("1 3 4 2\n5 6 4 3\n\n3 5 6\n")
    return str(tmp_path / "tokenizer.json"), str(tmp_path / "ids.txt")


def test_the_command_prints_counts_and_differences(cli: Run, files: tuple[str, str]) -> None:
    code, out, err = cli("find-drift", *files)
    assert (code, err) == (0, "")
    first, header, *rows = out.splitlines()
    assert first.strip() == (
        "4 rows, 11 ids: 2 rows with 4 ids that the text of the row does not have"
    )
    assert header.split() == "row position text tokens tokens of the text".split()
    assert [row.split() for row in rows] == [
        ["2", "0", "␣hug", "h", "##ug", "hug"],
        ["4", "1", "␣hug", "h", "##ug", "hug"],
    ]


def test_the_command_prints_json_of_the_first_differences(cli: Run, files: tuple[str, str]) -> None:
    code, out, _ = cli("find-drift", *files, "--json", "--show", "1")
    found = json.loads(out)
    assert code == 0
    assert (found["rows"], found["ids"]) == (4, 11)
    assert (found["drifting_rows"], found["drifting_ids"]) == (2, 4)
    [span] = found["spans"]
    assert (span["row"], span["start"], span["end"], span["new_ids"]) == (2, 0, 2, [3])


@pytest.mark.parametrize("format", ["ids", "jsonl", "npy", "megatron", "arrow", "parquet"])
def test_the_formats_that_encode_writes_are_read(
    cli: Run, word_piece: pw.Tokenizer, tmp_path: Path, format: str
) -> None:
    word_piece.save(tmp_path / "tokenizer.json")
    (tmp_path / "text").write_text("hugs hug\nhug\n")
    suffix = {"megatron": ".bin", "npy": ".npy"}.get(format, "")
    ids = str(tmp_path / f"out{suffix}")
    tokenizer = str(tmp_path / "tokenizer.json")
    code, _, err = cli(
        "encode", tokenizer, str(tmp_path / "text"), "--format", format, "-o", ids, "-q"
    )
    assert code == 0, err
    code, out, err = cli("find-drift", tokenizer, ids, "-q")
    assert (code, err) == (0, "")
    assert out.strip().startswith("2 rows, 4 ids: 0 rows with 0 ids")


def test_an_id_out_of_range_names_file_row_and_position(
    cli: Run, files: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bad.txt").write_text("3 4\n\n3 4 99\n")
    code, out, err = cli("find-drift", files[0], str(tmp_path / "bad.txt"))
    assert (code, out) == (2, "")
    place = f"{tmp_path}/bad.txt row 3, position 2"
    assert err == f"piecework: error: {place}: is 99, which is not in the vocabulary\n"


def test_several_files_are_read_in_order(word_piece: pw.Tokenizer, files: tuple[str, str]) -> None:
    drifts = list(find_drift_files(word_piece, [files[1], files[1]]))
    assert [one.is_stable for one in drifts] == [True, False, True, False] * 2
