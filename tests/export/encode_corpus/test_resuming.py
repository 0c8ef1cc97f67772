"""Continue an interrupted run with the same bytes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
    FormatError,
)
from piecework.export import (
    encode_corpus,
)
from tests.export.encode_corpus.shards import (
    StoppedError,
    content,
    main_files,
    stop_after,
)
from tests.processes import POSIX

VARIANTS: list[dict[str, Any]] = [
    {"format": "npy", "shards": 6},
    {"format": "megatron"},
    {"format": "parquet", "shards": 5, "shuffle_seed": 1},
    {"format": "datasets", "shards": 3},
    {"format": "npy", "shards": 4, "pack": 64},
    {"format": "arrow", "shards": 4, "pack": 64, "strategy": "best-fit", "shuffle_seed": 2},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v["format"])
@pytest.mark.parametrize("error", [StoppedError, KeyboardInterrupt])
def test_an_interrupted_run_continues_with_the_same_bytes(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    variant: dict[str, Any],
    error: type[BaseException],
) -> None:
    encode_corpus(tok, corpus, tmp_path / "plain", **variant)
    out = tmp_path / "out"
    for batches in (1, 9, 20):
        with pytest.raises(error):
            encode_corpus(
                tok, corpus, out, resume=True, progress=stop_after(batches, error), **variant
            )
        assert not list(out.glob(".*"))
    earlier = json.loads((out / "manifest.json").read_text())
    assert not earlier["complete"]
    times = {path: path.stat().st_mtime_ns for path in main_files(out)}
    done = encode_corpus(tok, corpus, out, resume=True, **variant)
    assert done.shards_from_earlier_runs == len(earlier["shards"]) == len(times) > 0
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert content(out) == content(tmp_path / "plain")


def test_a_finished_run_is_left_as_it_is(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    first = encode_corpus(tok, corpus, tmp_path, shards=3)
    before = content(tmp_path)
    again = encode_corpus(tok, corpus, tmp_path, shards=3, resume=True)
    assert again.shards_from_earlier_runs == 3
    assert (again.documents, again.tokens) == (first.documents, first.tokens)
    assert content(tmp_path) == before


def test_a_folder_of_an_earlier_run_needs_resume(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    with pytest.raises(
        ArgumentError,
        match=r"out_dir: has .*manifest\.json of an earlier run; pass resume to finish it, or",
    ):
        encode_corpus(tok, corpus, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "found", "expected"),
    [
        ({"shards": 3}, "shards 4", "3"),
        ({"shuffle_seed": 1}, "shuffle_seed None", "1"),
        ({"format": "megatron"}, "format 'npy'", "'megatron'"),
        ({"add_special_tokens": False}, "add_special_tokens True", "False"),
        ({"encoding_errors": "strict"}, "encoding_errors 'replace'", "'strict'"),
        ({"pack": 9}, "pack None", "9"),
        ({"parse_special": {"[SEP]"}}, "parse_special None", r"\['\[SEP\]'\]"),
        ({"parse_special": "refuse"}, "parse_special None", "'refuse'"),
    ],
)
def test_other_settings_are_refused_and_both_are_named(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    arguments: Any,
    found: str,
    expected: str,
) -> None:
    encode_corpus(tok, corpus, tmp_path, shards=4)
    with pytest.raises(ArgumentError, match=f"it has {found}, and this run {expected}; run again"):
        encode_corpus(tok, corpus, tmp_path, resume=True, **{"shards": 4, **arguments})


def test_another_tokenizer_is_refused(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    with pytest.raises(
        ArgumentError, match=r"manifest\.json: cannot be resumed: it has tokenizer "
    ):
        encode_corpus(tok.with_truncation(5), corpus, tmp_path, resume=True)


def test_another_version_is_refused(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    encode_corpus(tok, corpus, tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace(f'"{pw.__version__}"', '"0.0.7"'))
    with pytest.raises(
        ArgumentError,
        match=rf"it has version of piecework '0\.0\.7', and this run '{pw.__version__}'",
    ):
        encode_corpus(tok, corpus, tmp_path, resume=True)


def copied(corpus: list[Path], folder: Path) -> list[Path]:
    folder.mkdir()
    return [Path(shutil.copy2(path, folder)) for path in corpus]


def test_changed_inputs_are_refused(tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path) -> None:
    paths = copied(corpus, tmp_path / "in")
    out = tmp_path / "out"
    with pytest.raises(StoppedError):
        encode_corpus(tok, paths, out, shards=6, progress=stop_after(25))
    with pytest.raises(
        CorpusError,
        match=r"manifest\.json: cannot be resumed: it has the input .*d\.jsonl where this run has no more;",
    ):
        encode_corpus(tok, paths[:3], out, shards=6, resume=True)
    with pytest.raises(
        CorpusError,
        match=r"manifest\.json: cannot be resumed: it has the input .*a\.txt where this run has",
    ):
        encode_corpus(tok, paths[::-1], out, shards=6, resume=True)
    # The time alone is no change if the content is known to be the same.
    os.utime(paths[0], (1, 1))
    os.utime(paths[3], (1, 1))
    with pytest.raises(
        CorpusError,
        match=r"d\.jsonl changed since that run, from \d+ to \d+ bytes",
    ):
        encode_corpus(tok, paths, out, shards=6, resume=True)
    shutil.copystat(corpus[3], paths[3])
    encode_corpus(tok, paths, out, shards=6, resume=True)
    text = paths[0].read_text()
    paths[0].write_text(text[::-1])
    with pytest.raises(CorpusError, match=r"a\.txt changed since that run, from \d+ to \d+ bytes"):
        encode_corpus(tok, paths, out, shards=6, resume=True)
    paths[0].write_text(text + "more")
    with pytest.raises(CorpusError, match=r"a\.txt changed since that run, from \d+ to \d+ bytes"):
        encode_corpus(tok, paths, out, shards=6, resume=True)


def test_an_input_that_changes_during_the_run_is_an_error(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    paths = copied(corpus, tmp_path / "in")

    def append(done: int, total: int) -> None:
        with paths[0].open("a") as stream:
            stream.write("more\n")

    with pytest.raises(
        CorpusError,
        match=r"a\.txt: changed while it was read; inputs must stay the same during a run",
    ):
        encode_corpus(tok, paths, tmp_path / "out", progress=append)


@pytest.mark.parametrize("damage", ["cut", "bit", "missing"])
def test_a_damaged_shard_is_encoded_again(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, damage: str
) -> None:
    encode_corpus(tok, corpus, tmp_path, shards=5)
    before = content(tmp_path)
    path = main_files(tmp_path)[2]
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(data[:-2] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    done = encode_corpus(tok, corpus, tmp_path, shards=5, resume=True)
    assert done.shards_from_earlier_runs == 4
    assert content(tmp_path) == before


DAMAGE: list[Any] = [
    "",
    "{",
    "[]",
    "null",
    '{"version": 1}',
    "[" * 100_000,
    ("shards", [{}]),
    ("shards", [7]),
    ("shards", None),
    ("inputs", 5),
    ("inputs", [{}, {}, {}, {}]),
    ("settings", []),
    ("version", 3),
    ("file", "../a.npy"),
    ("file", 3),
    ("tokens", -1),
    ("tokens", "3"),
    ("name", "other"),
    ("files", []),
]


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_a_damaged_manifest_is_an_error_that_names_it(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, damage: Any
) -> None:
    encode_corpus(tok, corpus, tmp_path)
    path = tmp_path / "manifest.json"
    if isinstance(damage, str):
        path.write_text(damage)
    else:
        key, value = damage
        manifest = json.loads(path.read_text())
        shard = manifest["shards"][0]
        target = {"file": shard["files"][0], "tokens": shard, "name": shard, "files": shard}
        target.get(key, manifest)["name" if key == "file" else key] = value
        path.write_text(json.dumps(manifest))
    with pytest.raises(
        FormatError, match=r"manifest\.json: is damaged; delete the folder, or another folder"
    ):
        encode_corpus(tok, corpus, tmp_path, resume=True)


@POSIX
def test_two_processes_cannot_use_one_folder(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs file locks")
    with (tmp_path / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(
            FileError,
            match=r"test_two_processes_cannot\w*: is a folder that another process is encoding to; wait",
        ):
            encode_corpus(tok, corpus, tmp_path)
    encode_corpus(tok, corpus, tmp_path)
    assert not (tmp_path / "lock").exists()


def test_leftovers_of_a_killed_process_are_removed(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    encode_corpus(tok, corpus, tmp_path / "plain", shards=2)
    out = tmp_path / "out"
    with pytest.raises(StoppedError):
        encode_corpus(tok, corpus, out, shards=2, progress=stop_after(2))
    (out / ".0123456789abcdef.tmp").write_bytes(b"half")
    (out / "shard-00001-of-00002.npy").write_bytes(b"without a record")
    (out / "lock").touch()
    encode_corpus(tok, corpus, out, shards=2, resume=True)
    assert content(out) == content(tmp_path / "plain")


def test_other_files_of_the_folder_stay(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / ".hidden.tmp").write_text("mine")
    encode_corpus(tok, corpus, tmp_path)
    assert (tmp_path / "README.md").read_text() == (tmp_path / ".hidden.tmp").read_text() == "mine"
