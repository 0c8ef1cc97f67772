"""Truncation and padding that a file or a folder stores: what is applied, what is kept, what is written."""

from __future__ import annotations

import json
import pickle
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import piecework as pw
from piecework.errors import ArgumentError, FormatWarning
from tests.conftest import Run
from tests.io.test_folders import bert, json_of, write

TRUNCATION = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 1}
PADDING = {
    "strategy": {"Fixed": 6},
    "direction": "Left",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 1,
    "pad_token": "[PAD]",
}
TEXT = "hug a hugs cafe"
WHOLE = bert().encode(TEXT).ids
MESSAGE = (
    r"tokenizer\.json: truncation to 4 tokens and padding to 6 tokens are stored in the file and applied "
    r"to every text, as in tokenizers; without_truncation\(\) and without_padding\(\) turn them off$"
)


def stored_json(**lengths: object) -> str:
    """Return a tokenizer.json that stores lengths."""
    return json.dumps({**json.loads(bert().to_str()), **lengths})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder as sentence-transformers write it: both lengths in the tokenizer.json."""
    path = tmp_path / "folder"
    path.mkdir()
    (path / "tokenizer.json").write_text(stored_json(truncation=TRUNCATION, padding=PADDING))
    write(path / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"})
    return path


def loaded_silently(path: Path) -> pw.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pw.Tokenizer.load(path)


# ---- folders


@pytest.mark.parametrize("with_config", [True, False])
def test_a_folder_applies_no_stored_length(folder: Path, with_config: bool) -> None:
    if not with_config:
        (folder / "tokenizer_config.json").unlink()
    tok = loaded_silently(folder)
    assert tok == bert()
    assert tok.encode(TEXT).ids == WHOLE
    assert (tok.count(TEXT), tok.count_batch([TEXT])) == (len(WHOLE), [len(WHOLE)])
    assert tok.encode_batch([TEXT, "a"]).to_lists() == bert().encode_batch([TEXT, "a"]).to_lists()


def test_the_compiled_cache_of_a_folder_applies_no_stored_length(folder: Path) -> None:
    for _ in range(2):  # the first call writes the cache
        assert pw.Tokenizer.load(folder, compiled_cache=True).encode(TEXT).ids == WHOLE


def test_a_hub_name_is_a_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    repository = tmp_path / "hub" / "models--org--name"
    shutil.copytree(folder, repository / "snapshots" / ("a" * 40))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pw.Tokenizer.load("org/name").encode(TEXT).ids == WHOLE


def test_stored_lengths_are_applied_when_asked(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder)
    with pytest.warns(FormatWarning):
        file = pw.Tokenizer.load(folder / "tokenizer.json")
    assert tok.with_truncation().with_padding("stored") == file
    assert tok.with_padding("stored").with_truncation() == file
    assert tok.with_truncation().spec.truncation == file.spec.truncation
    assert tok.with_padding(None, side="right").spec.padding == pw.spec.Padding(
        None, "right", pad_id=0, pad_type_id=1
    )


def test_the_length_of_the_model_wins_over_the_stored_one(folder: Path) -> None:
    write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "BertTokenizer", "model_max_length": 5, "truncation_side": "left"},
    )
    tok = pw.Tokenizer.load(folder).with_truncation()
    assert tok.spec.truncation == pw.spec.Truncation(5, side="left")
    assert tok.encode(TEXT).ids == [2, *WHOLE[-4:]]


def test_arguments_win_over_stored_settings(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder)
    changed = tok.with_truncation(stride=0, side="left").with_padding("stored", side="right")
    assert changed.spec.truncation == pw.spec.Truncation(4, side="left")
    assert changed.spec.padding == pw.spec.Padding(6, "right", pad_type_id=1)
    assert tok.with_truncation(8).spec.truncation == pw.spec.Truncation(8)


def test_without_a_stored_length_truncation_needs_one_and_padding_takes_the_longest_row() -> None:
    with pytest.raises(
        ArgumentError,
        match=r"the tokenizer stores no max_length; pass it: with_truncation\(N\) with a number of tokens",
    ):
        bert().with_truncation()
    assert bert().with_padding().spec.padding == pw.spec.Padding()


def test_padding_takes_a_stored_length_by_name_only(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder)
    with pytest.warns(FormatWarning):
        file = pw.Tokenizer.load(folder / "tokenizer.json")
    for each in (tok, file):
        for settings in ({}, {"pad_id": 0}, {"pad_token": "[PAD]"}, {"side": "left"}):
            padding = each.with_padding(**settings).spec.padding  # type: ignore[arg-type]
            assert padding == pw.spec.Padding(None, "left", pad_type_id=1)
        padding = each.with_padding("stored", pad_id=0).spec.padding
        assert padding == pw.spec.Padding(6, "left", pad_type_id=1)


def test_none_pads_to_the_longest_row_and_turns_no_truncation_off(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder)
    assert tok.with_padding(None).spec.padding.length is None  # type: ignore[union-attr]
    assert bert().with_padding(8).with_padding(None).spec.padding == pw.spec.Padding()
    with pytest.raises(
        ArgumentError,
        match=r"max_length: must be a number of tokens, not None; without_truncation\(\)",
    ):
        tok.with_truncation(None)  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match="length: must be .*None for the longest row.*, not 'longest'"
    ):
        tok.with_padding("longest")  # type: ignore[arg-type]


def test_without_lengths_nothing_is_stored_any_more(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder).without_truncation().without_padding()
    assert tok.with_padding("stored").spec.padding.length is None  # type: ignore[union-attr]
    with pytest.raises(ArgumentError, match="stores no max_length"):
        tok.with_truncation()


def test_rows_are_filled_as_stored_padding_says(folder: Path) -> None:
    batch = pw.Tokenizer.load(folder).encode_batch(["a", "hug a"])
    filled = batch.to_dict(return_tensors="np", return_token_type_ids=True)
    assert filled["input_ids"].tolist() == [[0, 2, 7, 3], [2, 5, 7, 3]]
    assert filled["token_type_ids"].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]


def test_the_role_and_the_side_of_a_folder_fill_rows(folder: Path) -> None:
    config = {
        "tokenizer_class": "BertTokenizer",
        "pad_token": "[MASK]",
        "padding_side": "left",
    }
    (folder / "tokenizer.json").write_text(bert().to_str())
    write(folder / "tokenizer_config.json", config)
    tok = pw.Tokenizer.load(folder)
    assert tok.encode_batch(["a", "hug a"]).to_numpy().tolist() == [[4, 2, 7, 3], [2, 5, 7, 3]]
    assert tok.with_padding().spec.padding == pw.spec.Padding(
        side="left", pad_id=4, pad_token="[MASK]"
    )


def test_stored_padding_names_the_role_and_the_side(folder: Path) -> None:
    other = {**PADDING, "pad_token": "[SEP]", "pad_id": 3}
    (folder / "tokenizer.json").write_text(stored_json(padding=other))
    tok = pw.Tokenizer.load(folder)
    assert (tok.pad_token, tok.padding_side) == ("[SEP]", "left")


def test_none_turns_a_stored_length_off_for_good(folder: Path, tmp_path: Path) -> None:
    tok = pw.Tokenizer.load(folder).without_truncation().without_padding()
    tok.save(f"{tmp_path}/bare/")
    stored = json_of(tmp_path / "bare" / "tokenizer.json")
    assert (stored["truncation"], stored["padding"]) == (None, None)


# ---- single files


def test_a_single_file_applies_its_lengths_and_warns_once(folder: Path) -> None:
    with pytest.warns(FormatWarning, match=MESSAGE) as found:
        tok = pw.Tokenizer.load(folder / "tokenizer.json")
    assert [warning.filename for warning in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tok.encode(TEXT).ids == [0, 0, *WHOLE[:3], 3]
        tok.encode_batch([TEXT] * 3)


def test_text_and_bytes_are_read_as_a_single_file() -> None:
    text = stored_json(truncation=TRUNCATION)
    message = r"truncation to 4 tokens is stored .*; without_truncation\(\) turns it off$"
    with pytest.warns(FormatWarning, match=f"text: {message}") as found:
        tok = pw.Tokenizer.from_str(text)
    with pytest.warns(FormatWarning, match=rf"a\.json: {message}") as found_in_bytes:
        assert pw.Tokenizer.from_bytes(text.encode(), source="a.json") == tok
    assert [warning.filename for warning in (*found, *found_in_bytes)] == [__file__] * 2
    assert tok.encode(TEXT).ids == [*WHOLE[:3], 3]


def test_padding_to_the_longest_row_is_named() -> None:
    with pytest.warns(FormatWarning, match="padding to the longest row is stored"):
        pw.Tokenizer.from_str(stored_json(padding={**PADDING, "strategy": "BatchLongest"}))


def test_a_compiled_cache_does_not_hide_the_warning(folder: Path) -> None:
    for _ in range(2):
        with pytest.warns(FormatWarning, match="truncation to 4 tokens"):
            pw.Tokenizer.load(folder / "tokenizer.json", compiled_cache=True)


@pytest.mark.parametrize("suffix", [".piecework", ".pwc"])
def test_files_of_this_library_do_not_warn(tmp_path: Path, suffix: str) -> None:
    tok = bert().with_truncation(4)
    tok.save(tmp_path / f"a{suffix}")
    assert loaded_silently(tmp_path / f"a{suffix}") == tok


def test_a_file_without_lengths_does_not_warn(tmp_path: Path) -> None:
    bert().save(tmp_path / "a.json")
    assert loaded_silently(tmp_path / "a.json") == bert()


# ---- saving


def test_a_folder_keeps_its_stored_lengths(folder: Path, tmp_path: Path) -> None:
    pw.Tokenizer.load(folder).save(f"{tmp_path}/again/")
    saved = json_of(tmp_path / "again" / "tokenizer.json")
    assert (saved["truncation"], saved["padding"]) == (TRUNCATION, PADDING)
    assert loaded_silently(tmp_path / "again").with_truncation().spec.truncation is not None


def test_a_file_keeps_its_lengths(folder: Path, tmp_path: Path) -> None:
    with pytest.warns(FormatWarning):
        pw.Tokenizer.load(folder / "tokenizer.json").save(tmp_path / "again.json")
    saved = json_of(tmp_path / "again.json")
    assert (saved["truncation"], saved["padding"]) == (TRUNCATION, PADDING)


def test_a_file_saved_from_a_folder_gives_the_ids_of_the_tokenizer(
    folder: Path, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.load(folder)
    tok.save(tmp_path / "one.json")
    assert loaded_silently(tmp_path / "one.json") == tok


def test_lengths_that_are_applied_are_written(folder: Path, tmp_path: Path) -> None:
    pw.Tokenizer.load(folder).with_truncation(5).save(f"{tmp_path}/again/")
    saved = json_of(tmp_path / "again" / "tokenizer.json")
    assert (saved["truncation"]["max_length"], saved["padding"]) == (5, PADDING)


def test_variants_and_pickles_keep_stored_lengths(folder: Path) -> None:
    tok = pw.Tokenizer.load(folder)
    variants: list[Any] = [
        pickle.loads(pickle.dumps(tok)),
        tok.with_added_tokens(["<x>"]),
        tok.with_truncation(9),
        pw.vocabulary.shrink(tok, 9)[0],
    ]
    for variant in variants:
        assert variant._settings.truncation == TRUNCATION
        assert variant.with_padding("stored").encode("a").ids == [0, 0, 0, 2, 7, 3]


def test_stored_padding_follows_a_renumbered_token(folder: Path, tmp_path: Path) -> None:
    other = {**PADDING, "pad_token": "cafe", "pad_id": 8}
    (folder / "tokenizer.json").write_text(stored_json(padding=other))
    smaller, _ = pw.vocabulary.prune(pw.Tokenizer.load(folder), ["cafe"])
    assert smaller.token_to_id("cafe") == 7
    smaller.save(f"{tmp_path}/smaller/")
    assert json_of(tmp_path / "smaller" / "tokenizer.json")["padding"]["pad_id"] == 7
    assert smaller.with_padding("stored").encode("a").ids[:3] == [7] * 3


def test_stored_padding_is_removed_with_its_token(folder: Path) -> None:
    other = {**PADDING, "pad_token": "cafe", "pad_id": 8}
    (folder / "tokenizer.json").write_text(stored_json(padding=other))
    smaller, _ = pw.vocabulary.prune(pw.Tokenizer.load(folder), ["hug"])
    assert smaller.token_to_id("cafe") is None
    assert smaller.with_padding().spec.padding == pw.spec.Padding(side="left")


# ---- the command line


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "corpus.txt").write_text(f"{TEXT}\na\n")
    return str(tmp_path / "corpus.txt")


def rows(out: str) -> list[list[int]]:
    return [[int(id) for id in line.split()] for line in out.splitlines()]


@pytest.mark.parametrize("name", ["tokenizer.json", ""])
def test_encode_writes_whole_rows(cli: Run, folder: Path, corpus: str, name: str) -> None:
    code, out, err = cli("encode", str(folder / name), corpus)
    assert (code, rows(out)) == (0, [WHOLE, [2, 7, 3]])
    note = (
        "rows are whole: --max-length and --padding apply the truncation and padding stored in "
        "TOKENIZER\n"
    )
    assert err == (note if name else "")


def test_encode_is_silent_about_stored_lengths_on_request(
    cli: Run, folder: Path, corpus: str
) -> None:
    code, out, err = cli("encode", str(folder / "tokenizer.json"), corpus, "--quiet")
    assert (code, rows(out), err) == (0, [WHOLE, [2, 7, 3]], "")


def test_encode_truncates_and_pads_on_request(cli: Run, folder: Path, corpus: str) -> None:
    for name in ("tokenizer.json", ""):
        command = ("encode", str(folder / name), corpus, "--max-length", "5")
        assert rows(cli(*command)[1]) == [[*WHOLE[:4], 3], [2, 7, 3]]
        padded = cli(*command, "--padding", "max-length")
        assert (padded[0], rows(padded[1])) == (0, [[*WHOLE[:4], 3], [0, 0, 2, 7, 3]])


def test_the_length_includes_the_token_that_is_appended(
    cli: Run, folder: Path, corpus: str
) -> None:
    lengths = ("--max-length", "5", "--append-eod", "[MASK]")
    _, out, _ = cli("encode", str(folder), corpus, *lengths)
    assert rows(out) == [[*WHOLE[:3], 3, 4], [2, 7, 3, 4]]


def test_shards_have_the_lengths_of_the_options(
    cli: Run, folder: Path, corpus: str, tmp_path: Path
) -> None:
    tokenizer = str(folder / "tokenizer.json")
    for name, lengths, expected in (
        ("whole", (), [len(WHOLE), 3]),
        ("short", ("--max-length", "5"), [5, 3]),
        ("padded", ("--max-length", "5", "--padding", "max-length"), [5, 5]),
    ):
        out = tmp_path / name
        assert cli("encode", tokenizer, corpus, "--out-dir", str(out), *lengths)[0] == 0
        assert np.diff(np.load(out / "corpus.row_offsets.npy")).tolist() == expected
    other = cli("encode", tokenizer, corpus, "--out-dir", str(tmp_path / "short"), "--resume")
    assert other[0] == 2
    assert "tokenizer" in other[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--padding", "longest"],
            "'--padding': 'longest' is not 'max-length'",
        ),
        (["--padding", "max-length"], "--padding: needs --max-length N"),
        (
            ["--max-length", "9", "--padding", "max-length", "--append-eod", "[SEP]"],
            "--append-eod: cannot be combined with --padding",
        ),
        (
            ["--max-length", "9", "--padding", "max-length", "--pack", "9", "--out-dir", "o"],
            "--pack: cannot be combined with --padding",
        ),
        (["--max-length", "1"], "max_length: must be at least 2, the special tokens alone, not 1"),
        (["--max-length", "0"], "--max-length"),
    ],
)
def test_lengths_that_contradict_each_other_are_refused(
    cli: Run, folder: Path, corpus: str, options: list[str], message: str
) -> None:
    code, out, err = cli("encode", str(folder), corpus, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_compare_measures_whole_texts(cli: Run, folder: Path, corpus: str) -> None:
    code, out, err = cli("compare", str(folder / "tokenizer.json"), "--corpus", corpus, "--json")
    (found,) = json.loads(out)["measures"]
    assert (code, err.count("stored"), found["tokens"]) == (0, 0, len(WHOLE) - 2 + 1)


def test_bench_measures_whole_texts(cli: Run, folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "many.txt"
    corpus.write_text(f"{TEXT}\n" * 4000)
    code, _, err = cli("bench", str(folder / "tokenizer.json"), str(corpus), "--repetitions", "1")
    assert (code, "stored" in err) == (0, False)


def test_explain_shows_whole_texts(cli: Run, folder: Path) -> None:
    for others in ([], [str(folder)]):
        code, out, err = cli("explain", str(folder / "tokenizer.json"), *others, TEXT)
        assert (code, err) == (0, "")
        assert "cafe" in out
        assert "[PAD]" not in out


def test_converting_keeps_stored_lengths(
    cli: Run, folder: Path, tmp_path: Path, corpus: str
) -> None:
    for source in (folder, folder / "tokenizer.json"):
        target = f"{tmp_path}/converted/"
        code, _, err = cli("convert", str(source), target, "--verify", corpus)
        assert (code, "warning" in err) == (0, False)
        saved = json_of(tmp_path / "converted" / "tokenizer.json")
        assert (saved["truncation"], saved["padding"]) == (TRUNCATION, PADDING)


def test_padding_to_the_length_0_is_none(tmp_path: Path) -> None:
    """Files that model2vec saved have it; `tokenizers` pads nothing."""
    stored = stored_json(padding=PADDING | {"strategy": {"Fixed": 0}})
    path = tmp_path / "tokenizer.json"
    path.write_text(stored)
    loaded = loaded_silently(path)
    assert loaded.spec.padding is None
    assert loaded.encode(TEXT).ids == tokenizers.Tokenizer.from_str(stored).encode(TEXT).ids
    with pytest.raises(ArgumentError, match="not 0"):
        loaded.with_padding(length=0)
